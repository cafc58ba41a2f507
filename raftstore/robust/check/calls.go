package check

import (
	"sort"

	"github.com/tidwall/btree"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// outcomes: what was done is there under its revision and with the answer that the state before it gives; what was refused is nowhere.
func (c *checker) outcomes() {
	for _, n := range c.h.Notes {
		if n.Kind == history.NoteTwice {
			c.fail("every call is answered once", "%s on %s was answered twice", n.Text, n.Member)
		}
	}
	for _, o := range c.h.Ops {
		if o.Return == 0 {
			if !c.opt.MayBeCut {
				c.fail("every call is answered once", "%s never was", call(o))
			}
			continue
		}
		if o.Kind != history.Txn {
			continue
		}
		made := c.order.byTag[uint64(o.ID)]
		switch o.Outcome {
		case raftstore.Refused:
			if made != nil {
				c.fail("refused means never", "%s was refused (%s) and made revision %d", call(o), o.Err, made.number)
			}
			if o.Err == "" {
				c.fail("refused means never", "%s was refused without a reason", call(o))
			}
		case raftstore.Done:
			c.done(o, made)
		}
	}
}

func (c *checker) done(o *history.Op, made *revision) {
	a := o.Answer
	if a == nil {
		c.fail("done means done", "%s has no answer", call(o))
		return
	}
	if !a.Changed && made != nil {
		c.fail("done means done", "%s was told that it changed nothing, and made revision %d", call(o), made.number)
		return
	}
	before := c.order.state(a.Revision)
	if a.Changed {
		r := c.order.at(a.Revision)
		if r == nil {
			c.fail("no acknowledged write is lost", "%s was acknowledged at revision %d, which nobody saw (the last is %d)", call(o), a.Revision, c.order.last())
			return
		}
		if made == nil && !(r.op != nil && sameRequest(r.op, o)) && !(c.opt.MayBeCut && r.op == nil) {
			by := "nobody knows whom"
			if r.op != nil {
				by = call(r.op)
			}
			c.fail("no acknowledged write is lost", "%s was acknowledged at revision %d, which was made by %s", call(o), a.Revision, by)
			return
		}
		if made != nil && made.number != a.Revision {
			c.fail("done means done", "%s was acknowledged at revision %d and made %d", call(o), a.Revision, made.number)
		}
		before = c.order.state(a.Revision - 1)
	}
	if before == nil {
		c.fail("done means done", "%s was answered at revision %d; the last anybody saw is %d", call(o), a.Revision, c.order.last())
		return
	}
	if got := holds(o.Txn.If, before); got != a.Succeeded {
		c.fail("right answers", "%s at revision %d: compares held %v, want %v", call(o), a.Revision, a.Succeeded, got)
		return
	}
	if !a.Changed {
		if would := effect(o.Txn, before, a.Revision+1); len(would) > 0 {
			c.fail("right answers", "%s at revision %d changed nothing, but should have: %s", call(o), a.Revision, describe(would))
		}
	}
	keys, at := o.Txn.Read, before
	if a.Succeeded {
		keys, at = o.Txn.ReadThen, c.order.state(a.Revision)
	}
	var want []mvcc.KV
	for _, key := range keys {
		if x, ok := at.Get(key); ok {
			want = append(want, x)
		}
	}
	if !sameKVs(a.Read, want) {
		c.fail("right answers", "%s at revision %d read %s, want %s", call(o), a.Revision, kvs(a.Read), kvs(want))
	}
}

func sameRequest(a, b *history.Op) bool {
	return a == b || a.Txn != nil && b.Txn != nil && a.Txn.ID != "" && a.Txn.ID == b.Txn.ID
}

// requests: calls with the same request id change the state once and get one answer.
func (c *checker) requests() {
	made := make(map[string]*revision)
	answered := make(map[string]*history.Op)
	for _, o := range c.h.Ops {
		if o.Txn == nil || o.Txn.ID == "" {
			continue
		}
		if r := c.order.byTag[uint64(o.ID)]; r != nil {
			if before := made[o.Txn.ID]; before != nil {
				c.fail("a request is applied once", "request %s made revisions %d and %d", o.Txn.ID, before.number, r.number)
			}
			made[o.Txn.ID] = r
		}
		if !o.Done() || o.Answer == nil {
			continue
		}
		if before := answered[o.Txn.ID]; before != nil && (before.Answer.Revision != o.Answer.Revision || before.Answer.Succeeded != o.Answer.Succeeded) {
			c.fail("a request is applied once", "request %s was answered at revision %d and at %d", o.Txn.ID, before.Answer.Revision, o.Answer.Revision)
		}
		answered[o.Txn.ID] = o
	}
}

// moment is an instant of the run at which something became known or was asked.
type moment struct {
	instant  int64
	op       *history.Op // asked
	revision int64       // known from now on
	member   string      // by whom
}

// realTime: what is asked after something is known is answered no earlier than that. One member never goes back.
func (c *checker) realTime() {
	var moments []moment
	for _, o := range c.h.Ops {
		moments = append(moments, moment{instant: o.Call, op: o})
		if rev := answeredAt(o); rev > 0 {
			moments = append(moments, moment{instant: o.Return, revision: rev, member: o.Member})
		}
	}
	for i := range c.h.Applied {
		moments = append(moments, moment{instant: c.h.Applied[i].Seq, revision: c.h.Applied[i].Revision})
	}
	for _, w := range c.h.Watches {
		for _, b := range w.Batches {
			if n := len(b.Events); n > 0 {
				moments = append(moments, moment{instant: b.Seq, revision: b.Events[n-1].KV.ModRevision, member: w.Member})
			}
		}
	}
	sort.SliceStable(moments, func(i, j int) bool { return moments[i].instant < moments[j].instant })
	var known int64
	member := make(map[string]int64)
	for _, m := range moments {
		if m.op == nil {
			known = max(known, m.revision)
			if m.member != "" {
				member[m.member] = max(member[m.member], m.revision)
			}
			continue
		}
		c.notBefore(m.op, known, member[m.op.Member])
	}
	for _, r := range c.order.revs {
		if r.op != nil && r.seen <= r.op.Call {
			c.fail("real time", "revision %d was seen at instant %d, before %s", r.number, r.seen, call(r.op))
		}
	}
}

// answeredAt is the revision of the state an answer shows; 0: none.
func answeredAt(o *history.Op) int64 {
	if o.Return == 0 {
		return 0
	}
	if o.Done() && o.Answer != nil {
		return o.Answer.Revision
	}
	if o.Read != nil {
		return o.Read.Revision
	}
	return 0
}

func (c *checker) notBefore(o *history.Op, known, onMember int64) {
	rev := answeredAt(o)
	switch {
	case o.Kind == history.Txn:
		made := c.order.byTag[uint64(o.ID)]
		if made != nil && made.number <= known {
			c.fail("real time", "%s made revision %d although %d was known before", call(o), made.number, known)
		}
		// An answer that repeats that of an earlier call with the same request id may be old.
		if made == nil && rev > 0 && rev < known && o.Txn.ID == "" {
			c.fail("real time", "%s was answered at revision %d although %d was known before", call(o), rev, known)
		}
	case o.Read != nil && !o.Serializable && rev < known:
		c.fail("linearizable reads miss nothing", "%s was answered at revision %d although %d was known before", call(o), rev, known)
	case o.Read != nil && o.Serializable && rev < onMember:
		c.fail("a member never goes back", "%s was answered at revision %d although the member had shown %d", call(o), rev, onMember)
	case o.Err == raftstore.ErrFutureRev.Error():
		asked, floor := o.Revision, known
		if o.Range != nil {
			asked = o.Range.Revision
		}
		if o.Serializable {
			floor = onMember
		}
		if asked <= floor && asked > 0 {
			c.fail("right answers", "%s was told that revision %d lies in the future although %d was known before", call(o), asked, floor)
		}
	}
}

// reads: every read shows the state of its revision.
func (c *checker) reads() {
	for _, o := range c.h.Ops {
		if o.Read == nil || o.Return == 0 {
			continue
		}
		rev := o.Read.Revision
		if o.Range.Revision > 0 {
			rev = o.Range.Revision
		}
		state := c.order.state(rev)
		if state == nil || o.Read.Revision < rev {
			c.fail("right content", "%s was answered at revision %d; the last anybody saw is %d", call(o), o.Read.Revision, c.order.last())
			continue
		}
		want := rangeOf(state, *o.Range)
		if !sameKVs(o.Read.KVs, want.KVs) || o.Read.Count != want.Count || o.Read.More != want.More {
			c.fail("right content", "%s at revision %d read %d %v %s, want %d %v %s", call(o), rev, o.Read.Count, o.Read.More, kvs(o.Read.KVs), want.Count, want.More, kvs(want.KVs))
		}
	}
}

func rangeOf(state *btree.Map[string, mvcc.KV], q mvcc.Range) mvcc.RangeResult {
	var res mvcc.RangeResult
	state.Ascend(q.Key, func(key string, x mvcc.KV) bool {
		if q.End == "" && key != q.Key || q.End != "" && key >= q.End {
			return false
		}
		res.Count++
		switch {
		case q.CountOnly:
		case q.Limit > 0 && len(res.KVs) >= q.Limit:
			res.More = true
		default:
			if q.KeysOnly {
				x.Value = nil
			}
			res.KVs = append(res.KVs, x)
		}
		return true
	})
	return res
}
