package raftview

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
)

// row of the table of the log: an entry, by index and term, and which members hold it.
type row struct {
	index, term uint64
	// of is a member that holds it, or has given it up (lost).
	of   *member
	lost bool
}

// rows are the newest entries of all logs, the newest first. Where logs part, an index has a row for each term.
func (p *figure) rows(n int) []row {
	var out []row
	last := p.end()
	if p.v.entry != 0 { // the selected one stays in sight
		last = min(max(last, p.v.entry), p.v.entry+uint64(n/2))
	}
	for i := last; i > 0 && len(out) < n && last-i < reach; i-- {
		seen := len(out)
		for _, m := range p.all {
			t := m.TermAt(i)
			if t == 0 || i > m.LastIndex {
				continue
			}
			known := false
			for _, r := range out[seen:] {
				known = known || r.term == t
			}
			if !known {
				out = append(out, row{i, t, m, false})
			}
		}
		for _, m := range p.all { // what was overwritten there, for a moment
			if t := m.Cut.TermAt(i); t != 0 && p.lately(m) && !slices.ContainsFunc(out[seen:], func(r row) bool { return r.term == t }) {
				out = append(out, row{i, t, m, true})
			}
		}
	}
	return out[:min(len(out), n)]
}

// columnWidth of a member in the table.
func (p *figure) columnWidth() int {
	n := 3
	for _, m := range p.all {
		n = max(n, grid.Width(shortName(m.Name)))
	}
	return n + 1
}

// drawTable draws the log as a table: index, term, what it holds, and a column for each member.
func (p *figure) drawTable(c grid.Canvas) {
	w, h := c.Size()
	if w < 24 || h < 3 {
		return
	}
	in := p.pane(c, p.say("raft.table"))
	iw, ih := in.Size()
	col := p.columnWidth()
	left := iw - col*len(p.all) - 1
	in.Put(1, 0, p.say("raft.table-head"), theme.Dim)
	for i, m := range p.all {
		style := theme.Dim
		if m.leads {
			style = theme.Leader
		}
		in.PutRight(left+col*(i+1), 0, shortName(m.Name), style)
	}
	rows := p.rows(ih - 1)
	if len(rows) == 0 {
		in.PutMax(1, 1, iw-2, p.say("raft.table-empty"), theme.Dim)
		return
	}
	for y, r := range rows {
		p.drawTableRow(r, in.Sub(layout.Rect{X: 0, Y: y + 1, W: iw, H: 1}), left, col)
	}
}

// drawLostRow draws an entry that was given up: struck, with the term that took its place.
func (p *figure) drawLostRow(r row, c grid.Canvas, left, col int) {
	x := c.Put(1, 0, fmt.Sprintf("%6d  t%-3d %c ", r.index, r.term, grid.Times), theme.Failing)
	what := ""
	for _, e := range r.of.Cut.Entries {
		if e.Index == r.index {
			what = p.holdsFull(e)
		}
	}
	why := p.say("raft.given-up")
	if by := r.of.Cut.By; by != 0 {
		why = p.say("raft.overwritten", "term", by)
	}
	room := max(left-x-1, 0)
	if n := grid.Width(why) + 2; what != "" && grid.Width(what)+n > room {
		what = grid.CutMiddle(what, max(room-n, 0))
	}
	if what != "" {
		x = c.PutMax(x, 0, room, what+"  ", theme.Failing)
	}
	c.PutMax(x, 0, max(left-x, 0), why, theme.Failing|grid.Bold)
	for i, m := range p.all {
		if m.Cut.TermAt(r.index) == r.term && p.lately(m) {
			c.Put(left+col*(i+1)-1, 0, string(grid.Times), theme.Failing)
		}
	}
}

func (p *figure) drawTableRow(r row, c grid.Canvas, left, col int) {
	if r.lost {
		p.drawLostRow(r, c, left, col)
		return
	}
	style := theme.Text
	picked := p.v.entry == r.index && p.member(p.v.member) != nil && p.member(p.v.member).TermAt(r.index) == r.term
	need := p.f.Scene.Quorum.Need
	committed := false
	for _, m := range p.all {
		committed = committed || m.TermAt(r.index) == r.term && m.CommitIndex >= r.index && m.differs == 0
	}
	holders := p.holders(r.index, r.term)
	doomed := p.leader != nil && p.leader.TermAt(r.index) != r.term && r.term < p.leader.Term && len(p.leader.Runs) > 0 && r.index >= p.leader.Runs[0].From
	sign := ' '
	switch {
	case doomed:
		style, sign = theme.Failing, grid.Times
	case !committed && holders < need:
		style, sign = theme.Busy, grid.Waiting
	case committed:
		style = theme.Dim
	}
	if picked {
		style |= grid.Reverse
		c.Put(0, 0, string(grid.Marker), theme.Accent)
	}
	x := c.Put(1, 0, fmt.Sprintf("%6d  t%-3d %c ", r.index, r.term, sign), style)
	what := p.say("raft.unknown")
	if e, ok := p.f.World.EntryOf(r.of.Member, r.index); ok {
		what = p.holdsFull(e)
	}
	c.PutMax(x, 0, max(left-x, 0), what, style)
	for i, m := range p.all {
		t := m.TermAt(r.index)
		sign, style := grid.Done, theme.Dim
		switch {
		case t == r.term && doomed:
			sign, style = grid.Times, theme.Failing
		case t == r.term && m.CommitIndex >= r.index:
			sign, style = grid.Running, theme.Dim
			if !m.runs {
				style = theme.Frame
			}
		case t == r.term:
			sign, style = grid.Waiting, theme.Busy
		case t == 0 && p.untold(m, r.index):
			sign, style = grid.Unknown, theme.Dim
		case len(m.Runs) == 0 || r.index < m.Runs[0].From:
			sign = ' '
		}
		c.Put(left+col*(i+1)-1, 0, string(sign), style)
	}
}

// holdsFull says what an entry writes, with namespaces.
func (p *figure) holdsFull(e world.Entry) string {
	if e.Kind != "" || len(e.Writes) == 0 {
		return p.holds(e)
	}
	text := strings.Join(p.writes(e), ", ")
	if e.More > 0 {
		text += fmt.Sprintf(" +%d", e.More)
	}
	if why := p.turnedDown(e); why != "" {
		text = why + "  " + text
	}
	return sanitize.Text(text)
}

// tableAreas are the rows of the table as places to click.
func (p *figure) tableAreas(r layout.Rect) []area {
	if r.W < 24 || r.H < 3 {
		return nil
	}
	var out []area
	for i, e := range p.rows(r.H - 2) {
		name := e.of.Name
		if m := p.member(p.v.member); m != nil && m.TermAt(e.index) == e.term {
			name = m.Name
		}
		out = append(out, area{rect: layout.Rect{X: r.X, Y: r.Y + 2 + i, W: r.W, H: 1}, member: name, entry: e.index})
	}
	return out
}

// pane writes a title over a rule and returns what is below.
func (p *figure) pane(c grid.Canvas, title string) grid.Canvas {
	w, h := c.Size()
	c.Sub(layout.Rect{W: w, H: 1}).HLine(0, grid.LineH, theme.Frame)
	c.PutMax(1, 0, max(w-2, 0), " "+title+" ", theme.Dim)
	return c.Sub(layout.Rect{Y: 1, W: w, H: max(h-1, 0)})
}
