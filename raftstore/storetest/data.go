package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// cases of the suite: what one member answers, and what happens when members and links fail (faults.go).
var cases = []testCase{
	{name: "a transaction happens only when its compares hold", members: 3, run: compareAndSwap},
	{name: "each change takes the next revision", members: 1, run: revisions},
	{name: "ranges honour prefix, limit and old revisions", members: 3, run: ranges},
	{name: "compaction drops the past and nothing else", members: 3, run: compaction},
	{name: "a watch tells every change since its revision with the value before", members: 3, run: watchHistory},
	{name: "a watch from a compacted revision ends with an error", members: 1, run: watchCompacted},
	{name: "a cancelled watch is silent", members: 1, run: watchCancelled},
	{name: "a watch without events hears of progress after a linearizable read", members: 3, run: watchProgress},
	{name: "a linearizable read sees acknowledged writes through every member", members: 3, run: linearizable},
	{name: "a request id changes the state once", members: 3, run: requestID},
	{name: "requests out of bounds are refused", members: 1, run: outOfBounds},
	{name: "the caller's tag comes back with the change", members: 3, run: tag},
	{name: "writers at the same time share log entries", members: 3, run: groupCommit},

	{name: "compares look at numbers, lease and content, in every relation", members: 1, run: compares},
	{name: "a deletion of many keys is one revision in key order", members: 3, run: deleteMany},
	{name: "a transaction reads what it has written", members: 3, run: readThen},
	{name: "the same key twice in a branch is refused as etcd does", members: 1, run: duplicates},
	{name: "a watch of one key hears of no other", members: 3, run: watchExact},
	{name: "a watch hears only of the kinds of events it wants", members: 3, run: watchFilters},
	{name: "a watch may leave out previous values", members: 3, run: watchNoPrev},
	{name: "one revision is one batch unless fragments are allowed", members: 3, run: watchFragments},
	{name: "a watch that asked for progress hears of changes of other keys, another does not", members: 3, run: watchProgressAlone},

	{name: "a lease that runs out takes its keys along in one revision", members: 3, run: leaseExpires},
	{name: "a lease lives as long as it is kept alive", members: 3, run: leaseKeptAlive},
	{name: "a lease is revoked through any member", members: 3, run: leaseRevoked},
	{name: "a key put anew without its lease outlives it", members: 3, run: leaseLeft},
	{name: "leases that do not exist or live too long are refused", members: 3, run: leaseRefusals},
	{name: "a new leader counts leases anew", members: 3, run: leaseNewLeader},

	{name: "a full store takes deletions until it is compacted, defragmented and disarmed", members: 3, run: noSpace},
	{name: "an alarm whose cause is still there comes back", members: 3, run: alarmComesBack},
	{name: "members hash alike", members: 3, run: hashKV},

	{name: "a learner joins, catches up and becomes a voter", members: 3, run: memberJoins},
	{name: "a learner serves old reads only", members: 3, run: learnerServes},
	{name: "changes of members are refused as etcd does", members: 3, run: memberRefusals},
	{name: "a dead member is removed first and then replaced", members: 3, run: memberReplaced},
	{name: "the leader may be removed", members: 3, run: leaderRemoved},
	{name: "a removed member hears of it when it comes back", members: 3, run: removedAway},

	{name: "a restore brings the old state back and no revision falls", members: 3, run: restore},
	{name: "a restore is refused while members run, or of a bad file, and changes nothing", members: 3, run: restoreRefused},
	{name: "a member comes back by itself from a write that was torn", members: 3, run: diskTorn},
	{name: "a member whose disk is full stops at its next write and comes back when there is space", members: 3, run: diskFull},
	{name: "a member with a damaged disk stays down until it has a new one", members: 3, run: diskDamaged},

	{name: "two members lose quorum with one", members: 2, run: twoMembers},
	{name: "four members tolerate one failure and not two", members: 4, run: fourMembers},
	{name: "a minority does not write", members: 3, run: minority},
	{name: "a serializable read works without quorum and may be stale", members: 3, run: serializable},
	{name: "acknowledged writes survive the death of the leader", members: 3, run: leaderDies},
	{name: "acknowledged writes survive the death of all", members: 3, run: allDie},
	{name: "a member that was down catches up", members: 3, run: catchUp},
	{name: "a member that was wiped catches up", members: 3, run: wiped},
	{name: "when all were wiped, one after the other, the cluster begins anew", members: 3, run: allWiped},
	{name: "an isolated leader's write is never acknowledged", members: 3, run: isolatedLeader},
	{name: "a write with no leader waits for one", members: 3, run: waitsForLeader},
	{name: "a stopped member refuses and ends its watches", members: 3, run: stopped},
	{name: "a watch in the minority stalls and catches up", members: 3, run: watchStalls},
	{name: "a member that starts is not ready before it has caught up", members: 3, run: notReady},
	{name: "terms only grow and each has one leader", members: 3, run: terms},
	{name: "a link cut one way is survived", members: 3, replicated: true, run: oneWay},
}

func compareAndSwap(e *env) {
	lead := e.leader()
	create := mvcc.Txn{If: []mvcc.Compare{{Key: "a", Target: mvcc.ModRevision, Value: 0}}, Then: []mvcc.Op{{Key: "a", Value: []byte("1")}}, Read: []string{"a"}}
	first := e.txn(context.Background(), lead, create).get()
	e.want(first.Outcome == raftstore.Done && first.Result.Succeeded && first.Result.Revision == 2, "create: %+v", first)
	again := e.txn(context.Background(), e.others(lead)[0], create).get()
	e.want(again.Outcome == raftstore.Done && !again.Result.Succeeded && !again.Result.Changed, "create again: %+v", again)
	e.want(len(again.Result.Read) == 1 && string(again.Result.Read[0].Value) == "1", "the present value comes with a failed compare: %+v", again)
	update := mvcc.Txn{If: []mvcc.Compare{{Key: "a", Value: 2}}, Then: []mvcc.Op{{Key: "a", Value: []byte("2")}}}
	e.want(e.txn(context.Background(), lead, update).get().Result.Succeeded, "update at the right revision")
	e.want(!e.txn(context.Background(), lead, update).get().Result.Succeeded, "update at an old revision")
	remove := mvcc.Txn{If: []mvcc.Compare{{Key: "a", Target: mvcc.Version, Value: 2}}, Then: []mvcc.Op{{Key: "a", Delete: true}}}
	e.want(e.txn(context.Background(), lead, remove).get().Result.Succeeded, "delete at the right version")
	e.want(e.value(lead, "a", false) == "", "a is still there")
}

func revisions(e *env) {
	res := e.ask(context.Background(), "m1", raftstore.RangeRequest{Range: mvcc.Range{Key: "a"}}).get()
	e.want(res.Revision == 1, "an empty store is at revision 1, not %d", res.Revision)
	for i := range int64(5) {
		r := e.put("m1", fmt.Sprint("k", i%2), "v")
		e.want(r.Result.Revision == 2+i && r.Result.Changed, "revision %d, want %d", r.Result.Revision, 2+i)
	}
	r := e.txn(context.Background(), "m1", mvcc.Txn{Then: []mvcc.Op{{Key: "nothing", Delete: true}}}).get()
	e.want(!r.Result.Changed && r.Result.Revision == 6, "deleting nothing: %+v", r)
	kv := e.ask(context.Background(), "m1", raftstore.RangeRequest{Range: mvcc.Range{Key: "k0"}}).get().KVs[0]
	e.want(kv.CreateRevision == 2 && kv.ModRevision == 6 && kv.Version == 3, "numbers of a key: %+v", kv)
}

func ranges(e *env) {
	lead := e.leader()
	for _, k := range []string{"/pods/a", "/pods/b", "/pods/c", "/podsx", "/nodes/a"} {
		e.put(lead, k, "1") // revisions 2 to 6
	}
	e.put(lead, "/pods/b", "2")
	e.txn(context.Background(), lead, mvcc.Txn{Then: []mvcc.Op{{Key: "/pods/c", Delete: true}}}).get()
	list := func(r mvcc.Range) raftstore.RangeResult {
		return e.ask(context.Background(), lead, raftstore.RangeRequest{Range: r}).get()
	}
	pods := mvcc.Range{Key: "/pods/", End: mvcc.PrefixEnd("/pods/")}
	now := list(pods)
	e.want(now.Count == 2 && len(now.KVs) == 2 && string(now.KVs[1].Value) == "2" && now.Revision == 8, "now: %+v", now)
	old := pods
	old.Revision = 6
	then := list(old)
	e.want(then.Count == 3 && string(then.KVs[1].Value) == "1" && then.Revision == 8, "at revision 6: %+v", then)
	old.Limit = 2
	page := list(old)
	e.want(page.More && len(page.KVs) == 2 && page.Count == 3, "a page: %+v", page)
	keys := pods
	keys.KeysOnly = true
	e.want(list(keys).KVs[0].Value == nil, "keys only")
	keys.CountOnly = true
	e.want(list(keys).Count == 2 && list(keys).KVs == nil, "count only")
	future := pods
	future.Revision = 99
	e.want(errors.Is(list(future).Err, raftstore.ErrFutureRev), "future revision: %v", list(future).Err)
}

func compaction(e *env) {
	for i := range 5 {
		e.put(e.all[i%3], "a", fmt.Sprint(i)) // revisions 2 to 6
	}
	e.want(e.compact(4) == nil, "compact")
	e.want(errors.Is(e.compact(4), raftstore.ErrCompacted), "compact again")
	e.want(errors.Is(e.compact(99), raftstore.ErrFutureRev), "compact the future")
	for _, m := range e.all {
		at := func(rev int64) raftstore.RangeResult {
			return e.ask(context.Background(), m, raftstore.RangeRequest{Range: mvcc.Range{Key: "a", Revision: rev}}).get()
		}
		e.want(errors.Is(at(3).Err, raftstore.ErrCompacted), "%s at revision 3: %v", m, at(3).Err)
		e.want(at(4).Err == nil && string(at(4).KVs[0].Value) == "2", "%s at revision 4: %+v", m, at(4))
		e.want(string(at(0).KVs[0].Value) == "4", "%s now: %+v", m, at(0))
	}
}

func watchHistory(e *env) {
	lead := e.leader()
	member := e.others(lead)[0]
	e.put(lead, "/a/1", "x")
	e.put(lead, "/b/1", "x")
	e.put(lead, "/a/1", "y")
	w := e.watch(member, "/a/", 3)
	live := e.watch(member, "/a/", 0)
	e.txn(context.Background(), lead, mvcc.Txn{Then: []mvcc.Op{{Key: "/a/1", Delete: true}, {Key: "/a/2", Value: []byte("z")}, {Key: "/b/2"}}}).get()
	want := []string{"4 /a/1=y was x@2", "5 /a/1 deleted was y@4", "5 /a/2=z"}
	e.await("all events", func() bool { ev, _, _ := w.state(); return len(ev) >= len(want) })
	got, rev, err := w.state()
	e.want(slices.Equal(describe(got), want) && rev >= 5 && err == nil, "got %q at %d, %v", describe(got), rev, err)
	e.await("live events", func() bool { ev, _, _ := live.state(); return len(ev) >= 2 })
	got, _, _ = live.state()
	e.want(slices.Equal(describe(got)[len(got)-2:], want[1:]), "live: %q", describe(got))
	future := e.watch(member, "/a/", 7)
	e.put(lead, "/a/3", "6")
	e.put(lead, "/a/3", "7")
	e.await("events of the future", func() bool { ev, _, _ := future.state(); return len(ev) > 0 })
	got, _, _ = future.state()
	e.want(slices.Equal(describe(got), []string{"7 /a/3=7 was 6@6"}), "future: %q", describe(got))
}

func watchCompacted(e *env) {
	for range 5 {
		e.put("m1", "a", "x")
	}
	e.want(e.compact(4) == nil, "compact")
	w := e.watch("m1", "a", 3)
	e.await("the error", func() bool { _, _, err := w.state(); return err != nil })
	events, _, err := w.state()
	e.want(errors.Is(err, raftstore.ErrCompacted) && len(events) == 0, "%v, %d events", err, len(events))
	later := e.watch("m1", "a", 5)
	e.await("what is left", func() bool { ev, _, _ := later.state(); return len(ev) == 2 })
}

func watchCancelled(e *env) {
	w, other := e.watch("m1", "a", 0), e.watch("m1", "a", 0)
	e.put("m1", "a", "1")
	e.await("the first event", func() bool { ev, _, _ := w.state(); return len(ev) == 1 })
	w.cancel()
	e.put("m1", "a", "2")
	e.await("the other watch", func() bool { ev, _, _ := other.state(); return len(ev) == 2 })
	ev, _, err := w.state()
	e.want(len(ev) == 1 && err == nil, "after cancel: %d events, %v", len(ev), err)
}

func watchProgress(e *env) {
	for _, m := range e.all {
		w := e.watch(m, "/none/", 0)
		rev := e.put(e.all[0], "a", "x").Result.Revision
		e.value(m, "a", false)
		e.await("progress on "+m, func() bool { ev, r, err := w.state(); return r >= rev && len(ev) == 0 && err == nil })
	}
}

func linearizable(e *env) {
	for i := range 15 {
		value := fmt.Sprint(i)
		e.put(e.all[i%3], "a", value)
		for _, m := range e.all {
			got := e.value(m, "a", false)
			e.want(got == value, "%s reads %q after %q was acknowledged", m, got, value)
		}
	}
}

func requestID(e *env) {
	txn := mvcc.Txn{ID: "once", Then: []mvcc.Op{{Key: "a", Value: []byte("1")}}}
	first := e.txn(context.Background(), e.all[0], txn).get()
	e.put(e.all[1], "a", "2")
	lead := e.leader()
	e.kill(lead)
	second := e.txn(context.Background(), e.others(lead)[0], txn).get()
	e.want(second.Outcome == raftstore.Done && second.Result.Revision == first.Result.Revision, "first %+v, repeated %+v", first, second)
	e.want(e.value(e.others(lead)[0], "a", false) == "2", "the repeated request changed the state")
}

func outOfBounds(e *env) {
	r := e.txn(context.Background(), "m1", putOp("a", strings.Repeat("x", 2<<20))).get()
	e.want(r.Outcome == raftstore.Refused && errors.Is(r.Err, raftstore.ErrTooLarge), "two megabytes: %+v", r)
	r = e.txn(context.Background(), "m1", mvcc.Txn{Then: []mvcc.Op{{Key: "a"}, {Key: "a"}}}).get()
	e.want(r.Outcome == raftstore.Refused && r.Err != nil, "a key twice: %+v", r)
	e.want(e.put("m1", "a", strings.Repeat("x", 1<<20)).Result.Revision == 2, "a megabyte fits")
	e.want(e.c.Store("nobody") == nil && e.c.KillMember("nobody") != nil && e.c.StartMember("m1") != nil, "unknown members")
}

func tag(e *env) {
	t := putOp("a", "1")
	t.Tag = 4711
	r := e.txn(context.Background(), e.all[2], t).get()
	e.await("the change", func() bool {
		e.obs.mu.Lock()
		defer e.obs.mu.Unlock()
		for _, a := range e.obs.applied {
			if a.Tag == 4711 && a.Revision == r.Result.Revision && len(a.Events) == 1 {
				return true
			}
		}
		return false
	})
}

func groupCommit(e *env) {
	const writers = 300
	seen := make(map[int64]bool)
	entries := make(map[uint64]bool)
	var answers []pending[raftstore.TxnResult]
	for i := range writers {
		answers = append(answers, e.txn(context.Background(), e.all[i%3], putOp(fmt.Sprint("k", i), "v")))
	}
	for _, a := range answers {
		r := a.get()
		e.want(r.Outcome == raftstore.Done && !seen[r.Result.Revision], "%+v", r)
		seen[r.Result.Revision], entries[r.Index] = true, true
	}
	e.want(!e.h.Replicated || len(entries) < writers/3, "%d writes took %d entries", writers, len(entries))
	all := e.ask(context.Background(), e.all[0], raftstore.RangeRequest{Range: mvcc.Range{Key: "k", End: "l", CountOnly: true}}).get()
	e.want(all.Count == writers && all.Revision == writers+1, "%+v", all)
}
