package raftstore

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// Insider is an Observer that also wants to see raft at work: what each member's log holds, whom each member hears, and, for as long as an election goes on and
// a second after it, every single message. Methods must not block.
//
// How much it hears. Logged: once for each batch of entries and member, and once for each entry applied and member. Heard: when a follower has begun or
// ceased to hear its leader. Messages outside an election: votes and snapshots always, of appends the answers to those that carried entries, at most two a
// second and link, and of what is lost one a second and link.
type Insider interface {
	Observer
	Logged(LogChange)
	Heard(Contact)
	// Timed: raft's timeouts are these from now on.
	Timed(Timeouts)
}

// LogKind says what happened to a log.
type LogKind uint8

const (
	// LogOpened: a member that starts found a log From..To on its disk; Entries are the newest of it.
	LogOpened LogKind = iota
	// LogAppended: entries From..To were stored, all of Term. Entries says what they hold where no member has told it before.
	LogAppended
	// LogTruncated: From..To, the end of the log, was deleted because a leader has other entries there.
	LogTruncated
	// LogRestored: a leader's snapshot up to To replaced state and log.
	LogRestored
	// LogSaved: the member made a snapshot up to To.
	LogSaved
	// LogApplied: the state machine has applied everything up to To.
	LogApplied
	// LogWiped: the disk of a member that is down was emptied.
	LogWiped
)

// LogChange is a change of one member's log.
type LogChange struct {
	Member   string
	Kind     LogKind
	From, To uint64
	Term     uint64
	Entries  []LogEntry
	// CommitIndex, Applied and Revision are how far the member is; zero where that cannot be known yet.
	CommitIndex, Applied uint64
	Revision             int64
	// Refused is set with LogApplied where commands of the entry changed nothing; the first member that applies the entry tells.
	Refused Refusal
	// At is wall time.
	At time.Time
}

// Refusal says that Refused of All commands of an entry changed nothing, and of the first of them why: "NOSPACE"; "compare", what it compared with was other; "unchanged"; or
// the error in words.
type Refusal struct {
	Refused, All int
	Why          string
}

// LogEntry is an entry and what it holds.
type LogEntry struct {
	Index, Term uint64
	// Kind: "write", "noop" (a leader's first entry), "configuration", "barrier", "compaction", "lease" (granted or ended), "alarm" (raised, or all lifted), "mark" (says only
	// that a term has begun, or was meant for another). An entry that holds several is named after the first of write, lease, alarm, compaction.
	Kind string
	// Members that a configuration names; Leases is how many leases are granted or ended, Alarm the one that is raised (zero: all are lifted).
	Members []Member
	Leases  int
	Alarm   mvcc.Alarm
	// Writes it holds, at most eight; More is the number of further ones.
	Writes []LogWrite
	More   int
}

// LogWrite is one key that an entry writes.
type LogWrite struct {
	Key    string
	Delete bool
	// Tag is mvcc.Txn.Tag.
	Tag uint64
}

// Contact tells whether a follower hears its leader.
type Contact struct {
	Member, Leader string
	// Lost: nothing was heard since Last, for much longer than is usual. Otherwise it is heard again.
	Lost bool
	Last time.Time // wall
}

// Timeouts of raft, in wall time. A follower stands for election when it has heard nothing for a random time between Heartbeat and twice that, a candidate
// asks again after a random time between Election and twice that, and a leader steps down when it has not reached a majority for Lease.
type Timeouts struct{ Heartbeat, Election, Lease time.Duration }

const (
	// closeLook is how long after the last change of a role every message is shown.
	closeLook = time.Second
	// contactEvery is how often it is looked whom members hear.
	contactEvery = 25 * time.Millisecond
	// describedKept is how many entries are remembered as told, writesShown how many writes of one are.
	describedKept = 4096
	writesShown   = 8
)

// insider feeds an Insider. A nil one does nothing, so that a cluster whose observer is none pays nothing.
type insider struct {
	c    *RaftCluster
	to   Insider
	over chan struct{} // ends the look at contacts
	once sync.Once

	mu        sync.Mutex
	described [describedKept]struct{ index, term uint64 }
	judged    [describedKept]struct{ index, term uint64 } // by the first of the members
}

func newInsider(c *RaftCluster, to Insider) *insider {
	return &insider{c: c, to: to, over: make(chan struct{})}
}

func (in *insider) start() {
	if in == nil {
		return
	}
	in.timed(time.Duration(in.c.heartbeat.Load()))
	go in.watchContacts()
}

func (in *insider) close() {
	if in != nil {
		in.once.Do(func() { close(in.over) })
	}
}

func (in *insider) timed(heartbeat time.Duration) {
	if in != nil {
		in.to.Timed(Timeouts{Heartbeat: heartbeat, Election: heartbeat, Lease: leaderLease})
	}
}

func (in *insider) wiped(member string) {
	if in != nil {
		in.to.Logged(LogChange{Member: member, Kind: LogWiped, At: time.Now()})
	}
}

// tell adds how far the member is.
func (in *insider) tell(l *life, c LogChange) {
	c.Member, c.At = l.m.name, time.Now()
	if p := l.peer.Load(); p != nil {
		c.CommitIndex, c.Applied, c.Revision = p.CommitIndex(), p.Applied(), l.revision.Load()
	}
	in.to.Logged(c)
}

func (in *insider) opened(l *life) func(first, last uint64, newest []*raft.Log) {
	if in == nil {
		return nil
	}
	return func(first, last uint64, newest []*raft.Log) {
		c := LogChange{Kind: LogOpened, From: first, To: last}
		for _, log := range newest {
			c.Term = log.Term
			c.Entries = append(c.Entries, in.describe(log))
		}
		in.tell(l, c)
	}
}

// appended tells of stored entries, those of one term at a time.
func (in *insider) appended(l *life) func([]*raft.Log) {
	if in == nil {
		return nil
	}
	return func(logs []*raft.Log) {
		for len(logs) > 0 {
			n := 1
			for n < len(logs) && logs[n].Term == logs[0].Term {
				n++
			}
			c := LogChange{Kind: LogAppended, From: logs[0].Index, To: logs[n-1].Index, Term: logs[0].Term}
			for _, log := range logs[:n] {
				if in.first(log) {
					c.Entries = append(c.Entries, in.describe(log))
				}
			}
			in.tell(l, c)
			logs = logs[n:]
		}
	}
}

func (in *insider) deleted(l *life) func(from, to uint64) {
	if in == nil {
		return nil
	}
	return func(from, to uint64) {
		if p := l.peer.Load(); p == nil || to < p.LastIndex() {
			return // its beginning, which a snapshot stands for, or the log as a whole at a start
		}
		in.tell(l, LogChange{Kind: LogTruncated, From: from, To: to})
	}
}

func (in *insider) savedAt(l *life, index, term uint64) {
	if in != nil {
		in.tell(l, LogChange{Kind: LogSaved, To: index, Term: term})
	}
}

func (in *insider) restored(l *life, index, term uint64) {
	if in != nil {
		in.tell(l, LogChange{Kind: LogRestored, To: index, Term: term})
	}
}

// applied is called with the member's state locked.
func (in *insider) applied(l *life, index, term uint64, outcomes []peer.Outcome) {
	if in == nil {
		return
	}
	c := LogChange{Kind: LogApplied, To: index, Term: term}
	if r := refusal(outcomes); r.Refused > 0 && in.firstToJudge(index, term) {
		c.Refused = r
	}
	in.tell(l, c)
}

// firstToJudge reports that nobody has told yet what became of the entry.
func (in *insider) firstToJudge(index, term uint64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	slot := &in.judged[index%describedKept]
	if slot.index == index && slot.term == term {
		return false
	}
	slot.index, slot.term = index, term
	return true
}

// refusal says which commands of an entry changed nothing.
func refusal(outcomes []peer.Outcome) Refusal {
	r := Refusal{All: len(outcomes)}
	for i := range outcomes {
		o := &outcomes[i]
		err, why := o.Err, ""
		if err == nil {
			err = o.Result.Err
		}
		switch {
		case errors.Is(err, mvcc.ErrNoSpace):
			why = string(mvcc.NoSpace)
		case err != nil:
			why = err.Error()
		case o.Command.Kind != peer.Txn || o.Result.Changed || len(o.Command.Txn.Then)+len(o.Command.Txn.Else) == 0:
			continue
		case !o.Repeated && !o.Result.Succeeded:
			why = "compare"
		default:
			why = "unchanged"
		}
		if r.Refused++; r.Why == "" {
			r.Why = why
		}
	}
	return r
}

// first reports that nobody has told yet what the entry holds.
func (in *insider) first(l *raft.Log) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	slot := &in.described[l.Index%describedKept]
	if slot.index == l.Index && slot.term == l.Term {
		return false
	}
	slot.index, slot.term = l.Index, l.Term
	return true
}

// forgetDescribed is for a cluster that begins anew: the same indexes and terms will hold other entries.
func (in *insider) forgetDescribed() {
	if in != nil {
		in.mu.Lock()
		defer in.mu.Unlock()
		clear(in.described[:])
		clear(in.judged[:])
	}
}

// describe says what an entry holds. The decoded form is kept for the members that will apply it.
func (in *insider) describe(l *raft.Log) LogEntry {
	e := LogEntry{Index: l.Index, Term: l.Term}
	switch l.Type {
	case raft.LogCommand:
	case raft.LogNoop:
		e.Kind = "noop"
		return e
	case raft.LogConfiguration:
		e.Kind, e.Members = "configuration", configured(l.Data)
		return e
	default:
		e.Kind = "barrier"
		return e
	}
	e.Kind = "mark"
	entry, err := in.c.decoder.Decode(l.Index, l.Term, l.Data)
	if err != nil || entry.Term != l.Term { // who applies it will say what is wrong with it
		return e
	}
	return describeCommands(e, entry.Commands)
}

// configured reads which members a configuration names; nil where it cannot be read.
func configured(b []byte) (members []Member) {
	defer func() {
		if recover() != nil { // raft panics on what it did not write
			members = nil
		}
	}()
	for _, s := range raft.DecodeConfiguration(b).Servers {
		members = append(members, Member{Name: string(s.Address), ID: string(s.ID), Learner: s.Suffrage != raft.Voter})
	}
	return members
}

// describeCommands names an entry after the most telling of its commands: writes, then leases, alarms, compactions.
func describeCommands(e LogEntry, commands []peer.Command) LogEntry {
	rank := 0
	is := func(r int, kind string) {
		if r > rank {
			rank, e.Kind = r, kind
		}
	}
	show := func(w LogWrite) {
		if len(e.Writes) == writesShown {
			e.More++
			return
		}
		e.Writes = append(e.Writes, w)
	}
	for i := range commands {
		switch c := &commands[i]; c.Kind {
		case peer.Compact:
			is(1, "compaction")
		case peer.Raise, peer.Disarm:
			is(2, "alarm")
			e.Alarm = c.Alarm
		case peer.Grant, peer.Revoke, peer.Expire:
			is(3, "lease")
			e.Leases++
		default:
			is(4, "write")
			ops := c.Txn.Then
			if len(ops) == 0 {
				ops = c.Txn.Else
			}
			for _, op := range ops {
				show(LogWrite{Key: op.Key, Delete: op.Delete, Tag: c.Txn.Tag})
			}
		}
	}
	return e
}

// contact is what was told of a life.
type contact struct {
	life   *life
	leader string
	lost   bool
}

// watchContacts tells when a follower has not heard its leader for much longer than is usual, and when it does again. A leader is heard every tenth of the
// timeout at least.
func (in *insider) watchContacts() {
	tick := time.NewTicker(contactEvery)
	defer tick.Stop()
	var seen []contact
	for {
		select {
		case <-tick.C:
		case <-in.over:
			return
		}
		limit := max(time.Duration(in.c.heartbeat.Load())*3/10, 4*contactEvery)
		for i, m := range in.c.places() {
			if i == len(seen) {
				seen = append(seen, contact{})
			}
			if l := m.current(); l == nil || l.peer.Load() == nil {
				seen[i] = contact{}
			} else {
				in.watchContact(l, &seen[i], limit)
			}
		}
	}
}

func (in *insider) watchContact(l *life, s *contact, limit time.Duration) {
	defer l.recover("look whom it hears")
	p := l.peer.Load()
	role, _ := p.Role()
	leader, last := p.Leader(), p.LastContact()
	if role != raft.Follower || leader == "" || last.IsZero() {
		*s = contact{} // its role says what is the matter
		return
	}
	if s.life != l || s.leader != leader {
		*s = contact{life: l, leader: leader}
	}
	if lost := time.Since(last) > limit; lost != s.lost {
		s.lost = lost
		in.to.Heard(Contact{Member: l.m.name, Leader: leader, Lost: lost, Last: last})
	}
}
