package raftstore

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// Leases. The state machine holds which there are and what hangs on them; when one has run out is decided by the leader alone, from the virtual time, and becomes real by a
// log entry like any other. A leader begins to count when it has applied an entry of its own term, and gives every lease its full time anew, as etcd's lessor does:
// it cannot know when the one before last heard from a client. It decides for its own term only, and an entry is void in a later one, so a leader that has been deposed
// ends no lease that a client has meanwhile kept alive with the next.

// never is the end of a lease in a world whose time nobody tells.
const never = math.MaxInt64

// lessor counts, for the life that leads. Its lock is taken with the state locked, and never held while anything else is.
type lessor struct {
	// next is when the next lease runs out, virtual, in nanoseconds since 1970; never: none does.
	next atomic.Int64

	mu     sync.Mutex
	term   uint64 // it counts for; 0: this member does not lead
	leases map[mvcc.LeaseID]*counted
	due    dueLeases
}

// counted is a lease with its end.
type counted struct {
	id  mvcc.LeaseID
	ttl time.Duration
	end int64
	// at is its place in the heap; -1 while it is being revoked.
	at int
}

// dueLeases is a heap by end.
type dueLeases []*counted

func (d dueLeases) Len() int           { return len(d) }
func (d dueLeases) Less(i, j int) bool { return d[i].end < d[j].end }
func (d dueLeases) Swap(i, j int)      { d[i], d[j] = d[j], d[i]; d[i].at, d[j].at = i, j }
func (d *dueLeases) Push(x any)        { c := x.(*counted); c.at = len(*d); *d = append(*d, c) }
func (d *dueLeases) Pop() any {
	last := len(*d) - 1
	c := (*d)[last]
	(*d)[last], *d = nil, (*d)[:last]
	c.at = -1
	return c
}

// Advance tells the virtual time. Leases that have run out are revoked through the log.
func (c *RaftCluster) Advance(now time.Time) {
	t := now.UnixNano()
	for {
		before := c.upkeep.now.Load()
		if t <= before {
			return
		}
		if c.upkeep.now.CompareAndSwap(before, t) {
			break
		}
	}
	for _, m := range c.places() {
		if l := m.current(); l != nil && t >= l.lessor.next.Load() {
			l.expireLeases()
		}
	}
}

// ends is when a lease that is counted from now on runs out.
func (u *upkeep) ends(ttl time.Duration) int64 {
	now := u.now.Load()
	if now == 0 {
		return 0 // at the first time that is told it is counted anew
	}
	return now + int64(min(ttl, time.Duration(never-now)))
}

// countLeases follows the state machine; it runs with the state locked, after each entry.
func (l *life) countLeases(term uint64, outcomes []peer.Outcome, kv *mvcc.Store) {
	s := &l.lessor
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.term != term {
		p := l.peer.Load()
		if p == nil || !p.Leads(term) {
			s.clear(0)
			return
		}
		s.clear(term)
		for _, lease := range kv.Leases() {
			s.add(lease.ID, lease.TTL, &l.m.c.upkeep)
		}
		s.look()
		return
	}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Repeated || o.Command.Kind == peer.Txn {
			continue
		}
		switch c := o.Command; c.Kind {
		case peer.Grant:
			if o.Err == nil && s.leases[c.Lease] == nil {
				s.add(c.Lease, c.TTL, &l.m.c.upkeep)
			}
		case peer.Revoke, peer.Expire:
			s.remove(c.Lease)
		}
	}
	s.look()
}

func (s *lessor) clear(term uint64) {
	s.term, s.leases, s.due = term, nil, nil
	s.next.Store(never)
}

func (s *lessor) add(id mvcc.LeaseID, seconds int64, u *upkeep) {
	if s.leases == nil {
		s.leases = make(map[mvcc.LeaseID]*counted)
	}
	c := &counted{id: id, ttl: time.Duration(min(seconds, peer.MaxTTL)) * time.Second}
	c.end = u.ends(c.ttl)
	if planted.Is(planted.LeaseEndsEarly) {
		c.end = u.ends(c.ttl / 2)
	}
	s.leases[id] = c
	heap.Push(&s.due, c)
}

func (s *lessor) remove(id mvcc.LeaseID) {
	c := s.leases[id]
	if c == nil {
		return
	}
	delete(s.leases, id)
	if c.at >= 0 {
		heap.Remove(&s.due, c.at)
	}
}

// look notes when the next lease runs out.
func (s *lessor) look() {
	next := int64(never)
	if len(s.due) > 0 {
		next = s.due[0].end
	}
	s.next.Store(next)
}

// expireLeases proposes to revoke the leases that have run out. None is proposed again before the state machine, or a new term, has said what became of it.
func (l *life) expireLeases() {
	s, p, now := &l.lessor, l.peer.Load(), l.m.c.upkeep.now.Load()
	s.mu.Lock()
	term := s.term
	if term == 0 || p == nil || !p.Leads(term) {
		s.clear(0)
		s.mu.Unlock()
		return
	}
	var out []peer.Encoded
	var ids []mvcc.LeaseID
	for len(s.due) > 0 && s.due[0].end <= now {
		c := s.due[0]
		if c.end == 0 { // nobody had told the time when it was granted
			c.end = l.m.c.upkeep.ends(c.ttl)
			heap.Fix(&s.due, 0)
			continue
		}
		heap.Pop(&s.due)
		ids = append(ids, c.id)
		out = append(out, peer.EncodeRevoke(l.newID(), c.id, true))
	}
	s.look()
	s.mu.Unlock()
	l.writeIn(term, out, func(i int, r TxnResult) {
		if r.Outcome == Done || r.Err == ErrLeaseNotFound {
			return // the state machine has said so to countLeases as well
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if c := s.leases[ids[i]]; c != nil && s.term == term && c.at < 0 {
			heap.Push(&s.due, c)
			s.look()
		}
	})
}

// GrantLease makes a lease; see Store.
func (m *member) GrantLease(ctx context.Context, ttl time.Duration, done func(Lease)) {
	seconds := max(1, int64(ttl/time.Second))
	if ttl > time.Second && ttl%time.Second > 0 {
		seconds++
	}
	l, err := m.voting()
	switch {
	case err != nil:
		done(Lease{Written: Written{Outcome: Refused, Err: err}})
		return
	case seconds > peer.MaxTTL:
		done(Lease{Written: Written{Outcome: Refused, Err: ErrLeaseTTLTooLarge}})
		return
	}
	id := newLeaseID()
	l.write(ctx, peer.EncodeGrant(l.newID(), id, seconds), func(r TxnResult) {
		done(Lease{Written: r.Written, ID: id, TTL: time.Duration(seconds) * time.Second})
	})
}

// newLeaseID draws an id. The member does that, and not the state machine, which knows no randomness.
func newLeaseID() mvcc.LeaseID {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return mvcc.LeaseID(max(1, binary.LittleEndian.Uint64(b[:])>>1))
}

// RevokeLease ends a lease; see Store.
func (m *member) RevokeLease(ctx context.Context, id mvcc.LeaseID, done func(Written)) {
	l, err := m.voting()
	switch {
	case err != nil:
		done(Written{Outcome: Refused, Err: err})
	case id <= 0:
		done(Written{Outcome: Refused, Err: ErrLeaseNotFound})
	default:
		l.write(ctx, peer.EncodeRevoke(l.newID(), id, false), func(r TxnResult) { done(r.Written) })
	}
}

// leaseQuestion asks the leader of term to count a lease anew.
type leaseQuestion struct {
	term uint64
	id   mvcc.LeaseID
}

// leaseAnswer says whether there is such a lease; OK false: ask again, this member does not lead.
type leaseAnswer struct {
	ok, found bool
	ttl       time.Duration
}

func (leaseQuestion) Kind() string { return "lease" }

// answerLease answers as leader, once a majority has said that there is no later one: a lease that a deposed leader kept alive would end all the same. It does it when may agrees.
func (l *life) answerLease(from string, q leaseQuestion, may func() bool) leaseAnswer {
	if !l.answerIndex(from, indexQuestion{term: q.term}).ok {
		return leaseAnswer{}
	}
	s := &l.lessor
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.term != q.term || !may() {
		return leaseAnswer{}
	}
	c := s.leases[q.id]
	if c == nil || c.at < 0 {
		return leaseAnswer{ok: true}
	}
	c.end = l.m.c.upkeep.ends(c.ttl)
	heap.Fix(&s.due, c.at)
	s.look()
	return leaseAnswer{ok: true, found: true, ttl: c.ttl}
}

// keepAlive is one call of KeepAlive; whoever takes it answers it.
type keepAlive struct {
	id    mvcc.LeaseID
	done  func(Lease)
	state atomic.Int32
}

const (
	undone int32 = iota
	perhaps
	answered
)

// may reports that the caller still waits. From then on it is done, or perhaps done.
func (k *keepAlive) may() bool {
	return k.state.CompareAndSwap(undone, perhaps) || k.state.Load() == perhaps
}

func (k *keepAlive) answer(r Lease) {
	if k.state.Swap(answered) != answered {
		r.ID = k.id
		k.done(r)
	}
}

// fail answers that the caller, or the member, has given up.
func (k *keepAlive) fail(err error) {
	switch k.state.Swap(answered) {
	case undone:
		k.done(Lease{ID: k.id, Written: Written{Outcome: Refused, Err: err}})
	case perhaps:
		k.done(Lease{ID: k.id, Written: Written{Outcome: Unknown, Err: err}})
	}
}

// KeepAlive starts a lease's time anew; see Store. It is no log entry: the leader that counts is asked.
func (m *member) KeepAlive(ctx context.Context, id mvcc.LeaseID, done func(Lease)) {
	k := &keepAlive{id: id, done: done}
	l, err := m.voting()
	if err != nil {
		k.fail(err)
		return
	}
	forget := context.AfterFunc(ctx, func() {
		defer l.recover("answer a caller that gave up")
		k.fail(ErrTimeout)
	})
	l.inflight.Add(1)
	l.goes("keep a lease alive", func() {
		defer l.inflight.Add(-1)
		defer forget()
		for k.state.Load() != answered {
			if a, ok := l.askLease(k); ok {
				r := Lease{TTL: a.ttl}
				if !a.found {
					r.Outcome, r.Err = Refused, ErrLeaseNotFound
				}
				k.answer(r)
				return
			}
			if !pause(retryEvery, l.stop) {
				k.fail(ErrStopped)
			}
		}
	})
}

// askLease asks whoever leads.
func (l *life) askLease(k *keepAlive) (leaseAnswer, bool) {
	p := l.peer.Load()
	if p == nil {
		return leaseAnswer{}, false
	}
	q := leaseQuestion{term: p.CurrentTerm(), id: k.id}
	leader := p.Leader()
	if leader == "" {
		return leaseAnswer{}, false
	}
	if leader == l.m.name {
		a := l.answerLease(l.m.name, q, k.may)
		return a, a.ok
	}
	before := k.state.Load()
	if !k.may() {
		return leaseAnswer{}, false
	}
	moved := func() bool { return k.state.Load() == answered || p.Leader() != leader || p.CurrentTerm() != q.term }
	answer, err := l.m.c.fabric.Call(l.m.name, leader, q, l.stop, moved)
	if err == peer.ErrUndelivered && before == undone {
		k.state.CompareAndSwap(perhaps, undone)
	}
	a, ok := answer.(leaseAnswer)
	return a, err == nil && ok && a.ok
}
