package queue

import (
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler/plugins"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// put places an item in a part, tells of it and wakes whoever pops.
func (q *Queue) put(it *Item, to part, why string, cause event.Seq) {
	it.until, it.moved, it.why = it.backoffEnd(), q.opts.Now(), why
	q.insert(it, to)
	if to == active {
		q.added++
	}
	fact := event.PodQueued{Queue: names[to], Why: why}
	if to == backoff || to == failed {
		fact.Until = it.until
	}
	q.emit(it, cause, fact)
	if to != unschedulable {
		q.cond.Broadcast()
	}
	q.changed()
}

var names = map[part]string{active: Active, backoff: Backoff, failed: Backoff, unschedulable: Unschedulable}

func (q *Queue) emit(it *Item, cause event.Seq, fact event.PodQueued) {
	pod := it.Info.Pod
	fact.Pod = kinds.ObjectRef{Resource: kinds.Pods.Resource, Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)}
	if seq := q.opts.Emit(cause, fact); seq != 0 {
		cause = seq
	}
	if cause != 0 {
		it.Cause = cause
	}
}

func (q *Queue) insert(it *Item, to part) {
	it.part = to
	switch to {
	case active:
		q.active.Set(it)
		q.entered.Set(it)
	case backoff:
		q.backoff.Set(it)
	case failed:
		q.failed.Set(it)
	case unschedulable:
		q.parked.Set(it)
		for _, name := range it.refusers {
			tree := q.refused[name]
			if tree == nil {
				tree = btree.NewBTreeGOptions(byEntry, btree.Options{NoLocks: true})
				q.refused[name] = tree
			}
			tree.Set(it)
		}
	}
}

// take removes an item from its part.
func (q *Queue) take(it *Item) {
	switch it.part {
	case active:
		q.active.Delete(it)
		q.entered.Delete(it)
	case backoff:
		q.backoff.Delete(it)
	case failed:
		q.failed.Delete(it)
	case unschedulable:
		q.parked.Delete(it)
		for _, name := range it.refusers {
			if tree := q.refused[name]; tree != nil {
				tree.Delete(it)
			}
		}
	}
	it.part = out
}

func (q *Queue) changed() {
	if q.onChange != nil {
		q.onChange()
	}
}

// Waiting counts active pods.
func (q *Queue) Waiting() int { return q.active.Len() }

// State is the queue as a fact. inWork counts pods that are being bound; items are the oldest of them.
func (q *Queue) State(inWork int, items []event.QueueItem) event.QueueChanged {
	b, u := q.backoff.Len()+q.failed.Len(), q.parked.Len()
	s := event.QueueChanged{Queue: "scheduler", Waiting: q.active.Len(), InWork: inWork, Delayed: b + u,
		Parts: map[string]int{Active: q.active.Len(), Backoff: b, Unschedulable: u}, Added: q.added, Done: q.tried, Retried: q.returned, Failing: b + u}
	if it, ok := q.entered.Min(); ok {
		s.Oldest = it.moved
	}
	first(q.active, func(it *Item) { s.Items = append(s.Items, it.fact(event.ItemActive)) })
	s.Items = append(s.Items, items...)
	var waits []*Item
	for _, t := range []*btree.BTreeG[*Item]{q.backoff, q.failed} {
		if it, ok := t.Min(); ok && (s.NextDue.IsZero() || it.until.Before(s.NextDue)) {
			s.NextDue = it.until
		}
		first(t, func(it *Item) { waits = append(waits, it) })
	}
	slices.SortStableFunc(waits, func(a, b *Item) int { return a.until.Compare(b.until) })
	for _, it := range waits[:min(len(waits), event.QueueItemsMax)] {
		f := it.fact(event.ItemBackoff)
		f.Due = it.until
		s.Items = append(s.Items, f)
	}
	first(q.parked, func(it *Item) {
		f := it.fact(event.ItemUnschedulable)
		f.Moves = plugins.Moves(it.refusers)
		if !q.opts.Plugins.Gates.Gated(it.Info.Pod) {
			f.Due = it.Since.Add(StaleAfter)
		}
		s.Items = append(s.Items, f)
	})
	return s
}

// first visits the first few items of a part.
func first(t *btree.BTreeG[*Item], visit func(*Item)) {
	n := 0
	t.Scan(func(it *Item) bool {
		visit(it)
		n++
		return n < event.QueueItemsMax
	})
}

func (it *Item) fact(state event.ItemState) event.QueueItem {
	return event.QueueItem{Key: string(it.Info.Key), State: state, Since: it.moved, Why: kubeapi.QueueWhy(it.why), Retries: it.Attempts, Cause: it.Cause}
}

func contains(list []string, name string) bool { return slices.Contains(list, name) }

func join(list []string) string { return strings.Join(list, ", ") }
