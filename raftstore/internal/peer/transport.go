package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// How long a sender waits for the answer to an RPC, beyond the delays of the links. Longer than resendEvery, so that single losses do not
// show, and shorter than the leader's lease, so that one silence does not cost it.
const (
	rpcTimeout      = 200 * time.Millisecond
	snapshotTimeout = 30 * time.Second
	snapshotChunk   = 256 << 10
)

var (
	errTransportClosed = errors.New("transport closed")
	errRefused         = errors.New("connection refused")
	errTimedOut        = errors.New("i/o timeout")
	errNotVoting       = errors.New("member does not vote before it has caught up")
)

// Transport is raft's door to the fabric for one life of a member.
//
// Messages are copied as deeply as encoding them would do, except for the payload of log entries, which is immutable from the moment it is
// proposed: all members of a process share one copy of it. Heartbeats take the same way as all other RPCs, through Consumer (raft#695:
// the fast path can let a deposed leader write). No pipeline: entries already carry many writes, and it buys nothing measurable here.
type Transport struct {
	f    *Fabric
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
	installed func(index, term uint64)
	applied   func() uint64
	// position is the end of this member's log and its commit index.
	position func() (last, commit uint64)
	news     news
	// confirmed holds what each follower has last confirmed, by name.
	confirmed sync.Map
	// mute is set while the member must neither vote nor stand for election.
	mute atomic.Bool

	samples sync.Map // "kind to" → *atomic.Int64, the time of the last message shown
}

var (
	_ raft.Transport   = (*Transport)(nil)
	_ raft.WithPreVote = (*Transport)(nil)
	_ raft.WithClose   = (*Transport)(nil)
)

func newTransport(f *Fabric, name string, ready <-chan struct{}) *Transport {
	return &Transport{f: f, name: name, ready: ready, rpcs: make(chan raft.RPC), closed: make(chan struct{})}
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
func (t *Transport) AppendEntries(_ raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	kind := "append"
	if args.PrevLogEntry == 0 && args.PrevLogTerm == 0 && len(args.Entries) == 0 && args.LeaderCommitIndex == 0 {
		kind = "heartbeat"
	}
	c := call{kind: kind, to: string(to), term: args.Term, entries: len(args.Entries), commit: args.LeaderCommitIndex, lastIndex: args.PrevLogEntry, lastTerm: args.PrevLogTerm}
	if n := len(args.Entries); n > 0 {
		c.lastIndex, c.lastTerm = args.Entries[n-1].Index, args.Entries[n-1].Term
	}
	if kind == "append" {
		c.hold = func() bool { return t.leads(args.Term) }
		select {
		case <-t.ready:
		case <-t.closed:
			return errTransportClosed
		}
		now := *args
		args = &now
		t.holdIdle(c.to, args)
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
			t.confirmed.Store(c.to, confirmed{args.Term, args.PrevLogEntry + uint64(len(args.Entries)), args.LeaderCommitIndex})
		}
		return r.Term, r.Success, nil
	})
}

func (t *Transport) RequestVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if t.mute.Load() {
		return errNotVoting
	}
	c := call{kind: "vote", to: string(to), term: args.Term, lastIndex: args.LastLogIndex, lastTerm: args.LastLogTerm}
	return t.do(&c, nil, func() any { cp := *args; return &cp }, func(answer any) (uint64, bool, error) {
		r, ok := answer.(*raft.RequestVoteResponse)
		if !ok {
			return 0, false, fmt.Errorf("unexpected answer %T", answer)
		}
		*resp = *r
		return r.Term, r.Granted, nil
	})
}

func (t *Transport) RequestPreVote(_ raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t.mute.Load() {
		return errNotVoting
	}
	c := call{kind: "pre-vote", to: string(to), term: args.Term, lastIndex: args.LastLogIndex, lastTerm: args.LastLogTerm}
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
func (t *Transport) InstallSnapshot(_ raft.ServerID, to raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	c := call{kind: "snapshot", to: string(to), term: args.Term, lastIndex: args.LastLogIndex, lastTerm: args.LastLogTerm, timeout: snapshotTimeout, hold: func() bool { return t.leads(args.Term) }}
	body := make([]byte, 0, max(0, args.Size))
	for piece := make([]byte, snapshotChunk); ; {
		n, err := io.ReadFull(data, piece)
		body = append(body, piece[:n]...)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
		if int64(len(body)) < args.Size { // the last piece goes with the request itself
			if err := t.deliver(&c, time.Now().Add(snapshotTimeout)); err != nil {
				return err
			}
			c.piece++
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

func (t *Transport) TimeoutNow(_ raft.ServerID, to raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	c := call{kind: "timeout-now", to: string(to)}
	return t.do(&c, nil, func() any { cp := *args; return &cp }, func(answer any) (uint64, bool, error) { return 0, true, nil })
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
	// piece of a snapshot.
	piece   int
	term    uint64
	entries int
	commit  uint64
	// lastIndex and lastTerm are the end of the log that it speaks of.
	lastIndex, lastTerm uint64
	// asked is when the question that arrived was sent.
	asked   time.Time
	timeout time.Duration
	// hold, when set, keeps trying to deliver beyond the deadline as long as it is true.
	hold func() bool
}

// do delivers one RPC, waits for its answer and takes it back over the link.
func (t *Transport) do(c *call, body []byte, command func() any, take func(answer any) (term uint64, granted bool, err error)) error {
	if c.timeout == 0 {
		c.timeout = rpcTimeout
	}
	if err := t.deliver(c, time.Now().Add(c.timeout)); err != nil {
		return err
	}
	end, _ := t.f.end(c.to)
	if end == nil {
		return errRefused
	}
	deadline := time.Now().Add(c.timeout)
	answer, err := end.raft.receive(command(), body, t, deadline)
	if err != nil {
		return err
	}
	answered := time.Now()
	if err := t.takeBack(c, deadline); err != nil {
		return err
	}
	term, granted, err := take(answer)
	if err == nil {
		t.show(c, Message{From: c.to, To: t.name, Kind: c.kind, Term: term, Reply: true, Granted: granted, Entries: c.entries, LastIndex: c.lastIndex, LastTerm: c.lastTerm,
			Sent: answered, Asked: c.asked})
	}
	return err
}

// deliver brings a message to the other side, sending it again while it gets lost.
func (t *Transport) deliver(c *call, deadline time.Time) error {
	select {
	case <-t.ready:
	case <-t.closed:
		return errTransportClosed
	}
	for repeated := false; ; repeated = true {
		end, changed := t.f.end(c.to)
		c.asked = time.Now()
		v, err := t.f.pass(Packet{From: t.name, To: c.to, Kind: c.kind, Piece: c.piece}, t.closed)
		deadline = deadline.Add(v.Delay)
		arrived := err == nil && end != nil
		if arrived || !repeated || c.entries > 0 { // that a question was lost again says nothing new
			t.show(c, Message{From: t.name, To: c.to, Kind: c.kind, Term: c.term, Entries: c.entries, CommitIndex: c.commit, LastIndex: c.lastIndex, LastTerm: c.lastTerm,
				Lost: !arrived, Cause: v.Cause, Sent: c.asked})
		}
		if arrived {
			return nil
		}
		if c.hold == nil && (v.Refuse || err == nil) {
			return errRefused
		}
		if !again(t.closed, nil, changed) {
			return errTransportClosed
		}
		if c.hold != nil && !c.hold() || c.hold == nil && time.Now().After(deadline) {
			return errTimedOut
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

// receive hands an RPC to this member's raft and waits for its answer until the sender's deadline. One that raft has not begun by then is
// never handed over (a snapshot processed late would turn the state back).
func (t *Transport) receive(command any, body []byte, sender *Transport, deadline time.Time) (any, error) {
	install, isInstall := command.(*raft.InstallSnapshotRequest)
	switch {
	case isVote(command) && t.mute.Load():
		return nil, errNotVoting
	case isInstall && install.LastLogIndex <= t.applied() && install.Term >= t.term():
		// Raft would take over an older snapshot and so turn the state back. What it holds is applied here already, so this is success.
		return &raft.InstallSnapshotResponse{RPCHeader: install.RPCHeader, Term: install.Term, Success: true}, nil
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
		if resp, ok := r.Response.(*raft.InstallSnapshotResponse); ok && resp.Success {
			t.installed(install.LastLogIndex, install.LastLogTerm)
		}
		return r.Response, nil
	case <-timer.C:
		return nil, errTimedOut
	case <-sender.closed:
		return nil, errTransportClosed
	case <-t.closed:
		return nil, errRefused
	}
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
