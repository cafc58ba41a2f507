// Package queueview is the view of work that waits: the queues of every component, what is in them, for how long and why, and who waits for whom.
//
// Three panes: the table of queues, grouped by component, where stuck queues come first and idle ones are folded while there is no room for them; the items of
// the selected queue; and the chains of waiting, from a pod or a request to what it waits for in the end. Everything comes from the fold: figures, items and charts
// from QueueChanged, back-offs of kubelets from what their runtimes say, standbys from leases.
//
// Imports of ours: engine/event, engine/kinds, engine/world, tui/*. Goroutines: the screen's one. Time: simulated.
package queueview

import (
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
)

// ID of the view.
const ID = "queues"

// pane that has the cursor.
type pane int

const (
	queuesPane pane = iota
	itemsPane
	waitsPane
	paneCount
)

// View is the view. The zero value has the first queue selected.
type View struct {
	pane pane
	at   target.Target // the selected queue
	item string        // the selected item, by its key, and the place it had
	wait string        // the selected chain, by id, and the place it had

	itemNo, waitNo int
	all            bool // idle queues are listed
	trouble        bool // only what waits or fails is listed
	find           string
}

var (
	_ view.View     = View{}
	_ view.Selector = View{}
	_ view.Copier   = View{}
	_ view.Finder   = View{}
)

// ID names the view.
func (v View) ID() string { return ID }

// Finding is the text that queues are filtered by.
func (v View) Finding() string { return v.find }

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	s := v.see(f)
	switch i := i.(type) {
	case intent.Move:
		switch {
		case i.DY != 0:
			return v.move(s, i.DY), nil
		case i.DX > 0 && v.pane == queuesPane && len(s.items) > 0:
			return v.into(s, itemsPane), nil
		case i.DX > 0 && v.pane == itemsPane && len(s.waits) > 0:
			return v.into(s, waitsPane), nil
		case i.DX < 0 && v.pane == waitsPane && len(s.items) > 0:
			return v.into(s, itemsPane), nil
		case i.DX < 0:
			return v.into(s, queuesPane), nil
		}
		return v, nil
	case intent.Next:
		return v.next(s, i.By), nil
	case intent.Match:
		if v.find == "" {
			return v, []intent.Intent{i}
		}
		v.pane = queuesPane
		return v.move(s, i.By), nil
	case intent.Page:
		return v.move(s, i.By*max(1, s.height(v.pane)-1)), nil
	case intent.Edge:
		return v.move(s, i.To*(1<<20)), nil
	case intent.Wheel:
		if p, ok := s.paneAt(i.X, i.Y); ok {
			v = v.into(s, p)
		}
		return v.move(s, i.By), nil
	case intent.Point:
		return v.point(s, i, f)
	case intent.Enter:
		return v.enter(s)
	case intent.Chain:
		if cause := s.cause(v); i.Seq == 0 && cause != 0 {
			return v, []intent.Intent{intent.Open{Page: "chain", Target: v.selection(s), Seq: cause}}
		}
	case intent.Back:
		switch {
		case v.pane != queuesPane:
			v.pane = queuesPane
			return v, nil
		case v.find != "":
			v.find = ""
			return v, nil
		}
	case intent.Trouble:
		v.trouble = !v.trouble
		return v, nil
	case intent.Text:
		v.find = i.Value
		return v, nil
	case intent.Select:
		return v.choose(s, i.Target)
	case intent.Option:
		if i.Name == "idle" {
			v.all = !v.all
			return v, nil
		}
	}
	return v, []intent.Intent{i}
}

// next gives the cursor to another pane that has something in it.
func (v View) next(s *sight, by int) View {
	p := v.pane
	for range paneCount {
		p = (p + pane(by) + paneCount) % paneCount
		if p == queuesPane || p == itemsPane && len(s.items) > 0 || p == waitsPane && len(s.waits) > 0 {
			break
		}
	}
	return v.into(s, p)
}

// into gives the cursor to a pane and keeps what was selected there.
func (v View) into(s *sight, p pane) View {
	v = v.settle(s)
	v.pane = p
	return v
}

// settle makes selections that were only implied explicit, so that they stay when the world changes.
func (v View) settle(s *sight) View {
	if s.row != nil {
		v.at = s.row.t
	}
	if len(s.items) > 0 {
		v.itemNo = v.itemAt(s.items)
		v.item = s.items[v.itemNo].Key
	}
	if len(s.waits) > 0 {
		v.waitNo = v.waitAt(s.waits)
		v.wait = s.waits[v.waitNo].id
	}
	return v
}

// move goes by so many lines in the pane that has the cursor.
func (v View) move(s *sight, by int) View {
	v = v.settle(s)
	switch v.pane {
	case itemsPane:
		if n := len(s.items); n > 0 {
			v.itemNo = max(0, min(v.itemNo+by, n-1))
			v.item = s.items[v.itemNo].Key
		}
	case waitsPane:
		if n := len(s.waits); n > 0 {
			v.waitNo = max(0, min(v.waitNo+by, n-1))
			v.wait = s.waits[v.waitNo].id
		}
	default:
		places := selectable(s.lines)
		for i, p := range places {
			if p == s.cursor {
				return v.onto(s.lines[places[max(0, min(i+by, len(places)-1))]].row.t)
			}
		}
	}
	return v
}

// onto selects a queue; its items begin anew.
func (v View) onto(t target.Target) View {
	if v.at != t {
		v.at, v.item, v.itemNo = t, "", 0
	}
	return v
}

// enter goes from a queue to its items, and from an item or a chain to what it is about.
func (v View) enter(s *sight) (view.View, []intent.Intent) {
	switch v.pane {
	case queuesPane:
		if len(s.items) > 0 {
			return v.into(s, itemsPane), nil
		}
	case waitsPane:
		if len(s.waits) == 0 {
			return v, nil
		}
	}
	t := v.selection(s)
	if t.Kind == target.Nothing {
		return v, nil
	}
	return v, []intent.Intent{intent.Open{Page: "detail", Target: t, Seq: s.cause(v)}}
}

// choose selects a queue, or the queue of a program.
func (v View) choose(s *sight, t target.Target) (view.View, []intent.Intent) {
	for i := range s.lines {
		r := s.lines[i].row
		if r == nil || r.t.Host != t.Host || r.t.Process != t.Process {
			continue
		}
		if t.Kind == target.Process || t.Kind == target.Queue && r.t.Name == t.Name && (t.Type == "" || t.Type == r.t.Type) {
			v = v.onto(r.t)
			v.pane = queuesPane
			return v, nil
		}
	}
	if t.Kind == target.Queue && !v.all {
		v.all, v.find, v.trouble = true, "", false
		v.at, v.pane = t, queuesPane
	}
	return v, nil
}

func (v View) point(s *sight, i intent.Point, f view.Frame) (view.View, []intent.Intent) {
	p, ok := s.paneAt(i.X, i.Y)
	if !ok {
		return v, nil
	}
	v = v.into(s, p)
	hit := false
	switch p {
	case queuesPane:
		if n := s.top + i.Y - s.table.Y - headRows; n >= s.top && n < min(len(s.lines), s.top+s.room) && i.Y > s.table.Y {
			switch l := s.lines[n]; {
			case l.row != nil:
				v, hit = v.onto(l.row.t), true
			case len(l.names) > 0:
				v.all = true
			}
		}
	case itemsPane:
		if n := s.itemTop + i.Y - s.itemRows.Y; s.itemRows.Contains(i.X, i.Y) && n < len(s.items) {
			v.itemNo, v.item, hit = n, s.items[n].Key, true
		}
	case waitsPane:
		if n, on := s.waitOn(i.Y); on {
			v.waitNo, v.wait, hit = n, s.waits[n].id, true
		}
	}
	if hit && i.Twice {
		return v.enter(v.see(f))
	}
	return v, nil
}

// Selection is what keys act on: the queue, or what an item or a chain is about.
func (v View) Selection(f view.Frame) target.Target { return v.selection(v.see(f)) }

func (v View) selection(s *sight) target.Target {
	switch {
	case v.pane == itemsPane && len(s.items) > 0 && s.row != nil:
		return itemTarget(s.row, s.items[v.itemAt(s.items)])
	case v.pane == waitsPane && len(s.waits) > 0:
		return s.waits[v.waitAt(s.waits)].t
	case s.row != nil:
		return s.row.t
	}
	return target.Target{}
}

// cause is the record behind the selected item or chain.
func (s *sight) cause(v View) event.Seq {
	switch {
	case v.pane == itemsPane && len(s.items) > 0:
		return s.items[v.itemAt(s.items)].Cause
	case v.pane == waitsPane && len(s.waits) > 0:
		return s.waits[v.waitAt(s.waits)].cause
	}
	return 0
}

// Draw draws the view.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	s := v.see(f)
	v.drawHead(f, s, c)
	v.drawTable(f, s, c.Sub(s.table))
	v.drawItems(f, s, c)
	v.drawWaits(f, s, c)
}
