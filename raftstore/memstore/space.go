package memstore

import (
	"cmp"
	"context"
	"slices"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// weigh follows the growth of a member's database, which is the member's own: it does not shrink when history is dropped.
func (m *member) weigh() { m.dbSize = max(m.dbSize, m.view().InUse()) }

// raise raises the alarm of each member whose database is over the quota, if somebody leads.
func (c *Cluster) raise() {
	if c.leader == nil {
		return
	}
	for _, m := range c.places {
		a := mvcc.Alarm{Kind: mvcc.NoSpace, Member: m.name}
		if m.in && m.connected && m.dbSize > c.quota && c.kv.Raise(a) {
			c.tell(raftstore.Change{Kind: raftstore.AlarmRaised, Alarm: a, Member: m.name})
		}
	}
}

// SetQuota bounds the database of each member.
func (c *Cluster) SetQuota(bytes int64) {
	c.locked(func() {
		c.quota = cmp.Or(max(bytes, 0), raftstore.DefaultQuota)
		c.raise()
	})
}

// Disarm lifts all alarms. A member whose database is still over the quota raises its own again at once.
func (m *member) Disarm(ctx context.Context, done func(raftstore.Written)) {
	m.write(ctx, func() error {
		for _, a := range slices.Clone(m.c.kv.Disarm()) {
			m.c.tell(raftstore.Change{Kind: raftstore.AlarmLifted, Alarm: a, Member: a.Member})
		}
		return nil
	}, done)
}

// Defragment gives the free space of m's database back.
func (m *member) Defragment(done func(before, after int64, err error)) {
	c := m.c
	c.locked(func() {
		if !m.up {
			c.call(func() { done(0, 0, raftstore.ErrStopped) })
			return
		}
		before, after := m.dbSize, m.view().InUse()
		m.dbSize = after
		c.tell(raftstore.Change{Kind: raftstore.Defragmented, Member: m.name, Before: before, After: after})
		c.call(func() { done(before, after, nil) })
	})
}
