// Package queue holds the pods that wait to be scheduled: active (to be tried, by priority, then by time), backoff (failed not long ago), unschedulable (refused,
// waiting for a change that one of the refusing plugins asked for).
//
// Owns: Queue, Item. Imports of ours: components/scheduler/framework, components/scheduler/plugins (names, gates), engine/sim, engine/event, engine/kinds.
// Goroutines: the loop; only Pop parks. Time: simulated.
//
// A popped pod is in nobody's part until Refused or Failed puts it back; a cycle does not park between the two, so no change can be missed meanwhile.
//
// Source: k/k pkg/scheduler/backend/queue; KEP-4247 (queueing hints), KEP-5142 (taking from backoff early).
package queue

import (
	"time"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/components/scheduler/plugins"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// The figures of an unconfigured scheduler.
const (
	BackoffMin = 1 * time.Second
	BackoffMax = 10 * time.Second
	// StaleAfter is how long a pod stays unschedulable before it is tried again whatever happened, looked at each FlushEvery.
	StaleAfter = 5 * time.Minute
	FlushEvery = 30 * time.Second
)

type part uint8

const (
	out part = iota // popped or never in
	active
	backoff
	failed // backoff after an error, never taken early
	unschedulable
)

// Names of the parts, as facts give them.
const (
	Active        = "active"
	Backoff       = "backoff"
	Unschedulable = "unschedulable"
)

// Item is a pod in the queue.
type Item struct {
	Info *framework.PodInfo
	// Since is when it entered or failed last; the order among equals, and what the back-off counts from.
	Since time.Time
	// Attempts counts how often it was popped.
	Attempts int
	// Cause is the record that put it where it is.
	Cause event.Seq

	seq      uint64 // order of entry, the last tie-breaker
	refusals int    // in a row
	errors   int    // in a row
	refusers []string
	part     part
	until    time.Time
	moved    time.Time // into part
	why      string    // it is there
}

// backoffEnd is when the pod may be tried again: 1 s after the first failure, doubling up to 10 s.
func (it *Item) backoffEnd() time.Time {
	n := max(it.refusals, it.errors)
	if n == 0 {
		return it.Since
	}
	d := BackoffMin
	for range n - 1 {
		if d = 2 * d; d >= BackoffMax {
			d = BackoffMax
			break
		}
	}
	return it.Since.Add(d)
}

// Options of a queue.
type Options struct {
	Plugins plugins.Set
	Now     func() time.Time
	// Emit journals a fact; nil results (0) are fine while nothing is to be seen.
	Emit func(cause event.Seq, e event.Event) event.Seq
}

// Queue is the scheduler's queue.
type Queue struct {
	opts     Options
	items    map[kubeapi.Key]*Item
	active   *btree.BTreeG[*Item]
	entered  *btree.BTreeG[*Item] // active, by when they came there
	backoff  *btree.BTreeG[*Item]
	failed   *btree.BTreeG[*Item]
	parked   *btree.BTreeG[*Item] // unschedulable, by entry
	refused  map[string]*btree.BTreeG[*Item]
	cond     sim.Cond
	seq      uint64
	sort     plugins.PrioritySort
	onChange func()
	onTake   func(waited time.Duration)

	added, tried, returned int64
}

// New makes an empty queue.
func New(o Options) *Queue {
	q := &Queue{opts: o, items: map[kubeapi.Key]*Item{}, refused: map[string]*btree.BTreeG[*Item]{}}
	bare := btree.Options{NoLocks: true}
	inOrder := func(a, b *Item) bool {
		if q.sort.Less(a.Info, a.Since, b.Info, b.Since) {
			return true
		}
		if q.sort.Less(b.Info, b.Since, a.Info, a.Since) {
			return false
		}
		return a.seq < b.seq
	}
	byEnd := func(a, b *Item) bool {
		if !a.until.Equal(b.until) {
			return a.until.Before(b.until)
		}
		return inOrder(a, b)
	}
	q.active = btree.NewBTreeGOptions(inOrder, bare)
	q.entered = btree.NewBTreeGOptions(func(a, b *Item) bool {
		if !a.moved.Equal(b.moved) {
			return a.moved.Before(b.moved)
		}
		return a.seq < b.seq
	}, bare)
	q.backoff = btree.NewBTreeGOptions(byEnd, bare)
	q.failed = btree.NewBTreeGOptions(byEnd, bare)
	q.parked = btree.NewBTreeGOptions(byEntry, bare)
	return q
}

func byEntry(a, b *Item) bool { return a.seq < b.seq }

// OnChange is called after each change of the queue, to tell what it looks like now.
func (q *Queue) OnChange(fn func()) { q.onChange = fn }

// OnTake is called with how long a pod that is popped was active or backed off.
func (q *Queue) OnTake(fn func(waited time.Duration)) { q.onTake = fn }

// Add takes in a pod that has no node yet, or its new version.
func (q *Queue) Add(pod *corev1.Pod, cause event.Seq) {
	key := kubeapi.KeyOf(pod)
	if it, ok := q.items[key]; ok {
		if it.Info.Pod.UID == pod.UID {
			q.update(it, pod, cause)
			return
		}
		q.Delete(key, cause, "another pod took its name")
	}
	it := &Item{Info: framework.NewPodInfo(pod), Since: q.opts.Now(), Cause: cause, seq: q.next()}
	q.items[key] = it
	if q.opts.Plugins.Gates.Gated(pod) {
		it.refusers = []string{plugins.NameSchedulingGates}
		q.put(it, unschedulable, plugins.GatedMessage, cause)
		return
	}
	q.put(it, active, "the pod has no node", cause)
}

func (q *Queue) next() uint64 { q.seq++; return q.seq }

// update exchanges the pod of an item and wakes it if the change is one that a refusing plugin asked for.
func (q *Queue) update(it *Item, pod *corev1.Pod, cause event.Seq) {
	old := it.Info.Pod
	was := it.part
	q.take(it)
	it.Info = it.Info.With(pod)
	q.insert(it, was)
	if was != unschedulable || !schedulingChanged(old, pod) {
		return
	}
	ch := &framework.Change{Kind: framework.OwnSpec, OldPod: old, NewPod: pod, Why: "the pod itself changed"}
	for _, w := range q.opts.Plugins.Wakers {
		if contains(it.refusers, w.Name()) && w.Wakes(ch, it.Info) {
			q.wake(it, ch.Why+" ("+w.Name()+")", cause)
			return
		}
	}
}

// schedulingChanged reports that a waiting pod differs in more than its status.
func schedulingChanged(old, pod *corev1.Pod) bool {
	if old.Generation != pod.Generation || len(old.Spec.SchedulingGates) != len(pod.Spec.SchedulingGates) ||
		len(old.Spec.Tolerations) != len(pod.Spec.Tolerations) || len(old.Labels) != len(pod.Labels) {
		return true
	}
	for k, v := range pod.Labels {
		if old.Labels[k] != v {
			return true
		}
	}
	return false
}

// Get finds the item of a pod that waits.
func (q *Queue) Get(key kubeapi.Key) (*Item, bool) {
	it, ok := q.items[key]
	return it, ok
}

// Delete drops a pod that waits: it is gone, or has a node now.
func (q *Queue) Delete(key kubeapi.Key, cause event.Seq, why string) {
	it, ok := q.items[key]
	if !ok {
		return
	}
	q.take(it)
	delete(q.items, key)
	q.emit(it, cause, event.PodQueued{Why: why})
	q.changed()
}

// Pop parks p until a pod is to be tried, and takes it. If only backed-off pods are left, the one whose time comes first is taken early.
func (q *Queue) Pop(p *sim.Proc) *Item {
	for {
		q.endBackoffs()
		if it := q.pop(); it != nil {
			return it
		}
		wait := time.Duration(-1)
		if it, ok := q.failed.Min(); ok {
			wait = max(it.until.Sub(q.opts.Now()), 0)
		}
		q.cond.WaitFor(p, wait)
	}
}

func (q *Queue) pop() *Item {
	it, ok := q.active.Min()
	if !ok {
		it, ok = q.backoff.Min()
	}
	if !ok {
		return nil
	}
	q.take(it)
	delete(q.items, it.Info.Key)
	it.Attempts++
	q.tried++
	if q.onTake != nil {
		q.onTake(q.opts.Now().Sub(it.moved))
	}
	q.changed()
	return it
}

// endBackoffs makes pods active whose back-off is over.
func (q *Queue) endBackoffs() {
	now := q.opts.Now()
	for _, from := range []*btree.BTreeG[*Item]{q.backoff, q.failed} {
		for {
			it, ok := from.Min()
			if !ok || it.until.After(now) {
				break
			}
			q.take(it)
			q.put(it, active, "its back-off is over", it.Cause)
		}
	}
}

// Refused puts a popped pod back that fits nowhere, with the plugins that refused it. Without any it waits as after an error.
func (q *Queue) Refused(it *Item, by []string, cause event.Seq) {
	if len(by) == 0 {
		q.Failed(it, cause)
		return
	}
	it.Since, it.refusers = q.opts.Now(), by
	it.refusals++
	it.errors = 0
	q.back(it)
	q.put(it, unschedulable, "refused by "+join(by), cause)
}

// Failed puts a popped pod back whose attempt ended in an error.
func (q *Queue) Failed(it *Item, cause event.Seq) {
	it.Since, it.refusers = q.opts.Now(), nil
	it.errors++
	q.back(it)
	q.put(it, failed, "the attempt failed", cause)
}

func (q *Queue) back(it *Item) {
	q.returned++
	q.items[it.Info.Key] = it
}

// Move wakes the pods for which the change matters to a plugin that refused them.
func (q *Queue) Move(ch *framework.Change, cause event.Seq) {
	if q.parked.Len() == 0 {
		return
	}
	type woken struct {
		it *Item
		by string
	}
	var all []woken
	seen := map[*Item]bool{}
	for _, w := range q.opts.Plugins.Wakers {
		tree := q.refused[w.Name()]
		if tree == nil {
			continue
		}
		tree.Scan(func(it *Item) bool {
			if !seen[it] && w.Wakes(ch, it.Info) {
				seen[it] = true
				all = append(all, woken{it, w.Name()})
			}
			return true
		})
	}
	for _, x := range all {
		q.wake(x.it, ch.Why+" ("+x.by+")", cause)
	}
}

// Flush wakes pods that have been unschedulable for too long. Their cause stays what refused them.
func (q *Queue) Flush() {
	now := q.opts.Now()
	var stale []*Item
	q.parked.Scan(func(it *Item) bool {
		if now.Sub(it.Since) > StaleAfter && !q.opts.Plugins.Gates.Gated(it.Info.Pod) {
			stale = append(stale, it)
		}
		return true
	})
	for _, it := range stale {
		q.wake(it, "unschedulable for 5 minutes", it.Cause)
	}
}

// wake moves an unschedulable pod to active, or to backoff while its back-off lasts.
func (q *Queue) wake(it *Item, why string, cause event.Seq) {
	q.take(it)
	if end := it.backoffEnd(); end.After(q.opts.Now()) {
		q.put(it, backoff, why, cause)
		return
	}
	q.put(it, active, why, cause)
}
