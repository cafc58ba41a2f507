package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/kubeviz/engine/event"
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
	busySince time.Time      // wall; see busyFor
	inFlight  map[string]int // requests the loop waits for, by member
	cause     event.Seq      // newest record that shook the store
	majority  []string       // members that can reach each other and make a majority; nil: none
	lostBy    event.Seq      // record that took the majority away; 0 while there is one
	leader    map[string]raftstore.MemberStatus
	progress  map[string]event.RaftProgress
	// clockKept is when the data directory last heard how far simulated time is. Wall.
	clockKept time.Time

	mu         sync.Mutex
	lastCommit time.Time // wall
	lastShaken time.Time // wall
}

// electionRate is the fastest that simulated time runs while no leader is known although one can be elected: an election takes wall time, and
// at 10x it still ends within 15 simulated seconds.
const electionRate sim.Rate = 10

// settleFor is the wall time after a commit within which an unpaced clock waits for members that lag.
const settleFor = 50 * time.Millisecond

// noticeFor is the wall time after a change that took the quorum within which members notice that they follow nobody.
const noticeFor = 1200 * time.Millisecond

// busyLimit is how long the store may be at work without a break before a fast clock is held to electionRate: at 60x a wall second of writing
// would cost a simulated minute, and leases would lapse for no fault of the cluster.
const busyLimit = 30 * time.Millisecond

// joinFor is the same after a member was started or a link healed: joining and catching up take longer.
const joinFor = 3 * time.Second

// clockEvery is how often, in wall time, the data directory hears how far simulated time is.
const clockEvery = 2 * time.Second

func openStoreDoor(e *Engine, masters []string) (*storeDoor, error) {
	d := &storeDoor{e: e, inFlight: map[string]int{}, leader: map[string]raftstore.MemberStatus{}, progress: map[string]event.RaftProgress{}}
	d.log = newRaftLog(d)
	d.setRate(1)
	if e.opts.Store == StoreMemory {
		d.cluster = memstore.New(masters, d, d)
	} else {
		c, err := raftstore.Open(raftstore.Options{Members: masters, Dir: e.dir, Sync: e.opts.DataDir != "", Network: d, Observer: d})
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
	t := d.e.net.Table()
	v := t.Verdict(simnet.Addr{Host: p.From, Process: "etcd"}, simnet.Addr{Host: p.To, Process: "etcd"}, rand.Float64())
	rate := float64(d.pace.Load()) / 1000
	return raftstore.Verdict{Drop: v.Drop, Refuse: v.Refuse, Delay: time.Duration(float64(v.Delay) / rate), Cause: uint64(v.Cause)}
}

// RoleChanged brings a member's new role to the journal. Store goroutines.
func (d *storeDoor) RoleChanged(s raftstore.MemberStatus) {
	d.log.look(s.Role == raftstore.Leader)
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
			Granted: m.Granted, Entries: m.Entries, CommitIndex: m.CommitIndex, Lost: m.Lost, LastIndex: m.LastIndex, LastTerm: m.LastTerm, Sent: m.Sent, Asked: m.Asked})
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

func (d *storeDoor) netChanged() {
	d.majority = d.findMajority()
	d.cluster.NetworkChanged()
}

// findMajority looks for members that are up and all reach one another in both directions, enough to elect a leader.
func (d *storeDoor) findMajority() []string {
	members := d.cluster.Members()
	addr := func(m string) simnet.Addr { return simnet.Addr{Host: m, Process: "etcd"} }
	votes := func(m string) bool {
		return d.e.net.HostUp(m) && d.e.net.Listening(addr(m)) && d.leader[m].Err == ""
	}
	for _, seed := range members {
		if !votes(seed) {
			continue
		}
		group := []string{seed}
		for _, m := range members {
			if m == seed || !votes(m) {
				continue
			}
			if d.e.net.Reachable(addr(seed), addr(m)) && d.e.net.Reachable(addr(m), addr(seed)) {
				group = append(group, m)
			}
		}
		if len(group) > len(members)/2 {
			return group
		}
	}
	return nil
}

// gate says how fast simulated time may run now.
//
// While no leader is known but one can be elected, it is held to electionRate (paced) or HeldRate (unpaced). Paced, it is also held to electionRate while the store
// has been at work for busyLimit without a break. Unpaced, it is also held while a request to the store is
// in flight on the side of the majority, and shortly after a commit until the members there have applied it. Requests on a side that cannot get through do not hold it:
// nothing in wall time will ever answer them. A leader that lost its majority holds it until it has stepped down, which takes wall time too.
func (e *Engine) gate() sim.Rate {
	d := e.store
	if e.opts.Store == StoreMemory {
		return sim.Unpaced
	}
	free := e.loop.Rate() == sim.Unpaced || e.loop.Rate() == 0 // a step jumps
	if d.majority == nil && !d.cluster.Led() {
		if free && d.shakenWithin(noticeFor) { // the members left are still finding out
			return e.opts.HeldRate
		}
		return sim.Unpaced
	}
	if d.majority == nil || !d.led() {
		if free {
			return e.opts.HeldRate
		}
		return electionRate
	}
	if !free {
		if d.busyFor() > busyLimit {
			return electionRate
		}
		return sim.Unpaced
	}
	for _, m := range d.majority {
		if d.inFlight[m] > 0 {
			return e.opts.HeldRate
		}
	}
	if d.lagging() {
		return e.opts.HeldRate
	}
	return sim.Unpaced
}

// shakenWithin reports that members or links changed less than t of wall time ago.
func (d *storeDoor) shakenWithin(t time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Since(d.lastShaken) < t
}

// busyFor is the wall time for which there has been a request in flight on the side of the majority without a break.
func (d *storeDoor) busyFor() time.Duration {
	for _, m := range d.majority {
		if d.inFlight[m] > 0 {
			return time.Since(d.busySince)
		}
	}
	d.busySince = time.Now()
	return 0
}

// led reports that a member of the majority believes it leads.
func (d *storeDoor) led() bool {
	if !d.cluster.Led() {
		return false
	}
	for _, m := range d.majority {
		if d.leader[m].Role == raftstore.Leader {
			return true
		}
	}
	return false
}

// lagging reports that a commit is fresh, or members or links changed a moment ago, and a member of the majority is not ready or has not applied everything.
func (d *storeDoor) lagging() bool {
	d.mu.Lock()
	fresh := time.Since(d.lastCommit) < settleFor || time.Since(d.lastShaken) < joinFor
	d.mu.Unlock()
	if !fresh {
		return false
	}
	var most int64
	status := d.cluster.Status()
	for _, s := range status {
		most = max(most, s.Revision)
	}
	for _, s := range status {
		for _, m := range d.majority {
			if s.Name == m && s.Up && (!s.Ready || s.Revision < most) {
				return true
			}
		}
	}
	return false
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

// count notes one request in flight; the function it returns, for any goroutine, takes the note back behind the answer in the mailbox.
func (s *countedStore) count() func() {
	s.d.inFlight[s.member]++
	return func() { s.d.e.loop.Post(func() { s.d.inFlight[s.member]-- }) }
}

// sampleProgress journals once a simulated second how far each member is, where it changed.
func (e *Engine) sampleProgress() {
	for _, s := range e.store.cluster.Status() {
		p := event.RaftProgress{Member: s.Name, LastIndex: s.LastIndex, CommitIndex: s.CommitIndex, Applied: s.Applied, Revision: s.Revision, SizeBytes: s.SizeBytes}
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
