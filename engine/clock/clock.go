// Package clock is simulated time as components see it: what time it is, and a queue of things that are due.
//
// Owns: the Clock contract and Timers. Imports nothing of ours. Goroutines: Timers has one owner, the sim loop. Time: simulated; the zero
// point is whatever instant the loop was started with.
package clock

import (
	"container/heap"
	"time"
)

// Clock tells simulated time. Components read no other clock.
type Clock interface {
	Now() time.Time
}

// Timer is a callback due at an instant. It fires once.
type Timer struct {
	due   time.Time
	seq   uint64
	index int // in the heap; -1 when fired or stopped
	fire  func()
	owner *Timers
}

// Due is the instant at which the timer fires.
func (t *Timer) Due() time.Time { return t.due }

// Stop takes the timer back. It reports whether the timer was still pending.
func (t *Timer) Stop() bool {
	if t == nil || t.index < 0 {
		return false
	}
	heap.Remove(&t.owner.heap, t.index)
	return true
}

// Timers holds pending timers ordered by (due, order of creation), so equal instants fire in the order they were asked for.
type Timers struct {
	heap timerHeap
	seq  uint64
}

// Add makes a timer. fire runs on the loop.
func (ts *Timers) Add(due time.Time, fire func()) *Timer {
	ts.seq++
	t := &Timer{due: due, seq: ts.seq, fire: fire, owner: ts}
	heap.Push(&ts.heap, t)
	return t
}

// Next tells when the earliest timer is due.
func (ts *Timers) Next() (time.Time, bool) {
	if len(ts.heap) == 0 {
		return time.Time{}, false
	}
	return ts.heap[0].due, true
}

// Pop takes out the earliest timer and returns its callback; nil when there is none.
func (ts *Timers) Pop() func() {
	if len(ts.heap) == 0 {
		return nil
	}
	return heap.Pop(&ts.heap).(*Timer).fire
}

// Len counts pending timers.
func (ts *Timers) Len() int { return len(ts.heap) }

type timerHeap []*Timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].seq < h[j].seq
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
