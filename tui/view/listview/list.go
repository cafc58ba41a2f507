// Package listview is what lies on top of a view: a titled list of lines that can be scrolled and searched (help, the answer to a command), or a menu of choices.
//
// Imports of ours: tui/grid, tui/intent, tui/layout, tui/theme, tui/widget. Goroutines: the screen's one. Time: none.
package listview

import (
	"fmt"
	"strings"

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
	// Choices make it a menu: one is marked, and enter gives what it does. Lines stand above them.
	Choices []Choice
	// Width asked for; 0: as the lines need.
	Width int
	// Low puts it above the footer instead of in the middle.
	Low bool
	// Hint stands in the frame below while nothing is searched for; None where nothing was found.
	Hint, None string

	top   int
	at    int    // the choice that is marked
	query string // what is searched for, in lower case
}

// Choice is a line of a menu and what it does.
type Choice struct {
	Line widget.Line
	Do   intent.Intent
}

// Open reports whether there is anything to show.
func (l List) Open() bool { return l.Title != "" }

// rows are the lines that are left by the search, choices last.
func (l List) rows() (lines []widget.Line, choices []Choice) {
	if l.query == "" {
		return l.Lines, l.Choices
	}
	var title widget.Line // of the part of the help that a find is in
	for _, line := range l.Lines {
		switch {
		case len(line) == 0:
			title = nil
		case len(line) == 1 && line[0].Style == theme.Title:
			title = line
		case strings.Contains(strings.ToLower(text(line)), l.query):
			if title != nil {
				if len(lines) > 0 {
					lines = append(lines, nil)
				}
				lines, title = append(lines, title), nil
			}
			lines = append(lines, line)
		}
	}
	for _, c := range l.Choices {
		if strings.Contains(strings.ToLower(text(c.Line)), l.query) {
			choices = append(choices, c)
		}
	}
	return lines, choices
}

func text(l widget.Line) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// place is where the overlay lies in an area, its lines as they are drawn there (what is too long goes on below, under its last span), and its choices.
func (l List) place(w, h int) (r layout.Rect, lines []widget.Line, choices []Choice) {
	need := l.Width
	if need == 0 {
		for _, line := range l.Lines {
			need = max(need, line.Width())
		}
		for _, c := range l.Choices {
			need = max(need, c.Line.Width()+2)
		}
		need = max(need+4, grid.Width(l.Title)+6)
	}
	need = min(need, max(w-2, 0))
	all, choices := l.rows()
	lines = all
	for i, line := range all {
		if line.Width() > need-4 {
			lines = append(append([]widget.Line(nil), all[:i]...), wrap(all[i:], need-4)...)
			break
		}
	}
	if len(lines) > 0 && len(choices) > 0 {
		lines = append(lines[:len(lines):len(lines)], nil)
	}
	if len(lines)+len(choices) == 0 {
		lines = []widget.Line{{widget.S(l.None, theme.Dim)}}
	}
	area := layout.Rect{W: w, H: h}
	r = area.Center(need, len(lines)+len(choices)+2)
	if l.query != "" && !l.Low { // stays where it was while it gets shorter
		r.Y = area.Center(need, len(l.Lines)+len(l.Choices)+2).Y
	}
	if l.Low {
		r.Y = h - r.H
	}
	return r, lines, choices
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

// Handle scrolls, marks and searches. A choice that is taken comes back as what it does, and the list is closed.
func (l List) Handle(i intent.Intent, w, h int) (List, []intent.Intent) {
	r, lines, choices := l.place(w, h)
	height := max(r.H-2, 1)
	move := 0
	switch i := i.(type) {
	case intent.Move:
		move = i.DY
	case intent.Wheel:
		move = 3 * i.By
		if len(choices) > 0 {
			move = i.By
		}
	case intent.Page:
		move = i.By * height
	case intent.Edge:
		move = i.To * (len(lines) + len(choices))
	case intent.Text:
		l.query, l.top, l.at = strings.ToLower(strings.TrimSpace(i.Value)), 0, 0
		return l, nil
	case intent.Enter:
		if l.at < len(choices) {
			return List{}, []intent.Intent{choices[l.at].Do}
		}
		return List{}, nil
	case intent.Point:
		if !r.Contains(i.X, i.Y) {
			return List{}, nil
		}
		if at := l.clamp(len(lines)+len(choices), height) + i.Y - r.Y - 1 - len(lines); at >= 0 && at < len(choices) {
			return List{}, []intent.Intent{choices[at].Do}
		}
		return l, nil
	case intent.Back:
		if l.query != "" {
			l.query = ""
			return l, nil
		}
		return List{}, nil
	default:
		return l, []intent.Intent{i}
	}
	if len(choices) > 0 {
		l.at = max(min(l.at+move, len(choices)-1), 0)
		row := len(lines) + l.at
		if l.at == 0 {
			row = 0
		}
		l.top = min(max(l.top, len(lines)+l.at-height+1), row)
		return l, nil
	}
	l.top = max(min(l.top+move, len(lines)-height), 0)
	return l, nil
}

// clamp is the first row shown; the terminal may have become larger.
func (l List) clamp(rows, height int) int { return max(min(l.top, rows-height), 0) }

// Draw draws the overlay over what is there.
func (l List) Draw(c grid.Canvas) {
	w, h := c.Size()
	r, lines, choices := l.place(w, h)
	if r.W < 8 || r.H < 3 {
		return
	}
	c.Sub(layout.Rect{X: r.X - 1, Y: r.Y, W: r.W + 2, H: r.H}).Clear()
	box := c.Sub(r)
	box.Clear()
	in := box.Box(grid.Double, theme.Accent&^grid.Bold)
	box.Put(2, 0, " "+grid.Cut(l.Title, r.W-6)+" ", theme.Accent)
	iw, ih := in.Size()
	rows := len(lines) + len(choices)
	top := l.clamp(rows, ih)
	for y := 0; y < ih && top+y < rows; y++ {
		i := top + y
		if i < len(lines) {
			lines[i].Draw(in, 1, y, iw-2)
			continue
		}
		i -= len(lines)
		if i == l.at {
			in.Put(0, y, string(grid.Marker), theme.Accent)
		}
		choices[i].Line.Draw(in, 2, y, iw-3)
		if i == l.at {
			in.Reverse(1, y, iw-1)
		}
	}
	end := r.W - 2
	if rows > ih {
		place := fmt.Sprintf(" %d-%d / %d ", top+1, min(top+ih, rows), rows)
		box.PutRight(end, r.H-1, place, theme.Dim)
		end -= grid.Width(place) + 1
	}
	switch {
	case l.query != "":
		box.PutMax(2, r.H-1, max(end-3, 0), " / "+l.query+" ", theme.Accent)
	case l.Hint != "":
		box.PutMax(2, r.H-1, max(end-3, 0), " "+l.Hint+" ", theme.Dim)
	}
}
