// Package whyview is the page that answers why something is as it is: the answer, what would change it, what happens next with the time until then running down, and
// below it the records it stands on, things to look at next and other questions about the same thing.
//
// The answers are tui/why's; this page only places them. It keeps up as the World moves: the question stays, its answer changes.
//
// Imports of ours: engine/event, tui/*. Goroutines: the screen's one. Time: simulated.
package whyview

import (
	"strconv"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/why"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// ID of the view.
const ID = "why"

// View is the page about what it was opened for.
type View struct {
	about target.Target
	// question by its ID; empty: the most pressing one.
	question string
	// at is the row under the cursor, by what it stands for; empty: the first.
	at string
	// find is what is searched for in the rows.
	find string
	// top row on the screen where not all fit.
	top  int
	memo *memo
}

// memo keeps the answers of one instant, since a frame asks for them more than once.
type memo struct {
	asker   why.Asker
	seq     event.Seq
	now     time.Time
	words   *words.Catalogue
	answers []why.Answer
}

// New makes the page.
func New(about intent.Open, f view.Frame) View {
	t := about.Target
	if t.Kind == target.Nothing && about.Seq != 0 {
		t = target.Target{Kind: target.Record, Seq: about.Seq}
	}
	return View{about: t, question: about.Tab, memo: &memo{}}
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Titled   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Title names the page in the path.
func (v View) Title(f view.Frame) string {
	return f.Words.Say("why.crumb", "what", why.Name(f, v.about))
}

// Selection is the thing asked about: keys act on it.
func (v View) Selection(f view.Frame) target.Target { return v.about }

// Finding is the text searched for.
func (v View) Finding() string { return v.find }

// answers at the instant of the frame, and which of them is shown.
func (v View) answers(f view.Frame) ([]why.Answer, int) {
	m := v.memo
	if m == nil {
		m = &memo{}
	}
	if m.answers == nil || m.seq != f.World.Seq || !m.now.Equal(f.Now) || m.words != f.Words {
		m.seq, m.now, m.words, m.answers = f.World.Seq, f.Now, f.Words, m.asker.Ask(f, v.about)
	}
	for i := range m.answers {
		if m.answers[i].ID == v.question {
			return m.answers, i
		}
	}
	return m.answers, 0
}

// item is a row that can be chosen: a change, a record, a link, another question.
type item struct {
	key     string
	command string
	seq     event.Seq
	link    intent.Intent
	ask     string
	text    string
}

// items of the answer shown, in the order of the screen.
func (v View) items(f view.Frame) []item {
	all, at := v.answers(f)
	a := &all[at]
	var out []item
	for i, c := range a.Changes {
		out = append(out, item{key: "change " + strconv.Itoa(i), command: c.Command, text: c.Text})
	}
	for _, s := range a.Seqs {
		r, ok := f.Record(s)
		if !ok {
			continue
		}
		out = append(out, item{key: "record " + strconv.FormatUint(uint64(s), 10), seq: s, text: sentenceOf(f, r)})
	}
	for _, l := range a.Links {
		out = append(out, item{key: "link " + l.Label, link: l.Do, text: l.Label})
	}
	for i := range all {
		if i != at {
			out = append(out, item{key: "ask " + all[i].ID, ask: all[i].ID, text: all[i].Title})
		}
	}
	return out
}

func (v View) cursor(items []item) int {
	for i := range items {
		if items[i].key == v.at {
			return i
		}
	}
	return 0
}

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	items := v.items(f)
	at := v.cursor(items)
	switch i := i.(type) {
	case intent.Move:
		return v.move(f, items, at+i.DY+i.DX), nil
	case intent.Wheel:
		return v.move(f, items, at+i.By), nil
	case intent.Page:
		return v.move(f, items, at+i.By*max(f.H/2, 1)), nil
	case intent.Edge:
		if i.To < 0 {
			return v.move(f, items, 0), nil
		}
		return v.move(f, items, len(items)-1), nil
	case intent.Next:
		return v.turn(f, i.By), nil
	case intent.Match:
		return v.match(f, items, at, i.By), nil
	case intent.Text:
		v.find = i.Value
		if i.Value != "" && !found(items, at, i.Value) {
			return v.match(f, items, at, 1), nil
		}
		return v, nil
	case intent.Point:
		return v.point(f, items, i)
	case intent.Enter:
		if len(items) > 0 {
			return v.enter(f, items[at])
		}
		return v, nil
	case intent.Chain:
		if i.Seq == 0 {
			return v, []intent.Intent{intent.Chain{Seq: v.chainOf(items, at)}}
		}
	case intent.Why:
		if len(items) > 0 && items[at].seq != 0 {
			return v, []intent.Intent{intent.Open{Page: ID, Target: target.Target{Kind: target.Record, Seq: items[at].seq}}}
		}
		return v, nil // it is this page
	case intent.Option:
		if i.Name == "go" {
			return v, []intent.Intent{intent.Jump{Target: v.about}}
		}
	}
	return v, []intent.Intent{i}
}

// chainOf is the record whose causes are asked for: the one under the cursor, else the newest that the answer stands on.
func (v View) chainOf(items []item, at int) event.Seq {
	if at < len(items) && items[at].seq != 0 {
		return items[at].seq
	}
	var newest event.Seq
	for _, it := range items {
		newest = max(newest, it.seq)
	}
	return newest
}

// move puts the cursor on a row and scrolls as little as shows it.
func (v View) move(f view.Frame, items []item, to int) View {
	if len(items) == 0 {
		return v
	}
	v.at = items[min(max(to, 0), len(items)-1)].key
	v.top = v.scroll(f)
	return v
}

// turn goes to the next question about the thing.
func (v View) turn(f view.Frame, by int) View {
	all, at := v.answers(f)
	v.question = all[((at+by)%len(all)+len(all))%len(all)].ID
	v.at, v.top = "", 0
	return v
}

func found(items []item, at int, text string) bool {
	return at < len(items) && strings.Contains(strings.ToLower(items[at].text), strings.ToLower(text))
}

func (v View) match(f view.Frame, items []item, at, by int) View {
	if v.find == "" {
		return v
	}
	if i, ok := widget.Seek(len(items), at+by, by, func(i int) bool { return found(items, i, v.find) }); ok {
		return v.move(f, items, i)
	}
	return v
}

// enter does what a row stands for: types the command of a change, opens the chain of a record, goes where a link leads, asks another question.
func (v View) enter(f view.Frame, it item) (view.View, []intent.Intent) {
	switch {
	case it.command != "":
		return v, []intent.Intent{intent.Console{Line: it.command}}
	case it.seq != 0:
		return v, []intent.Intent{intent.Open{Page: "chain", Target: v.about, Seq: it.seq}}
	case it.link != nil:
		return v, []intent.Intent{it.link}
	case it.ask != "":
		v.question, v.at, v.top = it.ask, "", 0
		return v, nil
	}
	return v, []intent.Intent{intent.Tell{Text: f.Words.Say("why.no-command")}}
}

// point chooses what was clicked; the second click enters.
func (v View) point(f view.Frame, items []item, p intent.Point) (view.View, []intent.Intent) {
	key := v.hit(f, p.X, p.Y)
	for i := range items {
		if items[i].key == key {
			if p.Twice && v.at == key {
				return v.enter(f, items[i])
			}
			v.at = key
			return v, nil
		}
	}
	return v, nil
}

// Clips are the answer as text, the row, and the command of a change.
func (v View) Clips(f view.Frame) []view.Clip {
	all, at := v.answers(f)
	out := []view.Clip{{Label: f.Words.Say("why.clip-answer"), Text: plain(f, &all[at])}}
	items := v.items(f)
	if i := v.cursor(items); i < len(items) {
		out = append(out, view.Clip{Label: f.Words.Say("why.clip-row"), Text: items[i].text})
		if items[i].command != "" {
			out = append(out, view.Clip{Label: f.Words.Say("why.clip-command"), Text: items[i].command})
		}
	}
	return out
}

// plain is an answer as text.
func plain(f view.Frame, a *why.Answer) string {
	lines := append([]string{a.Title}, a.Lines...)
	for _, c := range a.Changes {
		text := f.Words.Say("why.head-change") + ": " + c.Text
		if c.Command != "" {
			text += " (" + c.Command + ")"
		}
		lines = append(lines, text)
	}
	if a.Next != "" {
		lines = append(lines, nextText(f, a))
	}
	return strings.Join(lines, "\n")
}

// nextText is what comes next, with the time until then.
func nextText(f view.Frame, a *why.Answer) string {
	if a.Until.IsZero() {
		return a.Next
	}
	return a.Next + " " + words.Span(a.Until.Sub(f.Now))
}
