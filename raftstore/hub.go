package raftstore

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// progressEvery is how long a watch that asked for progress, and had no event, waits to hear that the store has moved on.
const progressEvery = 20 * time.Millisecond

// hub feeds the watches of one life from its state machine.
//
// A change costs the watches it concerns and no others: those of its very key are found in one map, those of a prefix in another by looking up as many beginnings of the key as there are
// different lengths of prefixes being watched (an API server watches one, an operator with etcdctl perhaps a second).
type hub struct {
	life *life

	mu            sync.Mutex
	exact, prefix map[string]*crowd
	// lengths of prefixes, ascending, and how many prefixes there are of each.
	lengths []int
	lengthN map[int]int
	// unfed are watches that wait for their member to become ready.
	unfed map[*watch]struct{}
	// asked are the watches that asked for progress, those that are complete the least far in front.
	asked list.List
	// touched are the crowds that the present entry concerns.
	touched  []*crowd
	ended    error
	revision int64
	// progress runs when a watch that asked lags behind.
	progress *time.Timer
}

// crowd is the watches of one key or prefix.
type crowd struct {
	key     string
	exact   bool
	watches []*watch
	// events of the entry that is being published.
	events []mvcc.Event
}

// remember makes sure w hears of the end while it is not fed yet.
func (h *hub) remember(w *watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended != nil {
		w.push(WatchBatch{Err: h.ended})
		return
	}
	if h.unfed == nil {
		h.unfed = make(map[*watch]struct{})
	}
	h.unfed[w] = struct{}{}
}

// add gives w its history and then everything new.
func (h *hub) add(w *watch) {
	h.life.peer.Load().WithState(func(kv *mvcc.Store) {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.unfed, w)
		switch {
		case w.cancelled():
			return
		case h.ended != nil:
			w.push(WatchBatch{Err: h.ended})
			return
		}
		h.revision = kv.Revision()
		w.complete = kv.Revision()
		h.join(w)
		if w.From > 0 {
			h.catchUp(w, kv)
		}
	})
}

// resume lets a watch that fell behind go on.
func (h *hub) resume(w *watch) {
	h.life.peer.Load().WithState(func(kv *mvcc.Store) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if w.crowd == nil { // cancelled, or ended
			w.mu.Lock()
			w.behind = false
			w.mu.Unlock()
			return
		}
		h.catchUp(w, kv)
	})
}

// catchUp gives w what happened from From on; of a long history a part, after which it is still behind.
func (h *hub) catchUp(w *watch, kv *mvcc.Store) {
	var events []mvcc.Event
	complete := kv.Revision()
	take := func(e mvcc.Event) bool {
		if len(events) >= queueEvents && events[len(events)-1].KV.ModRevision != e.KV.ModRevision {
			complete = e.KV.ModRevision - 1
			return false
		}
		if w.wants(&e) {
			events = append(events, e)
		}
		return true
	}
	var err error
	if w.Exact {
		var all []mvcc.Event
		all, err = kv.EventsWithin(w.Prefix, "", w.From)
		for _, e := range all {
			if !take(e) {
				break
			}
		}
	} else {
		key, end := mvcc.Prefix(w.Prefix)
		err = kv.Since(key, end, w.From, take)
	}
	if err != nil {
		h.leave(w)
		w.push(WatchBatch{Err: translate(err)})
		return
	}
	w.mu.Lock()
	w.behind = complete < kv.Revision()
	if w.behind {
		w.From = complete + 1
	}
	w.mu.Unlock()
	if len(events) > 0 || w.Progress && complete >= w.From {
		h.give(w, WatchBatch{Events: events, Revision: complete})
	}
}

// give queues a batch and notes how far w is complete with it.
func (h *hub) give(w *watch, b WatchBatch) {
	w.complete = b.Revision
	if w.asked != nil {
		h.asked.MoveToBack(w.asked)
	}
	w.push(b)
}

// join puts w among those that are fed.
func (h *hub) join(w *watch) {
	all := &h.prefix
	if w.Exact {
		all = &h.exact
	}
	c := (*all)[w.Prefix]
	if c == nil {
		if *all == nil {
			*all = make(map[string]*crowd)
		}
		c = &crowd{key: w.Prefix, exact: w.Exact}
		(*all)[w.Prefix] = c
		if !w.Exact {
			h.countLength(len(c.key), 1)
		}
	}
	w.crowd, w.place = c, len(c.watches)
	c.watches = append(c.watches, w)
	if w.Progress {
		w.asked = h.asked.PushBack(w)
	}
}

// leave takes w out, wherever it is.
func (h *hub) leave(w *watch) {
	delete(h.unfed, w)
	if w.asked != nil {
		h.asked.Remove(w.asked)
		w.asked = nil
	}
	c := w.crowd
	if c == nil {
		return
	}
	w.crowd = nil
	last := len(c.watches) - 1
	c.watches[w.place] = c.watches[last]
	c.watches[w.place].place = w.place
	c.watches[last], c.watches = nil, c.watches[:last]
	switch {
	case last > 0:
	case c.exact:
		delete(h.exact, c.key)
	default:
		delete(h.prefix, c.key)
		h.countLength(len(c.key), -1)
	}
}

func (h *hub) countLength(length, by int) {
	if h.lengthN == nil {
		h.lengthN = make(map[int]int)
	}
	before := h.lengthN[length]
	h.lengthN[length] = before + by
	switch i, _ := slices.BinarySearch(h.lengths, length); {
	case before == 0:
		h.lengths = slices.Insert(h.lengths, i, length)
	case before+by == 0:
		delete(h.lengthN, length)
		h.lengths = slices.Delete(h.lengths, i, i+1)
	}
}

func (h *hub) forget(w *watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave(w)
}

// publish sends the events of one entry to the watches they concern. It runs with the state locked.
func (h *hub) publish(outcomes []peer.Outcome, revision int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if revision == h.revision {
		return
	}
	h.revision = revision
	if len(h.exact) == 0 && len(h.prefix) == 0 {
		return
	}
	for i := range outcomes {
		events := outcomes[i].Events
		for j := range events {
			key := events[j].KV.Key
			h.concern(h.exact[key], events, j)
			for _, n := range h.lengths {
				if n > len(key) {
					break
				}
				h.concern(h.prefix[key[:n]], events, j)
			}
		}
	}
	for i, c := range h.touched {
		h.spread(c, revision)
		c.events, h.touched[i] = nil, nil
	}
	h.touched = h.touched[:0]
	if first := h.asked.Front(); first != nil && h.progress == nil && first.Value.(*watch).complete < revision {
		h.progress = time.AfterFunc(progressEvery, func() {
			defer h.life.recover("watch progress")
			h.flush()
		})
	}
}

// concern notes that the event at i is one of c's.
func (h *hub) concern(c *crowd, events []mvcc.Event, i int) {
	switch {
	case c == nil:
	case c.events == nil:
		c.events = events[i : i+1 : i+1] // the usual case is one event, and shares
		h.touched = append(h.touched, c)
	default:
		c.events = append(c.events, events[i])
	}
}

// spread gives the events of a crowd to its watches.
func (h *hub) spread(c *crowd, revision int64) {
	for _, w := range c.watches {
		if w.fallBehind(c.events[0].KV.ModRevision) {
			continue
		}
		if planted.Once(planted.DropEvent, 100) {
			continue
		}
		if events := w.want(c.events); len(events) > 0 {
			h.give(w, WatchBatch{Events: events, Revision: revision})
			if planted.Once(planted.RepeatEvent, 100) {
				h.give(w, WatchBatch{Events: events, Revision: revision})
			}
		}
	}
}

// flush tells every watch that asked how far it is complete.
func (h *hub) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.progress != nil {
		h.progress.Stop()
		h.progress = nil
	}
	for n := h.asked.Len(); n > 0; n-- {
		w := h.asked.Front().Value.(*watch)
		if w.complete >= h.revision {
			return
		}
		if w.fallBehind(w.complete+1) || h.revision < w.From { // it is not complete, or has not begun
			h.asked.MoveToBack(w.asked)
			continue
		}
		if planted.Once(planted.FalseProgress, 20) {
			h.give(w, WatchBatch{Revision: h.revision + 1})
			continue
		}
		h.give(w, WatchBatch{Revision: h.revision})
	}
}

// end ends all watches with err. After ErrStopped none can begin; after a restore they can.
func (h *hub) end(err error) {
	if planted.Is(planted.WatchOverRestore) && err != ErrStopped {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == ErrStopped {
		h.ended = err
		for w := range h.unfed {
			w.push(WatchBatch{Err: err})
		}
		h.unfed = nil // after a restore they have missed nothing
	}
	if h.progress != nil {
		h.progress.Stop()
		h.progress = nil
	}
	for _, all := range [2]map[string]*crowd{h.exact, h.prefix} {
		for _, c := range all {
			for _, w := range c.watches {
				w.crowd, w.asked = nil, nil
				w.push(WatchBatch{Err: err})
			}
		}
	}
	h.exact, h.prefix, h.lengths, h.lengthN = nil, nil, nil, nil
	h.asked.Init()
}
