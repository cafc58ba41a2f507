package gateway

import (
	"context"
	"errors"
	"io"
	"sync"

	"example.com/kubeviz/components/kubeapi"
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

	mu     sync.Mutex
	events []kubeapi.WatchEvent
	err    error
	full   bool
	bell   chan struct{} // holds one token when there is news
}

// Watch opens a watch. Close must follow.
func (c *Client) Watch(ctx context.Context, r *kubeapi.Request) (*Watch, error) {
	w := &Watch{c: c, bell: make(chan struct{}, 1)}
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
	w.events = append(w.events, e)
	w.ring()
	return true
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
func (w *Watch) Close() {
	w.c.g.cfg.Loop.Control(func() {
		if w.stream != nil {
			w.stream.Close(ErrClosed)
		}
	})
}
