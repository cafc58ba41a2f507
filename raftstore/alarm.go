package raftstore

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// Space. Each member weighs its own database after every entry. One that is over the quota raises NOSPACE through the log, so that all members turn down what
// puts something from the same entry on. The alarm goes by Disarm alone; while the cause is there it is raised again by the first entry after that.

// space is the part of a life that knows how large its database is.
type space struct {
	size, inUse atomic.Int64
	alarms      atomic.Pointer[[]mvcc.Alarm]
	// raising: an alarm is on its way.
	raising atomic.Bool
}

// SetQuota bounds the database of each member.
func (c *RaftCluster) SetQuota(bytes int64) {
	c.upkeep.quota.Store(max(0, bytes))
	for _, m := range c.places() {
		if l := m.current(); l != nil {
			if p := l.peer.Load(); p != nil {
				p.WithState(l.weigh)
			}
		}
	}
}

func (c *RaftCluster) quota() int64 { return cmp.Or(c.upkeep.quota.Load(), DefaultQuota) }

// weigh runs with the state locked. A member that is not ready may know neither its size nor the alarms in force, and raises none.
func (l *life) weigh(kv *mvcc.Store) {
	s := &l.space
	s.size.Store(kv.DBSize())
	s.inUse.Store(kv.InUse())
	alarms := kv.Alarms()
	if known := s.alarms.Load(); known == nil || !slices.Equal(*known, alarms) {
		alarms = slices.Clone(alarms)
		s.alarms.Store(&alarms)
	}
	mine := mvcc.Alarm{Kind: mvcc.NoSpace, Member: l.m.name}
	if s.size.Load() <= l.m.c.quota() || !l.ready.Load() || slices.Contains(alarms, mine) || !s.raising.CompareAndSwap(false, true) {
		return
	}
	l.write(context.Background(), peer.EncodeRaise(l.newID(), mine), func(r TxnResult) {
		s.raising.Store(false)
		if p := l.peer.Load(); r.Err != ErrStopped && p != nil {
			p.WithState(l.weigh) // it may have been refused, or lifted meanwhile
		}
	})
}

// status adds what is known of the space.
func (s *space) status(to *MemberStatus, quota int64) {
	to.DBSize, to.DBInUse, to.Quota = s.size.Load(), s.inUse.Load(), quota
	if a := s.alarms.Load(); a != nil {
		to.Alarms = *a
	}
}

// Disarm lifts all alarms; see Store.
func (m *member) Disarm(ctx context.Context, done func(Written)) {
	l, err := m.voting()
	if err != nil {
		done(Written{Outcome: Refused, Err: err})
		return
	}
	l.write(ctx, peer.EncodeDisarm(l.newID()), func(r TxnResult) { done(r.Written) })
}
