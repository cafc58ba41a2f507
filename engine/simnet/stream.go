package simnet

import (
	"errors"
	"io"
	"time"

	"example.com/kubeviz/engine/clock"
	"example.com/kubeviz/engine/sim"
)

// Keep-alive of HTTP/2 connections as Kubernetes clients set it: a ping after 30 s of silence, 15 s for its answer
// (apimachinery pkg/util/net: HTTP2_READ_IDLE_TIMEOUT_SECONDS, HTTP2_PING_TIMEOUT_SECONDS). A dead link is noticed after their sum.
const keepAlive = 45 * time.Second

// Stream carries values from a server process to a client process in order, as one open HTTP/2 stream does: while the link is cut, values wait at the
// sender (the transport retransmits); when it heals within the keep-alive they arrive, otherwise the client's end breaks with ErrTimeout.
type Stream[T any] struct {
	// Number is what the server calls it, where it numbers its streams.
	Number uint64

	net            *Net
	server, client Addr
	via            *Addr      // a proxy on the way
	group          *sim.Group // of the server
	sending        []sent[T]  // under way, oldest first
	arrived        sim.Queue[T]
	err            error
	onClose        []func()
	flush          *clock.Timer
	broken         *clock.Timer // running while the link is unusable
}

// sent is a value with the instant at which it was given to the network.
type sent[T any] struct {
	value T
	at    time.Time
}

// Open makes a stream from the process at server (in group g) to the one at client, through the proxy via unless that is nil.
// The caller has made the connection by a Call.
func Open[T any](n *Net, server, client Addr, via *Addr, g *sim.Group) *Stream[T] {
	s := &Stream[T]{net: n, server: server, client: client, via: via, group: g}
	n.opened(s)
	s.netChanged()
	return s
}

// Send gives v to the network. On a closed stream nothing happens.
func (s *Stream[T]) Send(v T) {
	if s.err != nil {
		return
	}
	s.sending = append(s.sending, sent[T]{v, s.net.loop.Now()})
	s.schedule()
}

// Waiting counts values that the client has not taken in yet.
func (s *Stream[T]) Waiting() int { return len(s.sending) + s.arrived.Len() }

// Recv parks p until a value arrives; the error that ended the stream comes after the last value.
func (s *Stream[T]) Recv(p *sim.Proc) (T, error) { return s.RecvFor(p, -1) }

// RecvFor is Recv with a limit of simulated time; ErrTimeout when it passes (the stream stays open).
func (s *Stream[T]) RecvFor(p *sim.Proc, d time.Duration) (T, error) {
	v, ok := s.arrived.GetFor(p, d)
	if ok {
		return v, nil
	}
	if s.err != nil {
		return v, s.err
	}
	return v, ErrTimeout
}

// Close ends the stream from either side; the client sees err (nil: io.EOF) after the last value. What was sent before an orderly end still arrives if the
// link carries it; what was under way when the connection broke (ErrReset, ErrTimeout) is lost.
func (s *Stream[T]) Close(err error) {
	if s.err != nil {
		return
	}
	if err == nil {
		err = io.EOF
	}
	if s.broken == nil && !errors.Is(err, ErrReset) && !errors.Is(err, ErrTimeout) {
		s.arrive(s.net.loop.Now())
	}
	s.err = err
	s.net.ended(s)
	s.flush.Stop()
	s.broken.Stop()
	s.arrived.Close()
	for _, fn := range s.onClose {
		fn()
	}
	s.onClose = nil
}

// Server is the process that sends.
func (s *Stream[T]) Server() Addr { return s.server }

// Closed reports whether the stream has ended.
func (s *Stream[T]) Closed() bool { return s.err != nil }

// Err is what ended the stream; nil while it is open.
func (s *Stream[T]) Err() error { return s.err }

// OnClose runs fn when the stream ends, for whatever reason.
func (s *Stream[T]) OnClose(fn func()) {
	if s.err != nil {
		fn()
		return
	}
	s.onClose = append(s.onClose, fn)
}

func (s *Stream[T]) ended() bool { return s.err != nil }

func (s *Stream[T]) hosts() []string {
	if s.via != nil {
		return []string{s.server.Host, s.client.Host, s.via.Host}
	}
	return []string{s.server.Host, s.client.Host}
}

// netChanged looks at the link anew: a dead server process or proxy resets, a dead link starts the keep-alive, a healed one flushes.
func (s *Stream[T]) netChanged() {
	if s.err != nil {
		return
	}
	switch {
	case s.group.Dead() && s.usable(), s.proxyGone():
		s.Close(ErrReset)
	case s.group.Dead() || !s.usable():
		if s.broken == nil {
			s.broken = s.net.loop.After(keepAlive, func() { s.Close(ErrTimeout) })
		}
	default:
		s.broken.Stop()
		s.broken = nil
		s.schedule()
	}
}

// proxyGone: the proxy's program ended and its machine can say so to the client.
func (s *Stream[T]) proxyGone() bool {
	return s.via != nil && !s.net.Listening(*s.via) && s.net.Reachable(*s.via, s.client) && s.net.Reachable(s.client, *s.via)
}

func (s *Stream[T]) usable() bool {
	if s.via != nil {
		n, v := s.net, *s.via
		return n.Listening(v) && n.Reachable(s.server, v) && n.Reachable(v, s.client) && n.Reachable(s.client, v) && n.Reachable(v, s.server)
	}
	return s.net.Reachable(s.server, s.client) && s.net.Reachable(s.client, s.server)
}

// schedule sends the oldest value on its way; what was sent at the same instant travels along.
func (s *Stream[T]) schedule() {
	if s.flush == nil && len(s.sending) > 0 && s.broken == nil {
		s.transmit(0, retransmitMin)
	}
}

// transmit carries values for one latency each, counted from when they were sent; they never overtake one another. What is lost is sent again after a pause that doubles;
// when nothing has come through for as long as the keep-alive waits, its pings have not either, and the connection breaks.
func (s *Stream[T]) transmit(silent, again time.Duration) {
	latency, drop := s.hop()
	wait := latency - s.net.loop.Now().Sub(s.sending[0].at)
	if drop {
		again = min(again, keepAlive-silent)
		wait = again
	}
	s.flush = s.net.loop.After(max(wait, 0), func() {
		s.flush = nil
		switch {
		case s.broken != nil || s.err != nil:
		case !drop:
			s.arrive(s.net.loop.Now().Add(-latency))
			s.schedule()
		case silent+again >= keepAlive:
			s.Close(ErrTimeout)
		default:
			s.transmit(silent+again, min(2*again, retransmitMax))
		}
	})
}

// hop draws the fate of one packet on the way to the client, both legs of it where there is a proxy.
func (s *Stream[T]) hop() (delay time.Duration, drop bool) {
	if s.via == nil {
		v := s.net.Verdict(s.server, s.client)
		return v.Delay, v.Drop
	}
	a, b := s.net.Verdict(s.server, *s.via), s.net.Verdict(*s.via, s.client)
	return a.Delay + b.Delay, a.Drop || b.Drop
}

// arrive hands the client what was sent up to an instant, and the oldest value in any case.
func (s *Stream[T]) arrive(until time.Time) {
	n := 0
	for n < len(s.sending) && (n == 0 || !s.sending[n].at.After(until)) {
		s.arrived.Put(s.sending[n].value)
		n++
	}
	left := copy(s.sending, s.sending[n:])
	clear(s.sending[left:])
	s.sending = s.sending[:left]
}
