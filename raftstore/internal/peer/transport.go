package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
)

// How long a sender waits for the answer to an RPC, beyond the delays of the links. Longer than resendEvery, so that single losses do not
// show, and shorter than the leader's lease, so that one silence does not cost it.
const (
	rpcTimeout      = 200 * time.Millisecond
	snapshotTimeout = 30 * time.Second
	// Pieces of a snapshot are between these, and a fourth of it: even a small one takes several, so that a link can fail in the middle of it.
	pieceLeast, pieceMost = 256, 256 << 10
	// loopsMax is how many snapshots a member takes over without being able to go on from any.
	loopsMax = 3
)

var (
	errTransportClosed = errors.New("transport closed")
	errRefused         = errors.New("connection refused")
	errTimedOut        = errors.New("i/o timeout")
	errNotVoting       = errors.New("member does not vote before it has caught up")
	errOther           = errors.New("another member has that name now")
	errNoTransfer      = errors.New("leadership is not handed over: a leader that fails to may refuse every write of a later term (raft#696)")
)

// Transport is raft's door to the fabric for one life of a member.
//
// Messages are copied as deeply as encoding them would do, except for the payload of log entries, which is immutable from the moment it is
// proposed: all members of a process share one copy of it. Heartbeats take the same way as all other RPCs, through Consumer (raft#695:
// the fast path can let a deposed leader write). No pipeline: entries already carry many writes, and it buys nothing measurable here.
type Transport struct {
	f    *Fabric
	who  Identity
	name string
	rpcs chan raft.RPC
	// ready is closed when the fields below are set.
	ready  <-chan struct{}
	closed chan struct{}
	once   sync.Once

	// leads tells whether this member still leads in term, term what term it is in; installed is called after a snapshot was taken over;
	// applied is the FSM's index.
	leads     func(term uint64) bool
	term      func() uint64
	installed func(*raft.InstallSnapshotRequest)
	applied   func() uint64
	// overtake takes out of a request what this member's snapshot stands for; see gapless.
	overtake func(*raft.AppendEntriesRequest)
	// position is the end of this member's log and its commit index.
	position func() (last, commit uint64)
	news     news
	// latest is the newest configuration in the log; excludes tells whether a member was removed, told is called when this one was.
	latest   func() []raft.Server
	excludes func(id string, era, asOf uint64) bool
	told     func()
	// asOf is the index of the newest configuration that surely had this member in it. It goes with each message, as does the identity.
	asOf atomic.Uint64
	// used: the disk is marked; markUsed marks it, before the first thing on it is acknowledged.
	used     atomic.Bool
	markUsed func() error
	fail     func(error)
	// recover is deferred by what runs as this member on a goroutine of another, or of its own.
	recover func(what string)
	step    func(failure.Point) error // may be nil
	// confirmed holds what each follower has last confirmed, heard when it last answered, by id.
	confirmed, heard sync.Map
	ahead            ahead
	loop             loop
	// mute is set while the member must neither vote nor stand for election.
	mute atomic.Bool

	samples sync.Map // "kind to" → *atomic.Int64, the time of the last message shown
}

var (
	_ raft.Transport   = (*Transport)(nil)
	_ raft.WithPreVote = (*Transport)(nil)
	_ raft.WithClose   = (*Transport)(nil)
)

func newTransport(f *Fabric, who Identity, name string, ready <-chan struct{}) *Transport {
	return &Transport{f: f, who: who, name: name, ready: ready, rpcs: make(chan raft.RPC), closed: make(chan struct{})}
}

func (t *Transport) Consumer() <-chan raft.RPC { return t.rpcs }

func (t *Transport) LocalAddr() raft.ServerAddress { return raft.ServerAddress(t.name) }

func (t *Transport) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte { return []byte(a) }

func (t *Transport) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }

// SetHeartbeatHandler ignores raft's fast path; see Transport.
func (t *Transport) SetHeartbeatHandler(func(raft.RPC)) {}

func (t *Transport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// Close fails all calls, present and future, at once.
func (t *Transport) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

// AppendEntries carries entries or a heartbeat. Where entries cannot be delivered it holds on to them as long as this member leads in their
// term, instead of failing: raft would back off for up to ten seconds, and a healed link would seem dead for as long.
func (t *Transport) AppendEntries(id raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	kind := "append"
	if args.PrevLogEntry == 0 && args.PrevLogTerm == 0 && len(args.Entries) == 0 && args.LeaderCommitIndex == 0 {
		kind = "heartbeat"
	}
	c := call{kind: kind, id: id, to: string(to), term: args.Term, entries: len(args.Entries), commit: args.LeaderCommitIndex, lastIndex: args.PrevLogEntry, lastTerm: args.PrevLogTerm}
	if n := len(args.Entries); n > 0 {
		c.lastIndex, c.lastTerm = args.Entries[n-1].Index, args.Entries[n-1].Term
	}
	if kind == "append" {
		c.hold = t.holds(id, args.Term)
		select {
		case <-t.ready:
		case <-t.closed:
			return errTransportClosed
		}
		now := *args
		args = &now
		t.holdIdle(string(id), args)
		c.commit = args.LeaderCommitIndex
	}
	return t.do(&c, nil, func() any { return copyAppend(args) }, func(answer any) (uint64, bool, error) {
		r, ok := answer.(*raft.AppendEntriesResponse)
		if !ok {
			return 0, false, fmt.Errorf("unexpected answer %T", answer)
		}
		*resp = *r
		if !r.Success {
			c.lastIndex, c.lastTerm = r.LastLog, 0
		}
		if kind == "append" && r.Success {
			t.confirmed.Store(string(id), confirmed{args.Term, args.PrevLogEntry + uint64(len(args.Entries)), args.LeaderCommitIndex})
			t.ahead.confirm(id, to, args)
		}
		return r.Term, r.Success, nil
	})
}

func (t *Transport) RequestVote(id raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if t.mute.Load() {
		return errNotVoting
	}
	c := call{kind: "vote", id: id, to: string(to), term: args.Term, lastIndex: args.LastLogIndex, lastTerm: args.LastLogTerm}
	return t.do(&c, nil, func() any { cp := *args; return &cp }, func(answer any) (uint64, bool, error) {
		r, ok := answer.(*raft.RequestVoteResponse)
		if !ok {
			return 0, false, fmt.Errorf("unexpected answer %T", answer)
		}
		*resp = *r
		return r.Term, r.Granted, nil
	})
}

func (t *Transport) RequestPreVote(id raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t.mute.Load() {
		return errNotVoting
	}
	c := call{kind: "pre-vote", id: id, to: string(to), term: args.Term, lastIndex: args.LastLogIndex, lastTerm: args.LastLogTerm}
	return t.do(&c, nil, func() any { cp := *args; return &cp }, func(answer any) (uint64, bool, error) {
		r, ok := answer.(*raft.RequestPreVoteResponse)
		if !ok {
			return 0, false, fmt.Errorf("unexpected answer %T", answer)
		}
		*resp = *r
		return r.Term, r.Granted, nil
	})
}

// InstallSnapshot carries a snapshot piece by piece, so that a link can be cut in the middle of it.
func (t *Transport) InstallSnapshot(id raft.ServerID, to raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) (err error) {
	err = errTransportClosed // where it panics
	if t.recover != nil {
		defer t.recover("send a snapshot")
	}
	c := call{kind: "snapshot", id: id, to: string(to), term: args.Term, lastIndex: args.LastLogIndex, lastTerm: args.LastLogTerm, timeout: snapshotTimeout, hold: t.holds(id, args.Term)}
	body := make([]byte, 0, max(0, args.Size))
	piece := make([]byte, min(max(args.Size/4, pieceLeast), pieceMost))
	c.pieces = max(1, (int(args.Size)+len(piece)-1)/len(piece))
	for {
		n, err := io.ReadFull(data, piece)
		body = append(body, piece[:n]...)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
		if int64(len(body)) < args.Size { // the last piece goes with the request itself
			if _, err := t.deliver(&c, time.Now().Add(snapshotTimeout)); err != nil {
				return err
			}
			c.piece++
			if t.step != nil {
				if err := t.step(failure.InSendSnapshot); err != nil {
					return err
				}
			}
		}
	}
	return t.do(&c, body, func() any {
		cp := *args
		cp.Configuration = bytes.Clone(args.Configuration)
		return &cp
	}, func(answer any) (uint64, bool, error) {
		r, ok := answer.(*raft.InstallSnapshotResponse)
		if !ok {
			return 0, false, fmt.Errorf("unexpected answer %T", answer)
		}
		*resp = *r
		return r.Term, r.Success, nil
	})
}

// TimeoutNow would hand leadership over, which this store never does.
func (t *Transport) TimeoutNow(raft.ServerID, raft.ServerAddress, *raft.TimeoutNowRequest, *raft.TimeoutNowResponse) error {
	return errNoTransfer
}

// holds tells how long something for a member is kept while it cannot be delivered: as long as this one leads in term and the other is a member.
func (t *Transport) holds(id raft.ServerID, term uint64) func() bool {
	return func() bool {
		return t.leads(term) && slices.ContainsFunc(t.latest(), func(s raft.Server) bool { return s.ID == id })
	}
}

func copyAppend(a *raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	cp := *a
	cp.Entries = make([]*raft.Log, len(a.Entries))
	for i, e := range a.Entries {
		entry := *e
		cp.Entries[i] = &entry
	}
	return &cp
}

// call is one RPC on its way.
type call struct {
	kind, to string
	// id is who is meant, whoever is found there.
	id raft.ServerID
	// piece of a snapshot, from 0, and how many there are.
	piece, pieces int
	term          uint64
	entries       int
	commit        uint64
	// lastIndex and lastTerm are the end of the log that it speaks of.
	lastIndex, lastTerm uint64
	// asked is when the question that arrived was sent.
	asked   time.Time
	timeout time.Duration
	// hold, when set, keeps trying to deliver beyond the deadline as long as it is true.
	hold func() bool
}

// do delivers one RPC, waits for its answer and takes it back over the link.
func (t *Transport) do(c *call, body []byte, command func() any, take func(answer any) (term uint64, granted bool, err error)) (err error) {
	err = errTransportClosed // where it panics
	if t.recover != nil {
		defer t.recover("send a message")
	}
	if c.timeout == 0 {
		c.timeout = rpcTimeout
	}
	v, err := t.deliver(c, time.Now().Add(c.timeout))
	if err != nil {
		return err
	}
	end, _ := t.f.end(c.to)
	if end == nil {
		return errRefused
	}
	deadline := time.Now().Add(c.timeout)
	for n := range v.Copies {
		go t.f.late(time.Duration(n+1)*v.Delay, t.closed, func() { end.raft.receive(c.id, command(), body, t, deadline) }) // nobody waits for the answer to a copy
	}
	answer, err := end.raft.receive(c.id, command(), body, t, deadline)
	if err != nil {
		if errors.Is(err, ErrRemoved) {
			t.told()
		}
		return err
	}
	answered := time.Now()
	if err := t.takeBack(c, deadline); err != nil {
		return err
	}
	t.heard.Store(string(c.id), time.Now())
	term, granted, err := take(answer)
	if err == nil {
		t.show(c, Message{From: c.to, To: t.name, Kind: c.kind, Term: term, Reply: true, Granted: granted, Entries: c.entries, LastIndex: c.lastIndex, LastTerm: c.lastTerm,
			Sent: answered, Asked: c.asked})
	}
	return err
}

// deliver brings a message to the other side, sending it again while it gets lost.
func (t *Transport) deliver(c *call, deadline time.Time) (Verdict, error) {
	select {
	case <-t.ready:
	case <-t.closed:
		return Verdict{}, errTransportClosed
	}
	for repeated := false; ; repeated = true {
		end, changed := t.f.end(c.to)
		c.asked = time.Now()
		v, err := t.f.pass(Packet{From: t.name, To: c.to, Kind: c.kind, Piece: c.piece}, t.closed)
		deadline = deadline.Add(v.Delay)
		arrived := err == nil && end != nil
		if arrived || !repeated || c.entries > 0 { // that a question was lost again says nothing new
			t.show(c, Message{From: t.name, To: c.to, Kind: c.kind, Term: c.term, Entries: c.entries, CommitIndex: c.commit, LastIndex: c.lastIndex, LastTerm: c.lastTerm,
				Piece: min(c.piece+1, c.pieces), Pieces: c.pieces, Lost: !arrived, Cause: v.Cause, Sent: c.asked})
		}
		if arrived {
			return v, nil
		}
		if c.hold == nil && (v.Refuse || err == nil) {
			return v, errRefused
		}
		if !again(t.closed, nil, changed) {
			return v, errTransportClosed
		}
		if c.hold != nil && !c.hold() || c.hold == nil && time.Now().After(deadline) {
			return v, errTimedOut
		}
	}
}

// takeBack brings the answer over the link.
func (t *Transport) takeBack(c *call, deadline time.Time) error {
	for {
		_, changed := t.f.end(c.to)
		sent := time.Now()
		v, err := t.f.pass(Packet{From: c.to, To: t.name, Kind: c.kind, Reply: true}, t.closed)
		deadline = deadline.Add(v.Delay)
		if err == nil {
			return nil
		}
		t.show(c, Message{From: c.to, To: t.name, Kind: c.kind, Term: c.term, Reply: true, Lost: true, Cause: v.Cause, Sent: sent, Asked: c.asked})
		if v.Refuse {
			return errRefused
		}
		if !again(t.closed, nil, changed) {
			return errTransportClosed
		}
		if time.Now().After(deadline) {
			return errTimedOut
		}
	}
}

// has tells whether raft itself knows that it has everything up to index; where it does not, though that is applied, only the snapshot can teach it.
func (t *Transport) has(index uint64) bool {
	last, _ := t.position()
	return last >= index
}

// receive hands an RPC that is meant for id to this member's raft and waits for its answer until the sender's deadline. One that raft has not begun by then is
// never handed over (a snapshot processed late would turn the state back). Nor is one for who had this place before: what that one promised, this one knows nothing
// of. A sender that was removed is told so; it must not disturb the others (raft#524).
func (t *Transport) receive(id raft.ServerID, command any, body []byte, sender *Transport, deadline time.Time) (answer any, err error) {
	err = errRefused // where it panics
	if t.recover != nil {
		defer t.recover("receive a message")
	}
	install, isInstall := command.(*raft.InstallSnapshotRequest)
	switch {
	case !time.Now().Before(deadline):
		return nil, errTimedOut
	case t.excludes(sender.who.ID, sender.who.Era, sender.asOf.Load()):
		return nil, ErrRemoved
	case string(id) != t.who.ID || sender.who.Era != t.who.Era:
		return nil, errOther
	case isVote(command) && t.mute.Load():
		return nil, errNotVoting
	case isInstall && install.LastLogIndex <= t.applied() && install.Term >= t.term() && t.has(install.LastLogIndex):
		// Raft would take over an older snapshot and so turn the state back. What it holds is applied here already, so this is success.
		return &raft.InstallSnapshotResponse{RPCHeader: install.RPCHeader, Term: install.Term, Success: true}, nil
	}
	if isInstall && t.step != nil {
		if err := t.step(failure.BeforeInstall); err != nil {
			return nil, err
		}
	}
	if a, ok := command.(*raft.AppendEntriesRequest); ok {
		if t.overtake != nil {
			t.overtake(a)
		}
		vouch(a)
	}
	answers := make(chan raft.RPCResponse, 1)
	rpc := raft.RPC{Command: command, RespChan: answers}
	if isInstall {
		rpc.Reader = bytes.NewReader(body)
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case t.rpcs <- rpc:
	case <-timer.C:
		return nil, errTimedOut
	case <-sender.closed:
		return nil, errTransportClosed
	case <-t.closed:
		return nil, errRefused
	}
	select {
	case r := <-answers:
		if r.Error != nil {
			return nil, r.Error
		}
		return r.Response, t.acknowledge(command, r.Response)
	case <-timer.C:
		return nil, errTimedOut
	case <-sender.closed:
		return nil, errTransportClosed
	case <-t.closed:
		return nil, errRefused
	}
}

// acknowledge runs before an answer of raft's leaves this member.
func (t *Transport) acknowledge(command, answer any) error {
	keeps := false
	switch r := answer.(type) {
	case *raft.InstallSnapshotResponse:
		if keeps = r.Success; keeps {
			t.installed(command.(*raft.InstallSnapshotRequest))
			t.loop.installed()
			if t.step != nil {
				if err := t.step(failure.AfterInstall); err != nil {
					return err
				}
			}
		}
	case *raft.AppendEntriesResponse:
		a := command.(*raft.AppendEntriesRequest)
		keeps = r.Success && len(a.Entries) > 0
		if t.loop.appended(r.Success, a) {
			t.fail(fmt.Errorf("%d snapshots of leader %s were taken over, and each time the log after them did not fit; the member needs an empty disk (remove it and add it again)", loopsMax, a.Addr))
		}
	}
	if keeps && !t.used.Load() {
		if err := t.markUsed(); err != nil {
			t.fail(err)
			return err
		}
		t.used.Store(true)
	}
	return nil
}

// loop notices when a member takes over snapshots without end because it can never go on from one (raft#697).
type loop struct {
	mu sync.Mutex
	// fresh: nothing was appended, or refused, since the last snapshot.
	fresh bool
	count int
}

func (l *loop) installed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh = true
}

// appended reports that it is time to stop.
func (l *loop) appended(success bool, a *raft.AppendEntriesRequest) bool {
	if a.PrevLogEntry == 0 && len(a.Entries) == 0 {
		return false // a heartbeat asks for nothing
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case success:
		l.count = 0
	case l.fresh:
		l.count++
	}
	l.fresh = false
	return l.count == loopsMax
}

func isVote(command any) bool {
	switch command.(type) {
	case *raft.RequestVoteRequest, *raft.RequestPreVoteRequest:
		return true
	}
	return false
}

// show tells the observer about a message: votes and snapshots always, appends and heartbeats as the selection has it.
func (t *Transport) show(c *call, m Message) {
	if (c.kind == "append" || c.kind == "heartbeat") && !t.f.Selects.shows(&t.samples, m) {
		return
	}
	t.f.observe(m)
}
