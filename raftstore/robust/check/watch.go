package check

import (
	"strings"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
)

// The seven guarantees of watches (etcd's documentation), each against the order of revisions:
//
//	ordered      revisions never go down, and within one the events come in its order
//	unique       no event comes twice
//	reliable     between what came first and what the watch says it is complete to, nothing it asked for is missing
//	atomic       the events of one revision come in one batch, unless the watch allows fragments
//	resumable    one from a kept revision begins there; one whose revision is gone is told so
//	bookmarkable after progress at a revision nothing of it or before comes
//	right        contents, previous values and filters are as asked
func (c *checker) watches() {
	for _, w := range c.h.Watches {
		c.watch(w)
	}
}

// wanted tells whether w asks for e.
func wanted(q raftstore.WatchRequest, e mvcc.Event) bool {
	if q.Exact && e.KV.Key != q.Prefix || !strings.HasPrefix(e.KV.Key, q.Prefix) {
		return false
	}
	return !(e.Deleted && q.NoDelete) && !(!e.Deleted && q.NoPut)
}

// events of revision rev that w asks for, as it is to see them.
func (c *checker) wantedAt(w *history.Watch, rev int64) []mvcc.Event {
	r := c.order.at(rev)
	if r == nil {
		return nil
	}
	var events []mvcc.Event
	for _, e := range r.events {
		if !wanted(w.Request, e) {
			continue
		}
		if w.Request.NoPrev {
			e.Prev = nil
		}
		events = append(events, e)
	}
	return events
}

func (c *checker) watch(w *history.Watch) {
	// next is the revision from which on nothing may be missing; 0: nobody knows yet.
	next := w.Request.From
	if next == 0 && w.Ready {
		next = c.beginsBefore(w)
	}
	sure := w.Request.From > 0
	var part []mvcc.Event // of a revision that is not complete
	for i := range w.Batches {
		b := &w.Batches[i]
		byRev := make(map[int64][]mvcc.Event)
		var revs []int64
		for _, e := range b.Events {
			rev := e.KV.ModRevision
			if n := len(revs); n > 0 && rev < revs[n-1] {
				c.fail("watch: ordered", "%s: revision %d comes after %d", watchOf(w), rev, revs[n-1])
				return
			}
			if byRev[rev] == nil {
				revs = append(revs, rev)
			}
			byRev[rev] = append(byRev[rev], e)
		}
		if b.Partial && !w.Request.Fragment {
			c.fail("watch: atomic", "%s: a part of revision %d, which it did not allow", watchOf(w), b.Revision)
		}
		for n, rev := range revs {
			got := byRev[rev]
			if rev > b.Revision {
				c.fail("watch: bookmarkable", "%s: a batch said to reach revision %d holds an event of %d", watchOf(w), b.Revision, rev)
				return
			}
			if sure && rev < next {
				c.fail("watch: unique", "%s: revision %d comes again; it was complete up to %d", watchOf(w), rev, next-1)
				return
			}
			if len(part) > 0 && part[0].KV.ModRevision == rev {
				got, part = append(part, got...), nil
			}
			if b.Partial && n == len(revs)-1 {
				if !c.missing(w, next, rev-1) {
					return
				}
				next, sure, part = rev, true, got
				break
			}
			if !c.missing(w, next, rev-1) || !c.whole(w, rev, got) {
				return
			}
			next, sure = rev+1, true
		}
		if b.Partial {
			continue
		}
		if len(part) > 0 {
			c.fail("watch: atomic", "%s: the rest of revision %d never came", watchOf(w), part[0].KV.ModRevision)
			return
		}
		if sure && b.Revision < next-1 {
			c.fail("watch: bookmarkable", "%s: complete up to %d after it was up to %d", watchOf(w), b.Revision, next-1)
			return
		}
		if b.Revision > c.order.last() {
			c.fail("watch: bookmarkable", "%s: complete up to %d; the last anybody saw is %d", watchOf(w), b.Revision, c.order.last())
			return
		}
		if !c.missing(w, next, b.Revision) {
			return
		}
		next, sure = b.Revision+1, true
	}
	if w.Settled > 0 {
		c.missing(w, next, w.Settled)
	}
}

// missing reports what w should have seen in revisions from..to but did not.
func (c *checker) missing(w *history.Watch, from, to int64) bool {
	if from == 0 { // nobody knows where it began
		return true
	}
	for rev := from; rev <= to; rev++ {
		if events := c.wantedAt(w, rev); len(events) > 0 {
			c.fail("watch: reliable", "%s: revision %d is missing: %s", watchOf(w), rev, describe(events))
			return false
		}
	}
	return true
}

// whole compares what came of a revision with what was to come.
func (c *checker) whole(w *history.Watch, rev int64, got []mvcc.Event) bool {
	want := c.wantedAt(w, rev)
	if sameEvents(got, want) {
		return true
	}
	keys := make(map[string]int)
	for _, e := range got {
		keys[e.KV.Key]++
	}
	for _, n := range keys {
		if n > 1 {
			c.fail("watch: unique", "%s: revision %d brought %s, want %s", watchOf(w), rev, describe(got), describe(want))
			return false
		}
	}
	switch {
	case len(got) < len(want):
		c.fail("watch: atomic", "%s: revision %d brought only %s, want %s", watchOf(w), rev, describe(got), describe(want))
	case sameSet(got, want) && !c.opt.MayBeCut:
		c.fail("watch: ordered", "%s: revision %d brought %s, want %s", watchOf(w), rev, describe(got), describe(want))
	case sameSet(got, want):
		return true // the order within a revision was put together from watches
	default:
		c.fail("watch: right content", "%s: revision %d brought %s with previous values %s, want %s with %s", watchOf(w), rev, describe(got), prevs(got), describe(want), prevs(want))
	}
	return false
}

func prevs(events []mvcc.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, prevOf(e))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// beginsBefore is a revision before which a watch from now on must have begun: that of the first call made after it was open, on a member that was ready.
// Earlier revisions may or may not come.
func (c *checker) beginsBefore(w *history.Watch) int64 {
	var first int64
	for _, r := range c.order.revs {
		if r.op != nil && r.op.Call > w.Opened {
			first = r.number
			break
		}
	}
	return first
}
