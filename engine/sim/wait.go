package sim

import (
	"slices"
	"time"
)

// Cond is something processes wait for. The zero value is ready to use. Loop only.
type Cond struct{ waiting []*Proc }

// Wait parks p until Broadcast or Signal.
func (c *Cond) Wait(p *Proc) {
	c.enter(p)
	defer c.leave(p)
	p.park()
}

// WaitFor is Wait with a limit; it reports false when d passed first. A negative d means no limit.
func (c *Cond) WaitFor(p *Proc, d time.Duration) bool {
	if d < 0 {
		c.Wait(p)
		return true
	}
	c.enter(p)
	defer c.leave(p)
	p.timedOut = false
	p.timer = p.loop.After(d, func() {
		p.timedOut = true
		c.forget(p) // a Signal from now on is for somebody else
		p.wake()
	})
	p.park()
	p.timer.Stop()
	return !p.timedOut
}

// Broadcast wakes all that wait.
func (c *Cond) Broadcast() {
	for _, p := range c.waiting {
		p.wake()
	}
	clear(c.waiting)
	c.waiting = c.waiting[:0]
}

// Signal wakes the one that has waited longest. If that one is killed before it runs, the next is woken in its place.
func (c *Cond) Signal() {
	if len(c.waiting) == 0 {
		return
	}
	p := c.waiting[0]
	c.waiting[0] = nil
	c.waiting = c.waiting[1:]
	p.signaled = true
	p.wake()
}

func (c *Cond) enter(p *Proc) {
	p.mustLive()
	p.signaled = false
	c.waiting = append(c.waiting, p)
}

func (c *Cond) leave(p *Proc) {
	c.forget(p)
	if p.signaled && p.killed {
		c.Signal()
	}
	p.signaled = false
}

func (c *Cond) forget(p *Proc) {
	if i := slices.Index(c.waiting, p); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
}

// Future is a value that comes later. Loop only: an answer from another goroutine comes through Loop.Post, as Resolver does.
type Future[T any] struct {
	cond  Cond
	value T
	set   bool
}

// Set gives the value; only the first counts.
func (f *Future[T]) Set(v T) {
	if f.set {
		return
	}
	f.value, f.set = v, true
	f.cond.Broadcast()
}

// Ready reports whether the value is there.
func (f *Future[T]) Ready() bool { return f.set }

// Await parks p until the value is there.
func (f *Future[T]) Await(p *Proc) T {
	for !f.set {
		f.cond.Wait(p)
	}
	return f.value
}

// AwaitFor is Await with a limit; ok is false when d passed first. A negative d means no limit.
func (f *Future[T]) AwaitFor(p *Proc, d time.Duration) (value T, ok bool) {
	deadline := p.loop.now.Add(d)
	for !f.set {
		left := d
		if d >= 0 {
			left = max(0, deadline.Sub(p.loop.now))
		}
		if !f.cond.WaitFor(p, left) && !f.set {
			return value, false
		}
	}
	return f.value, true
}

// Resolver gives a callback for any goroutine that sets f through the loop's mailbox.
func Resolver[T any](l *Loop, f *Future[T]) func(T) {
	return func(v T) { l.Post(func() { f.Set(v) }) }
}

// Queue hands values from one process to another in order. The zero value is ready to use.
type Queue[T any] struct {
	items  []T
	cond   Cond
	closed bool
}

// Put adds v at the end.
func (q *Queue[T]) Put(v T) {
	q.items = append(q.items, v)
	q.cond.Signal()
}

// Close makes Get report false once the queue is empty.
func (q *Queue[T]) Close() { q.closed = true; q.cond.Broadcast() }

// Len counts what waits.
func (q *Queue[T]) Len() int { return len(q.items) }

// Get parks p until there is a value; false after Close.
func (q *Queue[T]) Get(p *Proc) (v T, ok bool) { return q.GetFor(p, -1) }

// GetFor is Get with a limit; false also when d passed first. A negative d means no limit.
func (q *Queue[T]) GetFor(p *Proc, d time.Duration) (v T, ok bool) {
	deadline := p.loop.now.Add(d)
	for len(q.items) == 0 {
		if q.closed {
			return v, false
		}
		left := d
		if d >= 0 {
			left = max(0, deadline.Sub(p.loop.now))
		}
		if !q.cond.WaitFor(p, left) && len(q.items) == 0 {
			return v, false
		}
	}
	v = q.items[0]
	var zero T
	q.items[0] = zero
	q.items = q.items[1:]
	return v, true
}

// Drain takes everything that waits.
func (q *Queue[T]) Drain() []T {
	out := q.items
	q.items = nil
	return out
}
