package check

import (
	"time"

	"github.com/tidwall/btree"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// leaseTick is how coarse the store's clock may be.
const leaseTick = 250 * time.Millisecond

// leases: a revision that no transaction made is the end of one lease, takes all of its keys and nothing else, and does not come early; at the end no key has outlived its lease.
func (c *checker) leases() {
	for i, r := range c.order.revs {
		if r.op != nil && r.op.Txn != nil {
			continue
		}
		if r.op == nil && c.opt.MayBeCut && len(r.events) > 0 && (!r.events[0].Deleted || r.events[0].Prev == nil || r.events[0].Prev.Lease == 0) {
			continue // a deletion whose call nobody can tell
		}
		c.leaseEnd(r, c.order.states[i])
	}
	if c.h.Complete && c.opt.LeaseSlack > 0 {
		c.outlived()
	}
}

func (c *checker) leaseEnd(r *revision, before *btree.Map[string, mvcc.KV]) {
	var id mvcc.LeaseID
	for _, e := range r.events {
		if !e.Deleted || e.Prev == nil || e.Prev.Lease == 0 || id != 0 && e.Prev.Lease != id {
			c.fail("every revision has its call", "revision %d was asked for by nobody and is not the end of a lease: %s", r.number, describe(r.events))
			return
		}
		id = e.Prev.Lease
	}
	n := 0
	before.Scan(func(_ string, x mvcc.KV) bool {
		if x.Lease == id {
			n++
		}
		return true
	})
	if n != len(r.events) {
		c.fail("a lease takes its keys", "revision %d ended lease %d with %d keys of %d", r.number, id, len(r.events), n)
	}
	at, known := c.at(r)
	if !known {
		return
	}
	var due time.Duration
	granted := false
	for _, o := range c.h.Ops {
		if o.Lease != id || o.Call > r.seen {
			continue
		}
		switch {
		case o.Kind == history.Revoke && (o.Open() || o.Done()):
			return // somebody asked
		case o.Kind == history.Grant && o.Done():
			granted = true
			due = max(due, o.At+o.TTL)
		case o.Kind == history.KeepAlive && o.Done() && o.Return < r.seen:
			due = max(due, o.At+o.TTL)
		}
	}
	if granted && at < due-leaseTick {
		c.fail("a lease lasts", "lease %d ended at %v with revision %d; it had until %v", id, at, r.number, due)
	}
}

// at is when a revision was announced, by the clock.
func (c *checker) at(r *revision) (time.Duration, bool) {
	for i := range c.h.Applied {
		if c.h.Applied[i].Revision == r.number {
			return c.h.Applied[i].At, true
		}
	}
	return 0, false
}

// outlived looks for keys that are still there long after their lease.
func (c *checker) outlived() {
	var led time.Duration // when the last leader came to lead, and began to count anew
	for _, r := range c.h.Roles {
		if r.Role == raftstore.Leader {
			led = r.At
		}
	}
	due := make(map[mvcc.LeaseID]time.Duration)
	for _, o := range c.h.Ops {
		if o.Lease == 0 {
			continue
		}
		switch o.Kind {
		case history.Grant:
			due[o.Lease] = max(due[o.Lease], max(o.Ended, led)+o.TTL)
		case history.KeepAlive:
			if d, ok := due[o.Lease]; ok && o.TTL > 0 {
				due[o.Lease] = max(d, o.Ended+o.TTL)
			}
		}
	}
	c.order.state(c.order.last()).Scan(func(_ string, x mvcc.KV) bool {
		if d, ok := due[x.Lease]; ok && x.Lease != 0 && c.h.Took > d+c.opt.LeaseSlack {
			c.fail("a lease ends", "%s is still there at %v; its lease ran out at %v", kv(x), c.h.Took, d)
		}
		return true
	})
}
