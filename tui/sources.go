package tui

import (
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/trace"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/reader"
	"example.com/kubeviz/tui/timebar"
	"example.com/kubeviz/tui/words"
)

// sources are what the screen remembers of the journal beside the World.
type sources struct {
	journal *journal.Journal
	words   *words.Catalogue
	// head follows the newest record: news, answers and the story while live. back is read anew for wherever the place in the past is.
	head, back *feed.Feed
	trace      *trace.Index
	marks      timebar.Marks
	motion     *motion.Lanes
	buf        []event.Record
	whole      bool // a picture is taken: there is time to read all
	fresh      bool // what came before the screen is no news; it is after that
}

func newSources(j *journal.Journal, c *words.Catalogue) sources {
	return sources{journal: j, words: c, head: feed.New(c), back: feed.New(c), trace: trace.New(j), motion: &motion.Lanes{}}
}

// How far the story is read back when the place jumps, in records. It costs about a microsecond for each.
const (
	backReach event.Seq = 1 << 13
	headReach event.Seq = 1 << 16
)

// advance lets the index and the marks catch up with the newest record, for at most a span of wall time.
func (s *sources) advance(start time.Time, span time.Duration, clock func() time.Time) {
	if s.journal == nil {
		return
	}
	for clock().Sub(start) <= foldTime+span {
		n := s.trace.Advance(foldBatch)
		n += s.readMarks()
		if n == 0 {
			return
		}
	}
}

func (s *sources) readMarks() int {
	recs, lost := s.journal.Read(s.buf[:0], s.marks.Last()+1, foldBatch)
	for _, r := range recs {
		s.marks.Read(r)
	}
	s.keep(recs)
	return len(recs) + lost
}

// keep reuses the buffer without holding on to what was in it: records hold objects, and the journal decides for how long.
func (s *sources) keep(recs []event.Record) {
	clear(recs)
	s.buf = recs[:0]
}

// feedOf is the story as far as the place knows it.
func (s *sources) feedOf(r *reader.Reader) *feed.Feed {
	if r.Live() {
		return s.head
	}
	return s.back
}

// follow reads what is new at the head, and the story up to the place where that is another. It reports whether anything was read that stirs.
func (s *sources) follow(r *reader.Reader, wall time.Time) bool {
	if s.journal == nil {
		return false
	}
	head := r.Head()
	moved := false
	reach := headReach
	if s.whole {
		reach = head.Seq
	}
	if !r.Recording() {
		var lanes laneReader
		if r.Live() {
			lanes = func(rec event.Record) { s.motion.Read(rec, wall) }
		}
		moved = s.read(s.head, head, reach, lanes)
	}
	if r.Live() {
		return moved
	}
	w := r.World()
	gone := w.Seq < s.back.Last()
	if gone { // back in time
		s.back.Rewind()
	}
	jumped := gone || w.Seq > s.back.Last()+foldBatch
	if jumped {
		s.motion.Clear()
	}
	var lanes laneReader
	if !jumped {
		lanes = func(rec event.Record) { s.motion.Read(rec, wall) }
	}
	moved = s.read(s.back, w, backReach, lanes) || moved || gone
	s.back.TakeNews()
	s.back.TakeAnswers()
	return moved
}

// laneReader hears of each record that is read; nil: nobody does.
type laneReader func(event.Record)

// read gives a feed the records between where it is and where the World is, at most reach of them, and reports whether one of them stirs.
func (s *sources) read(f *feed.Feed, w *world.World, reach event.Seq, lanes laneReader) bool {
	from := f.Last() + 1
	if w.Seq > reach && from < w.Seq-reach {
		from = w.Seq - reach
	}
	stirred := false
	for from <= w.Seq {
		recs, lost := s.journal.Read(s.buf[:0], from, min(foldBatch, int(w.Seq-from)+1))
		if lost > 0 {
			f.Skip(lost, w.At)
		}
		for _, r := range recs {
			if r.Seq > w.Seq {
				break
			}
			f.Read(r, w)
			stirred = stirred || event.Stirs(r.Event)
			if lanes != nil {
				lanes(r)
			}
		}
		n := lost + len(recs)
		s.keep(recs)
		if n == 0 {
			break
		}
		from += event.Seq(n)
	}
	return stirred
}
