// Package storyview is the journal as sentences: the whole story with a cursor, and its tail for other views.
//
// The newest sentence is at the bottom. While the cursor is on it the view follows; otherwise it stands still, whatever happens. What is shown can be searched
// (tui/search), narrowed to a component, a kind of thing or what is not well, unfolded, and widened to every record. Of the selected line the view knows what led to
// it and what followed, and marks both in the margin.
//
// The lines are the feed's; a filter keeps what it found and looks only at what is new. Every record is read from the journal when its row is drawn. What is further
// back than the feed remembers is looked for in steps, when the user asks.
//
// Imports of ours: engine/event, engine/kinds, tui/*. Goroutines: the screen's one. Time: simulated.
package storyview

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/search"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// ID of the view.
const ID = "story"

// View of the story. The zero value follows and shows all.
type View struct {
	// at is the key of the row under the cursor; 0: the last row, which is followed.
	at event.Seq
	// offset is how many rows are above the cursor on the screen, so that nothing moves under it.
	offset int
	level  level
	filter filter
	// finding is the text as it is being typed; typing until it is entered.
	finding string
	typing  bool
	// began is where the cycle through components or kinds began.
	began string
	// older are sentences found further back than the feed remembers; looked is the record that was looked back to.
	older  []feed.Line
	looked event.Seq
	// card is open: the selected line in full, where there is no room for a pane beside. scroll is its first line.
	card   bool
	scroll int
	// split is the width of the pane, as the user dragged it; 0: a share of the screen.
	split int
	// dragged is one more than the column at which the divider was taken hold of; 0: it is not held.
	dragged int
	memo    *memo
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Finding is what is searched for.
func (v View) Finding() string { return v.finding }

// Selection is what the line under the cursor is about.
func (v View) Selection(f view.Frame) target.Target {
	l, ok := v.line(f)
	if !ok {
		return target.Target{}
	}
	if l.Subject.Kind == target.Nothing {
		return target.Target{Kind: target.Record, Seq: l.Seq}
	}
	return f.Placed(l.Subject)
}

// line under the cursor.
func (v View) line(f view.Frame) (feed.Line, bool) {
	r := v.rows(f)
	at := v.cursor(&r)
	if at < 0 {
		return feed.Line{}, false
	}
	return r.at(at), true
}

// cursor is the row under the cursor; -1: there is none.
func (v View) cursor(r *rows) int {
	if v.at == 0 {
		return r.len() - 1
	}
	return r.find(v.at)
}

// Handle moves the cursor and changes what is shown.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	p := v.plan(f.W, f.H)
	height := max(p.list.H, 1)
	switch i := i.(type) {
	case intent.Move:
		return v.by(f, i.DY, height), nil
	case intent.Next:
		return v.by(f, i.By, height), nil
	case intent.Wheel:
		if p.card && i.Y >= p.pane.Y {
			return v.scrolled(f, 3*i.By), nil
		}
		return v.by(f, 3*i.By, height), nil
	case intent.Page:
		if p.card {
			return v.scrolled(f, i.By*p.pane.H), nil
		}
		return v.by(f, i.By*height, height), nil
	case intent.Match:
		return v.by(f, i.By, height), nil
	case intent.Edge:
		if i.To > 0 {
			v.at, v.offset, v.scroll = 0, 0, 0
			return v, nil
		}
		r := v.rows(f)
		return v.by(f, -max(v.cursor(&r), 1), height), nil
	case intent.Back:
		return v.back()
	case intent.Point:
		return v.point(f, i, p)
	case intent.Drag:
		if p.beside && (v.dragged == i.FromX+1 || i.FromX >= p.list.W-1 && i.FromX <= p.list.W+1) {
			v.split, v.dragged = f.W-i.X, i.FromX+1 // it is held by where it was taken, not by where it is now
		}
		if i.Done {
			v.dragged = 0
		}
		return v, nil
	case intent.Enter:
		return v.enter(f, p)
	case intent.Chain:
		if l, ok := v.line(f); ok && i.Seq == 0 {
			return v, []intent.Intent{intent.Chain{Seq: l.Seq}}
		}
		return v, []intent.Intent{i}
	case intent.Why:
		if l, ok := v.line(f); ok && failed(f, l.Seq) { // what went wrong, not the thing it was tried on
			return v, []intent.Intent{intent.Open{Page: "why", Target: target.Target{Kind: target.Record, Seq: l.Seq}}}
		}
		return v, []intent.Intent{i}
	case intent.Find:
		v.typing = true
		return v, []intent.Intent{i}
	case intent.Text:
		v.typing = !i.Done
		v = v.find(f, i.Value)
		for n := 0; i.Done && n < 4 && v.filter.on() && v.filter.wrong == nil; n++ { // what is remembered may be little: a recording was entered at its end
			if r := v.rows(f); r.len() > 0 {
				break
			}
			var more bool
			if v, more = v.further(f); !more {
				break
			}
		}
		return v, nil
	case intent.Trouble:
		k := v.filter
		k.trouble = !k.trouble
		return v.narrow(f, k), nil
	case intent.Option:
		return v.option(f, i)
	}
	return v, []intent.Intent{i}
}

// failed reports whether a record says that an order or a request was refused.
func failed(f view.Frame, seq event.Seq) bool {
	r, _ := f.Record(seq)
	switch e := r.Event.(type) {
	case event.CommandDone:
		return e.Error != ""
	case event.RequestDone:
		return e.Code >= 400
	case event.CommandRefused:
		return true
	}
	return false
}

// by moves the cursor; up from the first row it looks further back.
func (v View) by(f view.Frame, n, height int) View {
	r := v.rows(f)
	at := v.cursor(&r)
	if at+n < 0 || at <= 0 && n < 0 {
		if more, ok := v.further(f); ok {
			key := event.Seq(0)
			if at >= 0 {
				key = r.key(at)
			}
			v = more
			r = v.rows(f)
			if at = r.len() - 1; key > 0 && at >= 0 {
				at = r.find(key)
			}
		}
	}
	return v.to(&r, at, at+n, height)
}

// to puts the cursor on a row.
func (v View) to(r *rows, from, at, height int) View {
	top := v.top(r, from, height)
	v.scroll = 0
	if n := r.len(); n == 0 || at >= n-1 {
		v.at, v.offset = 0, 0
		return v
	}
	at = max(at, 0)
	v.at, v.offset = r.key(at), min(max(at-top, 0), height-1)
	return v
}

// top is the first row on the screen.
func (v View) top(r *rows, at, height int) int {
	if v.at == 0 {
		return max(r.len()-height, 0)
	}
	return max(min(at-min(v.offset, height-1), r.len()-height), 0)
}

// further looks for more rows before the first one; false: there is nothing before it.
func (v View) further(f view.Frame) (View, bool) {
	if f.Journal == nil {
		return v, false
	}
	if v.level == facts {
		if !v.filter.on() || v.memo.begin <= max(f.Journal.First(), 1) {
			return v, false
		}
		v.memo.back(f, v.filter)
		v.looked = v.memo.begin
		return v, true
	}
	end := v.looked
	if lines := f.Feed.Lines(); end == 0 && len(lines) > 0 {
		end = lines[0].First
		if v.level == each && len(f.Feed.Each()) > 0 {
			end = f.Feed.Each()[0].First
		}
	}
	start := max(f.Journal.First(), 1)
	if end <= start || len(v.older) >= olderMax {
		return v, false
	}
	if end > backStep {
		start = max(start, end-backStep)
	}
	var found []feed.Line
	scan(f, start, end-1, func(l *feed.Line) {
		if l.Weight >= sentence.Routine && v.filter.keeps(l) {
			found = append(found, *l)
		}
	})
	v.older, v.looked = append(found, v.older...), start
	return v, true
}

// back undoes one thing: the card, the filter, standing still; then it leaves for the map.
func (v View) back() (view.View, []intent.Intent) {
	switch {
	case v.card:
		v.card, v.scroll = false, 0
	case v.filter.on() || v.filter.wrong != nil || v.level != folded:
		return View{at: v.at, offset: v.offset, split: v.split}, nil
	case v.at != 0:
		v.at, v.offset = 0, 0
	default:
		return v, []intent.Intent{intent.Show{View: "map"}}
	}
	return v, nil
}

func (v View) point(f view.Frame, i intent.Point, p plan) (view.View, []intent.Intent) {
	if !p.list.Contains(i.X, i.Y) {
		return v, nil
	}
	r := v.rows(f)
	at := v.cursor(&r)
	row := v.top(&r, at, max(p.list.H, 1)) + i.Y - p.list.Y
	if row >= r.len() {
		return v, nil
	}
	v = v.to(&r, at, row, max(p.list.H, 1))
	if i.Twice {
		return v.enter(f, v.plan(f.W, f.H))
	}
	return v, nil
}

// enter goes deeper: the line in full, then what it is about.
func (v View) enter(f view.Frame, p plan) (view.View, []intent.Intent) {
	l, ok := v.line(f)
	if !ok {
		return v, nil
	}
	if !p.beside && !v.card {
		v.card, v.scroll = true, 0
		return v, nil
	}
	if t := v.Selection(f); t.Kind != target.Record {
		return v, []intent.Intent{intent.Open{Page: "detail", Target: t, Seq: l.Seq}}
	}
	return v, []intent.Intent{intent.Chain{Seq: l.Seq}}
}

// find searches for a text.
func (v View) find(f view.Frame, text string) View {
	v.finding = text
	k := v.filter
	k.query, k.wrong = search.Parse(text, fields)
	return v.narrow(f, k)
}

// narrow changes what is kept. The cursor stays on its line, or the nearest after it.
func (v View) narrow(f view.Frame, k filter) View {
	if v.memo == nil {
		v.memo = &memo{}
	}
	changed := !k.same(v.filter)
	v.filter = k
	if changed {
		v.older, v.looked, v.scroll = nil, 0, 0
		if r := v.rows(f); v.at != 0 && r.len() > 0 && r.key(r.len()-1) < v.at { // all that is kept is before it
			v.at, v.offset = 0, 0
		}
	}
	return v
}
