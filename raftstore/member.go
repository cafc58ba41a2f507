package raftstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

// member is a place in the cluster: a name and a disk, and while it runs, a life.
type member struct {
	c    *RaftCluster
	name string
	disk *peer.Disk

	// reporting is held while the observer is told of this member, so that it hears in order.
	reporting sync.Mutex

	mu   sync.Mutex
	life *life
	// last is the life before, whose end a new one waits for.
	last *life
	// failure is why it is down although nobody stopped it.
	failure string
	// resting is there while something is done to its disk, and closed when that is over.
	resting chan struct{}
}

var _ Store = (*member)(nil)

func (m *member) current() *life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.life
}

var errRunning = errors.New("it is running")

// rest keeps a member that is down from starting, and its disk from everybody else, until release. Who wants either waits; its status is told as ever, because replacing a large disk takes long.
func (m *member) rest() (release func(), err error) {
	for {
		m.waitDown()
		m.mu.Lock()
		if m.resting == nil {
			break
		}
		m.unlockUntilRested()
	}
	defer m.mu.Unlock()
	if m.life != nil {
		return nil, errRunning
	}
	over := make(chan struct{})
	m.resting = over
	return func() {
		m.mu.Lock()
		m.resting = nil
		m.mu.Unlock()
		close(over)
	}, nil
}

// unlockUntilRested unlocks m.mu and waits until what is being done to the disk is over.
func (m *member) unlockUntilRested() {
	over := m.resting
	m.mu.Unlock()
	<-over
}

func (m *member) start(dropLog bool) (*life, error) {
	m.mu.Lock()
	for m.resting != nil {
		m.unlockUntilRested()
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	if left := m.c.halfRestored.Load(); left != nil {
		return nil, *left
	}
	if m.life != nil {
		return nil, fmt.Errorf("start member %s: %w", m.name, errRunning)
	}
	l := newLife(m)
	m.life, m.failure = l, ""
	go l.run(m.last, dropLog)
	return l, nil
}

// kill ends the present life. A reason is kept for the status; empty means somebody wanted it.
func (m *member) kill(reason string) {
	m.mu.Lock()
	l := m.life
	if reason == "" {
		m.failure = ""
	}
	m.mu.Unlock()
	if l != nil {
		m.end(l, reason)
	}
}

// end ends l, if it is still the present life, and reports that the member is down.
func (m *member) end(l *life, reason string) bool {
	m.mu.Lock()
	if m.life != l {
		m.mu.Unlock()
		return false
	}
	m.life, m.last, m.failure = nil, l, reason
	m.mu.Unlock()
	l.end()
	m.reporting.Lock()
	defer m.reporting.Unlock()
	m.c.opt.Observer.RoleChanged(m.Status())
	return true
}

// renew ends l, if it is still the present life, and puts another in its place without the member having been down; nil: it is not. Whoever asked for it lets the new one run, after l.
func (m *member) renew(l *life) *life {
	m.mu.Lock()
	if m.life != l {
		m.mu.Unlock()
		return nil
	}
	next := newLife(m)
	m.life, m.last = next, l
	m.mu.Unlock()
	l.end()
	m.reporting.Lock()
	defer m.reporting.Unlock()
	m.c.opt.Observer.RoleChanged(m.Status())
	return next
}

// waitDown waits until the disk is free.
func (m *member) waitDown() {
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	if last != nil {
		<-last.over
	}
}

func (m *member) wipe() error {
	release, err := m.rest()
	if err != nil {
		return err
	}
	defer release()
	m.fail("")
	return m.disk.Wipe(m.disk.Used() || m.anyOtherUsed(), m.keeps())
}

// fail says why a member that is down cannot go on; empty: it can.
func (m *member) fail(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = why
}

func (m *member) anyOtherUsed() bool {
	for _, other := range m.c.places() {
		if other != m && other.disk.Used() {
			return true
		}
	}
	return false
}

// Txn proposes a transaction; see Store.
func (m *member) Txn(ctx context.Context, t mvcc.Txn, done func(TxnResult)) {
	if err := mvcc.Validate(t); err != nil {
		done(TxnResult{Written: Written{Outcome: Refused, Err: err}})
		return
	}
	l, err := m.voting()
	if err != nil {
		done(TxnResult{Written: Written{Outcome: Refused, Err: err}})
		return
	}
	enc := peer.EncodeTxn(l.newID(), t)
	if len(enc.Body) > MaxRequestBytes {
		done(TxnResult{Written: Written{Outcome: Refused, Err: ErrTooLarge}})
		return
	}
	l.write(ctx, enc, done)
}

// Compact drops history on all members; see Store.
func (m *member) Compact(ctx context.Context, rev int64, done func(Written)) {
	l, err := m.voting()
	switch {
	case err != nil:
		done(Written{Outcome: Refused, Err: err})
	case rev <= 0:
		done(Written{Outcome: Refused, Err: ErrCompacted})
	default:
		l.write(ctx, peer.EncodeCompact(l.newID(), rev), func(r TxnResult) { done(r.Written) })
	}
}

// Range reads; see Store.
func (m *member) Range(ctx context.Context, r RangeRequest, done func(RangeResult)) {
	l := m.current()
	if l == nil {
		done(RangeResult{Err: ErrStopped})
		return
	}
	if !r.Serializable && l.learns() {
		done(RangeResult{Err: ErrLearner})
		return
	}
	l.read(ctx, r, done)
}

// Watch delivers changes; see Store. After cancel returns, one delivery that had begun may still be going on.
func (m *member) Watch(r WatchRequest, deliver func(WatchBatch)) (cancel func()) {
	l, err := m.voting()
	if err != nil {
		deliver(WatchBatch{Err: err})
		return func() {}
	}
	return l.watch(r, deliver)
}

// voting is the present life, of a member that may serve everything.
func (m *member) voting() (*life, error) {
	l := m.current()
	switch {
	case l == nil:
		return nil, ErrStopped
	case l.learns():
		return nil, ErrLearner
	}
	return l, nil
}

// learns tells whether the member gets data and has no vote: then it serves only what needs neither.
func (l *life) learns() bool {
	p := l.peer.Load()
	return p != nil && p.Learns()
}

// Status is the member's own view.
func (m *member) Status() MemberStatus {
	m.mu.Lock()
	l, failure := m.life, m.failure
	m.mu.Unlock()
	s := MemberStatus{Name: m.name, Role: Down, Err: failure, Disk: m.disk.Condition()}
	if in, ok := m.c.roster.Load().Find(m.name); ok {
		s.ID = in.ID
	}
	if l == nil {
		return s
	}
	s.Up = true
	s.Role = Follower
	p := l.peer.Load()
	if p == nil {
		return s
	}
	s.ID = p.ID()
	state, term := p.Role()
	s.Role, s.Term, s.Leader = roleOf(state), term, p.Leader()
	s.LastIndex, s.CommitIndex, s.Applied = p.LastIndex(), p.CommitIndex(), p.Applied()
	if state != raft.Leader {
		s.LastContact = p.LastContact()
	}
	if p.Muted() {
		s.Err = MutedReason
		if s.Role == Candidate { // raft thinks so, but nobody is asked
			s.Role = Follower
		}
	}
	if s.Role == Follower && p.Learns() {
		s.Role = Learner
	}
	s.Ready = l.ready.Load()
	s.Revision, s.Compacted = l.revision.Load(), l.compacted.Load()
	l.space.status(&s, m.c.quota())
	if s.SizeBytes = m.disk.Size(); s.SizeBytes == 0 {
		s.SizeBytes = l.size.Load()
	}
	return s
}

func roleOf(s raft.RaftState) Role {
	switch s {
	case raft.Leader:
		return Leader
	case raft.Candidate:
		return Candidate
	case raft.Shutdown:
		return Down
	}
	return Follower
}

// told is the answer to a write that the state machine has run: done, or turned down for good.
func told(o *peer.Outcome, index, term uint64) TxnResult {
	r := TxnResult{Written: Written{Index: index, Term: term, Err: translate(o.Err)}, Result: o.Result}
	if o.Result.Err != nil {
		r.Err = translate(o.Result.Err)
	}
	if r.Err != nil {
		r.Outcome = Refused
	}
	if o.Repeated { // whoever asked for it was answered before; nobody is left who may believe this
		r.Outcome, r.Err = Unknown, ErrLeaderChanged
	}
	return r
}

// translate turns the state machine's errors into the store's.
func translate(err error) error {
	switch {
	case errors.Is(err, mvcc.ErrCompacted):
		return ErrCompacted
	case errors.Is(err, mvcc.ErrFutureRev):
		return ErrFutureRev
	case errors.Is(err, mvcc.ErrNoSpace):
		return ErrNoSpace
	case errors.Is(err, mvcc.ErrLeaseNotFound):
		return ErrLeaseNotFound
	}
	return err
}

// panicked describes a recovered panic.
func panicked(what string, r any) error {
	return fmt.Errorf("%s: panic: %v\n%s", what, r, debug.Stack())
}
