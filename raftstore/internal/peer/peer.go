// Package peer is one member of the store: a hashicorp/raft node with its disk, its transport and the state machine it feeds.
//
// Owns: raft's life in one process (start, kill, failure), the fabric its messages take, the format of log entries and member snapshots.
// Knows nothing of requests, watches or reads; those are raftstore's. Imports of ours: raftstore/mvcc, raftstore/failure,
// raftstore/internal/planted.
//
// Goroutines: raft's own; one that reports changes of role; one that saves behind; one for each message sent ahead or delivered twice; one per Stop. Methods may be called from any. No panic of a member
// leaves it: the state machine, the disk, what answers and what sends recover and fail the member, also on the goroutine of another.
//
// Time: wall time, as raft has it.
package peer

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// Hooks are what a member tells its owner. None may block.
type Hooks struct {
	// Applied and Restored are called with the state locked, in order; kv must not be kept.
	Applied  func(index, term uint64, outcomes []Outcome, kv *mvcc.Store)
	Restored func(index, term uint64, kv *mvcc.Store)
	// Answer follows each of them with the state unlocked.
	Answer func(index, term uint64, outcomes []Outcome)
	// Changed: role, term or leader may have changed.
	Changed func()
	// Failed: the member cannot go on; called at most once per life, on a goroutine of its own. The owner stops it.
	Failed func(error)
	// Conflicts: after taking over a snapshot the log holds an entry of another term at its end (raft#697). The owner stops the member and
	// starts it with DropLog. Called on a goroutine of its own.
	Conflicts func()
	// Opened, Appended and Deleted tell of the log: what was found at the start (its first and last index, and its newest entries), what was stored, what was
	// deleted. Saved: a snapshot of the state up to an index was made. The entries must not be kept. nil: nobody wants to know.
	Opened   func(first, last uint64, newest []*raft.Log)
	Appended func(logs []*raft.Log)
	Deleted  func(from, to uint64)
	Saved    func(index, term uint64)
	// Step is called where a trap may wait; nil: nowhere. With an error this life is over at that very point.
	Step func(at failure.Point) error
	// Configured: a newer configuration is committed. It is called before the entries that follow it are applied.
	Configured func(Configuration)
	// Ask answers a question of another member, on that member's goroutine.
	Ask func(from string, question any) any
}

// Timing holds raft's durations and limits.
type Timing struct {
	// Heartbeat is both heartbeat and election timeout.
	Heartbeat, Lease, Commit time.Duration
	SnapshotInterval         time.Duration
	SnapshotThreshold        uint64
	TrailingLogs             uint64
	AppendMax                int
}

// Config says how to start a member.
type Config struct {
	Name     string
	Identity Identity
	// Founders is the configuration of the cluster that begins on an empty disk; empty where this member joins one that is there.
	Founders raft.Configuration
	// Begin is the revision of the state, otherwise empty, that an empty log stands for; the same on all members of a cluster.
	Begin   int64
	Disk    *Disk
	Fabric  *Fabric
	Decoder *Decoder
	Timing  Timing
	Logger  hclog.Logger
	Hooks   Hooks
	// DropLog deletes the log first; the newest snapshot stands for it.
	DropLog bool
}

var errStopped = errors.New("member stopped")

// Peer is one life of a member, from start to stop.
type Peer struct {
	conf   Config
	raft   *raft.Raft
	fsm    *fsm
	trans  *Transport
	end    *endpoint
	disk   *opened
	failed atomic.Bool
	// committed is the newest configuration known to be so; nil: none.
	committed atomic.Pointer[Configuration]

	// begun is closed when everything is in place; what raft does before that waits for it.
	begun    chan struct{}
	stop     sync.Once
	stopping chan struct{}
	stopped  chan struct{}
}

// Start opens the disk, checks it and starts raft on it.
func Start(conf Config) (started *Peer, err error) {
	p := &Peer{conf: conf, begun: make(chan struct{}), stopping: make(chan struct{}), stopped: make(chan struct{})}
	if step := conf.Hooks.Step; step != nil {
		conf.Hooks.Step = func(at failure.Point) error { return p.stepped(step(at)) }
		p.conf = conf
	}
	p.trans = newTransport(conf.Fabric, conf.Identity, conf.Name, p.begun)
	kv := mvcc.New()
	if conf.Begin > 0 {
		kv.Bump(conf.Begin)
	}
	p.fsm = &fsm{decoder: conf.Decoder, hooks: conf.Hooks, kv: kv, met: new(met), committed: p.trans.news.tell, configured: p.configured, halt: func(err error) { go p.fail(err) }}
	p.disk, err = conf.Disk.open(conf.Logger)
	if err != nil {
		return nil, err
	}
	p.disk.guard.gate.step = conf.Hooks.Step
	p.fsm.pass = p.disk.guard.pass
	if g, ok := p.disk.logs.(*gapless); ok {
		g.snapshots = p.disk.snapshots
		g.look()
		p.trans.overtake = g.overtake
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("start raft: panic: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			p.disk.kill()
			close(p.stopped)
			err = errors.Join(err, p.disk.close())
			started = nil
		}
	}()
	if err := p.disk.check(conf.Disk.Used()); err != nil {
		if errors.Is(err, ErrDamaged) {
			conf.Disk.Found(err)
		}
		return nil, err
	}
	conf.Disk.condition.sound()
	if conf.DropLog {
		if err := p.disk.dropLog(); err != nil {
			return nil, err
		}
	}
	rc := p.raftConfig()
	if err := conf.Disk.bootstrap(rc, p.disk, p.trans, conf.Founders); err != nil {
		return nil, fmt.Errorf("first configuration: %w", err)
	}
	if err := conf.Disk.writeBehind(p.disk); err != nil {
		return nil, err
	}
	if err := p.foundConfiguration(); err != nil {
		return nil, err
	}
	p.trans.used.Store(conf.Disk.Used())
	if conf.Disk.sync {
		p.trans.ahead.most = uint64(rc.MaxAppendEntries)
		p.disk.guard.storing = p.trans.sendAhead
	}
	p.disk.guard.onFail, p.disk.guard.stored = p.fail, p.trans.news.tell
	if conf.Hooks.Opened != nil {
		if err := p.opened(); err != nil {
			return nil, err
		}
		p.disk.guard.appended, p.disk.guard.deleted = conf.Hooks.Appended, conf.Hooks.Deleted
	}
	p.trans.mute.Store(conf.Disk.rejoining() && !planted.Is(planted.WipedVotes))
	p.raft, err = raft.NewRaft(rc, p.fsm, p.disk.logs, p.disk.guard, p.disk.snapshots, p.trans)
	if err != nil {
		return nil, err
	}
	p.begin()
	return p, nil
}

// stepped ends this life at once where a trap did: before anybody else has done so, nothing may have an effect any more.
func (p *Peer) stepped(err error) error {
	if err != nil && !errors.Is(err, failure.ErrIO) {
		p.fsm.closed.Store(true)
		p.disk.kill()
	}
	return err
}

// openedShown is how many of the newest entries of a log are told of when it is opened.
const openedShown = 16

// opened tells what the log holds.
func (p *Peer) opened() error {
	first, err := p.disk.guard.FirstIndex()
	if err != nil {
		return err
	}
	last, err := p.disk.guard.LastIndex()
	if err != nil {
		return err
	}
	var newest []*raft.Log
	for i := max(first, last-min(last, openedShown-1)); last > 0 && i <= last; i++ {
		var l raft.Log
		if err := p.disk.guard.GetLog(i, &l); err != nil {
			return err
		}
		newest = append(newest, &l)
	}
	p.conf.Hooks.Opened(first, last, newest)
	return nil
}

func (p *Peer) raftConfig() *raft.Config {
	t := p.conf.Timing
	rc := raft.DefaultConfig()
	rc.LocalID = raft.ServerID(p.conf.Identity.ID)
	rc.HeartbeatTimeout, rc.ElectionTimeout = t.Heartbeat, t.Heartbeat
	rc.LeaderLeaseTimeout, rc.CommitTimeout = t.Lease, t.Commit
	rc.SnapshotInterval, rc.SnapshotThreshold, rc.TrailingLogs = t.SnapshotInterval, t.SnapshotThreshold, t.TrailingLogs
	rc.MaxAppendEntries = cmp.Or(t.AppendMax, rc.MaxAppendEntries)
	// What waits in this channel when leadership is lost is refused or, when it comes back, logged in a later term, where it is void (see Entry); nobody waits for raft's word on which. So it
	// may wait, and a leader forces all of it to its disk at once.
	rc.BatchApplyCh = true
	rc.Logger = p.conf.Logger
	rc.NoLegacyTelemetry = true
	return rc
}

// begin joins the fabric, once everything its messages touch is there.
func (p *Peer) begin() {
	p.fsm.mu.Lock()
	p.fsm.begun = true
	p.fsm.mu.Unlock()
	p.disk.guard.running.Store(true)
	p.trans.leads = p.Leads
	p.trans.term = p.raft.CurrentTerm
	p.trans.applied = p.fsm.index.Load
	p.trans.installed = p.afterInstall
	p.trans.latest = p.Latest
	p.trans.excludes = p.Excludes
	p.trans.told = p.told
	p.trans.markUsed = func() error { return p.disk.guard.write("", "", p.conf.Disk.MarkUsed) }
	p.trans.fail, p.trans.recover = func(err error) { go p.fail(err) }, p.recover
	p.trans.step = p.conf.Hooks.Step
	p.trans.position = func() (last, commit uint64) { return p.raft.LastIndex(), p.raft.CommitIndex() }
	p.end = &endpoint{name: p.conf.Name, raft: p.trans, ask: p.answer, gone: make(chan struct{})}

	changes := make(chan raft.Observation, 64)
	observer := raft.NewObserver(changes, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.LeaderObservation, raft.RaftState:
			return true
		}
		return false
	})
	p.raft.RegisterObserver(observer)
	close(p.begun)
	go p.report(changes)
	p.conf.Fabric.attach(p.end)
}

// answer answers a question of another member, on that one's goroutine. A panic is this member's.
func (p *Peer) answer(from string, question any) any {
	defer p.recover("answer a question")
	return p.conf.Hooks.Ask(from, question)
}

// report turns raft's observations, which may be merged or dropped, into "look again".
func (p *Peer) report(changes <-chan raft.Observation) {
	defer p.recover("report")
	for {
		p.conf.Hooks.Changed()
		select {
		case <-changes:
		case <-p.stopping:
			return
		}
	}
}

func (p *Peer) recover(what string) {
	if r := recover(); r != nil {
		go p.fail(fmt.Errorf("%s: panic: %v\n%s", what, r, debug.Stack()))
	}
}

// fail reports that the member cannot go on. What fails during the start is the answer of Start.
func (p *Peer) fail(err error) {
	select {
	case <-p.begun:
	case <-p.stopped:
		return
	}
	if p.failed.CompareAndSwap(false, true) {
		p.fsm.closed.Store(true)
		p.conf.Hooks.Failed(err)
	}
}

// Stop ends this life of the member as a power loss would, and returns at once: nothing is handed over, and nothing that raft still does has
// any effect. Stopped is closed when its disk is free again.
func (p *Peer) Stop() {
	p.stop.Do(func() {
		p.fsm.closed.Store(true)
		p.disk.kill()
		close(p.stopping)
		p.conf.Fabric.detach(p.end)
		p.trans.Close()
		go func() {
			defer close(p.stopped)
			defer func() {
				if r := recover(); r != nil { // of a disk that was damaged under it; nothing is left that could fail
					p.conf.Logger.Error("stop", "panic", r, "stack", string(debug.Stack()))
				}
			}()
			debug.SetPanicOnFault(true)
			p.raft.Shutdown().Error() // always nil
			if err := p.disk.close(); err != nil {
				p.conf.Logger.Error("close the log", "error", err)
			}
		}()
	})
}

// Stopped is closed when Stop has done its work.
func (p *Peer) Stopped() <-chan struct{} { return p.stopped }

// Stopping is closed when Stop is called.
func (p *Peer) Stopping() <-chan struct{} { return p.stopping }

// Propose puts data into the log, if this member leads in term, and returns when raft has taken it over. Whether it is ever applied shows in
// Hooks.Applied; raft's own answer is not waited for, because it may never come.
func (p *Peer) Propose(term uint64, data []byte) bool {
	if !p.Leads(term) {
		return false
	}
	p.raft.Apply(data, 0)
	return true
}

// Role tells whether this member leads, follows or stands for election, and its term.
func (p *Peer) Role() (state raft.RaftState, term uint64) {
	state, term = p.standing()
	return state, min(term, p.disk.guard.term.Load())
}

// standing is raft's state and the term that it has it in. Raft changes the two one after the other, and a state of one term with the next term would be that of a leader that there never was.
func (p *Peer) standing() (state raft.RaftState, term uint64) {
	for {
		term = p.raft.CurrentTerm()
		if state = p.raft.State(); p.raft.CurrentTerm() == term {
			return state, term
		}
	}
}

// Leads tells whether this member leads in term, as far as it knows itself.
func (p *Peer) Leads(term uint64) bool {
	state, at := p.standing()
	return state == raft.Leader && at == term && !p.failed.Load()
}

// Leader is the leader this member follows (itself included); empty when it knows none.
func (p *Peer) Leader() string {
	address, _ := p.raft.LeaderWithID()
	return string(address)
}

// CurrentTerm is the term this member is in. One that raft could not store does not count: nothing is promised in it (the vote that would follow, also its own, fails on the same
// disk), and the next start does not know of it.
func (p *Peer) CurrentTerm() uint64 { return min(p.raft.CurrentTerm(), p.disk.guard.term.Load()) }

// CommitIndex is how far the log is committed, as far as this member knows.
func (p *Peer) CommitIndex() uint64 { return p.raft.CommitIndex() }

// LastIndex is the last index of the log.
func (p *Peer) LastIndex() uint64 { return p.raft.LastIndex() }

// Applied is the index of the last entry the state machine has run.
func (p *Peer) Applied() uint64 { return p.fsm.index.Load() }

// LastContact is when a leader last reached this member.
func (p *Peer) LastContact() time.Time { return p.raft.LastContact() }

// View is a frozen copy of the state.
func (p *Peer) View() *mvcc.View { return p.fsm.frozen() }

// WithState runs do with the state locked, between two entries.
func (p *Peer) WithState(do func(kv *mvcc.Store)) {
	p.fsm.mu.Lock()
	defer p.fsm.mu.Unlock()
	do(p.fsm.kv)
}

// SetHeartbeat changes heartbeat and election timeout.
func (p *Peer) SetHeartbeat(d time.Duration) error {
	rc := p.raft.ReloadableConfig()
	if rc.HeartbeatTimeout == d {
		return nil
	}
	rc.HeartbeatTimeout, rc.ElectionTimeout = d, d
	return p.raft.ReloadConfig(rc)
}

// Muted tells whether the member must still keep out of elections; see Disk.Wipe.
func (p *Peer) Muted() bool { return p.trans.mute.Load() }

// Unmute lets it take part in elections again, for good.
func (p *Peer) Unmute() error {
	lift := func() error { return p.conf.Disk.Rejoining(false) }
	if err := p.disk.guard.write(failure.BeforeUnmute, failure.AfterUnmute, lift); err != nil {
		return err
	}
	p.trans.mute.Store(false)
	return nil
}

// FailDisk makes the next write to the disk fail with err.
func (p *Peer) FailDisk(err error) {
	p.disk.guard.mu.Lock()
	defer p.disk.guard.mu.Unlock()
	p.disk.guard.inject = err
}

// Snapshot makes raft take one now. It waits until that is done.
func (p *Peer) Snapshot() error { return p.raft.Snapshot().Error() }

// Heartbeat is the present heartbeat timeout.
func (p *Peer) Heartbeat() time.Duration { return p.raft.ReloadableConfig().HeartbeatTimeout }
