package simnet

import (
	"time"

	"example.com/kubeviz/engine/sim"
)

// retransmit is how long a sender waits before it sends a lost packet again (TCP's minimum timeout, doubling).
const (
	retransmitMin = 200 * time.Millisecond
	retransmitMax = 30 * time.Second
)

// Call carries a request from the process p at from to the process at to, runs serve there in a process of its own (in the server's group, with the
// caller's cause), and carries the answer back. Lost packets are sent again until timeout has passed since the call began; a negative timeout means none.
//
// Errors: ErrRefused at once when nobody listens, ErrTimeout, ErrReset when the server ended while it worked and its machine lives to say so. After
// ErrTimeout and ErrReset the server may or may not have done the work.
func Call[T any](p *sim.Proc, n *Net, from, to Addr, timeout time.Duration, serve func(*sim.Proc) T) (T, error) {
	var zero T
	c := &call[T]{net: n, from: from, to: to}
	c.deadline = p.Now().Add(timeout)
	if timeout < 0 {
		c.deadline = p.Now().Add(1000 * time.Hour)
	}
	if err := c.deliver(p, from, to, true); err != nil {
		return zero, err
	}
	group := n.listeners[to]
	if group == nil || group.Dead() {
		return zero, ErrRefused
	}
	var answer sim.Future[reply[T]]
	watch := &callWatch[T]{net: n, from: from, to: to, group: group, answer: &answer}
	n.opened(watch)
	defer watch.end()
	n.loop.Spawn(group, "serve", func(sp *sim.Proc) {
		sp.Cause = p.Cause
		v := serve(sp)
		answer.Set(reply[T]{value: v})
	})
	r, ok := answer.AwaitFor(p, c.deadline.Sub(p.Now()))
	if !ok {
		return zero, ErrTimeout
	}
	if r.err != nil {
		return zero, r.err
	}
	if err := c.deliver(p, to, from, false); err != nil {
		return zero, err
	}
	return r.value, nil
}

type reply[T any] struct {
	value T
	err   error
}

type call[T any] struct {
	net      *Net
	from, to Addr
	deadline time.Time
}

// deliver carries one packet, again and again until it arrives or the deadline passes.
func (c *call[T]) deliver(p *sim.Proc, from, to Addr, request bool) error {
	again := retransmitMin
	for {
		v := c.net.Verdict(from, to)
		left := c.deadline.Sub(p.Now())
		if !v.Drop && v.Delay <= left {
			p.Sleep(v.Delay)
			if request && v.Refuse {
				return ErrRefused
			}
			if c.net.hosts[from.Host] && c.net.hosts[to.Host] {
				return nil
			}
			left -= v.Delay // a machine went off while the packet was on its way
		}
		if left <= again {
			p.Sleep(left)
			return ErrTimeout
		}
		p.Sleep(again)
		again = min(2*again, retransmitMax)
	}
}

// callWatch resets a call whose server goes away. A machine that is off or behind a cut says nothing: the caller then waits for its timeout, or
// for the link to heal.
type callWatch[T any] struct {
	net      *Net
	from, to Addr
	group    *sim.Group
	answer   *sim.Future[reply[T]]
	over     bool
}

func (w *callWatch[T]) netChanged() {
	if !w.answer.Ready() && w.group.Dead() && w.net.Reachable(w.to, w.from) && w.net.Reachable(w.from, w.to) {
		w.answer.Set(reply[T]{err: ErrReset})
	}
}

func (w *callWatch[T]) end() {
	w.over = true
	w.net.ended(w)
}

func (w *callWatch[T]) ended() bool     { return w.over }
func (w *callWatch[T]) hosts() []string { return []string{w.from.Host, w.to.Host} }
