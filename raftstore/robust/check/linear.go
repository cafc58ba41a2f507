package check

import (
	"hash/fnv"
	"sort"
	"strings"

	"github.com/anishathalye/porcupine"
	"github.com/tidwall/btree"

	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// Group is the part of a key up to and with its first slash. A transaction must stay within one group: linearizability is local, so each group is checked by itself, which keeps the
// search small. Lists over several groups count in each.
func Group(key string) string {
	if i := strings.IndexByte(key, '/'); i >= 0 {
		return key[:i+1]
	}
	return key
}

// step is a call as porcupine's model sees it. Where the answer is not known the revision is the one that the order of revisions gives it (as etcd's robustness tests patch their
// histories); a call that is in no revision changed nothing and is left out.
type step struct {
	group    string
	op       *history.Op
	revision int64
	events   []mvcc.Event // of a lease that ran out
}

// groupState is what a group holds. It is never written to again.
type groupState struct {
	revision int64 // of its last change
	kvs      []mvcc.KV
	hash     uint64
}

func newGroupState(revision int64, tree *btree.Map[string, mvcc.KV]) *groupState {
	s := &groupState{revision: revision}
	h := fnv.New64a()
	tree.Scan(func(key string, x mvcc.KV) bool {
		s.kvs = append(s.kvs, x)
		h.Write([]byte(kv(x)))
		return true
	})
	s.hash = h.Sum64() ^ uint64(revision)
	return s
}

func (s *groupState) tree() *btree.Map[string, mvcc.KV] {
	t := new(btree.Map[string, mvcc.KV])
	for _, x := range s.kvs {
		t.Set(x.Key, x)
	}
	return t
}

var model = porcupine.Model{
	Init: func() any { return newGroupState(firstRevision, new(btree.Map[string, mvcc.KV])) },
	Step: func(state, input, _ any) (bool, any) { return input.(*step).on(state.(*groupState)) },
	Equal: func(a, b any) bool {
		x, y := a.(*groupState), b.(*groupState)
		return x.hash == y.hash && x.revision == y.revision && sameKVs(x.kvs, y.kvs)
	},
	Hash:              func(state any) uint64 { return state.(*groupState).hash },
	DescribeOperation: func(input, _ any) string { return describeStep(input.(*step)) },
	DescribeState:     func(state any) string { return kvs(state.(*groupState).kvs) },
}

func describeStep(s *step) string {
	if s.op == nil {
		return "the end of a lease: " + describe(s.events)
	}
	return call(s.op)
}

// on runs the call on a state, if the answer it got fits.
func (s *step) on(state *groupState) (bool, *groupState) {
	tree := state.tree()
	if s.op == nil {
		if s.revision <= state.revision {
			return false, state
		}
		apply(tree, s.events)
		return true, newGroupState(s.revision, tree)
	}
	if s.op.Read != nil {
		if s.revision < state.revision {
			return false, state
		}
		// The part of the answer that lies in this group.
		var got []mvcc.KV
		for _, x := range s.op.Read.KVs {
			if Group(x.Key) == s.group {
				got = append(got, x)
			}
		}
		q := *s.op.Range
		q.Limit = 0
		return sameKVs(got, rangeOf(tree, q).KVs), state
	}
	a := s.op.Answer
	if a != nil && a.Succeeded != holds(s.op.Txn.If, tree) {
		return false, state
	}
	events := effect(s.op.Txn, tree, s.revision)
	changed := len(events) > 0
	if a != nil && a.Changed != changed || changed && s.revision <= state.revision || !changed && s.revision < state.revision {
		return false, state
	}
	before := tree
	if changed {
		tree = tree.Copy()
		apply(tree, events)
	}
	if a != nil {
		keys, at := s.op.Txn.Read, before
		if a.Succeeded {
			keys, at = s.op.Txn.ReadThen, tree
		}
		var want []mvcc.KV
		for _, key := range keys {
			if x, ok := at.Get(key); ok {
				want = append(want, x)
			}
		}
		if !sameKVs(a.Read, want) {
			return false, state
		}
	}
	if !changed {
		return true, state
	}
	return true, newGroupState(s.revision, tree)
}

// porcupine asks whether the answers that clients got fit any order of the calls at all.
func (c *checker) porcupine() {
	groups := make(map[string][]porcupine.Operation)
	// A change that nobody was told of happened after everything that was asked for before an earlier revision, and before anybody saw it. Without that bound each could come at any
	// time, and the search would try all subsets of them.
	var asked int64
	after := make(map[*revision]int64)
	for _, r := range c.order.revs {
		if r.op != nil {
			asked = max(asked, r.op.Call)
		}
		after[r] = asked
		if r.op != nil || len(r.events) == 0 {
			continue
		}
		byGroup := make(map[string][]mvcc.Event)
		for _, e := range r.events {
			g := Group(e.KV.Key)
			byGroup[g] = append(byGroup[g], e)
		}
		for g, events := range byGroup {
			groups[g] = append(groups[g], porcupine.Operation{Input: &step{group: g, revision: r.number, events: events}, Call: min(asked, r.seen), Return: r.seen})
		}
	}
	for _, o := range c.h.Ops {
		c.steps(o, after, groups)
	}
	names := make([]string, 0, len(groups))
	for g := range groups {
		names = append(names, g)
	}
	sort.Strings(names)
	for _, g := range names {
		result := porcupine.CheckOperationsTimeout(model, groups[g], c.opt.Patience)
		if result == porcupine.Unknown {
			result = porcupine.CheckOperationsTimeout(model, groups[g], 10*c.opt.Patience)
		}
		switch result {
		case porcupine.Illegal:
			c.fail("linearizable", "the %d calls on keys %s* fit no order (porcupine)", len(groups[g]), g)
		case porcupine.Unknown:
			c.fail("linearizable", "porcupine cannot tell within %v for the %d calls on keys %s*: too many at the same time", 11*c.opt.Patience, len(groups[g]), g)
		}
	}
}

func (c *checker) steps(o *history.Op, after map[*revision]int64, groups map[string][]porcupine.Operation) {
	x := porcupine.Operation{ClientId: o.Client, Call: o.Call, Return: o.Return}
	switch {
	case o.Kind == history.Txn && o.Done():
		r := c.order.byTag[uint64(o.ID)]
		if o.Answer == nil || o.Txn.ID != "" && r == nil {
			return // it repeats the answer of an earlier call with the same request id, which counts
		}
		g := groupOf(o.Txn)
		x.Input = &step{group: g, op: o, revision: o.Answer.Revision}
		groups[g] = append(groups[g], x)
	case o.Kind == history.Txn && o.Open():
		r := c.order.byTag[uint64(o.ID)]
		if r == nil {
			return
		}
		g := groupOf(o.Txn)
		x.Input, x.Call, x.Return = &step{group: g, op: o, revision: r.number}, min(after[r], r.seen), r.seen
		groups[g] = append(groups[g], x)
	case o.Read != nil && !o.Serializable && o.Range.Revision == 0 && !o.Range.CountOnly && !o.Read.More:
		seen := make(map[string]bool)
		for _, kv := range o.Read.KVs {
			seen[Group(kv.Key)] = true
		}
		seen[Group(o.Range.Key)] = true
		for g := range seen {
			x.Input = &step{group: g, op: o, revision: o.Read.Revision}
			groups[g] = append(groups[g], x)
		}
	}
}

func groupOf(t *mvcc.Txn) string {
	for _, ops := range [][]mvcc.Op{t.Then, t.Else} {
		for _, op := range ops {
			return Group(op.Key)
		}
	}
	for _, x := range t.If {
		return Group(x.Key)
	}
	for _, key := range append(t.Read, t.ReadThen...) {
		return Group(key)
	}
	return ""
}
