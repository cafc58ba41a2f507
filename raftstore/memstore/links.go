package memstore

import (
	"context"

	"example.com/kubeviz/raftstore"
)

// attempts is how many messages in a row a link must lose to count as cut: one that loses some still works.
const attempts = 8

// request waits for a leader. m is who it was brought to; nil: any member that reaches the leader will do.
type request struct {
	m      *member
	ctx    context.Context
	serve  func()
	refuse func(error)
	// write: it changes what is on disks.
	write bool
}

func (c *Cluster) reach(a, b *member) bool {
	if a == b {
		return a.up
	}
	return a.up && b.up && c.passes(a, b) && c.passes(b, a)
}

func (c *Cluster) passes(from, to *member) bool {
	for range attempts {
		if v := c.net.Verdict(raftstore.Packet{From: from.name, To: to.name, Kind: "append"}); v.Refuse {
			return false
		} else if !v.Drop {
			return true
		}
	}
	return false
}

// mayLead reports that m votes and reaches a majority of those that do. One that was wiped may not vote.
func (c *Cluster) mayLead(m *member) bool {
	if !m.voter() || m.wiped {
		return false
	}
	voters, reached := 0, 0
	for _, other := range c.places {
		if other.voter() {
			voters++
			if !other.wiped && c.reach(m, other) {
				reached++
			}
		}
	}
	return reached > voters/2
}

// examine works out anew who leads and who is connected, and lets go what waited for that.
func (c *Cluster) examine() {
	if c.leader == nil || !c.mayLead(c.leader) {
		c.leader = nil
		for _, m := range c.places {
			if c.mayLead(m) {
				c.leader = m
				c.term++
				c.countLeases()
				break
			}
		}
	}
	for _, m := range c.places {
		connected := c.leader != nil && c.reach(m, c.leader)
		if connected && !m.in {
			m.stop(raftstore.RemovedReason(m.name)) // it hears of it now
			continue
		}
		if m.connected && !connected {
			m.frozen = c.kv.Snapshot()
		}
		m.connected = connected
		if connected {
			m.term = c.term
			m.ready, m.wiped, m.frozen = true, false, nil
			m.weigh()
			m.catchUp()
		}
	}
	c.report()
	c.raise()
	waiting := c.waiting
	c.waiting = nil
	for _, r := range waiting {
		c.ask(r)
	}
}

func (c *Cluster) report() {
	for _, m := range c.places {
		s := m.status()
		if s.Role != m.reported.Role || s.Term != m.reported.Term || s.Leader != m.reported.Leader || s.Up && s.Err != m.reported.Err {
			m.reported = s
			if c.obs != nil {
				c.call(func() { c.obs.RoleChanged(s) })
			}
		}
	}
}

// ask serves r, or lets it wait.
func (c *Cluster) ask(r request) {
	switch {
	case r.m != nil && !r.m.up:
		r.refuse(raftstore.ErrStopped)
	case r.m != nil && r.m.in && r.m.learner:
		r.refuse(raftstore.ErrLearner)
	case r.ctx.Err() != nil:
		r.refuse(raftstore.ErrTimeout)
	case r.write && c.leader != nil && (r.m == nil || r.m.connected) && c.disksFail():
		c.examine()
		c.ask(r)
	case r.m == nil && c.leader != nil, r.m != nil && r.m.connected:
		r.serve()
	default:
		kept := c.waiting[:0]
		for _, w := range c.waiting {
			if w.ctx.Err() != nil {
				w.refuse(raftstore.ErrTimeout)
			} else {
				kept = append(kept, w)
			}
		}
		c.waiting = append(kept, r)
	}
}

// changed follows a write that was made: what it caused is told, and each member weighs its database.
func (c *Cluster) changed() {
	c.highest = max(c.highest, c.kv.Revision())
	for _, m := range c.places {
		if m.connected {
			m.weigh()
		}
	}
	c.raise()
}
