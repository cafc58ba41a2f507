package mapview

import (
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
)

// size class of the screen.
type class int

const (
	compact class = iota // 80x24
	comfortable
	rich // several panes side by side
)

// placed is a thing that can be selected, and where it is.
type placed struct {
	target scene.Target
	rect   layout.Rect
}

// plan says where everything goes. It is made from sizes and counts alone, so it moves only when those do.
type plan struct {
	class    class
	balancer layout.Rect
	masters  []placed
	raft     layout.Rect
	pending  layout.Rect
	workers  []placed
	// rows: workers are lines, not cards. folded counts those that have no line, the healthy ones first of all; foldedAt is where that is said.
	rows     bool
	folded   int
	wrong    int // of the folded
	foldedAt layout.Rect
	now      layout.Rect
	story    layout.Rect
	strip    layout.Rect
	side     layout.Rect // the right column of a rich screen
}

// Smallest and largest cards, borders included.
const (
	cardMinH    = 5
	cardMinW    = 19
	cardRoomyW  = 28
	rowMinW     = 58
	balancerW   = 25
	masterCards = 7 // machines; more become columns too narrow to read
)

// makePlan places the parts of the map.
func makePlan(f view.Frame, selected scene.Target) plan {
	p := plan{}
	area := layout.Rect{W: f.W, H: f.H}
	switch {
	case f.W >= 160 && f.H >= 40:
		p.class = rich
	case f.W >= 100 && f.H >= 28:
		p.class = comfortable
	}
	if p.class != compact {
		rows := area.Rows(layout.Fill(1), layout.Fixed(2))
		area, p.strip = rows[0], rows[1]
	} else if area.H >= 20 {
		rows := area.Rows(layout.Fill(1), layout.Fixed(1))
		area, p.strip = rows[0], rows[1]
	}
	if p.class == rich {
		cols := area.Cols(layout.Fill(68), layout.Fixed(1), layout.Fill(32))
		area = cols[0]
		side := cols[2].Rows(layout.Fill(2), layout.Fill(3))
		p.now, p.story = side[0], side[1]
		p.side = cols[2]
	}
	p.control(f, &area)
	if len(f.Scene.Pending) > 0 && area.H > 9 {
		rows := area.Rows(layout.Fixed(1), layout.Fill(1))
		p.pending, area = rows[0], rows[1]
	}
	bottom := 0
	switch p.class {
	case compact:
		bottom = min(4, max(area.H-6, 0))
	case comfortable:
		bottom = max(7, area.H/3)
	case rich:
		if len(f.Scene.Workers) <= 12 {
			bottom = min(14, area.H/3)
		}
	}
	p.placeWorkers(f, selected, layout.Rect{X: area.X, Y: area.Y, W: area.W, H: area.H - bottom})
	used := area.Y
	for _, w := range p.workers {
		used = max(used, w.rect.Bottom())
	}
	if !p.foldedAt.Empty() {
		used = max(used, p.foldedAt.Bottom())
	}
	rest := layout.Rect{X: area.X, Y: used, W: area.W, H: area.Bottom() - used}
	switch p.class {
	case compact:
		p.story = rest
	case rich:
		if rest.H >= 8 { // few workers: what is wrong goes under them, and the story has the column
			p.now, p.story = rest, p.side
		}
	case comfortable:
		cols := rest.Cols(layout.Fill(1), layout.Fixed(1), layout.Fill(1))
		p.now, p.story = cols[0], cols[2]
	}
	return p
}

// control places the balancer, the masters and the raft lane.
func (p *plan) control(f view.Frame, area *layout.Rect) {
	n := len(f.Scene.Masters)
	if n == 0 {
		return
	}
	raft := 0
	if f.Scene.Quorum.Raft {
		raft = 1
	}
	if p.class == compact {
		h := 7
		if area.H < 18 {
			h = max(min(area.H-9, 6), 3)
		}
		rows := area.Rows(layout.Fixed(1), layout.Fixed(h), layout.Fixed(raft), layout.Fill(1))
		p.balancer, p.raft, *area = rows[0], rows[2], rows[3]
		p.tile(&p.masters, scene.Master, masterNames(f), rows[1].Tiles(n, n, h, 1))
		return
	}
	h := 8
	if p.class == rich {
		h = 9
	}
	rows := area.Rows(layout.Fixed(h), layout.Fixed(raft), layout.Fill(1))
	top := rows[0].Cols(layout.Fixed(balancerW), layout.Fixed(1), layout.Fill(1))
	p.balancer, p.raft, *area = top[0], rows[1], rows[2]
	p.tile(&p.masters, scene.Master, masterNames(f), top[2].Tiles(n, n, h, 1))
}

func (p *plan) tile(into *[]placed, kind scene.Kind, names []string, rects []layout.Rect) {
	for i, r := range rects {
		*into = append(*into, placed{scene.Target{Kind: kind, Host: names[i]}, r})
	}
}

func masterNames(f view.Frame) []string {
	out := make([]string, len(f.Scene.Masters))
	for i := range f.Scene.Masters {
		out[i] = f.Scene.Masters[i].Name
	}
	return out
}

// placeWorkers makes cards while there is room for them, then rows; healthy rows that do not fit are counted.
func (p *plan) placeWorkers(f view.Frame, selected scene.Target, area layout.Rect) {
	n := len(f.Scene.Workers)
	if n == 0 || area.H <= 0 {
		return
	}
	minW, gap := cardMinW, 0
	if p.class != compact {
		minW, gap = cardRoomyW, 1
	}
	if n <= 12 {
		cols := max(min(n, (area.W+gap)/(minW+gap)), 1)
		cardRows := (n + cols - 1) / cols
		if cardRows*cardMinH <= area.H {
			cols = (n + cardRows - 1) / cardRows
			h := min(area.H/cardRows, p.cardMax())
			names := make([]string, n)
			for i := range names {
				names[i] = f.Scene.Workers[i].Name
			}
			p.tile(&p.workers, scene.Worker, names, area.Tiles(n, cols, h, gap))
			return
		}
	}
	p.rows = true
	cols := max(area.W/rowMinW, 1)
	room := cols * area.H
	shown := make([]int, 0, min(n, room))
	if n <= room {
		for i := range n {
			shown = append(shown, i)
		}
	} else {
		room -= cols // the last line counts the rest
		shown = pickRows(f, selected, max(room, 0))
		p.folded = n - len(shown)
		for i := range f.Scene.Workers {
			if f.Scene.Workers[i].Wrong {
				p.wrong++
			}
		}
		for _, i := range shown {
			if f.Scene.Workers[i].Wrong {
				p.wrong--
			}
		}
		p.foldedAt = layout.Rect{X: area.X, Y: area.Bottom() - 1, W: area.W, H: 1}
	}
	perCol := (len(shown) + cols - 1) / cols
	for i, at := range shown {
		col := i / max(perCol, 1)
		w := area.W / cols
		p.workers = append(p.workers, placed{scene.Target{Kind: scene.Worker, Host: f.Scene.Workers[at].Name}, layout.Rect{X: area.X + col*w, Y: area.Y + i%max(perCol, 1), W: w - 1, H: 1}})
	}
}

// pickRows chooses room workers: all that are wrong and the selected one, then healthy ones in order; the order on the screen stays that of the names.
func pickRows(f view.Frame, selected scene.Target, room int) []int {
	take := make([]bool, len(f.Scene.Workers))
	left := room
	for pass := range 2 {
		for i := range f.Scene.Workers {
			w := &f.Scene.Workers[i]
			first := w.Wrong || w.Name == selected.Host
			if left > 0 && !take[i] && (pass == 1 || first) {
				take[i] = true
				left--
			}
		}
	}
	out := make([]int, 0, room)
	for i, t := range take {
		if t {
			out = append(out, i)
		}
	}
	return out
}

// cardMax is the height above which a card has nothing more to say.
func (p *plan) cardMax() int {
	switch p.class {
	case compact:
		return 7
	case comfortable:
		return 10
	}
	return 20
}

// find returns the place of a machine.
func (p *plan) find(host string) (placed, bool) {
	for _, list := range [][]placed{p.masters, p.workers} {
		for _, t := range list {
			if t.target.Host == host {
				return t, true
			}
		}
	}
	return placed{}, false
}

// all lists the places in reading order.
func (p *plan) all() []placed {
	return append(append([]placed{}, p.masters...), p.workers...)
}
