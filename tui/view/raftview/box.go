package raftview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

// titleSpans are a member's name and what it is.
func (p *figure) titleSpans(m *member) widget.Line {
	sign, word, style := p.state(m)
	mark := " "
	name := theme.Title
	if m.Name == p.v.member {
		mark = string(grid.Marker)
		name |= grid.Reverse
	}
	rest := strings.TrimPrefix(p.role(m), word)
	weight := theme.Dim
	if !p.well(m) {
		weight = theme.Text
	}
	return widget.Line{widget.S(mark, theme.Accent), widget.S(string(sign)+" ", style), widget.S(sanitize.Text(m.Name), name), widget.S("  "+word, style), widget.S(rest, weight)}
}

// drawBox draws a member with a frame: role, timer, log with marks, and where there is room disk and messages.
func (p *figure) drawBox(m *member, c grid.Canvas) {
	w, h := c.Size()
	border, style := grid.Thin, theme.Frame
	if !p.well(m) {
		_, _, style = p.state(m)
		border = grid.Heavy
	}
	if m.leads && p.well(m) {
		style = theme.Leader
	}
	in := c.Box(border, style)
	title := append(p.titleSpans(m), widget.S(" ", 0))
	title.Draw(c, 2, 0, w-4)
	iw, ih := in.Size()
	label := p.labelWidth()
	room := iw - 1 - label
	row := 0
	put := func(name string, l widget.Line) {
		if row < ih {
			in.Put(1, row, name, theme.Dim)
			l.Draw(in, 1+label, row, room)
		}
		row++
	}
	put(p.say("raft.timer"), p.timer(m, room))
	cells, more := p.logCells(m, room)
	put(p.say("raft.log"), nil)
	p.drawCells(m, cells, more, in.Sub(layout.Rect{X: 1 + label, Y: row - 1, W: room, H: 1}))
	p.drawMarks(m, cells, in.Sub(layout.Rect{X: 1 + label, Y: row, W: room, H: min(1, max(ih-row, 0))}))
	row++
	if ih >= 5 {
		put(p.say("raft.disk"), p.disk(m, room))
		put(p.say("raft.net"), p.net(m))
		return
	}
	if ih >= 4 {
		put(p.say("raft.disk"), p.disk(m, room))
	}
	if wire := p.net(m); len(wire) > 0 { // on the frame
		if n := wire.Width() + 2; n < w-6 {
			append(append(widget.Line{widget.S(" ", 0)}, wire...), widget.S(" ", 0)).Draw(c, w-2-n, h-1, n)
		}
	}
}

func (p *figure) labelWidth() int {
	n := 0
	for _, s := range []string{p.say("raft.timer"), p.say("raft.log"), p.say("raft.disk"), p.say("raft.net")} {
		n = max(n, grid.Width(s))
	}
	return n + 2
}

// drawRows draws a member without a frame, in one to three rows.
func (p *figure) drawRows(m *member, c grid.Canvas) {
	w, h := c.Size()
	if h < 1 || w < 1 {
		return
	}
	title := p.titleSpans(m)
	if m.runs && !p.well(m) && h > 1 { // the timer matters more than the vote
		title[len(title)-1] = widget.S("  "+strings.Join(append(append([]string{fmt.Sprintf("t%d", m.term())}, p.learning(m)...), p.badges(m)...), "   "), theme.Text)
	}
	if h == 1 {
		title = append(title, widget.S(fmt.Sprintf("   i%d c%d", m.LastIndex, m.CommitIndex), theme.Dim))
	}
	x := title.Draw(c, 0, 0, w)
	wire := p.net(m)
	if h > 1 {
		if t := p.timer(m, w-x-3); w-x > 24 && (len(wire) == 0 || m.runs && !p.well(m)) {
			x = t.Draw(c, x+3, 0, w-x-3)
		}
	}
	if n := wire.Width(); n > 0 && w-x > 8 {
		wire.Draw(c, max(x+2, w-n), 0, min(n, w-x-2))
	}
	if h < 2 {
		return
	}
	cells, more := p.logCells(m, w-4)
	p.drawCells(m, cells, more, c.Sub(layout.Rect{X: 4, Y: 1, W: w - 4, H: 1}))
	if h > 2 {
		p.drawMarks(m, cells, c.Sub(layout.Rect{X: 4, Y: 2, W: w - 4, H: 1}))
	}
}

// barCells is the width of a timer.
const barCells = 10

// timer says how long a member still waits before it acts. Raft draws the time by lot, between one and two timeouts.
func (p *figure) timer(m *member, room int) widget.Line {
	t := p.f.World.Timing
	span := t.Heartbeat
	if m.stands() {
		span = t.Election
	}
	if !m.runs || m.Out {
		return widget.Line{widget.S(p.say("raft.timer-down"), theme.Dim)}
	}
	if m.Learns() {
		return widget.Line{widget.S(p.say("raft.timer-learner"), theme.Dim)}
	}
	if span <= 0 {
		return widget.Line{widget.S(p.say("raft.timer-unknown"), theme.Dim)}
	}
	between := []any{"least", short(span), "most", p.real(short(2 * span))}
	switch {
	case m.leads || m.claims:
		text := p.say("raft.timer-leads", "every", short(span/10), "lease", p.real(short(t.Lease)))
		if grid.Width(text) > room {
			text = p.say("raft.timer-leads-short", "every", p.real(short(span/10)))
		}
		if p.voters == 1 {
			text = p.say("raft.timer-alone")
		}
		if m.claims && t.Lease > 0 {
			if gone, known := p.unheard(m); known {
				left := max(t.Lease-gone, 0)
				return widget.Line{widget.S(widget.Bar(int64(left), int64(t.Lease), barCells)+" ", theme.Unknown), widget.S(p.say("raft.timer-steps-down", "left", runs(left), "gone", p.real(runs(gone))), theme.Text)}
			}
		}
		return widget.Line{widget.S(text, theme.Dim)}
	case m.muted:
		return widget.Line{widget.S(p.say("raft.timer-muted"), theme.Dim)}
	case m.stands():
		gone := p.clock.since(m.Round.Wall, m.Round.At)
		if m.Round.Kind == "" {
			gone = p.clock.since(m.Wall, m.Since)
		}
		return p.countdown(gone, span, room, asksWords)
	case m.Silent || m.Leader == "":
		gone := p.clock.since(m.Heard, m.Since)
		line := p.countdown(gone, span, room, standsWords)
		silent := runs(gone)
		if gone >= 2*span { // the countdown names no time
			silent = p.real(silent)
		}
		return append(line, widget.S("   "+p.say("raft.timer-silent", "gone", silent), theme.Text))
	}
	full := strings.Repeat(string(grid.BarFull), barCells)
	text := p.say("raft.timer-hears", append(between, "leader", m.Leader)...)
	if grid.Width(text)+barCells+1 > room {
		text = p.say("raft.timer-hears-short", append(between, "leader", m.Leader)...)
	}
	return widget.Line{widget.S(full, theme.Dim), widget.S(" "+text, theme.Dim)}
}

// countdownWords are what a countdown says: between two instants, the same in short, any moment but not later than one, and any moment.
type countdownWords struct{ between, short, till, now string }

var (
	standsWords = countdownWords{"raft.timer-stands", "raft.timer-stands-short", "raft.timer-stands-till", "raft.timer-stands-now"}
	asksWords   = countdownWords{"raft.timer-asks", "raft.timer-asks-short", "raft.timer-asks-till", "raft.timer-asks-now"}
)

// countdown is a bar that is empty when twice the timeout has passed, with what comes then.
func (p *figure) countdown(gone, timeout time.Duration, room int, words countdownWords) widget.Line {
	left := 2*timeout - gone
	bar := widget.S(widget.Bar(int64(max(left, 0)), int64(2*timeout), barCells)+" ", theme.Waiting)
	args := []any{"least", runs(timeout - gone), "most", p.real(runs(left))}
	text := p.say(words.between, args...)
	switch {
	case left <= 0:
		text = p.say(words.now)
	case timeout-gone < 100*time.Millisecond:
		text = p.say(words.till, args...)
	case grid.Width(text)+barCells+1 > room:
		text = p.say(words.short, args...)
	}
	return widget.Line{bar, widget.S(text, theme.Text)}
}

// disk says what a member would come back with, what is wrong with its disk, and how full its database is.
func (p *figure) disk(m *member, room int) widget.Line {
	text := p.say("raft.disk-ok", "last", m.LastIndex)
	switch {
	case m.LastIndex == 0:
		text = p.say("raft.disk-empty")
	case !m.runs:
		text = p.say("raft.disk-kept", "last", m.LastIndex)
	}
	if m.Snapshot > 0 {
		text += p.say("raft.disk-snapshot", "index", m.Snapshot)
	}
	line := append(p.diskSpans(m), widget.S(text, theme.Dim))
	line = append(line, p.databaseSpans(m, room)...)
	line = append(line, p.trapSpans(m)...)
	if m.Cut.Seq != 0 && p.f.Now.Sub(m.Cut.At) < time.Minute {
		line = append(line, widget.S("   "+p.say("raft.disk-cut", "range", indexes(m.Cut.From, m.Cut.To), "since", p.f.Now.Sub(m.Cut.At)), theme.Waiting))
	}
	if p.leader != nil && m.runs && !m.leads && m.Votes() && p.leader.LastIndex > m.LastIndex+lagging {
		key := "raft.disk-behind"
		if !p.f.World.Reaches(p.leader.Name, m.Name) {
			key = "raft.disk-lacks"
		}
		line = append(line, widget.S("   "+p.say(key, "n", int(p.leader.LastIndex-m.LastIndex)), theme.Waiting))
	}
	return line
}

// lagging is how many entries a member may be behind without a word.
const lagging = 5

// net is what travels to and from a member now, the newest last.
func (p *figure) net(m *member) widget.Line {
	line := p.installSpans(m)
	list := p.flying(m.Name)
	if len(list) > 4 {
		list = list[len(list)-4:]
	}
	for _, s := range list {
		if len(line) > 0 {
			line = append(line, widget.S("   ", 0))
		}
		other, way := s.to, grid.RightTo
		if s.to == m.Name {
			other, way = s.from, grid.LeftTo
		}
		style, lost := s.style, ""
		if s.lost {
			style, lost = theme.Failing, " "+string(grid.Times)
		}
		line = append(line, widget.S(fmt.Sprintf("%c %s%s %s", way, shortName(other), lost, s.text), style))
	}
	return line
}

// shortName is how a member is called where there is little room: m2 for master-2.
func shortName(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 || i == len(name)-1 {
		return sanitize.Text(name)
	}
	return sanitize.Text(name[:1] + name[i+1:])
}
