package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// do writes through a member and expects it done.
func (e *env) do(member string, t mvcc.Txn) mvcc.TxnResult {
	e.Helper()
	r := e.txn(context.Background(), member, t).get()
	e.want(r.Outcome == raftstore.Done && r.Err == nil, "%+v through %s: %v %v", t, member, r.Outcome, r.Err)
	return r.Result
}

func compares(e *env) {
	lease := e.grant("m1", time.Hour)
	e.do("m1", mvcc.Txn{Then: []mvcc.Op{{Key: "a", Value: []byte("m"), Lease: lease}}}) // revision 2
	e.put("m1", "other", "")                                                            // 3
	e.do("m1", mvcc.Txn{Then: []mvcc.Op{{Key: "a", Value: []byte("m"), Lease: lease}}}) // 4, version 2
	for target, have := range map[mvcc.Target]int64{mvcc.ModRevision: 4, mvcc.CreateRevision: 2, mvcc.Version: 2, mvcc.LeaseOf: int64(lease)} {
		for _, against := range []int64{have - 1, have, have + 1} {
			for relation, holds := range map[mvcc.Relation]bool{mvcc.Equal: have == against, mvcc.NotEqual: have != against, mvcc.Greater: have > against, mvcc.Less: have < against} {
				r := e.do("m1", mvcc.Txn{If: []mvcc.Compare{{Key: "a", Target: target, Relation: relation, Value: against}}})
				e.want(r.Succeeded == holds, "target %d is %d, relation %d to %d: %v", target, have, relation, against, r.Succeeded)
			}
		}
	}
	for _, against := range []string{"l", "m", "n"} {
		for relation, holds := range map[mvcc.Relation]bool{mvcc.Equal: against == "m", mvcc.NotEqual: against != "m", mvcc.Greater: "m" > against, mvcc.Less: "m" < against} {
			c := mvcc.Compare{Key: "a", Target: mvcc.Content, Relation: relation, Bytes: []byte(against)}
			e.want(e.do("m1", mvcc.Txn{If: []mvcc.Compare{c}}).Succeeded == holds, "content m, relation %d to %s", relation, against)
			c.Key = "absent"
			e.want(!e.do("m1", mvcc.Txn{If: []mvcc.Compare{c}}).Succeeded, "content of a key that does not exist, relation %d", relation)
		}
	}
	e.want(e.do("m1", mvcc.Txn{If: []mvcc.Compare{{Key: "absent", Target: mvcc.Version, Value: 0}}}).Succeeded, "a key that does not exist has version 0")
}

func deleteMany(e *env) {
	lead := e.leader()
	for _, k := range []string{"/b", "/a", "/c", "/d", "x"} {
		e.put(lead, k, k)
	}
	w := e.watch(e.others(lead)[0], "", 7)
	r := e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Delete: true, Key: "/a", End: "/d"}, {Key: "y", Value: []byte("new")}}})
	e.want(r.Revision == 7 && r.Changed, "%+v", r)
	want := []string{"7 /a deleted was /a@3", "7 /b deleted was /b@2", "7 /c deleted was /c@4", "7 y=new"}
	e.await("the events", func() bool { ev, _, _ := w.state(); return len(ev) >= len(want) })
	got, _, _ := w.state()
	e.want(slices.Equal(describe(got), want), "%q", describe(got))
	e.want(!e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Delete: true, Key: "/a", End: "/d"}}}).Changed, "nothing was left to delete")
	all := e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Delete: true, Key: "\x00", End: "\x00"}}})
	e.want(all.Revision == 8, "all keys: %+v", all)
	left := e.ask(context.Background(), lead, raftstore.RangeRequest{Range: mvcc.Range{Key: "\x00", End: "\x00"}}).get()
	e.want(left.Count == 0, "left: %+v", left)
}

func readThen(e *env) {
	m := e.others(e.leader())[0]
	r := e.do(m, mvcc.Txn{Then: []mvcc.Op{{Key: "a", Value: []byte("1")}}, ReadThen: []string{"a", "none"}, Read: []string{"b"}})
	e.want(len(r.Read) == 1 && string(r.Read[0].Value) == "1" && r.Read[0].ModRevision == 2, "%+v", r)
	r = e.do(m, mvcc.Txn{If: []mvcc.Compare{{Key: "a", Value: 9}}, Else: []mvcc.Op{{Key: "b", Value: []byte("2")}}, ReadThen: []string{"a"}, Read: []string{"b"}})
	e.want(!r.Succeeded && r.Changed && len(r.Read) == 1 && string(r.Read[0].Value) == "2", "%+v", r)
}

func duplicates(e *env) {
	for name, ops := range map[string][]mvcc.Op{
		"two puts":                 {{Key: "a"}, {Key: "a"}},
		"a put and a deletion":     {{Key: "a"}, {Key: "a", Delete: true}},
		"a put in a deleted range": {{Key: "a", End: "c", Delete: true}, {Key: "b"}},
	} {
		for _, t := range []mvcc.Txn{{Then: ops}, {Else: ops}} {
			r := e.txn(context.Background(), "m1", t).get()
			e.want(r.Outcome == raftstore.Refused && r.Err != nil && r.Err.Error() == "etcdserver: duplicate key given in txn request", "%s: %+v", name, r)
		}
	}
	e.want(e.do("m1", mvcc.Txn{Then: []mvcc.Op{{Key: "a", End: "c", Delete: true}, {Key: "b", End: "d", Delete: true}, {Key: "d"}}}).Revision == 2, "deletions may overlap")
}

func watchExact(e *env) {
	lead := e.leader()
	e.put(lead, "a", "1")
	e.put(lead, "ab", "1")
	m := e.others(lead)[0]
	old, live := e.watchAs(m, raftstore.WatchRequest{Prefix: "a", Exact: true, From: 2}), e.watchAs(m, raftstore.WatchRequest{Prefix: "a", Exact: true, From: 4})
	e.put(lead, "ab", "2")
	e.put(lead, "a", "2")
	e.await("the old and the new", func() bool { ev, _, _ := old.state(); return len(ev) == 2 })
	e.await("the new", func() bool { ev, _, _ := live.state(); return len(ev) == 1 })
	got, _, _ := old.state()
	e.want(slices.Equal(describe(got), []string{"2 a=1", "5 a=2 was 1@2"}), "%q", describe(got))
}

func watchFilters(e *env) {
	lead := e.leader()
	m := e.others(lead)[0]
	requests := []raftstore.WatchRequest{{Prefix: "k", From: 2, NoPut: true}, {Prefix: "k", From: 2, NoDelete: true}, {Prefix: "k", From: 2}}
	var before, after []*watcher
	for _, r := range requests {
		before = append(before, e.watchAs(m, r))
	}
	e.put(lead, "k", "1")
	e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Key: "k", Delete: true}, {Key: "k2"}}})
	e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Key: "k2", Delete: true}}})
	for _, r := range requests {
		after = append(after, e.watchAs(m, r))
	}
	want := [][]string{{"3 k deleted was 1@2", "4 k2 deleted was @3"}, {"2 k=1", "3 k2="}, {"2 k=1", "3 k deleted was 1@2", "3 k2=", "4 k2 deleted was @3"}}
	for i := range requests {
		for _, w := range []*watcher{before[i], after[i]} {
			e.await("the events", func() bool { ev, _, _ := w.state(); return len(ev) >= len(want[i]) })
			got, _, _ := w.state()
			e.want(slices.Equal(describe(got), want[i]), "%+v: %q", requests[i], describe(got))
		}
	}
}

func watchNoPrev(e *env) {
	lead := e.leader()
	w, with := e.watchAs(lead, raftstore.WatchRequest{Prefix: "k", From: 2, NoPrev: true}), e.watchAs(lead, raftstore.WatchRequest{Prefix: "k", From: 2})
	e.put(lead, "k", "1")
	e.put(lead, "k", "2")
	for _, x := range []*watcher{w, with} {
		e.await("the events", func() bool { ev, _, _ := x.state(); return len(ev) == 2 })
	}
	got, _, _ := w.state()
	e.want(got[1].Prev == nil, "the previous value came along")
	got, _, _ = with.state()
	e.want(got[1].Prev != nil && string(got[1].Prev.Value) == "1", "another watch lost the previous value")
}

func watchFragments(e *env) {
	lead := e.leader()
	m := e.others(lead)[0]
	var ops []mvcc.Op
	for i := range 6 {
		ops = append(ops, mvcc.Op{Key: fmt.Sprint("k", i), Value: []byte(strings.Repeat("x", 200<<10))})
	}
	whole, parts := e.watchAs(m, raftstore.WatchRequest{Prefix: "k", From: 2}), e.watchAs(m, raftstore.WatchRequest{Prefix: "k", From: 2, Fragment: true})
	e.do(lead, mvcc.Txn{Then: ops})
	late := e.watchAs(m, raftstore.WatchRequest{Prefix: "k", From: 2, Fragment: true})
	for _, w := range []*watcher{whole, parts, late} {
		e.await("all events", func() bool { ev, _, _ := w.state(); return len(ev) == 6 })
	}
	check := func(w *watcher, divided bool) {
		e.Helper()
		w.mu.Lock()
		defer w.mu.Unlock()
		var full []raftstore.WatchBatch
		for _, b := range w.batches {
			if len(b.Events) > 0 {
				full = append(full, b)
			}
		}
		e.want(len(full) > 1 == divided, "%d batches", len(full))
		for i, b := range full {
			size := 0
			for _, ev := range b.Events {
				size += len(ev.KV.Key) + len(ev.KV.Value)
			}
			e.want(b.Partial == (i < len(full)-1) && b.Revision == 2 && (!divided || size <= raftstore.MaxFragment), "batch %d of %d: partial %v, revision %d, %d bytes", i, len(full), b.Partial, b.Revision, size)
		}
	}
	check(whole, false)
	check(parts, true)
	check(late, true)
}

func watchProgressAlone(e *env) {
	lead := e.leader()
	m := e.others(lead)[0]
	asked, other := e.watchAs(m, raftstore.WatchRequest{Prefix: "none", Progress: true}), e.watchAs(m, raftstore.WatchRequest{Prefix: "none"})
	e.awaitReady(m)
	rev := e.put(lead, "a", "1").Result.Revision
	e.await("progress", func() bool { _, r, _ := asked.state(); return r >= rev })
	e.value(m, "a", false)
	ev, r, err := other.state()
	e.want(len(ev) == 0 && r == 0 && err == nil, "who did not ask heard of revision %d", r)
}

func hashKV(e *env) {
	lead := e.leader()
	for i := range 20 {
		e.put(lead, fmt.Sprint("k", i%4), fmt.Sprint(i))
	}
	e.do(lead, mvcc.Txn{Then: []mvcc.Op{{Key: "k1", Delete: true}}})
	e.want(e.compact(9) == nil, "compact")
	for _, m := range e.all {
		e.awaitSame(m)
		e.await("the compaction on "+m, func() bool { return e.status(m).Compacted == 9 })
	}
	at := func(m string, rev int64) mvcc.HashKV {
		h, err := e.c.Store(m).HashKV(rev)
		e.want(err == nil, "hash of %s at %d: %v", m, rev, err)
		return h
	}
	first, now := at("m1", 15), at("m1", 0)
	e.want(first.Hash != now.Hash && now.Revision == 22 && now.Compacted == 9, "%+v, %+v", first, now)
	for _, m := range e.all {
		e.want(at(m, 15) == first && at(m, 0) == now, "%s differs: %+v, %+v", m, at(m, 15), at(m, 0))
	}
	_, err := e.c.Store("m1").HashKV(8)
	e.want(errors.Is(err, raftstore.ErrCompacted), "of what is compacted: %v", err)
	_, err = e.c.Store("m1").HashKV(99)
	e.want(errors.Is(err, raftstore.ErrFutureRev), "of the future: %v", err)
	e.kill("m1")
	_, err = e.c.Store("m1").HashKV(0)
	e.want(errors.Is(err, raftstore.ErrStopped), "of a stopped member: %v", err)
}
