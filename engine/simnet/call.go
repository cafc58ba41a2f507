package simnet

import (
	"time"

	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/sim"
)

// retransmit is how long a sender waits before it sends a lost packet again (TCP's minimum timeout, doubling).
const (
	retransmitMin = 200 * time.Millisecond
	retransmitMax = 30 * time.Second
)

// Call carries a request from the process p at from to the process at to, runs serve there in a process of its own (in the server's group, with the
// caller's cause), and carries the answer back. Lost packets are sent again until timeout has passed since the call began (a negative timeout means none), or
// until nothing has come through for as long as the connection's keep-alive waits.
//
// Errors: ErrRefused at once when nobody listens, ErrTimeout, ErrReset when the server ended while it worked and its machine lives to say so. After
// ErrTimeout and ErrReset the server may or may not have done the work.
func Call[T any](p *sim.Proc, n *Net, from, to Addr, timeout time.Duration, serve func(*sim.Proc) T) (T, error) {
	return CallOn(p, n, nil, from, to, timeout, serve)
}

// CallOn is Call on a connection that can be hung up meanwhile: then it ends with ErrClosed. conn may be nil.
func CallOn[T any](p *sim.Proc, n *Net, conn *Conn, from, to Addr, timeout time.Duration, serve func(*sim.Proc) T) (T, error) {
	var zero T
	c := &call[T]{net: n, from: from, to: to}
	defer conn.add(func() { c.hungUp = true; c.bell.Broadcast() })()
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
	defer conn.add(func() { answer.Set(reply[T]{err: ErrClosed}) })()
	watch.netChanged()
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
	hungUp   bool
	bell     sim.Cond // rings when the connection is hung up
}

// pause waits; it ends early when the connection is hung up.
func (c *call[T]) pause(p *sim.Proc, d time.Duration) error {
	if !c.hungUp && d > 0 {
		c.bell.WaitFor(p, d)
	}
	if c.hungUp {
		return ErrClosed
	}
	return nil
}

// deliver carries one packet, again and again until it arrives or the deadline passes.
func (c *call[T]) deliver(p *sim.Proc, from, to Addr, request bool) error {
	again := retransmitMin
	began := p.Now()
	for {
		v := c.net.Verdict(from, to)
		left := c.deadline.Sub(p.Now())
		if !v.Drop && v.Delay <= left {
			if err := c.pause(p, v.Delay); err != nil {
				return err
			}
			if request && v.Refuse {
				return ErrRefused
			}
			if c.net.hosts[from.Host] && c.net.hosts[to.Host] {
				return nil
			}
			left -= v.Delay // a machine went off while the packet was on its way
		}
		if left = min(left, keepAlive-p.Now().Sub(began)); left <= again {
			if err := c.pause(p, left); err != nil {
				return err
			}
			return ErrTimeout
		}
		if err := c.pause(p, again); err != nil {
			return err
		}
		again = min(2*again, retransmitMax)
	}
}

// callWatch resets a call whose server goes away. A machine that is off or behind a cut says nothing: the caller then waits for the link to heal, for its
// timeout, or until the connection's keep-alive gives up.
type callWatch[T any] struct {
	net      *Net
	from, to Addr
	group    *sim.Group
	answer   *sim.Future[reply[T]]
	silent   *clock.Timer // running while nothing gets through
	over     bool
}

func (w *callWatch[T]) netChanged() {
	switch {
	case w.answer.Ready():
	case !w.net.Reachable(w.to, w.from) || !w.net.Reachable(w.from, w.to):
		if w.silent == nil {
			w.silent = w.net.loop.After(keepAlive, func() { w.answer.Set(reply[T]{err: ErrTimeout}) })
		}
	case w.group.Dead():
		w.answer.Set(reply[T]{err: ErrReset})
	default:
		w.silent.Stop()
		w.silent = nil
	}
}

func (w *callWatch[T]) end() {
	w.silent.Stop()
	w.over = true
	w.net.ended(w)
}

func (w *callWatch[T]) ended() bool     { return w.over }
func (w *callWatch[T]) hosts() []string { return []string{w.from.Host, w.to.Host} }
