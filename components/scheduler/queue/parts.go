package queue

import (
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// put places an item in a part, tells of it and wakes whoever pops.
func (q *Queue) put(it *Item, to part, why string, cause event.Seq) {
	it.until = it.backoffEnd()
	q.insert(it, to)
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

// State is the queue as a fact; inWork counts pods that are being bound.
func (q *Queue) State(inWork int) event.QueueChanged {
	b, u := q.backoff.Len()+q.failed.Len(), q.parked.Len()
	s := event.QueueChanged{Queue: "scheduler", Waiting: q.active.Len(), InWork: inWork, Delayed: b + u,
		Parts: map[string]int{Active: q.active.Len(), Backoff: b, Unschedulable: u}}
	for _, t := range []*btree.BTreeG[*Item]{q.backoff, q.failed} {
		if it, ok := t.Min(); ok && (s.NextDue.IsZero() || it.until.Before(s.NextDue)) {
			s.NextDue = it.until
		}
	}
	return s
}

func contains(list []string, name string) bool { return slices.Contains(list, name) }

func join(list []string) string { return strings.Join(list, ", ") }
