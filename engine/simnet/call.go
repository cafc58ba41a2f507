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
	watch := &callWatch[T]{net: n, to: to, group: group, answer: &answer}
	n.open(watch)
	defer n.closed(watch)
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
			return nil
		}
		if left <= again {
			p.Sleep(left)
			return ErrTimeout
		}
		p.Sleep(again)
		again = min(2*again, retransmitMax)
	}
}

// callWatch resets a call whose server goes away. A machine that is off says nothing: the caller then waits for its timeout.
type callWatch[T any] struct {
	net    *Net
	to     Addr
	group  *sim.Group
	answer *sim.Future[reply[T]]
}

func (w *callWatch[T]) netChanged() {
	if w.answer.Ready() {
		w.net.closed(w)
		return
	}
	if w.group.Dead() && w.net.hosts[w.to.Host] {
		w.net.closed(w)
		w.answer.Set(reply[T]{err: ErrReset})
	}
}

// streamer hears of changes of the network.
type streamer interface{ netChanged() }

func (n *Net) open(s streamer) {
	n.streams[s] = struct{}{}
	n.order = append(n.order, s)
	if len(n.order) > 64 && len(n.order) > 2*len(n.streams) {
		kept := n.order[:0]
		for _, o := range n.order {
			if d, ok := o.(interface{ over() bool }); ok && d.over() {
				delete(n.streams, o)
			}
			if _, open := n.streams[o]; open {
				kept = append(kept, o)
			}
		}
		clear(n.order[len(kept):])
		n.order = kept
	}
}

func (w *callWatch[T]) over() bool { return w.answer.Ready() }

func (n *Net) closed(s streamer) { delete(n.streams, s) }
