package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// maxTTL is etcd's limit, seconds.
const maxTTL = 9_000_000_000

// lessor counts the time of leases for whoever leads.
type lessor struct {
	// now is the virtual time; zero: nobody has told it, and no lease runs out.
	now time.Time
	// ends tells when a lease runs out. next is the first of these, or far away.
	ends map[mvcc.LeaseID]time.Time
	next time.Time
	last mvcc.LeaseID
}

// countLeases gives all leases their full time: a leader cannot know when the one before heard from a client.
func (c *Cluster) countLeases() {
	c.lessor.ends = map[mvcc.LeaseID]time.Time{}
	for _, l := range c.kv.Leases() {
		c.count(l)
	}
	c.look()
}

func (c *Cluster) count(l mvcc.LeaseInfo) {
	if !c.lessor.now.IsZero() {
		c.lessor.ends[l.ID] = c.lessor.now.Add(seconds(l.TTL))
	}
}

func seconds(n int64) time.Duration { return time.Duration(min(n, maxTTL)) * time.Second }

// farAway is when leases run out that never do.
var farAway = time.Unix(1<<40, 0)

func (c *Cluster) look() {
	c.lessor.next = farAway
	for _, end := range c.lessor.ends {
		if end.Before(c.lessor.next) {
			c.lessor.next = end
		}
	}
}

// advance revokes the leases that have run out, the oldest first, if anybody leads.
func (c *Cluster) advance(now time.Time) {
	l := &c.lessor
	first := l.now.IsZero()
	if now.After(l.now) {
		l.now = now
	}
	if first {
		c.countLeases()
		return
	}
	if c.leader == nil || l.now.Before(l.next) {
		return
	}
	var due []mvcc.LeaseID
	for id, end := range l.ends {
		if !end.After(l.now) {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, func(a, b mvcc.LeaseID) int { return cmp.Or(l.ends[a].Compare(l.ends[b]), cmp.Compare(a, b)) })
	for _, id := range due {
		c.ask(request{ctx: context.Background(), write: true, refuse: func(error) {}, serve: func() {
			if end, counted := l.ends[id]; counted && !end.After(l.now) { // a new leader may have begun to count meanwhile
				_ = c.revoke(id, raftstore.LeaseExpired)
				c.changed()
			}
		}})
	}
}

func (c *Cluster) revoke(id mvcc.LeaseID, kind raftstore.ChangeKind) error {
	events, err := c.kv.Revoke(id)
	if err != nil {
		return err
	}
	delete(c.lessor.ends, id)
	c.look()
	c.publish(0, events)
	c.tell(raftstore.Change{Kind: kind, Lease: id, Keys: len(events)})
	return nil
}

// GrantLease makes a lease.
func (m *member) GrantLease(ctx context.Context, ttl time.Duration, done func(raftstore.Lease)) {
	c := m.c
	l := raftstore.Lease{}
	secs := max(1, int64((ttl+time.Second-1)/time.Second))
	m.write(ctx, func() error {
		if secs > maxTTL {
			return raftstore.ErrLeaseTTLTooLarge
		}
		id := c.lessor.last + 1
		for _, taken := c.kv.Lease(id); taken; _, taken = c.kv.Lease(id) {
			id++
		}
		if err := c.kv.Grant(id, secs); err != nil {
			return err
		}
		c.lessor.last = id
		c.count(mvcc.LeaseInfo{ID: id, TTL: secs})
		c.look()
		l.ID, l.TTL = id, seconds(secs)
		c.tell(raftstore.Change{Kind: raftstore.LeaseGranted, Lease: id, TTL: l.TTL})
		return nil
	}, func(w raftstore.Written) { l.Written = w; done(l) })
}

// RevokeLease ends a lease now.
func (m *member) RevokeLease(ctx context.Context, id mvcc.LeaseID, done func(raftstore.Written)) {
	m.write(ctx, func() error { return m.c.revoke(id, raftstore.LeaseRevoked) }, done)
}

// KeepAlive starts a lease's time anew. It is no write.
func (m *member) KeepAlive(ctx context.Context, id mvcc.LeaseID, done func(raftstore.Lease)) {
	c := m.c
	c.locked(func() {
		c.ask(request{m: m, ctx: ctx,
			refuse: func(err error) {
				c.call(func() {
					done(raftstore.Lease{ID: id, Written: raftstore.Written{Outcome: raftstore.Refused, Err: err}})
				})
			},
			serve: func() {
				r := raftstore.Lease{ID: id}
				if l, ok := c.kv.Lease(id); ok {
					c.count(l)
					c.look()
					r.TTL = seconds(l.TTL)
				} else {
					r.Outcome, r.Err = raftstore.Refused, raftstore.ErrLeaseNotFound
				}
				c.call(func() { done(r) })
			}})
	})
}
