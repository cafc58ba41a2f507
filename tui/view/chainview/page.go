package chainview

import (
	"maps"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/words"
)

// page is all that is worked out of a tree for the screen.
type page struct {
	tree     *tree
	rows     []row
	index    map[rowID]int
	focusRow int
	lines    map[rowID]line
	words    *words.Catalogue
	goal     *hop
	account  account
	scale    scale
}

// cache keeps the page between frames: it is made anew only when records that belong to it came, the reader went back in time, or the user asked for another one.
type cache struct {
	page   *page
	fold   folding
	linear bool
}

// look is the page as it is at the frame's instant.
func (v View) look(f view.Frame) *page {
	c := v.cache
	if c == nil {
		c = &cache{}
	}
	same := c.page != nil && c.fold.all == v.fold.all && c.fold.only == v.fold.only && maps.Equal(c.fold.levels, v.fold.levels) && c.page.words == f.Words
	var t *tree
	switch {
	case same && !c.page.tree.stale(f):
		if c.linear == v.linear {
			return c.page
		}
		t = c.page.tree
	default:
		t = grow(f, v.path, v.opened())
	}
	p := &page{tree: t, rows: list(t, v.fold), index: map[rowID]int{}, lines: map[rowID]line{}, words: f.Words}
	for i := range p.rows {
		p.index[p.rows[i].id] = i
	}
	if t.root != nil {
		p.goal = t.focus.goal
		p.account = settle(f, t, p.goal)
		p.focusRow = p.shown(t.focus)
		p.scale = newScale(p.rows, v.linear)
	}
	c.page, c.fold, c.linear = p, v.fold, v.linear
	return p
}

func (p *page) find(id rowID) (int, bool) { i, ok := p.index[id]; return i, ok }

// shown is the row of a hop, or of the nearest hop above it that has one.
func (p *page) shown(h *hop) int {
	for ; h != nil; h = h.parent {
		if i, ok := p.index[rowID{seq: h.seq()}]; ok {
			return i
		}
	}
	return 0
}

// line is what a row says, worked out once.
func (p *page) line(f view.Frame, i int) line {
	id := p.rows[i].id
	l, ok := p.lines[id]
	if !ok {
		l = say(f, p.rows[i])
		p.lines[id] = l
	}
	return l
}

// lookBack bounds how many records about a target are looked at for one that matters.
const lookBack = 256

// pick is the record that a page is about.
func pick(about intent.Open, f view.Frame) event.Seq {
	if about.Seq == 0 && about.Target.Kind == target.Record {
		return about.Target.Seq
	}
	all := f.About(about.Target)
	if len(all) == 0 || about.Seq != 0 {
		return about.Seq
	}
	// What weighs most of the newest; of equals the newest.
	best, seq := -1, all[len(all)-1]
	for i := len(all) - 1; i >= 0 && i >= len(all)-lookBack; i-- {
		r, ok := f.Record(all[i])
		if !ok {
			break
		}
		if n := telling(r, about.Target); n > best {
			best, seq = n, r.Seq
		}
	}
	return seq
}

// telling is how much a record says about a thing.
func telling(r event.Record, t target.Target) int {
	n := weight(&hop{rec: r})
	switch e := r.Event.(type) {
	case event.RequestReceived, event.RequestDone:
		return 1 // its revision tells
	case event.ObjectChanged:
		if t.Kind == target.Object {
			return step
		}
	case event.ContainerChanged:
		if t.Kind != target.Pod { // to a machine, what becomes of it matters more than what runs there
			return lesser
		}
	case event.FaultRemoved, event.MachineUp, event.FaultAdded, event.MachineDown:
		return outcome
	case event.Reconciled:
		if t.Kind == target.Object && e.Error == "" && n >= step {
			return turn
		}
	}
	return n
}
