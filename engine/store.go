package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/memstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// storeDoor stands between the loop and the store, which lives in wall time on goroutines of its own: it gives the store the simulated network, brings what
// happens in it to the journal, and says how fast simulated time may run while it is at work.
type storeDoor struct {
	e       *Engine
	cluster raftstore.Cluster
	// pace is simulated seconds per 1,000 wall seconds, for goroutines that turn simulated delays into wall ones.
	pace atomic.Uint64
	log  *raftLog

	// Loop only:
	busySince time.Time            // wall; see busyFor
	inFlight  map[string]int       // requests the loop waits for, by member
	cause     event.Seq            // newest record that shook the store
	members   raftstore.Membership // as the journal has it
	majority  []string             // voters that can reach each other and make a majority; nil: none
	learners  []string             // learners that the majority reaches
	lostBy    event.Seq            // record that took the majority away; 0 while there is one
	leader    map[string]raftstore.MemberStatus
	progress  map[string]event.RaftProgress
	told      bool                     // members was told to the journal
	slow      map[string]time.Duration // delay of slow disks, by member
	run       runMark
	orders    int // of the user to the store as a whole, in flight
	givenUp   int // of them, which are about to be answered that they took too long
	asked     causes
	// untold: the store holds what came there by no write that was announced, for that cause; telling: a read of it is on its way.
	untold  event.Seq
	telling bool
	// clockKept is when the data directory last heard how far simulated time is. Wall.
	clockKept time.Time

	mu         sync.Mutex
	lastCommit time.Time // wall
	lastShaken time.Time // wall
}

// clockEvery is how often, in wall time, the data directory hears how far simulated time is.
const clockEvery = 2 * time.Second

func openStoreDoor(e *Engine, masters []string) (*storeDoor, error) {
	d := &storeDoor{e: e, inFlight: map[string]int{}, asked: causes{}, slow: map[string]time.Duration{}, leader: map[string]raftstore.MemberStatus{}, progress: map[string]event.RaftProgress{}}
	d.run = newRunMark(e.opts.DataDir != "", time.Now())
	d.log = newRaftLog(d)
	d.setRate(1)
	if e.opts.Store == StoreMemory {
		d.cluster = memstore.New(masters, d, d)
	} else {
		o := raftstore.Options{Members: masters, Dir: e.dir, Sync: e.opts.DataDir != "", Network: d, Observer: d, Seed: e.opts.Seed}
		if len(e.opts.StoreCheck) > 0 {
			o.Check = raftstore.CheckCommand(e.opts.StoreCheck...)
		}
		c, err := raftstore.Open(o)
		if err != nil {
			return nil, fmt.Errorf("open the store: %w", err)
		}
		d.cluster = c
	}
	for _, m := range masters { // each starts when its static pod's container starts
		if err := d.cluster.KillMember(m); err != nil {
			return nil, errors.Join(fmt.Errorf("open the store: %w", err), d.cluster.Close())
		}
	}
	if q := e.opts.Scenario.Cluster.Store.Quota.Value(); q != 0 {
		d.cluster.SetQuota(q)
	}
	d.members = d.cluster.Membership()
	e.net.OnChange(d.netChanged)
	return d, nil
}

func (d *storeDoor) setRate(r sim.Rate) { d.pace.Store(uint64(r * 1000)) }

// setPace follows the loop's rate.
func (d *storeDoor) setPace(r sim.Rate) {
	if r == sim.Unpaced {
		r = d.e.opts.HeldRate
	}
	if r == 0 {
		return // paused: keep the timeouts
	}
	d.setRate(r)
	d.cluster.SetPace(float64(min(r, electionRate)))
}

// Verdict lets the simulated network decide about a raft message. Store goroutines.
func (d *storeDoor) Verdict(p raftstore.Packet) raftstore.Verdict {
	v, m := d.e.net.Table().Message(etcdOn(p.From), etcdOn(p.To), rand.Float64())
	rate := float64(d.pace.Load()) / 1000
	fate := raftstore.Verdict{Drop: v.Drop, Refuse: v.Refuse, Delay: time.Duration(float64(v.Delay) / rate), Cause: uint64(v.Cause)}
	return mangle(fate, m, p, rand.Float64)
}

// etcdOn is where the store's member on a master listens.
func etcdOn(host string) simnet.Addr { return simnet.Addr{Host: host, Process: "etcd"} }

// lateMost is how much later, in wall time, a message comes that the network lets others overtake: several hearbeats of a leader, and too little to cost it its lease.
const lateMost = 60 * time.Millisecond

// mangle does to a message that gets through what faults of single messages do; chance draws numbers in [0,1).
func mangle(v raftstore.Verdict, m fault.Messages, p raftstore.Packet, chance func() float64) raftstore.Verdict {
	if v.Drop || v.Refuse {
		return v
	}
	if m.Clog && p.Kind == "snapshot" && !p.Reply && p.Piece > 0 {
		return raftstore.Verdict{Drop: true, Cause: m.ClogID}
	}
	if m.Duplicate > 0 && chance()*100 < m.Duplicate {
		v.Copies++
		v.Cause = cmp.Or(v.Cause, m.DuplicateID)
	}
	if m.Reorder > 0 && chance()*100 < m.Reorder {
		v.Delay += time.Duration(chance() * float64(lateMost))
		v.Cause = cmp.Or(v.Cause, m.ReorderID)
	}
	return v
}

// RoleChanged brings a member's new role to the journal. Store goroutines.
func (d *storeDoor) RoleChanged(s raftstore.MemberStatus) {
	d.log.look()
	d.e.loop.Post(func() {
		old := d.leader[s.Name]
		if s.Role == raftstore.Down { // it knows nothing any more; others remember its term
			s.Term = old.Term
		}
		d.leader[s.Name] = s
		cause := d.cause
		if cause == 0 {
			cause = d.e.root
		}
		if old.Role == s.Role && old.Term == s.Term && old.Leader == s.Leader && old.Err == s.Err {
			if !s.Up && s.Err != "" {
				d.failed(s, cause) // it failed again, in the same way
			}
			return
		}
		seq := d.e.journal.Emit(event.On("etcd", s.Name), cause, event.RaftRole{Member: s.Name, Role: string(s.Role), Term: s.Term, Leader: s.Leader, Err: s.Err, Heard: s.LastContact})
		if old.Err != s.Err {
			d.netChanged() // who may vote is another
		}
		if !s.Up && s.Err != "" {
			d.failed(s, seq)
		}
		if s.Role == raftstore.Leader {
			d.tellUntold()
		}
	})
}

// failed ends the etcd of a member that could not go on by itself.
func (d *storeDoor) failed(s raftstore.MemberStatus, cause event.Seq) {
	m := d.e.byHost[s.Name]
	if m == nil || m.programs["etcd"] == nil || d.cluster.Store(s.Name).Status().Up {
		return // it was stopped, or started again meanwhile
	}
	message, _, _ := strings.Cut(s.Err, "\n") // a stack of calls may follow
	m.programs["etcd"].end(cause, 1, "exited", message)
}

// Message brings messages between members to the journal; the store has chosen which. Store goroutines.
func (d *storeDoor) Message(m raftstore.Message) {
	d.e.loop.Post(func() {
		d.e.journal.Emit(event.On("etcd", m.From), d.why(event.Seq(m.Cause)), event.RaftMessage{From: m.From, To: m.To, Kind: m.Kind, Term: m.Term, Reply: m.Reply,
			Granted: m.Granted, Entries: m.Entries, CommitIndex: m.CommitIndex, Lost: m.Lost, LastIndex: m.LastIndex, LastTerm: m.LastTerm,
			Piece: m.Piece, Pieces: m.Pieces, Sent: m.Sent, Asked: m.Asked})
	})
}

// Logged brings what logs hold to the journal. Store goroutines.
func (d *storeDoor) Logged(c raftstore.LogChange) { d.log.note(c) }

// Heard brings to the journal that a follower does not hear its leader any more, or hears it again. Store goroutines.
func (d *storeDoor) Heard(c raftstore.Contact) {
	d.e.loop.Post(func() {
		d.e.journal.Emit(event.On("etcd", c.Member), d.why(0), event.RaftContact{Member: c.Member, Leader: c.Leader, Lost: c.Lost, Heard: c.Last})
	})
}

// Timed brings raft's timeouts to the journal. Any goroutine.
func (d *storeDoor) Timed(t raftstore.Timeouts) {
	d.e.loop.Post(func() {
		d.e.journal.Emit(event.Engine, d.e.root, event.RaftTiming{Heartbeat: t.Heartbeat, Election: t.Election, Lease: t.Lease})
	})
}

// Applied brings a committed revision to the journal. Store goroutines.
func (d *storeDoor) Applied(a raftstore.Applied) {
	d.mu.Lock()
	d.lastCommit = time.Now()
	d.mu.Unlock()
	a.Tag = uint64(d.run.record(a.Tag))
	d.e.loop.Post(func() { d.e.announ.Applied(a) })
}

// Changed brings other changes of the store to the journal. Store goroutines.
func (d *storeDoor) Changed(c raftstore.Change) {
	d.e.loop.Post(func() { d.storeChanged(c) })
}

// shaken remembers what changed around the store, as the cause of elections that follow.
func (d *storeDoor) shaken(cause event.Seq) {
	d.cause = cause
	d.mu.Lock()
	d.lastShaken = time.Now()
	d.mu.Unlock()
	d.netChanged()
	switch {
	case d.majority != nil:
		d.lostBy = 0
	case d.lostBy == 0:
		d.lostBy = cause
	}
}

// door is the store as the API server on a master sees it; it counts what the loop waits for.
func (d *storeDoor) door(member string) raftstore.Store {
	return &countedStore{Store: d.cluster.Store(member), d: d, member: member}
}

type countedStore struct {
	raftstore.Store
	d      *storeDoor
	member string
}

func (s *countedStore) Txn(ctx context.Context, t mvcc.Txn, done func(raftstore.TxnResult)) {
	settle := s.count()
	t.Tag = s.d.run.tag(event.Seq(t.Tag))
	s.Store.Txn(ctx, t, func(r raftstore.TxnResult) { done(r); settle() })
}

func (s *countedStore) Range(ctx context.Context, r raftstore.RangeRequest, done func(raftstore.RangeResult)) {
	if r.Serializable {
		s.Store.Range(ctx, r, done)
		return
	}
	settle := s.count()
	s.Store.Range(ctx, r, func(res raftstore.RangeResult) { done(res); settle() })
}

func (s *countedStore) GrantLease(ctx context.Context, ttl time.Duration, done func(raftstore.Lease)) {
	settle := s.count()
	s.Store.GrantLease(ctx, ttl, func(l raftstore.Lease) { done(l); settle() })
}

func (s *countedStore) Compact(ctx context.Context, rev int64, done func(raftstore.Written)) {
	settle := s.count()
	s.Store.Compact(ctx, rev, func(w raftstore.Written) { done(w); settle() })
}

// count notes one request in flight; the function it returns, for any goroutine, takes the note back behind the answer in the mailbox.
func (s *countedStore) count() func() {
	s.d.inFlight[s.member]++
	return func() { s.d.e.loop.Post(func() { s.d.inFlight[s.member]-- }) }
}

// sampleProgress tells the store once a simulated second what time it is, and the journal how far each member is, where that changed.
func (e *Engine) sampleProgress() {
	e.store.cluster.Advance(e.loop.Now())
	e.store.tellUntold()
	for _, s := range e.store.cluster.Status() {
		p := event.RaftProgress{Member: s.Name, LastIndex: s.LastIndex, CommitIndex: s.CommitIndex, Applied: s.Applied, Revision: s.Revision, SizeBytes: s.SizeBytes,
			DBSize: s.DBSize, DBInUse: s.DBInUse, Quota: s.Quota}
		if e.store.progress[s.Name] != p && s.Up {
			e.store.progress[s.Name] = p
			e.journal.Emit(event.On("etcd", s.Name), e.root, p)
		}
	}
	if wall := time.Now(); wall.Sub(e.store.clockKept) > clockEvery {
		e.store.clockKept = wall
		_ = e.keepClock(e.loop.Now()) // Close says what is wrong with the place
	}
	e.loop.After(time.Second, e.sampleProgress)
}
