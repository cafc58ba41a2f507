package peer

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/planted"
)

// Configuration is a committed configuration, as a member knows it.
type Configuration struct {
	Index uint64
	// Term of the entry that made it; 0 where only a snapshot tells of it.
	Term    uint64
	Servers []raft.Server
}

// Find returns the server with an id.
func (c *Configuration) Find(id string) (raft.Server, bool) {
	i := slices.IndexFunc(c.Servers, func(s raft.Server) bool { return string(s.ID) == id })
	if i < 0 {
		return raft.Server{}, false
	}
	return c.Servers[i], true
}

// Founders is the configuration of a cluster that begins with members of these names, all of which vote.
func Founders(names ...string) raft.Configuration {
	var c raft.Configuration
	for _, n := range names {
		c.Servers = append(c.Servers, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(n), Address: raft.ServerAddress(n)})
	}
	return c
}

// ErrRemoved ends a member that has learned that it is no longer one.
var ErrRemoved = errors.New("the member has been permanently removed from the cluster")

// What a member is asked to do with a Change.
const (
	AddLearner = raft.AddNonvoter
	Promote    = raft.AddVoter
	Remove     = raft.RemoveServer
)

// configureWait is how long raft may take to begin with a change; it does not while another is under way.
const configureWait = 100 * time.Millisecond

// Configure asks raft, which must lead in term, to make a change to the configuration of index before, and returns when raft has taken it over. Whether it is made shows in the
// committed configurations; raft's own answer may never come and is not waited for. false: it was not taken over, and never will be. Otherwise it is logged in no
// term after the one returned.
func (p *Peer) Configure(term uint64, command raft.ConfigurationChangeCommand, id, name string, before uint64) (until uint64, taken bool) {
	if !p.Leads(term) {
		return 0, false
	}
	var f raft.IndexFuture
	if planted.Is(planted.LearnerVotes) && command == raft.AddNonvoter {
		command = raft.AddVoter
	}
	switch command {
	case raft.AddNonvoter:
		f = p.raft.AddNonvoter(raft.ServerID(id), raft.ServerAddress(name), before, configureWait)
	case raft.AddVoter:
		f = p.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(name), before, configureWait)
	case raft.RemoveServer:
		f = p.raft.RemoveServer(raft.ServerID(id), before, configureWait)
	default:
		return 0, false
	}
	// Where raft has taken nothing over, its answer is an error as a value; otherwise it is a pointer, which raft writes to at some time or never. Asking it would wait for that.
	if reflect.TypeOf(f).Kind() != reflect.Pointer {
		return 0, false
	}
	return p.CurrentTerm(), true
}

// Committed is the newest configuration that this member knows to be committed; nil: none.
func (p *Peer) Committed() *Configuration { return p.committed.Load() }

// Latest is the newest configuration in this member's log, committed or not.
func (p *Peer) Latest() []raft.Server {
	f := p.raft.GetConfiguration() // answers from a copy, at once
	return f.Configuration().Servers
}

// ID is who this member votes as.
func (p *Peer) ID() string { return p.conf.Identity.ID }

// Learns tells whether this member gets data and has no vote.
func (p *Peer) Learns() bool {
	servers := p.Latest()
	for _, s := range servers {
		if string(s.ID) == p.ID() {
			return s.Suffrage != raft.Voter
		}
	}
	return len(servers) == 0 && p.conf.Identity.Joined > 0 && !p.Muted()
}

// Match is how far a follower's log is known to be that of this leader, in its present term.
func (p *Peer) Match(id string) uint64 {
	c, ok := p.trans.confirmed.Load(id)
	if !ok || c.(confirmed).term != p.raft.CurrentTerm() {
		return 0
	}
	return c.(confirmed).prev
}

// Heard is when a member last answered a message of raft's; zero: never in this life.
func (p *Peer) Heard(id string) time.Time {
	at, ok := p.trans.heard.Load(id)
	if !ok {
		return time.Time{}
	}
	return at.(time.Time)
}

// MemberAsOf is the index of the newest configuration that surely had this member in it.
func (p *Peer) MemberAsOf() uint64 { return p.trans.asOf.Load() }

// Excludes tells whether a member under id, which was one as of a configuration in an era, is none any more. IDs are never given twice, so one that was in a configuration and
// is missing in a later one was removed.
func (p *Peer) Excludes(id string, era, asOf uint64) bool {
	if era != p.conf.Identity.Era {
		return era < p.conf.Identity.Era
	}
	c := p.committed.Load()
	if c == nil || c.Index <= asOf {
		return false
	}
	_, in := c.Find(id)
	return !in
}

// foundConfiguration reads the newest configuration on the disk that is known to be committed: that of the newest snapshot, or the one the cluster began with.
func (p *Peer) foundConfiguration() error {
	p.trans.asOf.Store(max(1, p.conf.Identity.Joined))
	snaps, err := p.disk.snapshots.List()
	if err != nil {
		return err
	}
	if len(snaps) > 0 {
		p.know(&Configuration{Index: snaps[0].ConfigurationIndex, Servers: snaps[0].Configuration.Servers})
		return nil
	}
	first, err := p.disk.guard.FirstIndex()
	if err != nil || first != 1 {
		return err
	}
	var l raft.Log
	if err := p.disk.guard.GetLog(1, &l); err != nil {
		return err
	}
	if l.Type == raft.LogConfiguration {
		p.know(&Configuration{Index: 1, Term: l.Term, Servers: raft.DecodeConfiguration(l.Data).Servers})
	}
	return nil
}

// know takes in a committed configuration; false: it is not newer.
func (p *Peer) know(c *Configuration) bool {
	for {
		old := p.committed.Load()
		if old != nil && old.Index >= c.Index {
			return false
		}
		if p.committed.CompareAndSwap(old, c) {
			break
		}
	}
	if _, in := c.Find(p.ID()); in {
		p.trans.asOf.Store(max(p.trans.asOf.Load(), c.Index))
	}
	return true
}

// configured is called by the state machine for each configuration that is committed.
func (p *Peer) configured(index uint64, c raft.Configuration) {
	conf := &Configuration{Index: index, Servers: c.Servers}
	var l raft.Log
	if err := p.disk.logs.GetLog(index, &l); err == nil {
		conf.Term = l.Term
	}
	if p.know(conf) && p.conf.Hooks.Configured != nil {
		p.conf.Hooks.Configured(*conf)
	}
}

// afterInstall takes in the configuration of a leader's snapshot, and looks for the entry that raft leaves behind in conflict with it.
func (p *Peer) afterInstall(r *raft.InstallSnapshotRequest) {
	conf := &Configuration{Index: r.ConfigurationIndex, Servers: raft.DecodeConfiguration(r.Configuration).Servers}
	if p.know(conf) && p.conf.Hooks.Configured != nil {
		p.conf.Hooks.Configured(*conf)
	}
	var l raft.Log
	if err := p.disk.logs.GetLog(r.LastLogIndex, &l); err == nil && l.Term != r.LastLogTerm {
		go p.conf.Hooks.Conflicts()
	}
}

// told is called when another member has said that this one was removed.
func (p *Peer) told() { go p.fail(ErrRemoved) }
