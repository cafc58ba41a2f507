package raftstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/peer"
)

// Changes of the membership. Whoever asks for one speaks to a member that is up, which brings it to the leader it follows. The leader looks whether the change would leave too few
// members at work, with etcd's rules (health.go), and gives it to raft, which makes one change at a time, each an entry of the log.
//
// How it ended is decided by what the members see committed, never by raft's own answer, which may not come: done when a committed configuration shows it; surely not done, and so
// tried again, when a member has applied an entry of a later term than it can have been logged in, and no configuration before that shows it. Trying again cannot do it twice: a change
// names the identity that is to come or go, and the configuration it applies to.

const (
	// removedEvery is how often a member that hears no leader asks the others whether it is still one of them.
	removedEvery = 250 * time.Millisecond
	// activeWithin is how long ago the leader must have heard a member for it to count as connected (etcd's HealthInterval; there are twenty heartbeats in it here too).
	activeWithin = 2 * leaderLease
)

var errManyMembers = fmt.Errorf("etcdserver: too many members in cluster (%d at most)", membersMax)

type changeKind uint8

const (
	addLearner changeKind = iota
	promote
	remove
)

// configureQuestion asks the leader of term for a change: of the member of a name, under the ID that it gets (addLearner) or has.
type configureQuestion struct {
	term     uint64
	change   changeKind
	name, id string
	// number is another for each question. The network may bring one twice, and a copy that comes when the question has been answered must do nothing: "refused" is for ever.
	number uint64
}

// configureAnswer: refused for a reason; or taken, and logged in no term after until; or neither, not now.
type configureAnswer struct {
	refused error
	taken   bool
	until   uint64
}

// removedQuestion asks whether a member, which was one as of a configuration in an era, is none any more; the answer is a bool.
type removedQuestion struct {
	id        string
	era, asOf uint64
}

func (configureQuestion) Kind() string { return "configure" }
func (removedQuestion) Kind() string   { return "member" }

// changing is a change that a leader has given to raft; guarded by life.configuring.
type changing struct{ term, before uint64 }

// Membership is the newest committed configuration that any member ever knew. It does not go back when the only one that knew that it is committed, a leader that removed itself, is gone.
func (c *RaftCluster) Membership() Membership {
	var newest *peer.Configuration
	for _, m := range c.places() {
		if l := m.current(); l != nil {
			if p := l.peer.Load(); p != nil {
				if have := p.Committed(); have != nil && (newest == nil || have.Index > newest.Index) {
					newest = have
				}
			}
		}
	}
	if kept := c.roster.Load(); newest == nil || newest.Index <= kept.Index {
		return kept.Membership // knows the term as well
	}
	return membershipOf(newest)
}

// AddMember adds a learner; see Cluster. Until this member is there, its place may still run as what was removed; that ends now.
func (c *RaftCluster) AddMember(ctx context.Context, name string, done func(Written)) {
	if err := CheckMemberName(name); err != nil {
		done(Written{Outcome: Refused, Err: err})
		return
	}
	c.changes("add", name, func() Written {
		var id string
		if err := c.editRoster(func(r *roster) { id = r.nextID(name) }); err != nil {
			return Written{Outcome: Refused, Err: err}
		}
		w := c.change(ctx, addLearner, name, id)
		switch w.Outcome {
		case Done:
			m := c.place(name)
			m.kill("")
			m.waitDown()
			if _, err := m.identify(); err != nil { // its start will say so
				c.logger.Error("empty the place of a new member", "member", name, "error", err)
			}
		case Refused: // the ID was given to nobody
			if err := c.editRoster(func(r *roster) { r.takeBack(name, id) }); err != nil {
				c.logger.Error("members of the store", "error", err)
			}
		}
		return w
	}, done)
}

// PromoteMember makes a learner a voter; see Cluster.
func (c *RaftCluster) PromoteMember(ctx context.Context, name string, done func(Written)) {
	c.changes("promote", name, func() Written { return c.change(ctx, promote, name, "") }, done)
}

// RemoveMember takes a member out; see Cluster.
func (c *RaftCluster) RemoveMember(ctx context.Context, name string, done func(Written)) {
	c.changes("remove", name, func() Written { return c.change(ctx, remove, name, "") }, done)
}

// changes runs a change of members on a goroutine of its own. It belongs to no member, so that a panic in it is what whoever asked is answered: nobody knows how far it came. One in what it does as a
// member is that member's (answerConfigure), and one in done is the caller's.
func (c *RaftCluster) changes(what, name string, do func() Written, done func(Written)) {
	recovering := func() (w Written) {
		defer func() {
			if r := recover(); r != nil {
				w = Written{Outcome: Unknown, Err: panicked(what+" member "+name, r)}
			}
		}()
		return do()
	}
	go func() { done(recovering()) }()
}

// change brings a change about, or finds that it cannot be had.
func (c *RaftCluster) change(ctx context.Context, kind changeKind, name, id string) Written {
	for {
		if id == "" { // it is this one that is meant, also when we try again
			m, _ := c.roster.Load().Find(name) // where there is none the leader will say so
			id = m.ID
		}
		a := c.askConfigure(ctx, configureQuestion{change: kind, name: name, id: id})
		switch {
		case a.refused != nil:
			return Written{Outcome: Refused, Err: a.refused}
		case a.taken:
			if w, known := c.awaitChange(ctx, kind, id, a.until); known {
				return w
			}
		}
		if !c.pause(ctx) {
			return Written{Outcome: Refused, Err: c.gaveUp(ctx)}
		}
	}
}

// pause waits a moment; false when the caller has given up or the cluster is closed.
func (c *RaftCluster) pause(ctx context.Context) bool {
	t := time.NewTimer(retryEvery)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-c.over:
	}
	return false
}

func (c *RaftCluster) gaveUp(ctx context.Context) error {
	if ctx.Err() != nil {
		return ErrTimeout
	}
	return ErrStopped
}

// awaitChange waits until it is known whether a change that was logged in no term after until is made; known false: it is not and never will be.
func (c *RaftCluster) awaitChange(ctx context.Context, kind changeKind, id string, until uint64) (w Written, known bool) {
	for {
		over := c.appliedAfter(until)
		if m := c.roster.Load().Membership; made(m, kind, id) {
			return Written{Index: m.Index, Term: m.Term}, true
		}
		if over {
			return Written{}, false
		}
		if !c.pause(ctx) {
			return Written{Outcome: Unknown, Err: c.gaveUp(ctx)}, true
		}
	}
}

// appliedAfter tells whether a member has applied an entry of a later term.
func (c *RaftCluster) appliedAfter(term uint64) bool {
	return slices.ContainsFunc(c.places(), func(m *member) bool {
		l := m.current()
		return l != nil && l.appliedTerm.Load() > term
	})
}

// made tells whether a configuration shows a change.
func made(m Membership, kind changeKind, id string) bool {
	i := slices.IndexFunc(m.Members, func(x Member) bool { return x.ID == id })
	switch kind {
	case remove:
		return i < 0
	case promote:
		return i >= 0 && !m.Members[i].Learner
	}
	return i >= 0
}

// askConfigure asks the leader that members which are up follow, through one of them.
func (c *RaftCluster) askConfigure(ctx context.Context, q configureQuestion) configureAnswer {
	via, leader, term := c.speaker(q)
	if via == nil {
		return configureAnswer{}
	}
	q.term, q.number = term, c.questions.Add(1)
	if leader == via.m.name {
		return via.answerConfigure(q)
	}
	p := via.peer.Load()
	moved := func() bool { return ctx.Err() != nil || p.Leader() != leader || p.CurrentTerm() != term }
	answer, err := c.fabric.Call(via.m.name, leader, q, via.stop, moved)
	if errors.Is(err, peer.ErrNoAnswer) {
		return configureAnswer{taken: true, until: math.MaxUint64} // nobody knows
	}
	a, _ := answer.(configureAnswer)
	return a
}

// speaker is a member to ask through: one that is up and follows the leader of the highest term that any knows. One that is to go is not asked where another can be.
func (c *RaftCluster) speaker(q configureQuestion) (via *life, leader string, term uint64) {
	for _, m := range c.places() {
		l := m.current()
		if l == nil {
			continue
		}
		p := l.peer.Load()
		if p == nil {
			continue
		}
		if at, follows := p.CurrentTerm(), p.Leader(); follows != "" && (at > term || at == term && via != nil && via.m.name == q.name) {
			via, leader, term = l, follows, at
		}
	}
	return via, leader, term
}

// answerConfigure answers as leader.
func (l *life) answerConfigure(q configureQuestion) configureAnswer {
	defer l.recover("look at a change of members")
	if !l.askedFirst(q.number) {
		return configureAnswer{}
	}
	if !l.configuring.TryLock() {
		return configureAnswer{} // another one is looked at, which may take a while
	}
	defer l.configuring.Unlock()
	p := l.peer.Load()
	if p == nil || !p.Leads(q.term) || l.appliedTerm.Load() != q.term {
		return configureAnswer{}
	}
	conf := p.Committed()
	if conf == nil || !slices.Equal(conf.Servers, p.Latest()) || l.changing.term == q.term && conf.Index <= l.changing.before {
		return configureAnswer{} // one change at a time
	}
	if m, in := membershipOf(conf).Find(q.name); in && q.id == "" {
		return configureAnswer{} // who asks has not heard of it yet
	} else if in && q.change != addLearner && m.ID != q.id {
		return configureAnswer{refused: ErrMemberNotFound} // the one that was meant is gone
	}
	if err := mayChange(q, l.standings(p, conf), p.LastIndex()); err != nil {
		if !l.confirm(q.term, "") || !p.Leads(q.term) {
			return configureAnswer{} // it may be that only this member sees it so
		}
		return configureAnswer{refused: err}
	}
	if !l.step(failure.BeforeConfigure) {
		return configureAnswer{}
	}
	command := peer.AddLearner
	switch q.change {
	case promote:
		command = peer.Promote
	case remove:
		command = peer.Remove
	}
	until, taken := p.Configure(q.term, command, q.id, q.name, conf.Index)
	if taken {
		l.changing = changing{q.term, conf.Index}
		l.step(failure.AfterConfigure)
	}
	return configureAnswer{taken: taken, until: until}
}

// askedFirst tells whether this is the first that is heard of a question of changes.
func (l *life) askedFirst(number uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.questions[:], number) {
		return false
	}
	l.questions[l.questionsMet%len(l.questions)] = number
	l.questionsMet++
	return true
}

// standings is how this leader sees the members.
func (l *life) standings(p *peer.Peer, conf *peer.Configuration) []standing {
	now := time.Now()
	var all []standing
	for _, m := range membershipOf(conf).Members {
		s := standing{Member: m, active: m.ID == p.ID(), match: p.Match(m.ID)}
		if heard := p.Heard(m.ID); !heard.IsZero() {
			s.started = true
			s.active = s.active || now.Sub(heard) < activeWithin
		}
		s.active = s.active && !l.m.c.isMuted(m.Name)
		s.started = s.started || !m.Learner // who votes was in step once
		all = append(all, s)
	}
	return all
}

// isMuted tells whether a member keeps out of elections, as a leader would have heard in the answers to its heartbeats. One that is down stays what it was: it comes back without a vote.
func (c *RaftCluster) isMuted(name string) bool {
	m := c.find(name)
	if m == nil {
		return false
	}
	if l := m.current(); l != nil {
		if p := l.peer.Load(); p != nil {
			return p.Muted()
		}
	}
	return m.disk.Wiped()
}

// answerRemoved answers a member that hears no leader.
func (l *life) answerRemoved(q removedQuestion) bool {
	p := l.peer.Load()
	return p != nil && p.Excludes(q.id, q.era, q.asOf)
}

// mindRemoval ends this life when another member says that it was removed. The leader sends nothing more to a member that is being removed, not even that this is committed, so who
// hears no leader has to ask.
func (l *life) mindRemoval() {
	p := l.peer.Load()
	once := func() bool { return true }
	for pause(removedEvery, l.stop) {
		if p.Leader() != "" {
			continue
		}
		q := removedQuestion{id: l.who.ID, era: l.who.Era, asOf: p.MemberAsOf()}
		for _, m := range l.m.c.places() {
			if m == l.m {
				continue
			}
			if yes, err := l.m.c.fabric.Call(l.m.name, m.name, q, l.stop, once); err == nil && yes == true {
				l.m.end(l, RemovedReason(l.m.name))
				return
			}
		}
	}
}
