package raftstore

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// retryEvery is how soon something that found no leader looks again, when nothing wakes it before.
const retryEvery = 10 * time.Millisecond

// life is a member from one start to the next stop: its raft node and everything its clients wait for. Nothing survives it but the disk.
type life struct {
	m *member
	// who it votes as; set before it has started.
	who  peer.Identity
	peer atomic.Pointer[peer.Peer] // nil until it has started
	// started is closed when the start has succeeded or failed, stop when the life ends, over when the disk is free.
	started, stop, over chan struct{}
	ending              sync.Once
	born                time.Time

	nextID   atomic.Uint64
	inflight atomic.Int64 // writes and linearizable reads not answered
	ready    atomic.Bool
	// What the state machine is at, for Status.
	revision, compacted, size atomic.Int64

	// wakeWrites, wakePropose and wakeReads each hold at most one signal.
	wakeWrites, wakePropose, wakeReads chan struct{}

	mu sync.Mutex
	// ended is set when nothing is taken any more.
	ended bool
	writes
	reads
	// seenTerm is the term of the newest entry applied, markedTerm the newest this member proposed its mark for.
	seenTerm, markedTerm uint64
	// role as last reported.
	reported struct {
		state  raft.RaftState
		term   uint64
		leader string
		muted  bool
		learns bool
	}
	// appliedTerm is the term of the newest entry applied from the log.
	appliedTerm atomic.Uint64
	// configuring is held while a change of members is looked at; changing is the last one given to raft.
	configuring sync.Mutex
	changing    changing
	// questions are the newest of changes that were asked here.
	questions    [256]uint64
	questionsMet int
	// deferred runs when the member is ready.
	deferred []func()

	hub    hub
	lessor lessor
	space  space
	// digests is guarded by the lock of the state.
	digests digests
}

func newLife(m *member) *life {
	l := &life{
		m: m, started: make(chan struct{}), stop: make(chan struct{}), over: make(chan struct{}), born: time.Now(),
		wakeWrites: make(chan struct{}, 1), wakePropose: make(chan struct{}, 1), wakeReads: make(chan struct{}, 1),
	}
	l.pending, l.flying = make(map[uint64]*proposal), make(map[uint64]struct{})
	l.hub.life = l
	// Request ids must not meet those of another life in the log, so each life begins at a random one.
	l.nextID.Store(peer.NewOrigin())
	l.lessor.next.Store(never)
	return l
}

func (l *life) newID() uint64 { return l.nextID.Add(1) }

// run starts the member when the life before has left the disk.
func (l *life) run(before *life, dropLog bool) {
	running := false
	defer func() {
		if r := recover(); r != nil {
			l.m.end(l, panicked("start", r).Error())
		}
		close(l.started)
		if !running {
			close(l.over)
		}
	}()
	if before != nil {
		<-before.over
	}
	c := l.m.c
	who, err := l.m.identify()
	if err != nil {
		if errors.Is(err, peer.ErrDamaged) {
			l.m.disk.Found(err)
		}
		l.m.end(l, l.m.downBecause(err))
		return
	}
	l.who = who
	var founders raft.Configuration // empty for one that joined later
	if who.Joined == 0 {
		founders = c.roster.Load().founders()
	}
	p, err := peer.Start(peer.Config{
		Name: l.m.name, Identity: who, Founders: founders, Begin: c.roster.Load().Begin, Disk: l.m.disk, Fabric: c.fabric, Decoder: c.decoder, Logger: c.logger.Named(l.m.name),
		Timing: peer.Timing{
			Heartbeat: time.Duration(c.heartbeat.Load()), Lease: leaderLease, Commit: c.opt.CommitTimeout,
			SnapshotInterval: c.opt.SnapshotInterval, SnapshotThreshold: c.opt.SnapshotThreshold, TrailingLogs: c.opt.TrailingLogs, AppendMax: c.opt.AppendMax,
		},
		Hooks: peer.Hooks{
			Applied: l.applied, Restored: l.restored, Answer: l.answer, Changed: l.changed, Ask: l.asked, Configured: l.configured,
			Failed:    func(err error) { l.m.end(l, l.m.downBecause(err)) },
			Conflicts: l.dropLog,
			Opened:    c.insider.opened(l), Appended: c.insider.appended(l), Deleted: c.insider.deleted(l), Saved: l.saved, Step: l.trap,
		},
		DropLog: dropLog,
	})
	if err != nil {
		l.m.end(l, l.m.downBecause(err))
		return
	}
	l.peer.Store(p)
	running = true
	l.goes("stop", func() {
		defer close(l.over)
		<-l.stop
		p.Stop()
		<-p.Stopped()
	})
	// The pace may have changed meanwhile.
	l.setHeartbeat(time.Duration(c.heartbeat.Load()))
	p.WithState(l.note)
	l.changed()
	l.goes("hand over writes", l.handOverWrites)
	l.goes("propose", l.proposeWrites)
	l.goes("read", l.serveReads)
	l.goes("become ready", l.becomeReady)
	l.goes("mind removal", l.mindRemoval)
	if conf := p.Committed(); conf != nil {
		l.configured(*conf)
	}
}

// goes runs one of the life's goroutines; a panic in it fails the member. This is how goroutines of a member are started: one that is not would end the program with all the others, and its last words
// would not say whose they are. What one member does on the goroutine of another, or of the cluster, recovers in the same way.
func (l *life) goes(what string, do func()) {
	go func() {
		defer l.recover(what)
		do()
	}()
}

func (l *life) recover(what string) {
	if r := recover(); r != nil {
		if err := panicked(what, r); !l.m.end(l, err.Error()) { // it is over already
			l.m.c.logger.Error("panic", "member", l.m.name, "error", err)
		}
	}
}

// dropLog restarts the member on its newest snapshot, without the log that conflicts with it.
func (l *life) dropLog() {
	defer l.recover("drop the log")
	if next := l.m.renew(l); next != nil {
		l.m.c.logger.Info("restarting: the log conflicts with the leader's snapshot", "member", l.m.name)
		go next.run(l, true)
	}
}

// end stops everything and tells everyone who waits. The member has forgotten this life already.
func (l *life) end() {
	l.ending.Do(func() {
		close(l.stop)
		if p := l.peer.Load(); p != nil {
			p.Stop()
		}
		l.mu.Lock()
		l.ended = true
		pending, reads := l.pending, l.waiting
		l.pending, l.waiting = nil, nil
		l.queue, l.outbox = nil, nil
		l.deferred = nil
		l.mu.Unlock()
		for _, w := range pending {
			outcome := Refused
			if w.term != 0 {
				outcome = Unknown
			}
			l.finish(w, TxnResult{Written: Written{Outcome: outcome, Err: ErrStopped}})
		}
		for r := range reads {
			l.finishRead(r, RangeResult{Err: ErrStopped})
		}
		l.hub.end(ErrStopped)
	})
}

func (l *life) setHeartbeat(d time.Duration) {
	p := l.peer.Load()
	if p == nil {
		return
	}
	if err := p.SetHeartbeat(d); err != nil {
		l.m.c.logger.Error("set heartbeat timeout", "member", l.m.name, "timeout", d, "error", err)
	}
}

// changed looks whether role, term or leader are other than reported.
func (l *life) changed() {
	p := l.peer.Load()
	if p == nil {
		return
	}
	l.m.reporting.Lock()
	defer l.m.reporting.Unlock()
	state, term := p.Role()
	leader, muted, learns := p.Leader(), p.Muted(), p.Learns()
	l.mu.Lock()
	same := l.reported.state == state && l.reported.term == term && l.reported.leader == leader && l.reported.muted == muted && l.reported.learns == learns
	l.reported.state, l.reported.term, l.reported.leader, l.reported.muted, l.reported.learns = state, term, leader, muted, learns
	if state == raft.Leader && term > l.markedTerm {
		l.markedTerm = term
		l.outbox = append(l.outbox, outgoing{term: term, mark: true})
		wake(l.wakePropose)
	}
	ended := l.ended
	l.mu.Unlock()
	if same || ended {
		return
	}
	wake(l.wakeWrites)
	wake(l.wakeReads)
	l.m.c.fabric.Selects.Closely(closeLook)
	l.m.c.opt.Observer.RoleChanged(l.m.Status())
}

// configured runs when a newer configuration is committed.
func (l *life) configured(conf peer.Configuration) {
	l.m.c.configured(l, conf)
	if l.peer.Load() != nil {
		l.goes("look at the role", l.changed)
	}
}

// applied runs with the state locked, after each entry.
func (l *life) applied(index, term uint64, outcomes []peer.Outcome, kv *mvcc.Store) {
	l.note(kv)
	if outcomes != nil { // a configuration comes without its term
		l.appliedTerm.Store(term)
	}
	l.m.c.announce(index, term, outcomes)
	l.m.c.insider.applied(l, index, term, outcomes)
	l.hub.publish(outcomes, kv.Revision())
	l.keepUp(index, term, outcomes, kv)
}

// restored runs with the state locked, when a leader's snapshot has replaced it.
func (l *life) restored(index, term uint64, kv *mvcc.Store) {
	l.note(kv)
	l.m.c.insider.restored(l, index, term)
	l.hub.end(mvcc.ErrRestored)
	l.keptUp(index, kv)
	// What was handed over may be part of the snapshot, or not: nobody can tell.
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, w := range l.pending {
		if w.term != 0 {
			delete(l.pending, id)
			l.lost = append(l.lost, w)
		}
	}
}

func (l *life) note(kv *mvcc.Store) {
	l.revision.Store(kv.Revision())
	for had := l.m.c.highest.Load(); kv.Revision() > had && !l.m.c.highest.CompareAndSwap(had, kv.Revision()); {
		had = l.m.c.highest.Load()
	}
	l.compacted.Store(kv.CompactedRevision())
	l.size.Store(kv.Size())
}

// answer runs after applied or restored, with the state unlocked: it answers the writes of the entry that were brought here, and those
// that this entry proves will never be applied.
func (l *life) answer(index, term uint64, outcomes []peer.Outcome) {
	type answered struct {
		w *proposal
		r TxnResult
	}
	var answers []answered
	l.mu.Lock()
	l.landed(outcomes)
	if len(l.pending) > 0 {
		for i := range outcomes {
			o := &outcomes[i]
			if w, mine := l.pending[o.ID]; mine {
				delete(l.pending, o.ID)
				answers = append(answers, answered{w, told(o, index, term)})
			}
		}
	}
	for _, w := range l.lost {
		answers = append(answers, answered{w, TxnResult{Written: Written{Outcome: Unknown, Err: ErrLeaderChanged}}})
	}
	l.lost = nil
	if term > l.seenTerm {
		l.seenTerm = term
		for id, w := range l.pending {
			if w.term != 0 && w.term < term {
				delete(l.pending, id)
				answers = append(answers, answered{w, TxnResult{Written: Written{Outcome: Refused, Err: ErrLeaderChanged}}})
			}
		}
	}
	var waiters []chan struct{}
	kept := l.indexWaiters[:0]
	for _, w := range l.indexWaiters {
		if w.index <= index {
			waiters = append(waiters, w.reached)
		} else {
			kept = append(kept, w)
		}
	}
	l.indexWaiters = kept
	l.mu.Unlock()
	for _, a := range answers {
		l.finish(a.w, a.r)
	}
	for _, w := range waiters {
		close(w)
	}
}

// asked answers what another member asks, on that member's goroutine.
func (l *life) asked(from string, question any) any {
	<-l.started // who asks may be faster than the start's last steps, and a no is for ever
	switch q := question.(type) {
	case forwardedWrites:
		return l.accept(q.term, q.writes)
	case leaseQuestion:
		return l.answerLease(from, q, func() bool { return true })
	case indexQuestion:
		return l.answerIndex(from, q)
	case termQuestion:
		p := l.peer.Load()
		return p != nil && p.ID() == q.id && !p.Muted() && p.CurrentTerm() <= q.term
	case configureQuestion:
		return l.answerConfigure(q)
	case removedQuestion:
		return l.answerRemoved(q)
	}
	return errors.New("unknown question")
}

// wake leaves a signal, unless one waits already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
