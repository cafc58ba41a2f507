package mapview

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
)

// Smallest cards and rows, borders included, and how many workers are drawn as such at most.
const (
	cardMinH   = 5
	cardMinW   = 19
	cardRoomyW = 27
	cardsMax   = 12
	rowMinW    = 38
	rowWideW   = 58 // with reasons
	rowsMax    = 100
)

// floor is where the workers are: cards, rows or cells.
type floor struct {
	area layout.Rect
	// head says which zone is looked at; empty when it is all of them.
	head layout.Rect
	// big is the machine that was gone into, where its card would be too small to show its parts.
	big   placed
	cards []placed
	rows  []placed
	// Rows left out before and after those shown, and how many of them are in trouble; foldedAt is where that is said.
	before, after, wrong int
	foldedAt             layout.Rect
	blocks               []block
	group                int // workers a cell
	legend               layout.Rect
}

func (l *floor) bottom() int {
	y := max(l.head.Bottom(), l.foldedAt.Bottom(), l.legend.Bottom(), l.big.rect.Bottom())
	for _, list := range [][]placed{l.cards, l.rows} {
		for _, t := range list {
			y = max(y, t.rect.Bottom())
		}
	}
	for i := range l.blocks {
		y = max(y, l.blocks[i].rect.Bottom())
	}
	return y
}

// lay places the workers that are looked at.
func (v View) lay(f view.Frame, c class, area layout.Rect) floor {
	l := floor{area: area, group: 1}
	members := v.zoom.members(f.Scene)
	if len(members) == 0 || area.H <= 0 || area.W < 8 {
		return l
	}
	if v.zoom != (zoom{}) {
		rows := area.Rows(layout.Fixed(1), layout.Fill(1))
		l.head, area = rows[0], rows[1]
	}
	if v.scale != asRows && v.scale != asCells && len(members) <= cardsMax && l.layCards(f, c, members, area) {
		return l
	}
	if _, w := f.Scene.Find(scene.Target{Host: v.inside}); w != nil {
		l.big = placed{scene.Target{Kind: scene.Worker, Host: w.Name}, area}
		return l
	}
	cols := columnsFor(len(members), area, rowMinW)
	switch {
	case v.scale == asRows, v.scale == byRoom && len(members) <= rowsMax && cols*area.H >= len(members):
		l.layRows(f, v, members, area)
	default:
		l.layCells(f, v, members, area)
	}
	return l
}

func workerAt(f view.Frame, i int) scene.Target {
	return scene.Target{Kind: scene.Worker, Host: f.Scene.Workers[i].Name}
}

// layCards makes a card of each worker, if they have room.
func (l *floor) layCards(f view.Frame, c class, members []int, area layout.Rect) bool {
	minW, gap := cardMinW, 0
	if c != compact {
		minW, gap = cardRoomyW, 1
	}
	n := len(members)
	cols := max(min(n, (area.W+gap)/(minW+gap)), 1)
	lines := (n + cols - 1) / cols
	if lines*cardMinH > area.H {
		return false
	}
	cols = (n + lines - 1) / lines
	h := min(area.H/lines, cardMax(f, c, members))
	for i, r := range area.Tiles(n, cols, h, gap) {
		l.cards = append(l.cards, placed{workerAt(f, members[i]), r})
	}
	return true
}

// columnsFor is how many columns of rows are used: as few as hold all, as many as fit.
func columnsFor(n int, area layout.Rect, minW int) int {
	most := max(area.W/minW, 1)
	for cols := 1; cols < most; cols++ {
		if cols*area.H >= n {
			return cols
		}
	}
	return most
}

// layRows makes a row of each worker; where they do not all fit, the rows scroll and the last line counts the others.
func (l *floor) layRows(f view.Frame, v View, members []int, area layout.Rect) {
	cols := columnsFor(len(members), area, rowMinW)
	room := area.H
	if cols*room < len(members) {
		room = max(room-1, 0)
		l.foldedAt = layout.Rect{X: area.X, Y: area.Bottom() - 1, W: area.W, H: 1}
	}
	fit := cols * room
	l.before = min(max(v.top, 0), max(len(members)-fit, 0))
	shown := members[l.before:min(l.before+fit, len(members))]
	l.after = len(members) - l.before - len(shown)
	l.wrong = sumOf(f, members[:l.before]).wrong + sumOf(f, members[l.before+len(shown):]).wrong
	l.columns(f, shown, area, cols, max((len(shown)+cols-1)/max(cols, 1), 1))
}

// columns places rows from top to bottom, then to the right.
func (l *floor) columns(f view.Frame, shown []int, area layout.Rect, cols, perCol int) {
	w := area.W / max(cols, 1)
	for i, at := range shown {
		l.rows = append(l.rows, placed{workerAt(f, at), layout.Rect{X: area.X + i/perCol*w, Y: area.Y + i%perCol, W: w - 1, H: 1}})
	}
}

// drawWorkers draws what was placed.
func (v View) drawWorkers(f view.Frame, p *plan, c grid.Canvas) {
	l := &p.floor
	v.drawHead(f, c.Sub(l.head))
	if !l.big.rect.Empty() {
		if _, w := f.Scene.Find(l.big.target); w != nil {
			v.drawBig(f, w, c.Sub(l.big.rect))
		}
		return
	}
	for _, t := range l.cards {
		if _, w := f.Scene.Find(t.target); w != nil {
			v.drawWorker(f, w, c.Sub(t.rect))
			if p.sky.Empty() {
				v.drawPost(f, w.Name, c, t.rect)
			}
		}
	}
	for _, t := range l.rows {
		if _, w := f.Scene.Find(t.target); w != nil {
			v.drawRow(f, w, c.Sub(t.rect))
		}
	}
	if l.before+l.after > 0 || l.wrong > 0 {
		v.drawFolded(f, l, c.Sub(l.foldedAt))
	}
	for i := range l.blocks {
		v.drawBlock(f, l, &l.blocks[i], c)
	}
	v.drawLegend(f, l, c.Sub(l.legend))
}

// drawFolded counts what is not on the screen.
func (v View) drawFolded(f view.Frame, l *floor, c grid.Canvas) {
	if len(l.blocks) > 0 {
		c.Put(1, 0, f.Words.Say("map.folded-wrong", "n", l.wrong), theme.Failing)
		return
	}
	x := c.Put(1, 0, f.Words.Say("map.folded-rows", "before", l.before, "after", l.after), theme.Dim)
	if l.wrong > 0 {
		c.Put(x+2, 0, f.Words.Say("map.folded-wrong", "n", l.wrong), theme.Failing)
	}
}

// drawHead says which part of the workers is looked at.
func (v View) drawHead(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if h < 1 || w < 10 {
		return
	}
	members := v.zoom.members(f.Scene)
	x := c.Put(1, 0, string(grid.Before)+" "+v.zoom.name(f), theme.Accent)
	x = c.Put(x+2, 0, f.Words.Say("map.zone-workers", "n", len(members)), theme.Dim)
	if wrong := sumOf(f, members).wrong; wrong > 0 {
		x = c.Put(x+2, 0, f.Words.Say("map.zone-wrong", "n", wrong), theme.Failing)
	}
	c.PutMax(x+2, 0, max(w-x-2, 0), f.Words.Say("map.zone-out"), theme.Dim)
}
