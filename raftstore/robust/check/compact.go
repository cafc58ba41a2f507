package check

import (
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/robust/history"
)

// compacted tells whether anybody had asked by an instant for what makes revisions up to rev unreadable; except leaves one call out.
func (c *checker) compacted(rev, by int64, except *history.Op) bool {
	for _, o := range c.h.Ops {
		if o.Kind == history.Compact && o != except && o.Revision >= rev && o.Call < by && (o.Open() || o.Outcome != raftstore.Refused) {
			return true
		}
	}
	for _, n := range c.h.Notes {
		if n.Kind == history.NoteRestored && n.Seq < by {
			return true
		}
	}
	return false
}

// compactions: nobody is told that something is gone before somebody had it compacted, the compacted revision itself stays readable, and what is gone stays gone.
func (c *checker) compactions() {
	for _, o := range c.h.Ops {
		switch {
		case o.Return == 0 || o.Err != raftstore.ErrCompacted.Error():
		case o.Range != nil:
			if !c.compacted(o.Range.Revision+1, o.Return, nil) {
				c.fail("compaction keeps what it should", "%s was told that the revision is compacted", call(o))
			}
		case o.Kind == history.Compact:
			if !c.compacted(o.Revision, o.Return, o) {
				c.fail("compaction keeps what it should", "%s was told that the revision is compacted already", call(o))
			}
		}
	}
	for _, w := range c.h.Watches {
		if w.End == raftstore.ErrCompacted.Error() && !c.compacted(w.Request.From, w.Until, nil) {
			c.fail("compaction keeps what it should", "%s was told that the revision is compacted", watchOf(w))
		}
	}
	for _, o := range c.h.Ops {
		if o.Kind != history.Compact || !o.Done() {
			continue
		}
		for _, q := range c.h.Ops {
			if q.Range != nil && q.Read != nil && q.Member == o.Member && q.Call > o.Return && q.Range.Revision > 0 && q.Range.Revision < o.Revision {
				c.fail("compacted is gone", "%s read what %s had dropped", call(q), call(o))
			}
		}
	}
}
