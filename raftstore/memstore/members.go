package memstore

import (
	"context"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
)

// readyPercent of the leader's state is what a learner needs to be promoted (etcd's readyPercentThreshold).
const readyPercent = 0.9

// Membership is the present configuration.
func (c *Cluster) Membership() raftstore.Membership {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.membership()
}

func (c *Cluster) membership() raftstore.Membership {
	ms := raftstore.Membership{Index: uint64(c.configured), Term: c.configuredIn}
	for _, m := range c.places {
		if m.in {
			ms.Members = append(ms.Members, raftstore.Member{Name: m.name, ID: m.id(), Learner: m.learner})
		}
	}
	return ms
}

func (c *Cluster) reconfigured() {
	c.configured, c.configuredIn = c.kv.Revision(), c.term
	c.tell(raftstore.Change{Kind: raftstore.MembersChanged, Membership: c.membership()})
}

// configure makes a change of the membership, when there is a leader and the change is allowed.
func (c *Cluster) configure(ctx context.Context, change func() error, done func(raftstore.Written)) {
	c.locked(func() {
		c.ask(request{ctx: ctx, write: true,
			refuse: func(err error) { c.call(func() { done(raftstore.Written{Outcome: raftstore.Refused, Err: err}) }) },
			serve: func() {
				err := change()
				w := c.written(err)
				w.Index = uint64(c.kv.Revision())
				if err == nil {
					c.reconfigured()
				}
				c.call(func() { done(w) })
				c.examine()
			}})
	})
}

// AddMember adds a learner, with an empty disk.
func (c *Cluster) AddMember(ctx context.Context, name string, done func(raftstore.Written)) {
	c.configure(ctx, func() error {
		if err := raftstore.CheckMemberName(name); err != nil {
			return err
		}
		m := c.place(name)
		if m != nil && m.in {
			return raftstore.ErrMemberExists
		}
		for _, other := range c.places {
			switch {
			case other.in && other.learner:
				return raftstore.ErrTooManyLearners
			case other.in && !other.connected:
				return raftstore.ErrUnhealthy
			}
		}
		if m == nil {
			m = &member{c: c, name: name, disk: failure.Sound}
		} else {
			if m.up {
				m.stop("")
			}
			c.tell(raftstore.Change{Kind: raftstore.SetAside, Member: name})
			for i := range c.places { // it joins behind the others
				if c.places[i] == m {
					c.places = append(c.places[:i:i], c.places[i+1:]...)
					break
				}
			}
		}
		c.places = append(c.places, m)
		m.empty()
		m.in, m.learner, m.started, m.wiped = true, true, false, false
		m.lives++
		return nil
	}, done)
}

// PromoteMember makes a learner a voter.
func (c *Cluster) PromoteMember(ctx context.Context, name string, done func(raftstore.Written)) {
	c.configure(ctx, func() error {
		m := c.place(name)
		switch {
		case m == nil || !m.in:
			return raftstore.ErrMemberNotFound
		case !m.learner:
			return raftstore.ErrMemberNotLearner
		case !m.started || float64(m.view().Revision()) < readyPercent*float64(c.kv.Revision()):
			return raftstore.ErrLearnerNotReady
		}
		m.learner = false
		return nil
	}, done)
}

// RemoveMember takes a member out, by etcd's rules (server.go, mayRemoveMember): one that does not run is no part of the quorum at work, so only of others is it asked that enough are left.
func (c *Cluster) RemoveMember(ctx context.Context, name string, done func(raftstore.Written)) {
	c.configure(ctx, func() error {
		m := c.place(name)
		if m == nil || !m.in {
			return raftstore.ErrMemberNotFound
		}
		if !m.learner {
			voters, active, startedBut := 0, 0, 0
			for _, other := range c.places {
				if other.voter() {
					voters++
					if other.connected {
						active++
					}
					if other != m {
						startedBut++ // who votes has run at some time
					}
				}
			}
			switch quorum := (voters-1)/2 + 1; {
			case startedBut < quorum:
				return raftstore.ErrNotEnoughStarted
			case m.connected && active-1 < quorum:
				return raftstore.ErrUnhealthy
			}
		}
		m.in, m.learner = false, false
		if m.connected {
			m.stop(raftstore.RemovedReason(m.name))
		}
		return nil
	}, done)
}
