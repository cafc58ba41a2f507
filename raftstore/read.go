package raftstore

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/mvcc"
)

// reads is the part of a life that deals with reads; guarded by life.mu.
type reads struct {
	// waiting holds every read not answered; asking those that need an index from the leader.
	waiting map[*read]struct{}
	asking  []*read
	// indexWaiters are told when an index is applied.
	indexWaiters []indexWaiter
}

type read struct {
	req    RangeRequest
	done   func(RangeResult)
	forget func() bool
}

type indexWaiter struct {
	index   uint64
	reached chan struct{}
}

// indexQuestion asks the leader of term for its commit index. With Rejoin the asker has forgotten its votes, and does not count in the majority
// that confirms the leader.
type indexQuestion struct {
	term   uint64
	rejoin bool
}

// indexAnswer is the leader's commit index and the end of its log; OK false: not now.
type indexAnswer struct {
	commit, last uint64
	ok           bool
}

// termQuestion asks the voter with an id whether it is in no later term; the answer is a bool.
type termQuestion struct {
	term uint64
	id   string
}

func (indexQuestion) Kind() string { return "index" }
func (termQuestion) Kind() string  { return "term" }

func (l *life) read(ctx context.Context, req RangeRequest, done func(RangeResult)) {
	if req.Serializable && l.ready.Load() {
		done(l.rangeNow(l.peer.Load().View(), req))
		return
	}
	r := &read{req: req, done: done}
	if !req.Serializable {
		l.inflight.Add(1)
	}
	l.mu.Lock()
	if l.ended {
		l.mu.Unlock()
		l.finishRead(r, RangeResult{Err: ErrStopped})
		return
	}
	if l.waiting == nil {
		l.waiting = make(map[*read]struct{})
	}
	l.waiting[r] = struct{}{}
	if ctx.Done() != nil {
		r.forget = context.AfterFunc(ctx, func() { l.answerReads([]*read{r}, RangeResult{Err: ErrTimeout}) })
	}
	if req.Serializable && !l.ready.Load() {
		l.deferred = append(l.deferred, func() { l.serve([]*read{r}) })
	} else {
		l.asking = append(l.asking, r)
	}
	l.mu.Unlock()
	wake(l.wakeReads)
}

func (l *life) rangeNow(view *mvcc.View, req RangeRequest) RangeResult {
	res, err := view.Range(req.Range)
	return RangeResult{RangeResult: res, Err: translate(err)}
}

func (l *life) finishRead(r *read, res RangeResult) {
	if r.forget != nil {
		r.forget()
	}
	if !r.req.Serializable {
		l.inflight.Add(-1)
	}
	r.done(res)
}

// take removes those of rs that are not answered yet; whoever takes a read answers it.
func (l *life) take(rs []*read) []*read {
	l.mu.Lock()
	defer l.mu.Unlock()
	var mine []*read
	for _, r := range rs {
		if _, waits := l.waiting[r]; waits {
			delete(l.waiting, r)
			mine = append(mine, r)
		}
	}
	return mine
}

func (l *life) answerReads(rs []*read, res RangeResult) {
	defer l.recover("answer a read")
	for _, r := range l.take(rs) {
		l.finishRead(r, res)
	}
}

// serve answers reads from the present state.
func (l *life) serve(rs []*read) {
	view := l.peer.Load().View()
	for _, r := range l.take(rs) {
		l.finishRead(r, l.rangeNow(view, r.req))
	}
}

// serveReads answers linearizable reads: all that wait share one question to the leader.
func (l *life) serveReads() {
	for {
		select {
		case <-l.wakeReads:
		case <-l.stop:
			return
		}
		for {
			l.mu.Lock()
			batch := l.asking
			l.asking = nil
			l.mu.Unlock()
			if batch = l.unanswered(batch); len(batch) == 0 {
				break
			}
			answer, ok := l.askIndex(false)
			if !ok {
				l.mu.Lock()
				l.asking = append(batch, l.asking...)
				l.mu.Unlock()
				if !l.awaitChange() {
					return
				}
				continue
			}
			if !l.waitApplied(answer.commit) {
				return
			}
			l.serve(batch)
			// A client that compares the answer with its watch should not have to wait for the next progress.
			l.hub.flush()
		}
	}
}

func (l *life) unanswered(rs []*read) []*read {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kept []*read
	for _, r := range rs {
		if _, waits := l.waiting[r]; waits {
			kept = append(kept, r)
		}
	}
	return kept
}

// awaitChange waits a moment before the next try; false when the life ends.
func (l *life) awaitChange() bool {
	t := time.NewTimer(retryEvery)
	defer t.Stop()
	select {
	case <-l.wakeReads:
	case <-t.C:
	case <-l.stop:
		return false
	}
	return true
}

// askIndex asks whoever leads for an index that covers every write acknowledged so far.
func (l *life) askIndex(rejoin bool) (indexAnswer, bool) {
	p := l.peer.Load()
	leader, q := p.Leader(), indexQuestion{term: p.CurrentTerm(), rejoin: rejoin}
	if leader == "" {
		return indexAnswer{}, false
	}
	if leader == l.m.name {
		a := l.answerIndex(l.m.name, q)
		return a, a.ok
	}
	moved := func() bool { return p.Leader() != leader || p.CurrentTerm() != q.term }
	answer, err := l.m.c.fabric.Call(l.m.name, leader, q, l.stop, moved)
	if err != nil {
		return indexAnswer{}, false
	}
	a, ok := answer.(indexAnswer)
	return a, ok && a.ok
}

// answerIndex answers as leader. The commit index counts only once this leader has applied an entry of its own term.
func (l *life) answerIndex(from string, q indexQuestion) indexAnswer {
	p := l.peer.Load()
	if p == nil || !p.Leads(q.term) {
		return indexAnswer{}
	}
	l.mu.Lock()
	caughtUp := l.seenTerm == q.term
	l.mu.Unlock()
	if !caughtUp {
		return indexAnswer{}
	}
	a := indexAnswer{commit: p.CommitIndex(), last: p.LastIndex(), ok: true}
	without := ""
	if q.rejoin {
		without = from
	}
	a.ok = l.confirm(q.term, without) && p.Leads(q.term)
	return a
}

// confirm asks the voters of the newest configuration, except the one without, whether a majority of all is in no later term than term. The DESIGN says why that is sound.
func (l *life) confirm(term uint64, without string) bool {
	if planted.Is(planted.SkipConfirm) {
		return true
	}
	c := l.m.c
	var others []raft.Server
	voters, mine := 0, 0
	for _, s := range l.peer.Load().Latest() {
		switch {
		case s.Suffrage != raft.Voter:
			continue
		case string(s.ID) == l.who.ID:
			mine = 1 // this member says yes; it has no say once it is being removed
		case string(s.Address) != without:
			others = append(others, s)
		}
		voters++
	}
	need := voters/2 + 1 - mine
	var rest []raft.Server
	for _, s := range others {
		if need == 0 {
			return true
		}
		if yes, answered := c.fabric.TryCall(l.m.name, string(s.Address), termQuestion{term, string(s.ID)}); !answered {
			rest = append(rest, s)
		} else if yes == true {
			need--
		}
	}
	if need <= 0 || len(rest) < need {
		return need <= 0
	}
	// Some links are slow or bad: ask those at the same time, and give up when this member no longer leads.
	give := make(chan struct{})
	defer close(give)
	answers := make(chan bool, len(rest))
	for _, s := range rest {
		l.goes("confirm the term", func() {
			over := func() bool { return !l.peer.Load().Leads(term) }
			for {
				yes, err := c.fabric.Call(l.m.name, string(s.Address), termQuestion{term, string(s.ID)}, give, over)
				// A refusal (its machine is up, its store not yet) is no answer: another silent member must not make the read wait for ever.
				if err == nil || over() || !pause(retryEvery, give) {
					answers <- err == nil && yes == true
					return
				}
			}
		})
	}
	for range rest {
		select {
		case yes := <-answers:
			if yes {
				need--
			}
		case <-l.stop:
			return false
		}
		if need == 0 {
			return true
		}
	}
	return false
}

// waitApplied waits until the state machine has run the entry at index; false when the life ends first.
func (l *life) waitApplied(index uint64) bool {
	p := l.peer.Load()
	w := indexWaiter{index: index, reached: make(chan struct{})}
	l.mu.Lock()
	if p.Applied() >= index {
		l.mu.Unlock()
		return true
	}
	l.indexWaiters = append(l.indexWaiters, w)
	l.mu.Unlock()
	select {
	case <-w.reached:
		return true
	case <-l.stop:
		return false
	}
}

// becomeReady runs once after the start: it waits until the member has applied what a leader confirmed since, and lets in those who wait for that.
func (l *life) becomeReady() {
	p := l.peer.Load()
	for {
		rejoin := p.Muted()
		if planted.Is(planted.ServeEarly) && !rejoin {
			break
		}
		a, ok := l.askIndex(rejoin)
		if ok {
			if !l.waitApplied(a.commit) {
				return
			}
			if !rejoin {
				break
			}
			// Everything this member may have acknowledged before it was wiped is in the leader's log by now.
			if l.waitLogged(p, a.last) {
				if err := p.Unmute(); err != nil {
					l.m.end(l, err.Error())
					return
				}
				l.changed()
				break
			}
		}
		select {
		case <-l.stop:
			return
		default:
			pause(retryEvery, l.stop)
		}
	}
	l.mu.Lock()
	l.ready.Store(true)
	deferred := l.deferred
	l.deferred = nil
	l.mu.Unlock()
	for _, do := range deferred {
		do()
	}
	p.WithState(l.weigh)
}

// waitLogged waits until the log reaches index while the same leader is followed.
func (l *life) waitLogged(p *peer.Peer, index uint64) bool {
	leader, term := p.Leader(), p.CurrentTerm()
	for p.LastIndex() < index {
		if p.Leader() != leader || p.CurrentTerm() != term {
			return false
		}
		select {
		case <-l.stop:
			return false
		default:
			pause(retryEvery, l.stop)
		}
	}
	return true
}
