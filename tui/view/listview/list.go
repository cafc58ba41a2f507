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

// place is where the overlay lies in an area, and its lines as they are drawn there: what is too long goes on below, under its last span.
func (l List) place(w, h int) (layout.Rect, []widget.Line) {
	need := l.Width
	if need == 0 {
		for _, line := range l.Lines {
			need = max(need, line.Width())
		}
		need = max(need+4, grid.Width(l.Title)+6)
	}
	need = min(need, max(w-2, 0))
	lines := l.Lines
	for i, line := range l.Lines {
		if line.Width() > need-4 {
			lines = append(append([]widget.Line(nil), l.Lines[:i]...), wrap(l.Lines[i:], need-4)...)
			break
		}
	}
	area := layout.Rect{W: w, H: h}
	r := area.Center(need, len(lines)+2)
	if l.Low {
		r.Y = h - r.H
	}
	return r, lines
}

// wrap breaks lines wider than width at the blanks of their last span.
func wrap(lines []widget.Line, width int) []widget.Line {
	out := make([]widget.Line, 0, len(lines)+8)
	for _, line := range lines {
		if line.Width() <= width || len(line) == 0 {
			out = append(out, line)
			continue
		}
		head, last := line[:len(line)-1], line[len(line)-1]
		hang := head.Width()
		if hang > width*2/3 { // nothing fits beside what comes before
			out = append(out, head)
			head, hang = widget.Line{widget.S("    ", 0)}, 4
		}
		for _, part := range widget.Wrap(last.Text, max(width-hang, 1)) {
			out = append(out, append(head[:len(head):len(head)], widget.S(part, last.Style)))
			head = widget.Line{widget.S(grid.Pad("", hang), 0)}
		}
	}
	return out
}

// Handle scrolls; closing is an intent.Back that comes back.
func (l List) Handle(i intent.Intent, w, h int) (List, []intent.Intent) {
	r, lines := l.place(w, h)
	height := max(r.H-2, 1)
	move := 0
	switch i := i.(type) {
	case intent.Move:
		move = i.DY
	case intent.Wheel:
		move = 3 * i.By
	case intent.Page:
		move = i.By * height
	case intent.Edge:
		move = i.To * len(lines)
	case intent.Point:
		if !r.Contains(i.X, i.Y) {
			return List{}, nil
		}
	case intent.Back:
		return List{}, nil
	default:
		return l, []intent.Intent{i}
	}
	l.top = max(min(l.top+move, len(lines)-height), 0)
	return l, nil
}

// Draw draws the overlay over what is there.
func (l List) Draw(c grid.Canvas) {
	w, h := c.Size()
	r, lines := l.place(w, h)
	if r.W < 8 || r.H < 3 {
		return
	}
	c.Sub(layout.Rect{X: r.X - 1, Y: r.Y, W: r.W + 2, H: r.H}).Clear()
	box := c.Sub(r)
	box.Clear()
	in := box.Box(grid.Double, theme.Accent&^grid.Bold)
	box.Put(2, 0, " "+grid.Cut(l.Title, r.W-6)+" ", theme.Accent)
	iw, ih := in.Size()
	top := max(min(l.top, len(lines)-ih), 0) // the terminal may have become larger
	for y := 0; y < ih && top+y < len(lines); y++ {
		lines[top+y].Draw(in, 1, y, iw-2)
	}
	if len(lines) > ih {
		box.PutRight(r.W-2, r.H-1, fmt.Sprintf(" %d-%d / %d ", top+1, min(top+ih, len(lines)), len(lines)), theme.Dim)
	}
}
