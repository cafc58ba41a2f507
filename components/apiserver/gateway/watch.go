package gateway

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// window is how many changes may wait for a client outside that reads slowly; beyond it the client's process takes in no more, and what the server sends piles up there as it does in front
// of any slow watcher, until the server ends the watch.
const window = 512

// Watch is an open watch of a client outside.
type Watch struct {
	c      *Client
	stream *kubeapi.WatchStream // loop only
	roomy  sim.Cond             // loop only: there is room again
	// resource that is watched.
	resource string
	told     int // loop only: how far behind it was last told to be

	mu     sync.Mutex
	events []kubeapi.WatchEvent
	oldest time.Time // when the first of events came; simulated
	err    error
	full   bool
	bell   chan struct{} // holds one token when there is news
}

// Watch opens a watch. Close must follow.
func (c *Client) Watch(ctx context.Context, r *kubeapi.Request) (*Watch, error) {
	w := &Watch{c: c, resource: r.Kind.String(), bell: make(chan struct{}, 1)}
	_, err := carry(ctx, c, r, func(p *sim.Proc) (struct{}, error) {
		stream, err := c.dialer.Watch(p, r)
		if err != nil {
			return struct{}{}, err
		}
		if ctx.Err() != nil { // nobody waits any more
			stream.Close(context.Canceled)
			return struct{}{}, ctx.Err()
		}
		w.stream = stream
		c.g.follow(w)
		p.Go("watch", w.receive)
		return struct{}{}, nil
	})
	if err != nil {
		w.Close() // it may open later
		return nil, err
	}
	return w, nil
}

// receive takes in what the server sends, in a process of the client.
func (w *Watch) receive(p *sim.Proc) {
	err := ErrClosed
	defer func() { w.end(err) }()
	for {
		e, rerr := w.stream.Recv(p)
		if rerr != nil {
			err = rerr
			return
		}
		for !w.put(e) {
			w.roomy.Wait(p)
		}
	}
}

// put hands a change over; false: there is no room.
func (w *Watch) put(e kubeapi.WatchEvent) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) >= window {
		w.full = true
		return false
	}
	if len(w.events) == 0 {
		w.oldest = w.c.g.cfg.Loop.Now()
	}
	w.events = append(w.events, e)
	w.ring()
	return true
}

// Measure of how far clients are behind with reading, simulated.
const (
	lagEvery = time.Second
	lagAfter = 2 * time.Second // what waits for less is on its way
)

// follow looks after the lag of a watch while it is open. Loop.
func (g *Gateway) follow(w *Watch) {
	g.watching = append(g.watching, w)
	w.stream.OnClose(func() { g.watching = slices.DeleteFunc(g.watching, func(x *Watch) bool { return x == w }) })
	if !g.measuring && len(g.watching) > 0 {
		g.measuring = true
		g.cfg.Loop.After(lagEvery, g.measure)
	}
}

// measure tells of the watches whose clients are behind, and of those that have caught up; it goes on while there are watches.
func (g *Gateway) measure() {
	for _, w := range g.watching {
		w.tellLag()
	}
	if g.measuring = len(g.watching) > 0; g.measuring {
		g.cfg.Loop.After(lagEvery, g.measure)
	}
}

func (w *Watch) tellLag() {
	g := w.c.g
	w.mu.Lock()
	held, since := len(w.events), w.oldest
	w.mu.Unlock()
	behind := 0
	if held > 0 && g.cfg.Loop.Now().Sub(since) >= lagAfter {
		behind = held + w.stream.Waiting()
	} else {
		since = time.Time{}
	}
	if behind == w.told {
		return
	}
	w.told = behind
	me := event.On(w.c.addr.Process, w.c.addr.Host)
	g.cfg.Sink.Emit(me, w.c.came, event.WatchBehind{Server: w.stream.Server().Host, Watch: w.stream.Number, Resource: w.resource, Client: me, Changes: behind, Since: since})
}

func (w *Watch) end(err error) {
	if err == io.EOF || errors.Is(err, kubeapi.ErrWatchDone) {
		err = io.EOF
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		w.ring()
	}
}

func (w *Watch) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// Next waits for changes and returns all there are; after the last one the error that ended the watch: io.EOF when the server closed it in good order.
func (w *Watch) Next(ctx context.Context) ([]kubeapi.WatchEvent, error) {
	for {
		w.mu.Lock()
		events, err, full := w.events, w.err, w.full
		w.events, w.full = nil, false
		w.mu.Unlock()
		if full {
			w.c.g.cfg.Loop.Post(func() { w.roomy.Broadcast() })
		}
		if len(events) > 0 {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		select {
		case <-w.bell:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.c.g.ended:
			return nil, ErrClosed
		}
	}
}

// Close ends the watch from the client's side.
func (w *Watch) Close() { w.close(ErrClosed) }

// Drop ends the watch because its client does not read what it is sent.
func (w *Watch) Drop() { w.close(kubeapi.ErrTooSlow) }

func (w *Watch) close(err error) {
	w.c.g.cfg.Loop.Control(func() {
		if w.stream != nil {
			w.stream.Close(err)
		}
	})
}
