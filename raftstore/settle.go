package raftstore

import (
	"time"

	"github.com/hashicorp/raft"
)

const (
	// silentAfter is how long a member may hear nothing from a leader before it no longer counts as able to keep up; a connected one hears
	// something every few milliseconds.
	silentAfter = 250 * time.Millisecond
	// startGrace is how long a member that has just started counts although it has heard nothing yet.
	startGrace = time.Second
)

// leaderLife is the life of the leader of the highest term; nil when none is up.
func (c *RaftCluster) leaderLife() *life {
	var leader *life
	var highest uint64
	for _, m := range c.places() {
		l := m.current()
		if l == nil {
			continue
		}
		p := l.peer.Load()
		if p == nil {
			continue
		}
		if state, term := p.Role(); state == raft.Leader && term >= highest {
			leader, highest = l, term
		}
	}
	return leader
}

// Led reports that some member that is up leads.
func (c *RaftCluster) Led() bool { return c.leaderLife() != nil }

// Settled reports that virtual time may run free: a leader that is up is followed by a majority, and no member that hears it has a request to
// answer or an entry to apply. A member that has heard nothing for 250 ms is cut off and does not count, nor do the requests brought to it.
func (c *RaftCluster) Settled() bool {
	leader := c.leaderLife()
	if leader == nil {
		return false
	}
	lp := leader.peer.Load()
	commit := lp.CommitIndex()
	now := time.Now()
	voters, follow := 0, 0
	ids := make(map[string]raft.ServerSuffrage)
	for _, s := range lp.Latest() {
		ids[string(s.ID)] = s.Suffrage
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	for _, m := range c.places() {
		l := m.current()
		if l == nil {
			continue
		}
		p := l.peer.Load()
		if p == nil {
			if now.Sub(l.born) < startGrace {
				return false
			}
			continue
		}
		suffrage, in := ids[p.ID()]
		if !in {
			continue // it was removed, and will hear of it
		}
		if l != leader {
			heard := p.LastContact()
			if grace := l.born.Add(startGrace - silentAfter); heard.Before(grace) {
				heard = grace
			}
			if now.Sub(heard) >= silentAfter {
				continue
			}
			if p.Leader() != leader.m.name {
				return false
			}
		}
		if l.inflight.Load() > 0 || p.Applied() < commit || !l.ready.Load() {
			return false
		}
		if suffrage == raft.Voter {
			follow++
		}
	}
	return follow > voters/2
}

// Status of all members, in order.
func (c *RaftCluster) Status() []MemberStatus {
	places := c.places()
	all := make([]MemberStatus, len(places))
	for i, m := range places {
		all[i] = m.Status()
	}
	return all
}
