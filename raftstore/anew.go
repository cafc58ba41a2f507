package raftstore

import (
	"fmt"
	"slices"
)

// A cluster whose voters have all lost their disks is gone, and begins anew, with the same voters and nothing in it. It does not matter when each was wiped, nor which of them run: a voter
// that was wiped keeps out of elections until a leader has caught it up, and when all were, nobody can lead. As long as one holds what it acknowledged, running or not, nothing begins: it may come
// back. One that had begun to catch up holds something.
//
// What decides is one write of the roster, which makes a new era. Each disk follows when its member starts (member.identify): what is on it of an earlier era counts for nothing, and neither does
// what its members still say. Revisions go on after the highest that any member had, as after a restore, so that no client sees them fall or takes the new for a continuation of the old.

// WipeMember deletes the disk of a member that is down; see Cluster.
func (c *RaftCluster) WipeMember(name string) error {
	m, err := c.member(name)
	if err != nil {
		return err
	}
	c.wiping.Lock()
	defer c.wiping.Unlock()
	if err := m.wipe(); err != nil {
		return fmt.Errorf("wipe %s: %w", name, err)
	}
	c.insider.wiped(name)
	if !c.forgotten() {
		return nil
	}
	if err := c.beginAnew(); err != nil {
		return fmt.Errorf("wipe %s: %w", name, err)
	}
	return nil
}

// forgotten tells whether a voter was wiped and none holds anything that was acknowledged in this era.
func (c *RaftCluster) forgotten() bool {
	kept := c.roster.Load()
	wiped := false
	for _, x := range kept.Members {
		if x.Learner {
			continue // what it has cannot make it lead
		}
		d := c.find(x.Name).disk
		who, err := d.Identity()
		switch {
		case err != nil:
			return false
		case who.ID != "" && who.Era < kept.Era: // it has not lived in this era
		case d.Used():
			return false
		default:
			wiped = wiped || d.Wiped()
		}
	}
	return wiped
}

// beginAnew begins an era with nothing. Learners are others in it, so that what theirs hold is set aside.
func (c *RaftCluster) beginAnew() error {
	c.announcing.Lock()
	err := c.editRoster(func(r *roster) {
		r.Era++
		r.Floor = max(r.Floor, c.highest.Load()) + RevisionBump
		r.Begin = r.Floor
		r.Founders = slices.Clone(r.Members)
		for i, m := range r.Founders {
			if m.Learner {
				r.Founders[i].ID = r.nextID(m.Name)
			}
		}
		r.Membership = Membership{Members: r.Founders, Index: 1, Term: 1}
	})
	c.announcing.Unlock()
	if err != nil {
		return fmt.Errorf("begin anew: %w", err)
	}
	var begin []func()
	for _, m := range c.places() {
		if l := m.current(); l != nil {
			if next := m.renew(l); next != nil {
				begin = append(begin, func() { next.run(l, false) })
			}
		}
	}
	c.forgetTold()
	c.announcing.Lock()
	kept := c.roster.Load()
	c.opt.Observer.Changed(Change{Kind: MembersChanged, Membership: kept.Membership})
	c.opt.Observer.Changed(Change{Kind: BegunAnew, Revision: kept.Begin})
	c.announcing.Unlock()
	for _, run := range begin {
		go run()
	}
	return nil
}
