package raftstore

import (
	"context"
	"runtime"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/internal/planted"
)

const (
	// groupBytes is about how much is proposed, or forwarded, at once by group commit. A group goes into the log as entries of about entryBytes: bolt writes the newest four or five
	// entries anew with each transaction where they do not fit into a page, so that few large ones would be written five times.
	groupBytes = 1 << 20
	entryBytes = 64 << 10
	// forwardsMax is how many batches a member has on their way to the leader at once. While they are, further writes gather.
	forwardsMax = 4
	// flyingMax is how many groups a leader has on their way at once; one where disks are synced, because there a group costs more than a hundred writes in it.
	// While they are, further writes gather. It is no promise: a group that takes longer than flyingFor holds nothing up, so that a leader without a
	// majority goes on writing its log, as raft has it.
	flyingMax = 2
	flyingFor = 50 * time.Millisecond
	// gatherFor is how long a leader on a synced disk waits, after a group was applied, for as many writes as that had: those who were answered mostly write again, and a group that
	// begins with the first of them makes the others wait for two disks more.
	gatherFor = 200 * time.Microsecond
)

// writes is the part of a life that deals with writes; guarded by life.mu.
type writes struct {
	// pending holds every write not answered, by id.
	pending map[uint64]*proposal
	// queue are those not yet handed to a leader; ones that are no longer pending are skipped.
	queue []*proposal
	// lost are those a snapshot left in doubt.
	lost []*proposal
	// outbox is what this member, as leader, has to propose: its own writes and those of others.
	outbox []outgoing
	// forwarding counts batches on their way.
	forwarding int
	// flying are the groups this member proposed and has not applied, by the id of their last write; launched is when the newest was proposed.
	flying   map[uint64]struct{}
	launched time.Time
	// landedAt is when the newest of them was applied, grouped how many writes it had.
	landedAt time.Time
	grouped  int
}

// proposal is a write brought to this member.
type proposal struct {
	enc  peer.Encoded
	done func(TxnResult)
	// term it was handed over for; 0: it was not, and is in no log.
	term uint64
	// bound: it is meant for that term alone, and refused where it cannot be proposed in it.
	bound  bool
	forget func() bool // stops watching the caller's context
}

// outgoing is a write, or the mark of a new term, on its way into the log.
type outgoing struct {
	enc  peer.Encoded
	term uint64
	mark bool
}

// forwardedWrites asks the leader of term to propose; the answer is a bool.
type forwardedWrites struct {
	term   uint64
	writes []peer.Encoded
}

func (forwardedWrites) Kind() string { return "forward" }

func (l *life) write(ctx context.Context, enc peer.Encoded, done func(TxnResult)) {
	w := &proposal{enc: enc, done: done}
	l.inflight.Add(1)
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		l.finish(w, TxnResult{Written: Written{Outcome: Refused, Err: ErrStopped}})
		return
	}
	l.pending[enc.ID] = w
	l.queue = append(l.queue, w)
	if ctx.Done() != nil {
		w.forget = context.AfterFunc(ctx, func() { l.expire(w) })
	}
	l.mu.Unlock()
	wake(l.wakeWrites)
}

// writeIn proposes what this member, as the leader of term, has decided; it is void in any other term. done is called once for each.
func (l *life) writeIn(term uint64, encs []peer.Encoded, done func(i int, r TxnResult)) {
	if len(encs) == 0 {
		return
	}
	ws := make([]*proposal, len(encs))
	l.inflight.Add(int64(len(encs)))
	l.mu.Lock()
	ended := l.ended
	for i, enc := range encs {
		ws[i] = &proposal{enc: enc, term: term, bound: true, done: func(r TxnResult) { done(i, r) }}
		if !ended {
			l.pending[enc.ID] = ws[i]
			l.outbox = append(l.outbox, outgoing{enc: enc, term: term})
		}
	}
	l.mu.Unlock()
	if ended {
		for _, w := range ws {
			l.finish(w, TxnResult{Written: Written{Outcome: Refused, Err: ErrStopped}})
		}
		return
	}
	wake(l.wakePropose)
}

func (l *life) finish(w *proposal, r TxnResult) {
	if w.forget != nil {
		w.forget()
	}
	l.inflight.Add(-1)
	w.done(r)
}

// expire answers a write whose caller has given up.
func (l *life) expire(w *proposal) {
	defer l.recover("answer a caller that gave up")
	l.mu.Lock()
	if l.pending[w.enc.ID] != w {
		l.mu.Unlock()
		return
	}
	delete(l.pending, w.enc.ID)
	term := w.term
	if len(l.queue) > 64 && len(l.queue) > 2*len(l.pending) {
		l.queue = l.alive(l.queue)
	}
	l.mu.Unlock()
	r := TxnResult{Written: Written{Outcome: Unknown, Err: ErrTimeout}}
	if term == 0 || planted.Is(planted.UnknownAsRefused) {
		r.Outcome = Refused
	} else if p := l.peer.Load(); p == nil || p.Leader() == "" || p.CurrentTerm() != term {
		r.Err = ErrTimeoutLeaderFail
	}
	l.finish(w, r)
}

// alive filters out what has been answered.
func (l *life) alive(ws []*proposal) []*proposal {
	var kept []*proposal
	for _, w := range ws {
		if l.pending[w.enc.ID] == w {
			kept = append(kept, w)
		}
	}
	return kept
}

// handOverWrites brings what is queued to whoever leads.
func (l *life) handOverWrites() {
	retry := time.NewTimer(retryEvery)
	defer retry.Stop()
	for {
		select {
		case <-l.wakeWrites:
		case <-retry.C:
		case <-l.stop:
			return
		}
		for l.handOver() {
		}
		l.mu.Lock()
		waiting := len(l.queue) > 0
		l.mu.Unlock()
		if waiting {
			retry.Reset(retryEvery)
		}
	}
}

// handOver hands over one batch; false when there is none or nobody to take it now.
func (l *life) handOver() bool {
	p := l.peer.Load()
	_, term := p.Role()
	leader := p.Leader()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 || leader == "" || term < l.seenTerm {
		return false
	}
	if leader == l.m.name {
		if !p.Leads(term) {
			return false
		}
		for _, w := range l.queue {
			if l.pending[w.enc.ID] == w {
				w.term = term
				l.outbox = append(l.outbox, outgoing{enc: w.enc, term: term})
			}
		}
		l.queue = nil
		wake(l.wakePropose)
		return false
	}
	if l.forwarding >= forwardsMax {
		return false
	}
	var batch []*proposal
	size := 0
	for len(l.queue) > 0 && size < groupBytes {
		w := l.queue[0]
		l.queue = l.queue[1:]
		if l.pending[w.enc.ID] == w {
			w.term = term
			size += len(w.enc.Body)
			batch = append(batch, w)
		}
	}
	if len(batch) == 0 {
		return false
	}
	l.forwarding++
	l.goes("forward writes", func() { l.forward(p, leader, term, batch) })
	return true
}

// forward brings a batch to the leader of term. What surely did not get there goes back to the queue; what may have stays in doubt until an
// entry tells.
func (l *life) forward(p *peer.Peer, leader string, term uint64, batch []*proposal) {
	if !l.step(failure.BeforeForward) {
		return
	}
	q := forwardedWrites{term: term, writes: make([]peer.Encoded, len(batch))}
	for i, w := range batch {
		q.writes[i] = w.enc
	}
	moved := func() bool { return p.Leader() != leader || p.CurrentTerm() != term }
	answer, err := l.m.c.fabric.Call(l.m.name, leader, q, l.stop, moved)
	taken := answer == true || err == peer.ErrNoAnswer
	if taken && !l.step(failure.AfterForward) {
		return
	}
	l.mu.Lock()
	l.forwarding--
	if !taken {
		l.requeue(batch)
	}
	l.mu.Unlock()
	if !taken {
		pause(retryEvery, l.stop)
	}
	wake(l.wakeWrites)
}

// requeue puts writes that are in no log back to the front of the queue.
func (l *life) requeue(batch []*proposal) {
	back := l.alive(batch)
	for _, w := range back {
		w.term = 0
	}
	l.queue = append(back, l.queue...)
}

// accept takes over writes of another member, if this one leads in term.
func (l *life) accept(term uint64, writes []peer.Encoded) bool {
	p := l.peer.Load()
	if p == nil || !p.Leads(term) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	for _, enc := range writes {
		l.outbox = append(l.outbox, outgoing{enc: enc, term: term})
	}
	wake(l.wakePropose)
	return true
}

// proposeWrites proposes everything that has gathered together, and waits only until raft has taken that over; what arrives while enough groups are on their way
// makes the next.
func (l *life) proposeWrites() {
	p := l.peer.Load()
	held := time.NewTimer(flyingFor)
	defer held.Stop()
	for {
		select {
		case <-l.wakePropose:
		case <-held.C:
		case <-l.stop:
			return
		}
		for {
			// Go runs what has just been woken first: without this the one writer whose answer came last would go round alone, in entries of one write, while
			// the others wait for a processor.
			runtime.Gosched()
			term, batch, wait := l.nextGroup()
			if wait > 0 {
				held.Reset(wait)
			}
			if term == 0 {
				break
			}
			if !l.step(failure.BeforePropose) {
				return
			}
			if planted.Once(planted.AckBeforeCommit, 10) {
				l.answerEarly(term, batch)
			}
			for first := true; first || len(batch) > 0; first = false {
				n := entryOf(batch)
				if !p.Propose(term, peer.EncodeEntry(term, batch[:n])) {
					l.notProposed(batch)
					break
				}
				if batch = batch[n:]; len(batch) == 0 && !l.step(failure.AfterPropose) {
					return
				}
			}
		}
	}
}

// entryOf tells how many of the writes make the next entry.
func entryOf(batch []peer.Encoded) (n int) {
	for size := 0; n < len(batch) && size < entryBytes; n++ {
		size += len(batch[n].Body)
	}
	return n
}

// nextGroup takes writes of one term from the outbox, up to the size of a group. When enough groups are flying it says how long to wait for one of them.
func (l *life) nextGroup() (term uint64, batch []peer.Encoded, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.outbox) == 0 {
		return 0, nil, 0
	}
	if n := len(l.flying); n >= flyingMax || n > 0 && l.m.c.opt.Sync {
		if wait = flyingFor - time.Since(l.launched); wait > 0 {
			return 0, nil, wait
		}
		clear(l.flying) // some of them may never be applied
	}
	if l.m.c.opt.Sync && len(l.outbox) < l.grouped {
		if wait = gatherFor - time.Since(l.landedAt); wait > 0 {
			return 0, nil, wait
		}
	}
	size, n := 0, 0
	for _, o := range l.outbox {
		if n > 0 && (o.term != term || size >= groupBytes) {
			break
		}
		term = o.term
		if !o.mark {
			if batch == nil {
				batch = make([]peer.Encoded, 0, len(l.outbox))
			}
			batch = append(batch, o.enc)
			size += len(o.enc.Body)
		}
		n++
	}
	clear(l.outbox[:n])
	if l.outbox = l.outbox[n:]; len(l.outbox) == 0 {
		l.outbox = nil
	}
	if len(batch) > 0 {
		l.flying[batch[len(batch)-1].ID] = struct{}{}
		l.launched, l.grouped = time.Now(), len(batch)
	}
	return term, batch, 0
}

// landed takes notice of an applied entry. The caller holds l.mu.
func (l *life) landed(outcomes []peer.Outcome) {
	if n := len(outcomes); n > 0 && len(l.flying) > 0 {
		if _, mine := l.flying[outcomes[n-1].ID]; mine {
			delete(l.flying, outcomes[n-1].ID)
			l.landedAt = time.Now()
		}
		if len(l.outbox) > 0 {
			wake(l.wakePropose)
		}
	}
}

// notProposed takes back this member's own writes. Those of others learn it from the next leader's mark.
func (l *life) notProposed(batch []peer.Encoded) {
	l.mu.Lock()
	var mine, bound []*proposal
	for _, enc := range batch {
		switch w := l.pending[enc.ID]; {
		case w == nil:
		case w.bound:
			delete(l.pending, enc.ID)
			bound = append(bound, w)
		default:
			mine = append(mine, w)
		}
	}
	l.requeue(mine)
	l.mu.Unlock()
	for _, w := range bound {
		l.finish(w, TxnResult{Written: Written{Outcome: Refused, Err: ErrLeaderChanged}})
	}
	wake(l.wakeWrites)
}

// pause waits for d; false when stop came first.
func pause(d time.Duration, stop <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}
