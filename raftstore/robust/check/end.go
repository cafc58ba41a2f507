package check

import (
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// terms: one leader in each term; a member's term never falls, unless its disk was emptied.
func (c *checker) terms() {
	leaders := make(map[uint64]string)
	term := make(map[string]uint64)
	for _, r := range c.h.Roles {
		if r.Forgot {
			delete(term, r.Member)
		}
		if r.Role == raftstore.Leader {
			if before, led := leaders[r.Term]; led && before != r.Member {
				c.fail("one leader per term", "in term %d %s leads, and %s does", r.Term, before, r.Member)
			}
			leaders[r.Term] = r.Member
		}
		if !r.Up || r.Term == 0 {
			continue
		}
		if r.Term < term[r.Member] {
			c.fail("terms never fall", "%s was in term %d, and then in %d", r.Member, term[r.Member], r.Term)
		}
		term[r.Member] = r.Term
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
