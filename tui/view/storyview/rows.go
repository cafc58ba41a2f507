package storyview

import (
	"sort"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/view"
)

// Bounds of what is read in one go, in records.
const (
	scanStep  = 1 << 12 // while drawing
	backStep  = 1 << 14 // when the user asks for what was before
	olderMax  = 1 << 12 // sentences found further back
	readBatch = 512
)

// rows are the lines of the view as they are now. Each has a key, the number of its first record, by which it is found again.
type rows struct {
	older []feed.Line // found further back than is remembered; they come first
	lines []feed.Line // of the feed
	kept  []event.Seq // keys of those lines that are shown, or of the records; nil with all: each of them
	all   bool
	skip  int // kept ones that are too old
	// of every record: there are no lines, each is told when it is asked for
	first, last event.Seq
	tell        func(event.Seq) feed.Line
}

func (r *rows) len() int {
	n := len(r.kept)
	switch {
	case r.all && r.tell != nil:
		n = int(r.last-r.first) + 1
	case r.all:
		n = len(r.lines)
	}
	return len(r.older) + n - r.skip
}

// key of a row.
func (r *rows) key(i int) event.Seq {
	if i < len(r.older) {
		return r.older[i].First
	}
	i += r.skip - len(r.older)
	switch {
	case r.all && r.tell != nil:
		return r.first + event.Seq(i)
	case r.all:
		return r.lines[i].First
	}
	return r.kept[i]
}

// at is a row.
func (r *rows) at(i int) feed.Line {
	if i < len(r.older) {
		return r.older[i]
	}
	key := r.key(i)
	if r.tell != nil {
		return r.tell(key)
	}
	if r.all {
		return r.lines[i+r.skip-len(r.older)]
	}
	return r.lines[seek(r.lines, key)]
}

// find is the row with a key, or the first after it.
func (r *rows) find(key event.Seq) int {
	n := r.len()
	return min(sort.Search(n, func(i int) bool { return r.key(i) >= key }), n-1)
}

// seek is the first line whose key is not before another.
func seek(lines []feed.Line, key event.Seq) int {
	return min(sort.Search(len(lines), func(i int) bool { return lines[i].First >= key }), max(len(lines)-1, 0))
}

// memo is what a filter kept, so that a frame looks only at the lines that are new. It is a function of the feed, the journal and the filter.
type memo struct {
	feed    *feed.Feed
	level   level
	filter  filter
	last    event.Seq // of the feed, or record looked at
	begin   event.Seq // first line there was, or first record looked at
	settled event.Seq // lines from here on are looked at again
	kept    []event.Seq
}

// rows of the view, now.
func (v View) rows(f view.Frame) rows {
	if v.level == facts {
		return v.records(f)
	}
	lines := f.Feed.Lines()
	if v.level == each {
		lines = f.Feed.Each()
	}
	r := rows{lines: lines, all: true, older: v.older}
	if n := len(r.older); n > 0 && len(lines) > 0 && r.older[n-1].First >= lines[0].First { // the feed remembers more than it did
		r.older = r.older[:seek(r.older, lines[0].First)]
	}
	if v.filter.on() {
		r.all, r.kept = false, v.memo.lines(f, v.level, v.filter, lines)
		r.skip = v.tooOld(f, &r)
	}
	return r
}

// tooOld counts the rows at the front that since: leaves out.
func (v View) tooOld(f view.Frame, r *rows) int {
	d, ok := v.filter.query.Span("since")
	if !ok {
		return 0
	}
	r.older = nil
	from := f.Now.Add(-d)
	n := len(r.kept)
	i := sort.Search(n, func(i int) bool { l := r.at(i); return !l.Since.Before(from.Add(-2 * time.Minute)) }) // a line may have been repeated since it began
	for i < n {
		if l := r.at(i); !l.At.Before(from) {
			break
		}
		i++
	}
	return i
}

// lines gives the keys of the feed's lines that the filter keeps.
func (m *memo) lines(f view.Frame, lv level, k filter, lines []feed.Line) []event.Seq {
	if len(lines) == 0 {
		return nil
	}
	begin, last := lines[0].First, f.Feed.Last()
	if m.feed != f.Feed || m.level != lv || !m.filter.same(k) || last < m.last || begin < m.begin {
		*m = memo{feed: f.Feed, level: lv, filter: k, begin: begin}
	}
	if last == m.last && begin == m.begin && m.settled > 0 {
		return m.kept
	}
	m.kept = m.kept[from(m.kept, begin):]
	m.kept = m.kept[:from(m.kept, m.settled)]
	for i := sort.Search(len(lines), func(i int) bool { return lines[i].First >= m.settled }); i < len(lines); i++ {
		if k.keeps(&lines[i]) {
			m.kept = append(m.kept, lines[i].First)
		}
	}
	m.begin, m.last, m.settled = begin, last, last+1
	if n := f.Feed.Settled(); lv == folded && n < len(lines) {
		m.settled = lines[n].First
	}
	return m.kept
}

// from is the place of the first key that is not before another.
func from(kept []event.Seq, key event.Seq) int {
	return sort.Search(len(kept), func(i int) bool { return kept[i] >= key })
}

// records are the rows of every record.
func (v View) records(f view.Frame) rows {
	if f.Journal == nil {
		return rows{all: true}
	}
	teller := sentence.NewTeller(f.Words)
	r := rows{all: true, first: f.Journal.First(), last: f.World.Seq, tell: func(seq event.Seq) feed.Line {
		rec, ok := f.Record(seq)
		if !ok {
			return feed.Line{First: seq, Seq: seq, Count: 1}
		}
		return told(teller, rec, f)
	}}
	if r.last < r.first || r.last == 0 {
		return rows{all: true}
	}
	if v.filter.on() {
		r.all, r.kept = false, v.memo.records(f, v.filter)
		r.skip = v.tooOld(f, &r)
	}
	return r
}

// told is one record as a line.
func told(t *sentence.Teller, rec event.Record, f view.Frame) feed.Line {
	return feed.Line{Sentence: t.Tell(rec, f.World), First: rec.Seq, Seq: rec.Seq, Since: rec.At, At: rec.At, Actor: rec.Actor, Count: 1}
}

// records gives the keys of the records that the filter keeps, as far back as was looked.
func (m *memo) records(f view.Frame, k filter) []event.Seq {
	now := f.World.Seq
	if m.feed != f.Feed || m.level != facts || !m.filter.same(k) || now < m.begin || now > m.last+4*scanStep {
		start := max(f.Journal.First(), 1)
		if now > scanStep {
			start = max(start, now-scanStep)
		}
		*m = memo{feed: f.Feed, level: facts, filter: k, begin: start, last: start - 1}
	}
	if now < m.last {
		m.kept, m.last = m.kept[:from(m.kept, now+1)], now
	}
	if now > m.last {
		scan(f, m.last+1, now, func(l *feed.Line) {
			if k.keeps(l) {
				m.kept = append(m.kept, l.First)
			}
		})
		m.last = now
	}
	return m.kept
}

// back looks through the records before those looked at.
func (m *memo) back(f view.Frame, k filter) {
	start := max(f.Journal.First(), 1)
	if m.begin <= start {
		return
	}
	if m.begin > backStep {
		start = max(start, m.begin-backStep)
	}
	var found []event.Seq
	scan(f, start, m.begin-1, func(l *feed.Line) {
		if k.keeps(l) {
			found = append(found, l.First)
		}
	})
	m.kept, m.begin = append(found, m.kept...), start
}

// scan tells the records of a stretch of the journal, in order.
func scan(f view.Frame, from, to event.Seq, visit func(*feed.Line)) {
	teller := sentence.NewTeller(f.Words)
	var buf []event.Record
	for from <= to {
		recs, lost := f.Journal.Read(buf[:0], from, min(readBatch, int(to-from)+1))
		for _, rec := range recs {
			if rec.Seq > to {
				return
			}
			l := told(teller, rec, f)
			visit(&l)
		}
		if len(recs) == 0 {
			return
		}
		from += event.Seq(lost + len(recs))
		clear(recs)
		buf = recs
	}
}
