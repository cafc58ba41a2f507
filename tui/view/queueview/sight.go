package queueview

import (
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// Measures of the layout.
const (
	headRows   = 1   // of the table: the names of the columns
	sideBySide = 110 // columns from which items and chains lie beside each other
	noteRows   = 4   // below the items, about the selected one
)

// sight is what the view shows of a frame, and where.
type sight struct {
	groups []group
	lines  []line
	cursor int // in lines; -1: no queue
	top    int // first of lines that is drawn
	row    *row
	items  []event.QueueItem
	waits  []wait
	blocks [][]widget.Line // of waits

	table    layout.Rect
	room     int         // rows of the table for lines
	itemBox  layout.Rect // with its title
	itemRows layout.Rect
	itemTop  int
	note     layout.Rect
	waitBox  layout.Rect
	waitTop  int // first of blocks that is drawn
}

// see finds out what is to be shown.
func (v View) see(f view.Frame) *sight {
	s := &sight{cursor: -1}
	area := layout.Rect{Y: 1, W: f.W, H: max(f.H-1, 0)}
	s.groups = groups(f)
	s.lines = v.lines(s.groups, area.H/2)
	s.cursor = v.cursor(s.lines)
	if s.cursor >= 0 {
		s.row = s.lines[s.cursor].row
		s.items = s.row.list()
	}
	s.waits = waits(f, s.groups)
	s.place(v, f, area)
	return s
}

// place cuts the area: the table gets what it needs up to what items and chains leave, they what is left.
func (s *sight) place(v View, f view.Frame, area layout.Rect) {
	table := headRows + max(len(s.lines), 1)
	items := 1 + 1 + 2 // title, that it is empty, what it is for
	if len(s.items) > 0 {
		items = 1 + len(s.items) + noteRows
	}
	if area.W >= sideBySide {
		right := min(area.W*9/20, 90)
		s.blocks = v.blocksOf(f, s.waits, right-3)
		low := max(items, 1+rowsOf(s.blocks))
		table = min(table, max(area.H-low, area.H*3/5))
		cut := area.Rows(layout.Fixed(table), layout.Fixed(min(1, area.H-table)), layout.Fill(1))
		s.table = cut[0]
		low2 := cut[2].Cols(layout.Fill(1), layout.Fixed(2), layout.Fixed(right))
		s.itemBox, s.waitBox = low2[0], low2[2]
	} else {
		s.blocks = v.blocksOf(f, s.waits, area.W-3)
		chains := min(1+rowsOf(s.blocks), max(3, area.H/4))
		list := min(items, max(4, area.H/3))
		table = min(table, max(area.H-list-chains, area.H/3))
		if spare := area.H - table - list - chains; spare > 0 {
			more := min(spare, max(0, items-list))
			list += more
		}
		cut := area.Rows(layout.Fixed(table), layout.Fixed(list), layout.Fill(1))
		s.table, s.itemBox, s.waitBox = cut[0], cut[1], cut[2]
	}
	s.room = max(s.table.H-headRows, 0)
	if len(s.lines) > s.room { // the last row says how many are below
		s.room = max(s.room-1, 0)
	}
	s.top = widget.Window(s.cursor, len(s.lines), s.room)

	inside := layout.Rect{X: s.itemBox.X, Y: s.itemBox.Y + 1, W: s.itemBox.W, H: max(s.itemBox.H-1, 0)}
	note := min(noteRows, max(0, inside.H-max(len(s.items), 1)))
	if inside.H >= 5 {
		note = max(note, 2)
	}
	cut := inside.Rows(layout.Fixed(min(inside.H-note, max(len(s.items), 1)+1)), layout.Fill(1))
	s.itemRows, s.note = cut[0], cut[1]
	if len(s.items) > 0 {
		s.itemTop = widget.Window(v.itemAt(s.items), len(s.items), s.itemRows.H)
	}
	if len(s.waits) > 0 {
		s.waitTop = s.firstBlock(v.waitAt(s.waits))
	}
}

// firstBlock is the first chain to draw so that a certain one is seen as a whole.
func (s *sight) firstBlock(at int) int {
	room := s.waitBox.H - 1
	first := at
	used := len(s.blocks[at])
	for first > 0 && used+len(s.blocks[first-1]) <= room {
		first--
		used += len(s.blocks[first])
	}
	return first
}

func rowsOf(blocks [][]widget.Line) int {
	n := 0
	for _, b := range blocks {
		n += len(b)
	}
	return n
}

// height of what can be seen of a pane at once.
func (s *sight) height(p pane) int {
	switch p {
	case itemsPane:
		return s.itemRows.H
	case waitsPane:
		return max(1, (s.waitBox.H-1)/2)
	}
	return s.room
}

func (s *sight) paneAt(x, y int) (pane, bool) {
	switch {
	case s.table.Contains(x, y):
		return queuesPane, true
	case s.itemBox.Contains(x, y):
		return itemsPane, true
	case s.waitBox.Contains(x, y):
		return waitsPane, true
	}
	return 0, false
}

// waitOn is the chain that is drawn on a row.
func (s *sight) waitOn(y int) (int, bool) {
	at := s.waitBox.Y + 1
	for i := s.waitTop; i < len(s.blocks); i++ {
		if y >= at && y < at+len(s.blocks[i]) {
			return i, true
		}
		at += len(s.blocks[i])
	}
	return 0, false
}

// blocksOf writes chains as lines of at most width cells.
func (v View) blocksOf(f view.Frame, all []wait, width int) [][]widget.Line {
	out := make([][]widget.Line, len(all))
	for i := range all {
		out[i] = block(f, &all[i], width, v.pane == waitsPane && v.waitAt(all) == i)
	}
	return out
}

// block is a chain with arrows, and below it why and until when.
func block(f view.Frame, w *wait, width int, chosen bool) []widget.Line {
	style := theme.Text
	switch w.urgency {
	case blocked:
		style = theme.Failing &^ grid.Bold
	case content:
		style = theme.Dim
	}
	var out []widget.Line
	var now widget.Line
	for i, l := range w.links {
		text := sanitize.Text(l)
		room := width - now.Width()
		if i > 0 && room < min(grid.Width(text)+3, 24) && len(out) == 0 { // goes on below
			out = append(out, now)
			now = widget.Line{widget.S("  ", 0)}
			room = width - 2
		}
		if i > 0 {
			now = append(now, widget.S(" "+string(grid.RightTo)+" ", theme.Dim))
			room -= 3
		}
		now = append(now, widget.S(grid.Cut(text, room), style))
	}
	out = append(out, now)
	if w.urgency == content && !chosen {
		return out
	}
	tail := untilWords(f, w.until)
	if w.why != "" {
		if tail != "" {
			tail += ": "
		}
		tail += sanitize.Text(w.why)
	}
	if tail == "" {
		return out
	}
	lines := 1
	if chosen {
		lines = 3
	}
	parts := widget.Wrap(tail, max(width-2, 1))
	if len(parts) > lines {
		parts = append(parts[:lines-1:lines-1], grid.Cut(strings.Join(parts[lines-1:], " "), max(width-2, 1)))
	}
	for _, part := range parts {
		out = append(out, widget.Line{widget.S("  ", 0), widget.S(part, theme.Dim)})
	}
	return out
}

// untilWords says when something that is due will be: "in 4m38s", or that it is late.
func untilWords(f view.Frame, due time.Time) string {
	switch left := due.Sub(f.Now); {
	case due.IsZero():
		return ""
	case left < -overdueBy:
		return f.Words.Say("queues.late", "by", -left)
	case left < time.Second:
		return f.Words.Say("queues.now")
	default:
		return f.Words.Say("queues.in", "span", words.Span(left))
	}
}
