package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// a while is long enough for everything that is going to happen without quorum to have happened.
const aWhile = 700 * time.Millisecond

// cannotWrite checks that a write through member is not done, and that the caller is answered when he gives up.
func (e *env) cannotWrite(member, key string) raftstore.TxnResult {
	e.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := e.txn(ctx, member, putOp(key, "lost"))
	p.none(aWhile)
	cancel()
	r := p.get()
	e.want(r.Outcome != raftstore.Done && r.Err != nil, "a write through %s: %+v", member, r)
	return r
}

func twoMembers(e *env) {
	e.put("m1", "a", "1")
	e.kill("m2")
	e.await("loss of the leader", func() bool { return !e.c.Led() })
	e.want(!e.c.Settled(), "settled without a leader")
	e.cannotWrite("m1", "a")
	e.start("m2")
	e.await("a settled cluster", e.c.Settled)
	e.put("m2", "a", "2")
}

func fourMembers(e *env) {
	e.put("m1", "a", "1")
	e.kill(e.leader())
	lead := e.leader()
	e.put(lead, "a", "2")
	for _, s := range e.c.Status() {
		if s.Up {
			e.value(s.Name, "a", false) // now each has heard of it
		}
	}
	e.kill(lead)
	for _, s := range e.c.Status() {
		if s.Up {
			e.cannotWrite(s.Name, "a")
			e.want(e.value(s.Name, "a", true) == "2", "%s does not read what it has", s.Name)
		}
	}
}

func minority(e *env) {
	lead := e.leader()
	alone := e.others(lead)[0]
	e.put(alone, "a", "1")
	e.isolate(alone, true)
	e.cannotWrite(alone, "a")
	ctx, cancel := context.WithCancel(context.Background())
	p := e.ask(ctx, alone, raftstore.RangeRequest{Range: mvcc.Range{Key: "a"}})
	p.none(aWhile)
	cancel()
	e.want(errors.Is(p.get().Err, raftstore.ErrTimeout), "a linearizable read in the minority")
	e.put(lead, "a", "2")
	e.await("settled without the minority", e.c.Settled)
	e.isolate(alone, false)
	e.await("the healed member", func() bool { return e.value(alone, "a", true) == "2" })
	e.put(alone, "a", "3")
}

func serializable(e *env) {
	lead := e.leader()
	alone := e.others(lead)[0]
	e.put(alone, "a", "1")
	e.isolate(alone, true)
	e.put(lead, "a", "2")
	e.want(e.value(alone, "a", true) == "1", "the member that is cut off reads what it cannot know")
	e.want(e.value(lead, "a", true) == "2", "the leader reads an old value")
}

func leaderDies(e *env) {
	for round := range 3 {
		lead := e.leader()
		for i := range 10 {
			e.put(e.all[i%3], fmt.Sprint("k", round, i), "v")
		}
		e.kill(lead)
		e.await("another leader", e.c.Led)
		count := func(m string) int {
			return e.ask(context.Background(), m, raftstore.RangeRequest{Range: mvcc.Range{Key: "k", End: "l", CountOnly: true}}).get().Count
		}
		for _, m := range e.others(lead) {
			e.want(count(m) == 10*(round+1), "%s has %d keys", m, count(m))
		}
		e.start(lead)
		e.await("a settled cluster", e.c.Settled)
		e.want(count(lead) == 10*(round+1), "the old leader has %d keys", count(lead))
	}
}

func allDie(e *env) {
	for i := range 20 {
		e.put(e.all[i%3], fmt.Sprint("k", i), "v")
	}
	rev := e.status(e.leader()).Revision
	for _, m := range e.all {
		e.kill(m)
	}
	e.want(!e.c.Led() && !e.c.Settled(), "led without members")
	for _, m := range e.all {
		e.start(m)
	}
	for _, m := range e.all {
		all := e.ask(context.Background(), m, raftstore.RangeRequest{Range: mvcc.Range{Key: "k", End: "l", CountOnly: true}}).get()
		e.want(all.Count == 20 && all.Revision == rev, "%s: %+v", m, all)
	}
	e.put("m1", "k", "after")
}

// awaitSame waits until a member is where the leader is, with the same state.
func (e *env) awaitSame(member string) {
	e.Helper()
	e.await(member+" caught up", func() bool {
		lead := e.status(e.leader())
		s := e.status(member)
		return s.Ready && s.Revision == lead.Revision
	})
	every := mvcc.Range{Key: "\x00", End: "\xff"}
	a := e.ask(context.Background(), member, raftstore.RangeRequest{Range: every, Serializable: true}).get()
	b := e.ask(context.Background(), e.leader(), raftstore.RangeRequest{Range: every}).get()
	e.want(fmt.Sprint(a) == fmt.Sprint(b), "%s differs from the leader:\n%v\n%v", member, a, b)
}

func catchUp(e *env) {
	lead := e.leader()
	away := e.others(lead)[0]
	e.kill(away)
	for i := range 200 {
		e.put(lead, fmt.Sprint("k", i%20), fmt.Sprint(i))
	}
	e.start(away)
	e.awaitSame(away)
	e.put(away, "k", "back")
}

func wiped(e *env) {
	lead := e.leader()
	for i := range 100 {
		e.put(lead, fmt.Sprint("k", i%20), fmt.Sprint(i))
	}
	away := e.others(lead)[1]
	e.want(e.c.WipeMember(away) != nil, "a running member was wiped")
	e.kill(away)
	err := e.c.WipeMember(away)
	e.want(err == nil, "wipe: %v", err)
	e.put(lead, "k", "meanwhile")
	e.start(away)
	e.awaitSame(away)
	// It counts again: the cluster lives with it and one other.
	e.kill(e.others(away)[0])
	e.await("a leader", e.c.Led)
	e.put(away, "k", "alive")
}

// allWiped: as long as one member holds what it had, whether it runs or not, those that were wiped make no leader; when none does, the cluster begins with nothing, above what clients have seen.
func allWiped(e *env) {
	last := e.put(e.leader(), "a", "1").Result.Revision
	wipe := func(member string) {
		e.kill(member)
		err := e.c.WipeMember(member)
		e.want(err == nil, "wipe %s: %v", member, err)
		e.start(member)
	}
	muted := func() {
		for until := time.Now().Add(aWhile); time.Now().Before(until); e.moment() {
			e.want(!e.c.Led(), "members that were wiped have made a leader: %+v", e.c.Status())
		}
		for _, m := range e.all[:2] {
			e.want(e.status(m).Err == raftstore.MutedReason, "%+v", e.status(m))
		}
	}
	e.killAll()
	wipe("m1")
	wipe("m2")
	muted()
	e.start("m3")
	muted()
	e.want(len(e.changed(raftstore.BegunAnew)) == 0, "it began anew although m3 holds everything")
	wipe("m3")
	begun := e.changed(raftstore.BegunAnew)
	e.want(len(begun) == 1 && begun[0].Revision >= last+raftstore.RevisionBump, "told %+v", begun)
	e.obs.mu.Lock()
	e.obs.jumps = append(e.obs.jumps, begun[0].Revision)
	e.obs.mu.Unlock()
	e.await("a settled cluster", e.c.Settled)
	for _, m := range e.all {
		e.want(e.value(m, "a", false) == "", "%s remembers", m)
		resumed := e.watch(m, "", last+1)
		e.await("the end of a watch from before", func() bool { _, _, err := resumed.state(); return errors.Is(err, raftstore.ErrCompacted) })
	}
	e.want(e.put("m3", "a", "2").Result.Revision == begun[0].Revision+1, "revisions go on elsewhere")
	// From now on it is a cluster like any other.
	wipe("m2")
	e.awaitSame("m2")
	e.want(e.value("m2", "a", false) == "2" && len(e.changed(raftstore.BegunAnew)) == 1, "one wiped member of three")
}

func isolatedLeader(e *env) {
	lead := e.leader()
	e.put(lead, "a", "1")
	e.isolate(lead, true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := e.txn(ctx, lead, putOp("a", "lost"))
	rest := e.others(lead)
	e.await("a leader of the majority", func() bool {
		for _, m := range rest {
			if e.status(m).Role == raftstore.Leader {
				return true
			}
		}
		return false
	})
	p.none(aWhile)
	e.put(rest[0], "a", "2")
	e.isolate(lead, false)
	if e.h.Replicated {
		r := p.get()
		e.want(r.Outcome == raftstore.Refused && errors.Is(r.Err, raftstore.ErrLeaderChanged), "the lost write: %+v", r)
		for _, m := range e.all {
			e.want(e.value(m, "a", false) == "2", "%s lost an acknowledged write", m)
		}
	} else {
		e.want(p.get().Outcome == raftstore.Done, "a write that waited for a leader")
	}
}

func waitsForLeader(e *env) {
	e.put("m1", "a", "1")
	for _, m := range []string{"m1", "m2"} {
		e.kill(m)
	}
	e.await("loss of the leader", func() bool { return !e.c.Led() && e.status("m3").Leader == "" })
	p := e.txn(context.Background(), "m3", putOp("a", "2"))
	r := e.ask(context.Background(), "m3", raftstore.RangeRequest{Range: mvcc.Range{Key: "b"}})
	p.none(aWhile)
	e.start("m1")
	e.want(p.get().Outcome == raftstore.Done, "the write that waited")
	e.want(r.get().Err == nil, "the read that waited")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	gone := e.txn(ctx, "m3", putOp("a", "3")).get()
	e.want(gone.Outcome != raftstore.Done || gone.Err == nil, "a caller that has gone: %+v", gone)
}

func stopped(e *env) {
	w := e.watch("m2", "a", 0)
	e.awaitReady("m2")
	e.kill("m2")
	e.await("the end of the watch", func() bool { _, _, err := w.state(); return err != nil })
	_, _, err := w.state()
	e.want(errors.Is(err, raftstore.ErrStopped), "watch ended with %v", err)
	r := e.txn(context.Background(), "m2", putOp("a", "1")).get()
	e.want(r.Outcome == raftstore.Refused && errors.Is(r.Err, raftstore.ErrStopped), "%+v", r)
	for _, s := range []bool{true, false} {
		res := e.ask(context.Background(), "m2", raftstore.RangeRequest{Range: mvcc.Range{Key: "a"}, Serializable: s}).get()
		e.want(errors.Is(res.Err, raftstore.ErrStopped), "%v", res.Err)
	}
	dead := e.watch("m2", "a", 0)
	e.await("the refusal", func() bool { _, _, err := dead.state(); return errors.Is(err, raftstore.ErrStopped) })
	e.want(e.status("m2").Role == raftstore.Down, "%+v", e.status("m2"))
	e.want(e.c.KillMember("m2") == nil, "killing a dead member")
}

func watchStalls(e *env) {
	lead := e.leader()
	alone := e.others(lead)[0]
	w := e.watch(alone, "a", 0)
	e.put(alone, "a", "1")
	e.await("the first event", func() bool { ev, _, _ := w.state(); return len(ev) == 1 })
	e.isolate(alone, true)
	for i := range 5 {
		e.put(lead, "a", fmt.Sprint(2+i))
	}
	ev, _, _ := w.state()
	e.want(len(ev) == 1, "the watch heard over a cut link: %q", describe(ev))
	e.isolate(alone, false)
	e.await("what it missed", func() bool { ev, _, _ := w.state(); return len(ev) == 6 })
	_, _, err := w.state()
	e.want(err == nil, "the watch ended: %v", err)
}

func notReady(e *env) {
	e.put("m1", "a", "1")
	lead := e.leader()
	late := e.others(lead)[0]
	e.kill(late)
	for i := range 30 {
		e.put(lead, "a", fmt.Sprint(i))
	}
	e.isolate(late, true)
	e.start(late)
	for until := time.Now().Add(aWhile); time.Now().Before(until); e.moment() {
		e.want(!e.status(late).Ready, "ready without having heard of a leader")
	}
	w := e.watch(late, "a", 0)
	e.isolate(late, false)
	e.awaitReady(late)
	e.want(e.value(late, "a", true) == "29", "ready with an old state")
	e.put(lead, "a", "new")
	e.await("the new value", func() bool { ev, _, _ := w.state(); return len(ev) > 0 && string(ev[len(ev)-1].KV.Value) == "new" })
	if ev, _, _ := w.state(); e.h.Replicated {
		e.want(len(ev) == 1, "a watch from now on heard of the past: %q", describe(ev))
	}
}

func terms(e *env) {
	for range 2 {
		lead := e.leader()
		e.kill(lead)
		e.leader()
		e.start(lead)
		e.await("a settled cluster", e.c.Settled)
	}
	e.obs.mu.Lock()
	defer e.obs.mu.Unlock()
	leaders := make(map[uint64]string)
	last := make(map[string]uint64)
	for _, s := range e.obs.roles {
		if s.Role == raftstore.Leader {
			e.want(leaders[s.Term] == "" || leaders[s.Term] == s.Name, "term %d has two leaders", s.Term)
			leaders[s.Term] = s.Name
		}
		if s.Up && s.Term > 0 {
			e.want(s.Term >= last[s.Name], "%s went back from term %d to %d", s.Name, last[s.Name], s.Term)
			last[s.Name] = s.Term
		}
	}
	e.want(len(leaders) == 3, "leaders by term: %v", leaders)
}

func oneWay(e *env) {
	lead := e.leader()
	deaf := e.others(lead)[0]
	e.put(lead, "a", "1")
	e.net.Cut(lead, deaf, true)
	e.c.NetworkChanged()
	e.put(e.leader(), "a", "2")
	e.net.Cut(lead, deaf, false)
	e.c.NetworkChanged()
	e.awaitSame(deaf)
}
