package memstore

import (
	"strings"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// watch is one client's.
type watch struct {
	raftstore.WatchRequest
	next    int64 // first revision not delivered
	deliver func(raftstore.WatchBatch)
	over    bool
}

// Watch delivers changes. Whoever asked for progress hears of it with each change of other keys, after linearizable reads on the member, and when it is connected again.
func (m *member) Watch(r raftstore.WatchRequest, deliver func(raftstore.WatchBatch)) (cancel func()) {
	c := m.c
	w := &watch{WatchRequest: r, next: r.From, deliver: deliver}
	c.locked(func() {
		switch {
		case !m.up:
			c.send(w, raftstore.WatchBatch{Err: raftstore.ErrStopped})
			return
		case m.in && m.learner:
			c.send(w, raftstore.WatchBatch{Err: raftstore.ErrLearner})
			return
		}
		if w.next == 0 {
			w.next = m.view().Revision() + 1
		}
		m.watches = append(m.watches, w)
		m.feed(w)
	})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		w.over = true
		m.drop(w)
	}
}

func (m *member) drop(w *watch) {
	for i, other := range m.watches {
		if other == w {
			m.watches = append(m.watches[:i:i], m.watches[i+1:]...)
			return
		}
	}
}

// endWatches ends all watches of m.
func (m *member) endWatches(err error) {
	for _, w := range m.watches {
		m.c.send(w, raftstore.WatchBatch{Err: err})
	}
	m.watches = nil
}

// feed sends w what it has missed.
func (m *member) feed(w *watch) {
	rev := m.view().Revision()
	if rev < w.next {
		return
	}
	end := mvcc.PrefixEnd(w.Prefix)
	if w.Exact {
		end = ""
	}
	events, err := m.view().EventsWithin(w.Prefix, end, w.next)
	if err != nil {
		m.c.send(w, raftstore.WatchBatch{Err: translate(err)})
		m.drop(w)
		return
	}
	m.c.sendEvents(w, events, rev)
}

func (m *member) catchUp() {
	for _, w := range append([]*watch(nil), m.watches...) {
		m.feed(w)
	}
}

// progress tells the watches of m that want to know how far they are complete.
func (m *member) progress() {
	rev := m.view().Revision()
	for _, w := range m.watches {
		if w.Progress {
			m.c.send(w, raftstore.WatchBatch{Revision: max(rev, w.next-1)})
		}
	}
}

// publish tells the observer and all watches of connected members about a revision, if there is one.
func (c *Cluster) publish(tag uint64, events []mvcc.Event) {
	if len(events) == 0 {
		return
	}
	a := raftstore.Applied{Revision: c.kv.Revision(), Term: c.term, Tag: tag, Events: events}
	if c.obs != nil {
		c.call(func() { c.obs.Applied(a) })
	}
	for _, m := range c.places {
		if !m.connected {
			continue
		}
		for _, w := range m.watches {
			if a.Revision >= w.next {
				c.sendEvents(w, events, a.Revision)
			}
		}
	}
}

// sendEvents sends what w wants of events, which reach up to revision.
func (c *Cluster) sendEvents(w *watch, events []mvcc.Event, revision int64) {
	var wanted []mvcc.Event
	for _, e := range events {
		if w.wants(&e) {
			wanted = append(wanted, e)
		}
	}
	switch {
	case len(wanted) == 0 && !w.Progress:
		w.next = max(w.next, revision+1)
	case len(wanted) == 0 || !w.Fragment:
		c.send(w, raftstore.WatchBatch{Events: wanted, Revision: revision})
	default:
		c.sendFragments(w, wanted, revision)
	}
}

// wants reports that the client wants e, and takes out of it what it does not.
func (w *watch) wants(e *mvcc.Event) bool {
	if (w.Exact && e.KV.Key != w.Prefix) || !strings.HasPrefix(e.KV.Key, w.Prefix) || (e.Deleted && w.NoDelete) || (!e.Deleted && w.NoPut) {
		return false
	}
	if w.NoPrev {
		e.Prev = nil
	}
	return true
}

// sendFragments divides events where they are too many for one batch: between revisions where that is enough, else within one.
func (c *Cluster) sendFragments(w *watch, events []mvcc.Event, revision int64) {
	from, size := 0, 0
	for i := range events {
		n := len(events[i].KV.Key) + len(events[i].KV.Value)
		if p := events[i].Prev; p != nil {
			n += len(p.Key) + len(p.Value)
		}
		if i > from && size+n > raftstore.MaxFragment {
			last := events[i-1].KV.ModRevision
			c.send(w, raftstore.WatchBatch{Events: events[from:i:i], Revision: last, Partial: last == events[i].KV.ModRevision})
			from, size = i, 0
		}
		size += n
	}
	c.send(w, raftstore.WatchBatch{Events: events[from:], Revision: revision})
}

func (c *Cluster) send(w *watch, b raftstore.WatchBatch) {
	if b.Revision > 0 && !b.Partial {
		w.next = max(w.next, b.Revision+1)
	}
	c.call(func() {
		c.mu.Lock()
		over := w.over
		w.over = over || b.Err != nil
		c.mu.Unlock()
		if !over {
			w.deliver(b)
		}
	})
}
