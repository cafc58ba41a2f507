package raftstore

import (
	"strings"
	"sync"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

const (
	// progressEvery is how long a watch that had no event waits to hear that the store has moved on.
	progressEvery = 20 * time.Millisecond
	// batchEvents is about how many events are put together when a client is slower than the store.
	batchEvents = 1000

	// unfed marks a watch that waits for its member to become ready.
	unfed = -1
)

// hub feeds the watches of one life from its state machine.
type hub struct {
	life *life

	mu       sync.Mutex
	watches  map[*watch]struct{}
	ended    error
	revision int64
	// progress runs when some watch lags behind.
	progress *time.Timer
}

// watch is one client's. Its queue is unbounded: the client only posts to a mailbox.
type watch struct {
	prefix  string
	from    int64
	deliver func(WatchBatch)
	wake    chan struct{}

	mu       sync.Mutex
	queue    []WatchBatch
	complete int64 // revision the queue reaches, or unfed
	done     bool  // nothing more is delivered
}

func (l *life) watch(r WatchRequest, deliver func(WatchBatch)) (cancel func()) {
	w := &watch{prefix: r.Prefix, from: r.From, deliver: deliver, wake: make(chan struct{}, 1)}
	l.goes("deliver to a watch", w.run)
	l.mu.Lock()
	switch {
	case l.ended:
		l.mu.Unlock()
		w.push(WatchBatch{Err: ErrStopped})
	case !l.ready.Load():
		// The state may still lie in the past; "from the next change on" would begin with old ones.
		l.deferred = append(l.deferred, func() { l.hub.add(w) })
		l.hub.remember(w)
		l.mu.Unlock()
	default:
		l.mu.Unlock()
		l.hub.add(w)
	}
	return func() {
		l.hub.forget(w)
		w.cancel()
	}
}

// remember makes sure w hears of the end while it is not fed yet.
func (h *hub) remember(w *watch) {
	w.mu.Lock()
	w.complete = unfed
	w.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(w)
}

func (h *hub) put(w *watch) {
	w.mu.Lock()
	cancelled := w.done
	w.mu.Unlock()
	if cancelled {
		return
	}
	if h.ended != nil {
		w.push(WatchBatch{Err: h.ended})
		return
	}
	if h.watches == nil {
		h.watches = make(map[*watch]struct{})
	}
	h.watches[w] = struct{}{}
}

// add gives w its history and then everything new.
func (h *hub) add(w *watch) {
	h.life.peer.Load().WithState(func(kv *mvcc.Store) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.revision = kv.Revision()
		var events []mvcc.Event
		if w.from > 0 {
			var err error
			if events, err = kv.EventsSince(w.prefix, w.from); err != nil {
				delete(h.watches, w)
				w.push(WatchBatch{Err: translate(err)})
				return
			}
		}
		w.mu.Lock()
		w.complete = kv.Revision()
		w.mu.Unlock()
		if len(events) > 0 || w.from > 0 {
			w.push(WatchBatch{Events: events, Revision: kv.Revision()})
		}
		h.put(w)
	})
}

func (h *hub) forget(w *watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watches, w)
}

// publish sends the events of one entry to the watches they concern.
func (h *hub) publish(outcomes []peer.Outcome, revision int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watches) == 0 || revision == h.revision {
		h.revision = revision
		return
	}
	h.revision = revision
	lags := false
	for w := range h.watches {
		if w.reach() == unfed {
			continue
		}
		var events []mvcc.Event
		for i := range outcomes {
			for _, e := range outcomes[i].Events {
				if e.KV.ModRevision >= w.from && strings.HasPrefix(e.KV.Key, w.prefix) {
					events = append(events, e)
				}
			}
		}
		if len(events) > 0 {
			w.push(WatchBatch{Events: events, Revision: revision})
		} else {
			lags = true
		}
	}
	if lags && h.progress == nil && h.ended == nil {
		h.progress = time.AfterFunc(progressEvery, func() {
			defer h.life.recover("watch progress")
			h.flush()
		})
	}
}

// flush tells every watch how far it is complete.
func (h *hub) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.progress != nil {
		h.progress.Stop()
		h.progress = nil
	}
	for w := range h.watches {
		if reach := w.reach(); reach != unfed && reach < h.revision {
			w.push(WatchBatch{Revision: h.revision})
		}
	}
}

// end ends all watches with err. After ErrStopped none can begin; after a restore they can.
func (h *hub) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == ErrStopped {
		h.ended = err
	}
	if h.progress != nil {
		h.progress.Stop()
		h.progress = nil
	}
	for w := range h.watches {
		if err != ErrStopped && w.reach() == unfed {
			continue // nothing was missed
		}
		delete(h.watches, w)
		w.push(WatchBatch{Err: err})
	}
}

func (w *watch) reach() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.complete
}

func (w *watch) push(b WatchBatch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	w.queue = append(w.queue, b)
	w.complete = max(w.complete, b.Revision)
	wake(w.wake)
}

func (w *watch) cancel() {
	w.mu.Lock()
	w.done, w.queue = true, nil
	w.mu.Unlock()
	wake(w.wake)
}

// run delivers until cancelled or until an error was delivered.
func (w *watch) run() {
	for range w.wake {
		for {
			b, ok, done := w.next()
			if done {
				return
			}
			if !ok {
				break
			}
			w.deliver(b)
			if b.Err != nil {
				w.cancel()
				return
			}
		}
	}
}

// next takes as much from the queue as makes a good batch.
func (w *watch) next() (b WatchBatch, ok, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return b, false, true
	}
	n := 0
	for _, q := range w.queue {
		if n > 0 && (q.Err != nil || len(b.Events)+len(q.Events) > batchEvents) {
			break
		}
		if n == 0 {
			b = q
		} else {
			// The events of a batch may be shared, so they are copied when put together.
			b.Events = append(b.Events[:len(b.Events):len(b.Events)], q.Events...)
			b.Revision = q.Revision
		}
		n++
	}
	w.queue = w.queue[n:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	return b, n > 0, false
}
