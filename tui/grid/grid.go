// Package grid is the screen as cells: runes with a style number, drawn into by views and turned into one string at the end.
//
// A frame is drawn by writing runs of text into a Canvas, which clips, so a view can never write outside its rectangle. Styles are numbers here; what they
// look like is the theme's business. Wide runes take two cells; runes of any other width are not accepted (tui/sanitize takes them out before).
//
// Owns: cells, clipping, boxes, symbols. Imports of ours: tui/layout. Goroutines: a Grid has one owner. Time: none.
package grid

import (
	"unicode/utf8"

	"example.com/kubeviz/tui/layout"
)

// Style is a role number with attributes; the theme knows its look.
type Style uint16

// Attributes that go with a role.
const (
	Bold    Style = 1 << 8
	Reverse Style = 1 << 9

	// RoleMask takes the role number out of a style.
	RoleMask Style = 0xff
)

// Cell of the screen. A zero rune is the right half of a wide one.
type Cell struct {
	Rune  rune
	Style Style
}

// Grid is a screen of cells. Make it once per size and Reset it for each frame.
type Grid struct {
	w, h  int
	cells []Cell
	out   []byte
}

// New makes an empty screen; negative sizes are zero.
func New(w, h int) *Grid {
	w, h = max(w, 0), max(h, 0)
	g := &Grid{w: w, h: h, cells: make([]Cell, w*h)}
	g.Reset()
	return g
}

// Size in cells.
func (g *Grid) Size() (w, h int) { return g.w, g.h }

// At returns a cell; outside it is empty.
func (g *Grid) At(x, y int) Cell {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return Cell{Rune: ' '}
	}
	return g.cells[y*g.w+x]
}

// Reset makes all cells blank.
func (g *Grid) Reset() {
	for i := range g.cells {
		g.cells[i] = Cell{Rune: ' '}
	}
}

// Canvas is the whole grid to draw on.
func (g *Grid) Canvas() Canvas { return Canvas{g: g, r: layout.Rect{W: g.w, H: g.h}} }

// Canvas is a rectangle of a grid. Coordinates start at its own corner; what falls outside is dropped.
type Canvas struct {
	g *Grid
	r layout.Rect
}

// Size of the canvas.
func (c Canvas) Size() (w, h int) { return c.r.W, c.r.H }

// Sub is a part of the canvas, given in its coordinates.
func (c Canvas) Sub(r layout.Rect) Canvas {
	r.X += c.r.X
	r.Y += c.r.Y
	return Canvas{g: c.g, r: r.Intersect(c.r)}
}

// set writes one cell; w is 1 or 2.
func (c Canvas) set(x, y int, r rune, w int, s Style) {
	if x < 0 || y < 0 || x+w > c.r.W || y >= c.r.H {
		return
	}
	row := c.g.cells[(c.r.Y+y)*c.g.w : (c.r.Y+y+1)*c.g.w]
	at := c.r.X + x
	if row[at].Rune == 0 && at > 0 { // the left half of a wide rune loses its right half
		row[at-1] = Cell{Rune: ' ', Style: row[at-1].Style}
	}
	if end := at + w; end < len(row) && row[end].Rune == 0 {
		row[end] = Cell{Rune: ' ', Style: row[end].Style}
	}
	row[at] = Cell{Rune: r, Style: s}
	if w == 2 {
		row[at+1] = Cell{Rune: 0, Style: s}
	}
}

// Put writes text from x to the right, up to the edge, and returns the column after it.
func (c Canvas) Put(x, y int, text string, s Style) int {
	if y < 0 || y >= c.r.H {
		return x + Width(text)
	}
	for _, r := range text {
		w := RuneWidth(r)
		if w == 0 {
			continue
		}
		c.set(x, y, r, w, s)
		x += w
	}
	return x
}

// PutMax writes at most width cells of text; what does not fit ends in an ellipsis.
func (c Canvas) PutMax(x, y, width int, text string, s Style) int {
	return c.Put(x, y, Cut(text, width), s)
}

// PutRight writes text so that it ends before column x.
func (c Canvas) PutRight(x, y int, text string, s Style) int {
	start := x - Width(text)
	c.Put(start, y, text, s)
	return start
}

// Fill sets all cells to one rune of width 1.
func (c Canvas) Fill(r rune, s Style) {
	for y := range c.r.H {
		for x := range c.r.W {
			c.set(x, y, r, 1, s)
		}
	}
}

// Clear blanks the canvas.
func (c Canvas) Clear() { c.Fill(' ', 0) }

// Restyle changes the style of cells that are there.
func (c Canvas) Restyle(change func(Style) Style) {
	for y := range c.r.H {
		for x := range c.r.W {
			cell := &c.g.cells[(c.r.Y+y)*c.g.w+c.r.X+x]
			cell.Style = change(cell.Style)
		}
	}
}

// Reverse sets w cells off from the rest: ink and ground change places.
func (c Canvas) Reverse(x, y, w int) {
	c.Sub(layout.Rect{X: x, Y: y, W: w, H: 1}).Restyle(func(s Style) Style { return s | Reverse })
}

// Border is the set of runes of a box.
type Border struct{ H, V, TL, TR, BL, BR rune }

// Box draws a frame along the canvas's edge and returns the inside.
func (c Canvas) Box(b Border, s Style) Canvas {
	w, h := c.r.W, c.r.H
	if w < 2 || h < 2 {
		return c.Sub(layout.Rect{})
	}
	for x := 1; x < w-1; x++ {
		c.set(x, 0, b.H, 1, s)
		c.set(x, h-1, b.H, 1, s)
	}
	for y := 1; y < h-1; y++ {
		c.set(0, y, b.V, 1, s)
		c.set(w-1, y, b.V, 1, s)
	}
	c.set(0, 0, b.TL, 1, s)
	c.set(w-1, 0, b.TR, 1, s)
	c.set(0, h-1, b.BL, 1, s)
	c.set(w-1, h-1, b.BR, 1, s)
	return c.Sub(layout.Rect{X: 1, Y: 1, W: w - 2, H: h - 2})
}

// HLine draws a line across row y.
func (c Canvas) HLine(y int, r rune, s Style) {
	for x := range c.r.W {
		c.set(x, y, r, 1, s)
	}
}

// VLine draws a line down a column, over the whole height.
func (c Canvas) VLine(x int, r rune, s Style) {
	for y := range c.r.H {
		c.set(x, y, r, 1, s)
	}
}

// Ellipsis ends text that was cut; the ASCII set changes it to "~" when drawing (see Symbols).
const Ellipsis = '…'

// Cut shortens text to at most width cells, with an ellipsis where something is missing.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(text) <= width { // a byte is at least a cell for every rune we accept
		return text
	}
	used, last := 0, 0
	for i, r := range text {
		w := RuneWidth(r)
		if used+w > width {
			return text[:last] + string(Ellipsis)
		}
		used += w
		if used <= width-1 {
			last = i + utf8.RuneLen(r)
		}
	}
	return text
}

// CutMiddle shortens a name in its middle, because both ends of a pod's name say something.
func CutMiddle(text string, width int) string {
	n := Width(text)
	if n <= width {
		return text
	}
	if width < 6 {
		return Cut(text, width)
	}
	runes := []rune(text)
	if len(runes) != n { // wide runes: not a name of Kubernetes
		return Cut(text, width)
	}
	tail := min((width-1)/2, 6)
	head := width - 1 - tail
	return string(runes[:head]) + string(Ellipsis) + string(runes[n-tail:])
}

// Pad fills text up to width cells, or cuts it.
func Pad(text string, width int) string {
	n := Width(text)
	if n > width {
		return Cut(text, width)
	}
	return text + blanks(width-n)
}

const spaces = "                                                                                                                                "

func blanks(n int) string {
	if n <= len(spaces) {
		return spaces[:max(n, 0)]
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = ' '
	}
	return string(b)
}
