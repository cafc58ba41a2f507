package memstore

import (
	"context"
	"errors"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// member is one member. Its state is the cluster's while it is connected, and the frozen one otherwise.
type member struct {
	c    *Cluster
	name string
	up   bool
	// connected: it reaches the leader, or is it.
	connected bool
	// ready: it was connected since its start.
	ready   bool
	frozen  *mvcc.View
	watches []*watch
	// reported is the last status told to the observer.
	reported raftstore.MemberStatus
}

var _ raftstore.Store = (*member)(nil)

// watch is one client's.
type watch struct {
	prefix  string
	next    int64 // first revision not delivered; 0: from the next change on
	deliver func(raftstore.WatchBatch)
	over    bool
}

// Txn applies t at once, if m reaches the leader.
func (m *member) Txn(ctx context.Context, t mvcc.Txn, done func(raftstore.TxnResult)) {
	c := m.c
	refuse := func(err error) {
		c.call(func() { done(raftstore.TxnResult{Written: raftstore.Written{Outcome: raftstore.Refused, Err: err}}) })
	}
	c.locked(func() {
		if err := mvcc.Validate(t); err != nil {
			refuse(err)
			return
		}
		if len(mvcc.AppendTxn(nil, t)) > raftstore.MaxRequestBytes {
			refuse(raftstore.ErrTooLarge)
			return
		}
		c.ask(request{m: m, ctx: ctx, refuse: refuse, serve: func() {
			result, events := c.kv.Apply(t)
			if len(events) > 0 {
				c.publish(raftstore.Applied{Revision: result.Revision, Term: c.term, Tag: t.Tag, Events: events})
			}
			c.call(func() { done(raftstore.TxnResult{Result: result}) })
		}})
	})
}

// Compact drops history, if m reaches the leader.
func (m *member) Compact(ctx context.Context, rev int64, done func(raftstore.Written)) {
	c := m.c
	c.locked(func() {
		c.ask(request{m: m, ctx: ctx,
			refuse: func(err error) { c.call(func() { done(raftstore.Written{Outcome: raftstore.Refused, Err: err}) }) },
			serve: func() {
				err := translate(c.kv.Compact(rev))
				w := raftstore.Written{Err: err}
				if err != nil {
					w.Outcome = raftstore.Refused
				}
				c.call(func() { done(w) })
			}})
	})
}

// Range reads the state; a serializable one on a member that is cut off, the state that member had.
func (m *member) Range(ctx context.Context, r raftstore.RangeRequest, done func(raftstore.RangeResult)) {
	c := m.c
	c.locked(func() {
		refuse := func(err error) { c.call(func() { done(raftstore.RangeResult{Err: err}) }) }
		serve := func() {
			res, err := m.view().Range(r.Range)
			c.call(func() { done(raftstore.RangeResult{RangeResult: res, Err: translate(err)}) })
			if !r.Serializable {
				m.progress()
			}
		}
		if r.Serializable && m.up {
			serve()
			return
		}
		c.ask(request{m: m, ctx: ctx, serve: serve, refuse: refuse})
	})
}

func (m *member) view() *mvcc.View {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.c.kv.View
}

func translate(err error) error {
	switch {
	case errors.Is(err, mvcc.ErrCompacted):
		return raftstore.ErrCompacted
	case errors.Is(err, mvcc.ErrFutureRev):
		return raftstore.ErrFutureRev
	}
	return err
}

// Watch delivers changes. Progress alone is sent after linearizable reads on the member and when it is connected again.
func (m *member) Watch(r raftstore.WatchRequest, deliver func(raftstore.WatchBatch)) (cancel func()) {
	c := m.c
	w := &watch{prefix: r.Prefix, next: r.From, deliver: deliver}
	c.locked(func() {
		if !m.up {
			c.send(w, raftstore.WatchBatch{Err: raftstore.ErrStopped})
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

// feed sends w what it has missed.
func (m *member) feed(w *watch) {
	events, err := m.view().EventsSince(w.prefix, w.next)
	if err != nil {
		m.c.send(w, raftstore.WatchBatch{Err: translate(err)})
		m.drop(w)
		return
	}
	if rev := m.view().Revision(); len(events) > 0 || rev >= w.next {
		m.c.send(w, raftstore.WatchBatch{Events: events, Revision: rev})
	}
}

func (m *member) catchUp() {
	for _, w := range append([]*watch(nil), m.watches...) {
		m.feed(w)
	}
}

// progress tells the watches of m how far they are complete.
func (m *member) progress() {
	rev := m.view().Revision()
	for _, w := range m.watches {
		if w.next <= rev {
			m.c.send(w, raftstore.WatchBatch{Revision: rev})
		}
	}
}

// Status is the member's own view. Indexes are revisions here.
func (m *member) Status() raftstore.MemberStatus {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	return m.status()
}

func (m *member) status() raftstore.MemberStatus {
	s := raftstore.MemberStatus{Name: m.name, Role: raftstore.Down}
	if !m.up {
		return s
	}
	view, c := m.view(), m.c
	rev := uint64(view.Revision())
	s = raftstore.MemberStatus{
		Name: m.name, Role: raftstore.Follower, Term: m.reported.Term, Up: true, Ready: m.ready, LastIndex: rev, CommitIndex: rev, Applied: rev,
		Revision: view.Revision(), Compacted: view.CompactedRevision(), SizeBytes: view.Size(),
	}
	if m.connected {
		s.Term, s.Leader = c.term, c.leader.name
		if m == c.leader {
			s.Role = raftstore.Leader
		}
	}
	return s
}
