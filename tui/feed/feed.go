// Package feed is what the screen remembers of the records that went by and that the World does not keep: the story's lines, the marks of the time line, the
// recent rates of each API server, and the answers to the user's commands.
//
// It reads each record once, in order, after the World has folded it. When the World goes back in time, Rewind and read again.
//
// Imports of ours: engine/event, engine/kinds, engine/world, tui/sentence, tui/target, tui/words. Goroutines: the screen's one. Time: simulated.
package feed

import (
	"sort"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/words"
)

// Limits of what is remembered.
const (
	maxLines   = 4000
	maxMarks   = 400
	rateTrail  = 8
	foldReach  = 12               // lines back within which a repetition is folded
	foldWithin = 90 * time.Second // simulated
)

// Line of the story: one sentence, or several alike folded into one.
type Line struct {
	sentence.Sentence
	// First is the record of the first, Seq of the last one folded; Count of them.
	First event.Seq
	Seq   event.Seq
	Since time.Time
	At    time.Time
	Actor event.Actor
	Count int
	// No numbers the lines of a story from 0, those that are no longer remembered included.
	No int
}

// Text of the line, for one or for many.
func (l *Line) Text() string {
	if l.Count > 1 && l.Many != nil {
		return l.Many(l.Count)
	}
	return l.One
}

// Take folds a repetition into the line: it says what the newest says, for one more.
func (l *Line) Take(next Line) {
	next.Count, next.First, next.Since, next.No = l.Count+1, l.First, l.Since, l.No
	if next.Who != l.Who { // several kubelets say the same
		next.Who, _, _ = strings.Cut(next.Who, "/")
		if before, _, _ := strings.Cut(l.Who, "/"); before != next.Who {
			next.Who = l.Who
		}
	}
	*l = next
}

// Mark on the time line.
type Mark struct {
	Seq  event.Seq
	At   time.Time
	Kind sentence.Mark
	Word string
}

// Answer to a command that the user gave.
type Answer struct {
	Seq    event.Seq
	Text   string
	Error  string
	Output []string
}

// Feed of one journal.
type Feed struct {
	words  *words.Catalogue
	teller *sentence.Teller

	last    event.Seq
	lines   []Line
	each    []Line // the same, repetitions one by one; No is that of the line they were folded into
	dropped int
	marks   []Mark
	rates   map[string][]float64
	tallied map[string]time.Time
	answers []Answer
	news    []Line
	version uint64
}

// New makes an empty feed that speaks the language of the catalogue.
func New(c *words.Catalogue) *Feed {
	f := &Feed{words: c}
	f.Rewind()
	return f
}

// Rewind forgets everything.
func (f *Feed) Rewind() {
	*f = Feed{words: f.words, teller: sentence.NewTeller(f.words), rates: map[string][]float64{}, tallied: map[string]time.Time{}, version: f.version + 1}
}

// Last is the number of the last record read.
func (f *Feed) Last() event.Seq { return f.last }

// Version changes whenever something a screen shows has changed.
func (f *Feed) Version() uint64 { return f.version }

// Lines of the story, oldest first. Read only.
func (f *Feed) Lines() []Line { return f.lines }

// Each lists the newest sentences one by one, repetitions not folded, oldest first; at most as many as there may be lines. No is that of the line of the story they
// are in. Read only.
func (f *Feed) Each() []Line { return f.each }

// LineOf finds the line of the story that a record was told in, by its index in Lines.
func (f *Feed) LineOf(seq event.Seq) (int, bool) {
	i := sort.Search(len(f.each), func(i int) bool { return f.each[i].First >= seq })
	if i == len(f.each) || f.each[i].First != seq {
		return 0, false
	}
	at := f.each[i].No - f.dropped
	return at, at >= 0 && at < len(f.lines)
}

// Members lists the sentences folded into a line of the story, as far as they are remembered, oldest first. Read only.
func (f *Feed) Members(l *Line) []Line {
	from := sort.Search(len(f.each), func(i int) bool { return f.each[i].First >= l.First })
	to := sort.Search(len(f.each), func(i int) bool { return f.each[i].First > l.Seq })
	var out []Line
	for i := from; i < to; i++ {
		if f.each[i].No == l.No {
			out = append(out, f.each[i])
		}
	}
	return out
}

// Settled is how many lines no record can change any more: repetitions are folded only into those after them.
func (f *Feed) Settled() int { return max(len(f.lines)-foldReach, 0) }

// Dropped counts lines that are no longer remembered.
func (f *Feed) Dropped() int { return f.dropped }

// Marks of the time line, oldest first. Read only.
func (f *Feed) Marks() []Mark { return f.marks }

// Rates of requests per simulated second of an API server, oldest first, at most eight. Read only.
func (f *Feed) Rates(server string) []float64 { return f.rates[server] }

// TakeAnswers returns the answers since the last call.
func (f *Feed) TakeAnswers() []Answer { a := f.answers; f.answers = nil; return a }

// TakeNews returns the headlines since the last call.
func (f *Feed) TakeNews() []Line { n := f.news; f.news = nil; return n }

// Skip says that n records were lost before the next one.
func (f *Feed) Skip(n int, at time.Time) {
	f.add(Line{Sentence: sentence.Sentence{Tone: sentence.Quiet, Weight: sentence.Routine, One: f.words.Say("story.lost", "n", n)}, At: at, Since: at, Actor: event.Engine, Count: 1})
}

// Read takes in one record; w is the World with it folded in.
func (f *Feed) Read(r event.Record, w *world.World) {
	f.last = r.Seq
	switch e := r.Event.(type) {
	case event.RequestTally:
		f.tally(r.At, e)
	case event.CommandDone:
		f.answers = append(f.answers, Answer{Seq: r.Seq, Text: e.Text, Error: e.Error, Output: e.Output})
	case event.CommandRefused:
		f.answers = append(f.answers, Answer{Seq: r.Seq, Text: e.Text, Error: e.Reason})
	}
	s := f.teller.Tell(r, w)
	if s.Mark != sentence.NoMark {
		f.mark(Mark{Seq: r.Seq, At: r.At, Kind: s.Mark, Word: s.MarkWord})
	}
	if s.Weight < sentence.Routine {
		return
	}
	line := Line{Sentence: s, First: r.Seq, Seq: r.Seq, Since: r.At, At: r.At, Actor: r.Actor, Count: 1}
	if s.Weight >= sentence.Headline {
		f.news = append(f.news, line)
	}
	if s.Fold == "" || !f.fold(&line, w) {
		f.add(line)
		line.No = f.lines[len(f.lines)-1].No
	}
	if len(f.each) >= maxLines {
		f.each = append(f.each[:0:0], f.each[maxLines/4:]...)
	}
	f.each = append(f.each, line)
}

// fold adds a repetition to a line that is still near the end, and gives it that line's number.
func (f *Feed) fold(l *Line, w *world.World) bool {
	for i := len(f.lines) - 1; i >= 0 && i >= len(f.lines)-foldReach; i-- {
		old := &f.lines[i]
		if old.Fold != l.Fold || l.At.Sub(old.Since) > foldWithin {
			if old.Tone == sentence.User || old.Weight >= sentence.Headline {
				return false // what follows from it shall not be told above it
			}
			continue
		}
		l.No = old.No
		before := old.Subject
		old.Take(*l)
		if old.Subject != before {
			old.Subject = owner(w, old.Subject)
		}
		f.version++
		return true
	}
	return false
}

// owner is what several pods are about together: their ReplicaSet, where the World has one of that name.
func owner(w *world.World, t target.Target) target.Target {
	i := strings.LastIndexByte(t.Name, '-')
	if t.Kind != target.Pod || i < 0 || w == nil {
		return t
	}
	set := target.ForObject(kinds.ReplicaSets, t.Namespace, t.Name[:i])
	if _, ok := w.Objects.Get(string(set.Key())); ok {
		return set
	}
	return t
}

func (f *Feed) add(l Line) {
	if len(f.lines) >= maxLines {
		n := maxLines / 4
		f.lines = append(f.lines[:0:0], f.lines[n:]...)
		f.dropped += n
	}
	l.No = f.dropped + len(f.lines)
	f.lines = append(f.lines, l)
	f.version++
}

func (f *Feed) mark(m Mark) {
	if len(f.marks) >= maxMarks {
		f.marks = append(f.marks[:0:0], f.marks[maxMarks/4:]...)
	}
	f.marks = append(f.marks, m)
	f.version++
}

func (f *Feed) tally(at time.Time, e event.RequestTally) {
	before, ok := f.tallied[e.Server]
	f.tallied[e.Server] = at
	span := at.Sub(before).Seconds()
	if !ok || span <= 0 {
		return
	}
	trail := append(f.rates[e.Server], float64(e.Total)/span)
	if len(trail) > rateTrail {
		trail = append(trail[:0:0], trail[len(trail)-rateTrail:]...)
	}
	f.rates[e.Server] = trail
	f.version++
}
