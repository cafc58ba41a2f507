package check

import (
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// terms: one leader in each term; a member's term never falls, unless its disk was emptied. One that stops may have shown a term, the last of that life, that it did not come to store:
// it had not voted or taken anything in it.
func (c *checker) terms() {
	leaders := make(map[uint64]string)
	// term is the last that a member showed, stored the one before.
	term, stored := make(map[string]uint64), make(map[string]uint64)
	for _, r := range c.h.Roles {
		if r.Forgot {
			delete(term, r.Member)
			delete(stored, r.Member)
		}
		if r.Role == raftstore.Leader {
			if before, led := leaders[r.Term]; led && before != r.Member {
				c.fail("one leader per term", "in term %d %s leads, and %s does", r.Term, before, r.Member)
			}
			leaders[r.Term] = r.Member
		}
		if !r.Up {
			term[r.Member] = stored[r.Member]
		}
		if !r.Up || r.Term == 0 {
			continue
		}
		if r.Term < term[r.Member] {
			c.fail("terms never fall", "%s was in term %d, and then in %d", r.Member, term[r.Member], r.Term)
		}
		if r.Term > term[r.Member] {
			stored[r.Member], term[r.Member] = term[r.Member], r.Term
		}
	}
	for _, n := range c.h.Notes {
		if n.Kind == history.NoteDiverged {
			c.fail("members agree", "%s differs from the others %s", n.Member, n.Text)
		}
	}
}

// end: with everything healed the members are equal in bounded time, and hold what the order of revisions makes.
func (c *checker) end() {
	for _, n := range c.h.Notes {
		if n.Kind == history.NoteLate {
			c.fail("converges in time", "%s", n.Text)
		}
	}
	if !c.h.Complete {
		return
	}
	var want []mvcc.KV
	c.order.state(c.order.last()).Scan(func(_ string, x mvcc.KV) bool {
		want = append(want, x)
		return true
	})
	for i, f := range c.h.Finals {
		switch {
		case !f.Ready || f.Err != "":
			c.fail("members agree", "at the end %s cannot be read: %s", f.Member, f.Err)
		case f.Revision != c.order.last():
			c.fail("members agree", "at the end %s is at revision %d; the last anybody saw is %d", f.Member, f.Revision, c.order.last())
		case !sameKVs(f.KVs, want):
			c.fail("no acknowledged write is lost", "at the end %s holds %s, want %s", f.Member, kvs(f.KVs), kvs(want))
		case i > 0 && f.Compacted == c.h.Finals[0].Compacted && f.Hash != c.h.Finals[0].Hash:
			c.fail("members agree", "HashKV of %s is %+v, of %s %+v", f.Member, f.Hash, c.h.Finals[0].Member, c.h.Finals[0].Hash)
		}
	}
}

// newcomers: who is added is a learner until somebody promotes it.
func (c *checker) newcomers() {
	learner := make(map[string]bool)
	for _, o := range c.h.Ops {
		switch o.Kind {
		case history.Add:
			learner[o.Target] = o.Done()
		case history.Promote:
			if learner[o.Target] && o.Err == raftstore.ErrMemberNotLearner.Error() {
				c.fail("who joins is a learner", "%s: %s was added and never promoted, but is no learner", call(o), o.Target)
			}
			learner[o.Target] = learner[o.Target] && !o.Open() && !o.Done()
		case history.Remove:
			learner[o.Target] = false
		}
	}
}

// restored: what followed the backup is gone, what was in it is there, and no client sees a revision fall or misses the change.
func (c *checker) restored() {
	r := c.h.Restored
	if r == nil {
		return
	}
	if r.Err != "" {
		c.fail("a backup can be restored", "%s", r.Err)
		return
	}
	state := c.order.state(r.Revision)
	if state == nil {
		c.fail("a backup can be restored", "it says that it holds revision %d; the last anybody saw is %d", r.Revision, c.order.last())
		return
	}
	var want []mvcc.KV
	state.Scan(func(_ string, x mvcc.KV) bool {
		want = append(want, x)
		return true
	})
	for _, f := range r.Reads {
		if f.Err != "" || !sameKVs(f.KVs, want) {
			c.fail("a backup can be restored", "%s holds %s after it (%s), want %s", f.Member, kvs(f.KVs), f.Err, kvs(want))
		}
		if f.Revision <= r.Known || f.Revision < r.Claimed {
			c.fail("revisions never go back", "%s is at revision %d after the restore, which was to begin at %d; clients had been told %d", f.Member, f.Revision, r.Claimed, r.Known)
		}
	}
	if r.Wrote <= r.Known {
		c.fail("revisions never go back", "the first write after the restore made revision %d; clients had been told %d", r.Wrote, r.Known)
	}
	if r.Watch != raftstore.ErrCompacted.Error() {
		c.fail("a watch over a restore ends", "a watch from revision %d ended with %q after the restore", r.Known, r.Watch)
	}
}
