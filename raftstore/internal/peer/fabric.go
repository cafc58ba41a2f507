package peer

import (
	"errors"
	"sync"
	"time"
)

// Verdict is what the network does to one message; see raftstore.Verdict.
type Verdict struct {
	Drop, Refuse bool
	Delay        time.Duration
	Copies       int
	Cause        uint64
}

// Packet is a message on its way; see raftstore.Packet.
type Packet struct {
	From, To, Kind string
	Reply          bool
	Piece          int
}

// Message is a raft RPC as an observer sees it; see raftstore.Message.
type Message struct {
	From, To, Kind string
	Term           uint64
	Reply, Granted bool
	Entries        int
	CommitIndex    uint64
	Lost           bool
	Cause          uint64
	LastIndex      uint64
	LastTerm       uint64
	Piece, Pieces  int
	Sent, Asked    time.Time
}

// resendEvery is how long after a lost message its sender tries again, within the deadline of the call. TCP would do the same: loss
// shows as delay, only a link that stays dead shows as silence.
const resendEvery = 50 * time.Millisecond

// Fabric joins the members of one cluster: it carries raft's RPCs and the store's own questions between them and asks the network
// about every single message, in both directions.
//
// Goroutines: calls run on the caller's; every method is safe from any.
type Fabric struct {
	verdict func(Packet) Verdict
	observe func(Message)
	// Selects decides which appends and heartbeats are shown; see selection.
	Selects selection

	mu   sync.Mutex
	ends map[string]*endpoint
	// changed is closed and replaced when the network or the set of members changes, so that senders look again at once.
	changed chan struct{}
}

// endpoint is a running member's place in the fabric.
type endpoint struct {
	name string
	// raft takes raft's RPCs; ask answers the store's questions on the asker's goroutine.
	raft *Transport
	ask  func(from string, question any) any
	// gone is closed when the member stops.
	gone chan struct{}
}

// NewFabric returns an empty fabric. Neither function may block.
func NewFabric(verdict func(Packet) Verdict, observe func(Message)) *Fabric {
	return &Fabric{verdict: verdict, observe: observe, ends: make(map[string]*endpoint), changed: make(chan struct{})}
}

// NetworkChanged makes everyone who waits for a link to heal try again now.
func (f *Fabric) NetworkChanged() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *Fabric) attach(e *endpoint) {
	f.mu.Lock()
	f.ends[e.name] = e
	f.mu.Unlock()
	f.NetworkChanged()
}

// detach takes e out; calls to it are refused from now on. Whoever waits for its answer is told.
func (f *Fabric) detach(e *endpoint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends[e.name] == e {
		delete(f.ends, e.name)
		close(e.gone)
	}
}

func (f *Fabric) end(name string) (*endpoint, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ends[name], f.changed
}

// What became of a call that has no answer.
var (
	// ErrUndelivered: the question never reached the other side.
	ErrUndelivered = errors.New("not delivered")
	// ErrNoAnswer: it arrived, but its answer did not come back.
	ErrNoAnswer = errors.New("no answer")
)

// pass sends one message over the link and tells what happened: nil when it arrived, after its delay.
func (f *Fabric) pass(p Packet, give <-chan struct{}) (Verdict, error) {
	v := f.verdict(p)
	if v.Drop || v.Refuse {
		return v, ErrUndelivered
	}
	if v.Delay > 0 {
		t := time.NewTimer(v.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-give:
			return v, ErrUndelivered
		}
	}
	return v, nil
}

// Call asks the member to a question and returns its answer. A lost message is sent again until give is closed or stale (may be nil)
// reports that nobody wants it any more; a refused one fails at once. It fails with ErrUndelivered or ErrNoAnswer.
func (f *Fabric) Call(from, to string, question any, give <-chan struct{}, stale func() bool) (any, error) {
	var target *endpoint
	var copies Verdict
	for {
		end, changed := f.end(to)
		v, err := f.pass(Packet{From: from, To: to, Kind: kindOf(question)}, give)
		if err == nil && end != nil {
			target, copies = end, v
			break
		}
		if v.Refuse || (err == nil && end == nil) {
			return nil, ErrUndelivered
		}
		if !again(give, nil, changed) || (stale != nil && stale()) {
			return nil, ErrUndelivered
		}
	}
	for n := range copies.Copies {
		go f.late(time.Duration(n+1)*copies.Delay, give, func() { target.ask(from, question) }) // nobody waits for the answer to a copy
	}
	answer := target.ask(from, question)
	for {
		_, changed := f.end(from)
		v, err := f.pass(Packet{From: to, To: from, Kind: kindOf(question), Reply: true}, give)
		if err == nil {
			return answer, nil
		}
		if v.Refuse || !again(give, target.gone, changed) || (stale != nil && stale()) {
			return nil, ErrNoAnswer
		}
	}
}

// TryCall is Call for the usual case that nothing is in the way: it neither waits nor sends again. Second result false: ask with Call.
func (f *Fabric) TryCall(from, to string, question any) (any, bool) {
	end, _ := f.end(to)
	if end == nil {
		return nil, false
	}
	if v := f.verdict(Packet{From: from, To: to, Kind: kindOf(question)}); v.Drop || v.Refuse || v.Delay > 0 || v.Copies > 0 {
		return nil, false
	}
	answer := end.ask(from, question)
	if v := f.verdict(Packet{From: to, To: from, Kind: kindOf(question), Reply: true}); v.Drop || v.Refuse || v.Delay > 0 {
		return nil, false
	}
	return answer, true
}

// copyAfter is when a copy of a message comes that the network does not delay: after what was sent next.
const copyAfter = 5 * time.Millisecond

// late delivers a copy of a message after a while, unless give is closed before.
func (f *Fabric) late(after time.Duration, give <-chan struct{}, deliver func()) {
	t := time.NewTimer(max(after, copyAfter))
	defer t.Stop()
	select {
	case <-t.C:
		deliver()
	case <-give:
	}
}

// again waits until a message may be sent again; false when the sender gave up or the other side is gone.
func again(give, gone, changed <-chan struct{}) bool {
	t := time.NewTimer(resendEvery)
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-give:
		return false
	case <-gone:
		return false
	}
	select {
	case <-give:
		return false
	default:
		return true
	}
}

// Question is what one member may ask another beside raft's own messages.
type Question interface {
	// Kind is Packet.Kind.
	Kind() string
}

func kindOf(question any) string {
	if q, ok := question.(Question); ok {
		return q.Kind()
	}
	return "question"
}
