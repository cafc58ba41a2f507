package storyview

import (
	"iter"
	"slices"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/view"
)

// Bounds of what is followed in one frame.
const (
	causeDepth  = 64   // records up a chain
	effectsMost = 999  // records counted below a line
	effectsPast = 1000 // and then the counting stops
)

// ancestors goes up from a record: its cause, that one's cause, and so on.
func ancestors(f view.Frame, seq event.Seq) iter.Seq[event.Seq] {
	return func(yield func(event.Seq) bool) {
		for range causeDepth {
			rec, ok := f.Record(seq)
			if !ok || rec.Cause == 0 || !yield(rec.Cause) {
				return
			}
			seq = rec.Cause
		}
	}
}

// causes are the told lines that led to a line, the nearest first; gone: what comes before is no longer in memory.
func causes(f view.Frame, l *feed.Line, most int) (out []feed.Line, gone bool) {
	lines := f.Feed.Lines()
	teller := sentence.NewTeller(f.Words)
	last := l.Seq
	seen := map[event.Seq]bool{l.First: true}
	for seq := range ancestors(f, l.Seq) {
		last = seq
		if i, ok := f.Feed.LineOf(seq); ok {
			if c := lines[i]; seq != l.Seq && !seen[c.First] {
				seen[c.First] = true
				out = append(out, c)
			}
		} else if rec, ok := f.Record(seq); ok && (len(lines) == 0 || seq < lines[0].First) { // before what is remembered
			if c := told(teller, rec, f); c.Weight >= sentence.Routine {
				out = append(out, c)
			}
		}
		if len(out) == most {
			return out, false
		}
	}
	rec, ok := f.Record(last)
	return out, !ok || rec.Cause != 0
}

// effect is what followed from a line.
type effect struct {
	n    int // records, up to effectsMost
	more bool
	seqs []event.Seq // in order
}

// effects of a line: all records that it led to, and what those led to.
func effects(f view.Frame, l *feed.Line, lv level) effect {
	var e effect
	if f.Trace == nil {
		return e
	}
	queue := []event.Seq{l.Seq}
	if lv == folded && l.Count > 1 {
		for _, m := range f.Feed.Members(l) {
			if m.First != l.Seq && len(queue) < causeDepth {
				queue = append(queue, m.First)
			}
		}
	}
	own := len(queue)
	for at := 0; at < len(queue) && len(queue)-own < effectsPast; at++ {
		for _, seq := range f.Trace.Effects(queue[at], f.World.Seq) {
			if queue = append(queue, seq); len(queue)-own >= effectsPast {
				break
			}
		}
	}
	e.seqs = queue[own:]
	slices.Sort(e.seqs)
	e.n, e.more = len(e.seqs), len(e.seqs) > effectsMost
	e.n = min(e.n, effectsMost)
	return e
}

// told effects: the lines of the story that followed, each once, at most some; more counts the others.
func (e effect) told(f view.Frame, l *feed.Line, most int) (out []feed.Line, more int) {
	lines := f.Feed.Lines()
	seen := map[int]bool{}
	for _, seq := range e.seqs {
		i, ok := f.Feed.LineOf(seq)
		if !ok || seen[i] || lines[i].First == l.First {
			continue
		}
		seen[i] = true
		if len(out) == most {
			more++
			continue
		}
		out = append(out, lines[i])
	}
	return out, more
}

// leads reports whether a line led to another: whether it is above it in its chain of causes.
func leads(f view.Frame, l, to *feed.Line, lv level) bool {
	if to.Seq <= l.First {
		return false
	}
	for seq := range ancestors(f, to.Seq) {
		if seq == l.Seq {
			return true
		}
		if seq < l.First {
			return false
		}
		if lv != folded {
			continue
		}
		if i, ok := f.Feed.LineOf(seq); ok && f.Feed.Lines()[i].First == l.First {
			return true
		}
	}
	return false
}
