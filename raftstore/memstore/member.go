package memstore

import (
	"context"
	"errors"
	"fmt"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// member is a place for one. Its state is the cluster's while it is connected, and the frozen one otherwise.
type member struct {
	c    *Cluster
	name string
	// in: it is a member, with a vote unless it is a learner; lives counts how often the place joined; started: it ran since it did.
	in, learner, started bool
	lives                int
	up                   bool
	// connected: it reaches the leader, or is it. ready: it was connected since its start.
	connected, ready bool
	// wiped: it forgot what it acknowledged, and no leader has caught it up yet.
	wiped   bool
	frozen  *mvcc.View
	watches []*watch
	// term is the newest it has heard of; its disk remembers.
	term uint64
	disk failure.Disk
	// err is why it is not up although nobody stopped it.
	err string
	// dbSize is what its database has grown to.
	dbSize int64
	// reported is the last status told to the observer.
	reported raftstore.MemberStatus
}

var _ raftstore.Store = (*member)(nil)

func (m *member) voter() bool { return m.in && !m.learner }

// id is what it votes under.
func (m *member) id() string {
	if m.lives == 1 {
		return m.name
	}
	return fmt.Sprintf("%s#%d", m.name, m.lives)
}

func (m *member) view() *mvcc.View {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.c.kv.View
}

// written says how a write ended that the state machine has answered.
func (c *Cluster) written(err error) raftstore.Written {
	if err != nil {
		return raftstore.Written{Outcome: raftstore.Refused, Err: translate(err)}
	}
	return raftstore.Written{Term: c.term}
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
		c.ask(request{m: m, ctx: ctx, write: true, refuse: refuse, serve: func() {
			result, events := c.kv.Apply(t)
			c.publish(t.Tag, events)
			r := raftstore.TxnResult{Written: c.written(result.Err)}
			if result.Err == nil {
				r.Result = result
			}
			c.call(func() { done(r) })
			c.changed()
		}})
	})
}

// write runs do, which changes the state otherwise than by a transaction, at once if m reaches the leader.
func (m *member) write(ctx context.Context, do func() error, done func(raftstore.Written)) {
	c := m.c
	c.locked(func() {
		c.ask(request{m: m, ctx: ctx, write: true,
			refuse: func(err error) { c.call(func() { done(raftstore.Written{Outcome: raftstore.Refused, Err: err}) }) },
			serve: func() {
				w := c.written(do())
				c.call(func() { done(w) })
				c.changed()
			}})
	})
}

// Compact drops history.
func (m *member) Compact(ctx context.Context, rev int64, done func(raftstore.Written)) {
	m.write(ctx, func() error {
		err := m.c.kv.Compact(rev)
		if err == nil {
			m.c.tell(raftstore.Change{Kind: raftstore.Compacted, Revision: rev})
		}
		return err
	}, done)
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

// HashKV is a checksum of what this member holds.
func (m *member) HashKV(rev int64) (mvcc.HashKV, error) {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	if !m.up {
		return mvcc.HashKV{}, raftstore.ErrStopped
	}
	h, err := m.view().HashKV(rev)
	return h, translate(err)
}

func translate(err error) error {
	switch {
	case errors.Is(err, mvcc.ErrCompacted):
		return raftstore.ErrCompacted
	case errors.Is(err, mvcc.ErrFutureRev):
		return raftstore.ErrFutureRev
	case errors.Is(err, mvcc.ErrNoSpace):
		return raftstore.ErrNoSpace
	case errors.Is(err, mvcc.ErrLeaseNotFound):
		return raftstore.ErrLeaseNotFound
	}
	return err
}

// Status is the member's own view. Indexes are revisions here.
func (m *member) Status() raftstore.MemberStatus {
	m.c.mu.Lock()
	defer m.c.mu.Unlock()
	return m.status()
}

func (m *member) status() raftstore.MemberStatus {
	c := m.c
	s := raftstore.MemberStatus{Name: m.name, ID: m.id(), Role: raftstore.Down, Err: m.err, Disk: m.disk, Quota: c.quota}
	if !m.up {
		return s
	}
	view := m.view()
	rev := uint64(view.Revision())
	s.Role, s.Term, s.Up, s.Ready = raftstore.Follower, m.term, true, m.ready
	s.LastIndex, s.CommitIndex, s.Applied = rev, rev, rev
	s.Revision, s.Compacted, s.SizeBytes = view.Revision(), view.CompactedRevision(), view.Size()
	s.DBSize, s.DBInUse, s.Alarms = m.dbSize, view.InUse(), view.Alarms()
	if m.wiped {
		s.Err = raftstore.MutedReason
	}
	if m.learner {
		s.Role = raftstore.Learner
	}
	if m.connected {
		s.Leader = c.leader.name
		if m == c.leader {
			s.Role = raftstore.Leader
		}
	}
	return s
}
