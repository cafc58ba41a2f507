package check

import (
	"fmt"
	"sort"

	"github.com/tidwall/btree"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// firstRevision is that of the empty store.
const firstRevision = 1

// order is what happened, revision by revision.
type order struct {
	// revs[i] made revision firstRevision+1+i; states[i] is the state at firstRevision+i.
	revs   []*revision
	states []*btree.Map[string, mvcc.KV]
	byTag  map[uint64]*revision
}

// revision is a change, and which call made it.
type revision struct {
	number int64
	events []mvcc.Event
	op     *history.Op // nil: a lease that ran out, or nobody knows
	index  uint64
	term   uint64
	// seen is the first instant at which anybody saw it.
	seen int64
}

func (o *order) last() int64 { return firstRevision + int64(len(o.revs)) }

func (o *order) at(rev int64) *revision {
	if rev <= firstRevision || rev > o.last() {
		return nil
	}
	return o.revs[rev-firstRevision-1]
}

// state is the data at a revision; nil when there is none.
func (o *order) state(rev int64) *btree.Map[string, mvcc.KV] {
	if rev < firstRevision || rev > o.last() {
		return nil
	}
	return o.states[rev-firstRevision]
}

// reconstruct puts the order together: from what the store announced, and where a program was killed before it could, from what watches saw.
func (c *checker) reconstruct() *order {
	known := make(map[int64]*revision)
	var last int64 = firstRevision
	var announced int64
	for i := range c.h.Applied {
		a := &c.h.Applied[i]
		if have := known[a.Revision]; have != nil {
			if !sameEvents(have.events, a.Events) || have.index != a.Index {
				c.fail("one change per revision", "revision %d was announced as %s at index %d, and again as %s at index %d", a.Revision, describe(have.events), have.index, describe(a.Events), a.Index)
			}
			continue
		}
		if a.Revision <= announced && !c.opt.MayBeCut {
			c.fail("revisions grow", "revision %d was announced after %d", a.Revision, announced)
		}
		announced = a.Revision
		known[a.Revision] = &revision{number: a.Revision, events: a.Events, index: a.Index, term: a.Term, op: c.byID[int64(a.Tag)], seen: a.Seq}
		last = max(last, a.Revision)
	}
	c.fromWatches(known, &last)
	o := &order{byTag: make(map[uint64]*revision)}
	state := new(btree.Map[string, mvcc.KV])
	o.states = append(o.states, state)
	var index, term uint64
	for rev := int64(firstRevision + 1); rev <= last; rev++ {
		r := known[rev]
		if r == nil {
			c.fail("every revision is a change", "revision %d was seen, but not %d", last, rev)
			return o
		}
		if r.op == nil {
			r.op = c.guess(r)
		}
		if r.op != nil {
			if before := o.byTag[uint64(r.op.ID)]; before != nil {
				c.fail("a request is applied once", "%s made revision %d and revision %d", call(r.op), before.number, rev)
			}
			o.byTag[uint64(r.op.ID)] = r
		}
		if r.index != 0 {
			if r.index < index || r.term < term {
				c.fail("the log's order", "revision %d is entry %d of term %d, the one before is %d of %d", rev, r.index, r.term, index, term)
			}
			index, term = r.index, r.term
		}
		c.replay(r, state)
		state = state.Copy()
		apply(state, r.events)
		o.revs = append(o.revs, r)
		o.states = append(o.states, state)
	}
	return o
}

// fromWatches adds what watches saw and the store did not announce, and compares the rest.
func (c *checker) fromWatches(known map[int64]*revision, last *int64) {
	parts := make(map[int64]map[string]mvcc.Event)
	seen := make(map[int64]int64)
	for _, w := range c.h.Watches {
		for _, b := range w.Batches {
			for _, e := range b.Events {
				rev := e.KV.ModRevision
				if r := known[rev]; r != nil {
					r.seen = min(r.seen, b.Seq)
					continue // compared by the watch's own check
				}
				if !c.opt.MayBeCut {
					continue // it saw something that never was; its own check says so
				}
				if w.Request != (raftstore.WatchRequest{From: w.Request.From}) {
					continue // it does not see all
				}
				if parts[rev] == nil {
					parts[rev] = make(map[string]mvcc.Event)
				}
				parts[rev][e.KV.Key] = e
				if seen[rev] == 0 || b.Seq < seen[rev] {
					seen[rev] = b.Seq
				}
			}
		}
	}
	for rev, events := range parts {
		r := &revision{number: rev, seen: seen[rev]}
		for _, e := range events {
			r.events = append(r.events, e)
		}
		sort.Slice(r.events, func(i, j int) bool { return r.events[i].KV.Key < r.events[j].KV.Key })
		known[rev] = r
		*last = max(*last, rev)
	}
}

// guess finds the call that made a revision by the values it put, which are all different.
func (c *checker) guess(r *revision) *history.Op {
	for _, e := range r.events {
		if e.Deleted {
			continue
		}
		var id int64
		if n, _ := fmt.Sscanf(string(e.KV.Value), history.ValueFormat, &id); n == 1 {
			return c.byID[id]
		}
	}
	return nil
}

// replay checks that the events of r are what they must be on the state before it.
func (c *checker) replay(r *revision, before *btree.Map[string, mvcc.KV]) {
	if len(r.events) == 0 {
		c.fail("right content", "revision %d has no events", r.number)
	}
	keys := make(map[string]bool)
	for _, e := range r.events {
		if keys[e.KV.Key] {
			c.fail("right content", "revision %d changes %s twice", r.number, e.KV.Key)
		}
		keys[e.KV.Key] = true
		prev, exists := before.Get(e.KV.Key)
		want := mvcc.KV{Key: e.KV.Key, ModRevision: r.number}
		if !e.Deleted {
			want = mvcc.KV{Key: e.KV.Key, Value: e.KV.Value, Lease: e.KV.Lease, CreateRevision: r.number, ModRevision: r.number, Version: 1}
			if exists {
				want.CreateRevision, want.Version = prev.CreateRevision, prev.Version+1
			}
		} else if !exists {
			c.fail("right content", "revision %d deletes %s, which does not exist", r.number, e.KV.Key)
		}
		if !sameKV(e.KV, want) {
			c.fail("right content", "revision %d: %s, want %s", r.number, kv(e.KV), kv(want))
		}
		if (e.Prev != nil) != exists || exists && !sameKV(*e.Prev, prev) {
			c.fail("right content", "revision %d: before it %s was %s, the event says %s", r.number, e.KV.Key, kv(prev), prevOf(e))
		}
	}
	if r.op == nil || r.op.Txn == nil {
		return
	}
	// The events must be those of the call, decided on the state before.
	if want := effect(r.op.Txn, before, r.number); !sameEvents(want, r.events) && !sameSet(want, r.events) {
		c.fail("right content", "revision %d: %s on the state before makes %s, but it made %s", r.number, call(r.op), describe(want), describe(r.events))
	}
}

// holds evaluates compares on a state.
func holds(compares []mvcc.Compare, state *btree.Map[string, mvcc.KV]) bool {
	for _, x := range compares {
		have, exists := state.Get(x.Key)
		var sign int
		if x.Target == mvcc.Content {
			if !exists {
				return false
			}
			sign = compareOf(string(have.Value), string(x.Bytes))
		} else {
			n := have.ModRevision
			switch x.Target {
			case mvcc.CreateRevision:
				n = have.CreateRevision
			case mvcc.Version:
				n = have.Version
			case mvcc.LeaseOf:
				n = int64(have.Lease)
			}
			sign = compareOf(n, x.Value)
		}
		ok := map[mvcc.Relation]bool{mvcc.Equal: sign == 0, mvcc.NotEqual: sign != 0, mvcc.Greater: sign > 0, mvcc.Less: sign < 0}[x.Relation]
		if !ok {
			return false
		}
	}
	return true
}

func compareOf[T int64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// effect is what t does to a state as revision rev.
func effect(t *mvcc.Txn, state *btree.Map[string, mvcc.KV], rev int64) []mvcc.Event {
	ops := t.Then
	if !holds(t.If, state) {
		ops = t.Else
	}
	var events []mvcc.Event
	for _, op := range ops {
		keys := []string{op.Key}
		if op.Delete && op.End != "" {
			keys = nil
			state.Ascend(op.Key, func(key string, _ mvcc.KV) bool {
				if key < op.End {
					keys = append(keys, key)
				}
				return key < op.End
			})
		}
		for _, key := range keys {
			prev, exists := state.Get(key)
			if op.Delete && !exists {
				continue
			}
			e := mvcc.Event{Deleted: op.Delete, KV: mvcc.KV{Key: key, ModRevision: rev}}
			if !op.Delete {
				e.KV = mvcc.KV{Key: key, Value: op.Value, Lease: op.Lease, CreateRevision: rev, ModRevision: rev, Version: 1}
				if exists {
					e.KV.CreateRevision, e.KV.Version = prev.CreateRevision, prev.Version+1
				}
			}
			if exists {
				e.Prev = &prev
			}
			events = append(events, e)
		}
	}
	return events
}

func apply(state *btree.Map[string, mvcc.KV], events []mvcc.Event) {
	for _, e := range events {
		if e.Deleted {
			state.Delete(e.KV.Key)
		} else {
			state.Set(e.KV.Key, e.KV)
		}
	}
}
