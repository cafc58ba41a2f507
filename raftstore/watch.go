package raftstore

import (
	"container/list"
	"slices"
	"sync"

	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

const (
	// batchEvents is about how many events are put together when a client is slower than the store.
	batchEvents = 1000
	// queueEvents is about how many wait for a client. One that is further behind is not fed any more; when it has taken what waits, it goes on from the store's history, and where
	// that is compacted it ends with ErrCompacted, as in etcd.
	queueEvents = 10_000
)

// watch is one client's. While nothing is to be delivered it is only memory: no goroutine, no timer.
type watch struct {
	WatchRequest
	hub     *hub
	deliver func(WatchBatch)

	// Guarded by hub.mu.
	crowd *crowd // that it belongs to; nil: it is not fed
	place int    // in crowd.watches
	// complete is the revision the queue reaches; asked, when it asked for progress, its place among those that did.
	complete int64
	asked    *list.Element

	mu    sync.Mutex
	queue []queued
	// waiting counts the events in queue.
	waiting int
	// running: a goroutine delivers.
	running bool
	// behind: it has missed something from revision From on, and is to go on from history. Written with hub.mu held as well.
	behind bool
	done   bool // nothing more is delivered
}

// queued is a batch that waits; bytes is known where the watch allows fragments.
type queued struct {
	WatchBatch
	bytes int
}

func (l *life) watch(r WatchRequest, deliver func(WatchBatch)) (cancel func()) {
	w := &watch{WatchRequest: r, hub: &l.hub, deliver: deliver}
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
		w.cancel()
		l.hub.forget(w)
	}
}

// want picks the events that the client wants. What it returns may be shared with other watches.
func (w *watch) want(events []mvcc.Event) []mvcc.Event {
	if !w.NoPut && !w.NoDelete && !w.NoPrev && (len(events) == 0 || events[0].KV.ModRevision >= w.From) {
		return events
	}
	var wanted []mvcc.Event
	for i := range events {
		if e := events[i]; w.wants(&e) {
			wanted = append(wanted, e)
		}
	}
	return wanted
}

// wants reports that the client wants e, and takes out of it what it does not.
func (w *watch) wants(e *mvcc.Event) bool {
	if e.KV.ModRevision < w.From || (e.Deleted && w.NoDelete) || (!e.Deleted && w.NoPut) {
		return false
	}
	if w.NoPrev || planted.Is(planted.ForgetPrevious) {
		e.Prev = nil
	}
	return true
}

// push queues a batch. Whoever is not served by now gets a goroutine for as long as something waits.
func (w *watch) push(b WatchBatch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	if w.Fragment && len(b.Events) > 0 {
		w.queue = append(w.queue, fragments(b, w.hub.life.m.c.opt.FragmentMax)...)
	} else {
		w.queue = append(w.queue, queued{WatchBatch: b})
	}
	w.waiting += len(b.Events)
	if !w.running {
		w.running = true
		w.hub.life.goes("deliver to a watch", w.run)
	}
}

// fragments divides a batch where it is larger than most: between revisions where that is enough, else within one.
func fragments(b WatchBatch, most int) []queued {
	var parts []queued
	from, size := 0, 0
	for i := range b.Events {
		n := weight(&b.Events[i])
		if i > from && size+n > most {
			last := b.Events[i-1].KV.ModRevision
			parts = append(parts, queued{WatchBatch{Events: b.Events[from:i:i], Revision: last, Partial: last == b.Events[i].KV.ModRevision}, size})
			from, size = i, 0
		}
		size += n
	}
	return append(parts, queued{WatchBatch{Events: b.Events[from:], Revision: b.Revision}, size})
}

func weight(e *mvcc.Event) int {
	n := len(e.KV.Key) + len(e.KV.Value)
	if e.Prev != nil {
		n += len(e.Prev.Key) + len(e.Prev.Value)
	}
	return n
}

func (w *watch) cancel() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done, w.queue = true, nil
}

func (w *watch) cancelled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// fallBehind reports that w is not to be fed; revision is what it was about to get.
func (w *watch) fallBehind(revision int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.behind && w.waiting > queueEvents {
		w.behind, w.From = true, revision
	}
	return w.behind
}

// run delivers until nothing waits.
func (w *watch) run() {
	for {
		b, what := w.next()
		switch what {
		case nothing:
			return
		case history:
			w.hub.resume(w)
			continue
		}
		if planted.Is(planted.SplitRevision) {
			b = w.split(b)
		}
		w.deliver(b)
		if b.Err != nil {
			w.cancel()
			return
		}
	}
}

// split is planted.SplitRevision: where two events are of one revision it delivers what comes before the second, as if that were all of the revision, and returns the rest.
func (w *watch) split(b WatchBatch) WatchBatch {
	for i := 1; i < len(b.Events); i++ {
		if rev := b.Events[i].KV.ModRevision; rev == b.Events[i-1].KV.ModRevision {
			w.deliver(WatchBatch{Events: b.Events[:i], Revision: rev})
			b.Events = b.Events[i:]
			break
		}
	}
	return b
}

const (
	nothing = iota
	batch
	history
)

// next takes as much from the queue as makes a good batch.
func (w *watch) next() (b WatchBatch, what int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.done && len(w.queue) > 0:
	case !w.done && w.behind:
		return b, history
	default:
		w.running = false
		return b, nothing
	}
	first := &w.queue[0]
	b = first.WatchBatch
	n, events, bytes := 1, len(b.Events), first.bytes
	for _, q := range w.queue[1:] {
		if b.Partial || q.Partial || q.Err != nil || events+len(q.Events) > batchEvents || (w.Fragment && bytes+q.bytes > w.hub.life.m.c.opt.FragmentMax) {
			break
		}
		n, events, bytes = n+1, events+len(q.Events), bytes+q.bytes
	}
	if n > 1 && first.Err == nil {
		// The events of a batch may be shared, so they are copied when put together.
		b = WatchBatch{Events: make([]mvcc.Event, 0, events), Revision: w.queue[n-1].Revision}
		for _, q := range w.queue[:n] {
			b.Events = append(b.Events, q.Events...)
		}
		if events == 0 {
			b.Events = nil
		}
	}
	if n := len(b.Events); planted.Is(planted.SwapEvents) && n > 1 {
		b.Events = slices.Clone(b.Events)
		b.Events[n-2], b.Events[n-1] = b.Events[n-1], b.Events[n-2]
	}
	w.waiting -= events
	clear(w.queue[:n])
	w.queue = w.queue[n:]
	if len(w.queue) == 0 {
		w.queue = nil
	}
	return b, batch
}
