// Package narrate tells the story of a journal as plain lines, for screen readers and for ears: one sentence a line, with its simulated instant, no escape sequences.
//
// What repeats is told once, with how often, when it has settled: when nothing like it came for a while, or too long has passed since the first. Lines come in the order
// in which they began. What is told, and when, follows from the records alone: however often the journal is asked, the lines are the same.
//
// Imports of ours: engine/event, engine/world, tui/feed, tui/sanitize, tui/scene, tui/sentence, tui/words. Goroutines: one owner. Time: simulated.
package narrate

import (
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/words"
)

// When a line that may be repeated is told, in simulated time.
const (
	settle  = 3 * time.Second  // after the last repetition
	longest = 10 * time.Second // after the first
)

// openMax bounds the lines that wait.
const openMax = 64

// batch is how many records are read in one go.
const batch = 512

// Source is the journal that is told.
type Source interface {
	Read(buf []event.Record, from event.Seq, max int) (recs []event.Record, lost int)
}

// Narrator of a journal.
type Narrator struct {
	words  *words.Catalogue
	source Source
	teller *sentence.Teller
	world  *world.World
	last   event.Seq
	open   []feed.Line // told once they have settled, in order
	out    []string
	buf    []event.Record
}

// New makes a narrator that begins with the first record, in the language of the catalogue.
func New(c *words.Catalogue, source Source) *Narrator {
	return &Narrator{words: c, source: source, teller: sentence.NewTeller(c), world: &world.World{}}
}

// World is the cluster as of the last record that was read. Read only, until the next call.
func (n *Narrator) World() *world.World { return n.world }

// Lines reads what is new in the journal and gives the lines that are due.
func (n *Narrator) Lines() []string {
	for {
		recs, lost := n.source.Read(n.buf[:0], n.last+1, batch)
		if lost > 0 {
			n.close(time.Time{})
			n.out = append(n.out, n.words.Say("ui.narrate-lost", "n", lost))
			n.last += event.Seq(lost)
		}
		for _, r := range recs {
			n.read(r)
		}
		done := len(recs) == 0
		clear(recs)
		n.buf = recs[:0]
		if done {
			break
		}
	}
	out := n.out
	n.out = nil
	return out
}

// Flush gives the lines that are not due yet as well: at the end, and before an answer is read.
func (n *Narrator) Flush() []string {
	out := n.Lines()
	n.close(time.Time{})
	out, n.out = append(out, n.out...), nil
	return out
}

func (n *Narrator) read(r event.Record) {
	n.world.Apply(r)
	n.last = r.Seq
	n.close(r.At)
	s := n.teller.Tell(r, n.world)
	if s.Weight >= sentence.Routine {
		n.add(feed.Line{Sentence: s, First: r.Seq, Seq: r.Seq, Since: r.At, At: r.At, Actor: r.Actor, Count: 1})
	}
	switch e := r.Event.(type) {
	case event.CommandDone:
		if len(e.Output) > 0 {
			n.close(time.Time{})
			for _, line := range e.Output {
				n.out = append(n.out, strings.TrimRight(sanitize.Text(line), " "))
			}
		}
	case event.RateChanged:
		if e.Rate == 0 && !e.Unpaced { // nothing will come that would settle what waits
			n.close(time.Time{})
		}
	}
}

// add takes a sentence in: into a line that says the same, or as a new one.
func (n *Narrator) add(l feed.Line) {
	if l.Fold != "" {
		for i := len(n.open) - 1; i >= 0; i-- {
			if n.open[i].Fold == l.Fold {
				n.open[i].Take(l)
				return
			}
		}
	}
	if l.Tone == sentence.User || l.Weight >= sentence.Headline { // what comes after shall not be told before
		for i := range n.open {
			n.open[i].Fold = ""
		}
	}
	n.open = append(n.open, l)
	if len(n.open) > openMax {
		n.tell(&n.open[0])
		n.open = append(n.open[:0], n.open[1:]...)
	}
	n.close(l.At)
}

// close tells the lines at the front that have settled by an instant; the zero instant settles all.
func (n *Narrator) close(at time.Time) {
	done := 0
	for done < len(n.open) && (at.IsZero() || settled(&n.open[done], at)) {
		n.tell(&n.open[done])
		done++
	}
	if done > 0 {
		n.open = append(n.open[:0], n.open[done:]...)
	}
}

func settled(l *feed.Line, at time.Time) bool {
	return l.Fold == "" || at.Sub(l.At) >= settle || at.Sub(l.Since) >= longest
}

func (n *Narrator) tell(l *feed.Line) {
	what := l.Text()
	if l.Count > 1 && l.Many == nil {
		what = n.words.Say("ui.narrate-times", "what", what, "n", l.Count)
	}
	n.out = append(n.out, n.words.Say("ui.narrate-line", "at", "+"+words.Span(n.world.SinceStart(l.Since)), "who", l.Who, "what", what))
}
