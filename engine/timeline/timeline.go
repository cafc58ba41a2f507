// Package timeline holds a place in a journal and the World folded up to it: following a live journal, looking back and replaying a file are one type.
//
// A Timeline has two places. The head follows the newest record, by Advance; while it does, it leaves checkpoints behind (clones of the World, cheap
// because they share what has not changed). The cursor is where the reader looks: at the head while Live, anywhere else after Seek or Step. A past
// World is the nearest checkpoint before it plus a fold forward.
//
// Checkpoints are spaced so that a fold forward from one takes well under 100 ms, and thinned out so that all together stay within a budget of memory. Of what
// the journal no longer has in memory only the checkpoints remain: the past is coarser there.
//
// Owns: checkpoints. Imports of ours: engine/event, engine/world. Goroutines: one owner, not the loop's; the journal behind it may be written to by the
// loop meanwhile. Time: simulated, as found in records; pace is the caller's business.
package timeline

import (
	"slices"
	"sort"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// Source is the journal behind a timeline; *journal.Journal is one. Any goroutine may append to it meanwhile.
type Source interface {
	First() event.Seq
	Last() event.Seq
	Read(buf []event.Record, from event.Seq, max int) (recs []event.Record, lost int)
	Get(event.Seq) (event.Record, bool)
}

// batch is how many records are read at once.
const batch = 512

// Timeline is a place in a journal.
type Timeline struct {
	src   Source
	file  bool // nothing more will come
	live  bool
	head  world.World
	view  world.World // where the reader looks when not live
	marks checkpoints
	buf   []event.Record
}

// Follow makes a timeline of a journal that is being written. It is live: it looks at the newest record that Advance has folded in.
func Follow(src Source) *Timeline { return &Timeline{src: src, live: true} }

// Replay makes a timeline of a complete journal (a file, see journal.Load). It looks at the first record; Advance prepares the rest for seeking, and
// moving on is up to the caller (Seek, Step), at whatever pace.
func Replay(src Source) *Timeline {
	t := &Timeline{src: src, file: true}
	t.SeekSeq(src.First())
	return t
}

// Advance folds at most budget new records into the head and tells how many there were. It is to be called once a frame, live or not; the cursor moves
// only while Live.
func (t *Timeline) Advance(budget int) (*Timeline, int) {
	n := 0
	for n < budget {
		got := t.foldHead(min(batch, budget-n))
		if got == 0 {
			break
		}
		n += got
	}
	return t, n
}

// Behind is how many records the head has not folded in yet.
func (t *Timeline) Behind() int { return int(t.src.Last() - min(t.head.Seq, t.src.Last())) }

func (t *Timeline) foldHead(max int) int {
	recs, _ := t.src.Read(t.buf[:0], t.head.Seq+1, max) // the world counts what was lost
	for _, r := range recs {
		t.head.Apply(r)
		if t.marks.due(t.head.Seq) {
			t.marks.add(&t.head, t.src.First())
		}
	}
	t.keep(recs)
	return len(recs)
}

// keep reuses the buffer without holding on to what was in it.
func (t *Timeline) keep(recs []event.Record) {
	clear(recs)
	t.buf = recs[:0]
}

// Live reports that the cursor follows the newest record. A replay is never live.
func (t *Timeline) Live() bool { return t.live }

// GoLive moves the cursor to the head and keeps it there. A replay goes to its end instead.
func (t *Timeline) GoLive() {
	if t.file {
		t.SeekSeq(t.src.Last())
		return
	}
	t.live = true
	t.view = world.World{}
}

// World is the cluster where the cursor is. It belongs to the timeline: read it before the next call, or Clone it.
func (t *Timeline) World() *world.World {
	if t.live {
		return &t.head
	}
	return &t.view
}

// Head is the cluster at the newest record folded in, wherever the cursor is.
func (t *Timeline) Head() *world.World { return &t.head }

// Seq is the number of the record the cursor is at.
func (t *Timeline) Seq() event.Seq { return t.World().Seq }

// Bounds are the instants between which the cursor can be: of the first record that is still known and of the newest one folded in.
func (t *Timeline) Bounds() (first, last time.Time) {
	first = t.head.Start
	if m, ok := t.marks.oldest(); ok && t.src.First() > 1 {
		first = m.world.At
	} else if r, ok := t.src.Get(t.src.First()); ok {
		first = r.At
	}
	return first, t.head.At
}

// Seek moves the cursor to the last record at or before an instant, and stops being live. Before the first record it goes to the first; beyond the newest
// record, to that one.
func (t *Timeline) Seek(at time.Time) event.Seq { return t.SeekSeq(t.find(at)) }

// find is the number of the last record at or before an instant; instants never fall from record to record.
func (t *Timeline) find(at time.Time) event.Seq {
	first, last := t.src.First(), t.src.Last()
	if r, ok := t.src.Get(first); ok && at.Before(r.At) { // before what is in memory: checkpoints are all there is
		if m, ok := t.marks.atTime(at); ok && m.world.Seq < first {
			return m.world.Seq
		}
		return min(first, t.first())
	}
	n := sort.Search(int(last-first)+1, func(i int) bool {
		r, ok := t.src.Get(first + event.Seq(i))
		return ok && r.At.After(at) // what falls out of memory meanwhile counts as before
	})
	return first + event.Seq(n) - 1
}

// first is the number of the first record the cursor can go to.
func (t *Timeline) first() event.Seq {
	if m, ok := t.marks.oldest(); ok && t.src.First() > 1 {
		return m.world.Seq
	}
	return t.src.First()
}

// SeekSeq moves the cursor to the record of that number, or as near as can be reached, and stops being live. It returns where it got.
func (t *Timeline) SeekSeq(seq event.Seq) event.Seq {
	first := t.src.First()
	seq = max(1, min(seq, t.src.Last()))
	if seq < first { // no longer in memory: there is nothing to fold
		if m, ok := t.marks.near(seq); ok {
			t.view, t.live = m.world.Clone(), false
			return t.view.Seq
		}
		seq = first
	}
	for t.head.Seq < seq && t.foldHead(batch) > 0 { // leaves checkpoints behind, so that it is done once
	}
	if base := t.base(seq); base != &t.view {
		t.view = base.Clone()
	}
	t.live = false
	for t.view.Seq < seq {
		recs, _ := t.src.Read(t.buf[:0], t.view.Seq+1, int(min(batch, seq-t.view.Seq)))
		for _, r := range recs {
			if r.Seq <= seq {
				t.view.Apply(r)
			}
		}
		t.keep(recs)
		if len(recs) == 0 || t.src.First() > seq { // it fell out of memory under our hands
			break
		}
	}
	return t.view.Seq
}

// base is the World nearest before seq: where the cursor is, the head, a checkpoint, or nothing at all.
func (t *Timeline) base(seq event.Seq) *world.World {
	best := &world.World{}
	take := func(w *world.World) {
		if w.Seq <= seq && w.Seq > best.Seq {
			best = w
		}
	}
	if m, ok := t.marks.before(seq); ok {
		take(&m.world)
	}
	take(&t.head)
	if !t.live && t.view.Seq != 0 && t.view.Seq <= seq && t.view.Seq >= best.Seq {
		return &t.view // no need to clone
	}
	return best
}

// Step moves the cursor by n records, back when n is negative, and stops being live. It returns where it got.
func (t *Timeline) Step(n int) event.Seq {
	at := t.Seq()
	if n < 0 && event.Seq(-n) >= at {
		return t.SeekSeq(1)
	}
	return t.SeekSeq(at + event.Seq(n)) // a negative n wraps round as it should
}

// recentScan is how many records Recent looks at before it gives up.
const recentScan = 1 << 14

// Recent returns the last records up to the cursor that pass the filter (nil: all), at most n, oldest first. It looks at the last 16,384 records only.
func (t *Timeline) Recent(n int, filter func(event.Record) bool) []event.Record {
	var found []event.Record // newest first
	end, first := t.Seq(), t.src.First()
	low := first
	if end > recentScan {
		low = max(first, end-recentScan+1)
	}
	for end >= low && len(found) < n {
		from := low
		if end-low >= batch {
			from = end - batch + 1
		}
		recs, _ := t.src.Read(t.buf[:0], from, int(end-from+1))
		for i := len(recs) - 1; i >= 0 && len(found) < n; i-- {
			if r := recs[i]; r.Seq <= end && (filter == nil || filter(r)) {
				found = append(found, r)
			}
		}
		t.keep(recs)
		end = from - 1
	}
	slices.Reverse(found)
	return found
}
