// Package listview is what lies on top of a view: a titled list of lines that can be scrolled (help, the causes of a record, the answer to a command).
//
// Imports of ours: tui/grid, tui/intent, tui/layout, tui/theme, tui/widget. Goroutines: the screen's one. Time: none.
package listview

import (
	"fmt"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

// List is an overlay. The zero value is closed.
type List struct {
	Title string
	Lines []widget.Line
	// Width asked for; 0: as the lines need.
	Width int
	// Low puts it above the footer instead of in the middle.
	Low bool
	top int
}

// Open reports whether there is anything to show.
func (l List) Open() bool { return l.Title != "" }

// rect of the overlay in an area.
func (l List) rect(w, h int) layout.Rect {
	need := l.Width
	if need == 0 {
		for _, line := range l.Lines {
			need = max(need, line.Width())
		}
		need = max(need+4, grid.Width(l.Title)+6)
	}
	area := layout.Rect{W: w, H: h}
	r := area.Center(min(need, max(w-2, 0)), len(l.Lines)+2)
	if l.Low {
		r.Y = h - r.H
	}
	return r
}

// Handle scrolls; closing is an intent.Back that comes back.
func (l List) Handle(i intent.Intent, w, h int) (List, []intent.Intent) {
	height := max(l.rect(w, h).H-2, 1)
	move := 0
	switch i := i.(type) {
	case intent.Move:
		move = i.DY
	case intent.Wheel:
		move = 3 * i.By
	case intent.Page:
		move = i.By * height
	case intent.Edge:
		move = i.To * len(l.Lines)
	case intent.Point:
		if !l.rect(w, h).Contains(i.X, i.Y) {
			return List{}, nil
		}
	case intent.Back:
		return List{}, nil
	default:
		return l, []intent.Intent{i}
	}
	l.top = max(min(l.top+move, len(l.Lines)-height), 0)
	return l, nil
}

// Draw draws the overlay over what is there.
func (l List) Draw(c grid.Canvas) {
	w, h := c.Size()
	r := l.rect(w, h)
	if r.W < 8 || r.H < 3 {
		return
	}
	c.Sub(layout.Rect{X: r.X - 1, Y: r.Y, W: r.W + 2, H: r.H}).Clear()
	box := c.Sub(r)
	box.Clear()
	in := box.Box(grid.Double, theme.Accent&^grid.Bold)
	box.Put(2, 0, " "+grid.Cut(l.Title, r.W-6)+" ", theme.Accent)
	iw, ih := in.Size()
	for y := 0; y < ih && l.top+y < len(l.Lines); y++ {
		l.Lines[l.top+y].Draw(in, 1, y, iw-2)
	}
	if len(l.Lines) > ih {
		box.PutRight(r.W-2, r.H-1, fmt.Sprintf(" %d-%d / %d ", l.top+1, min(l.top+ih, len(l.Lines)), len(l.Lines)), theme.Dim)
	}
}
