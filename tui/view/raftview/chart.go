package raftview

import (
	"fmt"
	"slices"
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// drawChart draws messages as a chart: a line of life for each member, time from top to bottom, the newest last.
func (p *figure) drawChart(c grid.Canvas) {
	w, h := c.Size()
	if w < 30 || h < 3 || len(p.all) == 0 {
		return
	}
	in := p.pane(c, p.chartTitle())
	iw, ih := in.Size()
	const clockW = 9
	n := len(p.all)
	step := (iw - clockW - 4) / max(n-1, 1)
	step = min(step, 30)
	xs := map[string]int{}
	for i, m := range p.all {
		xs[m.Name] = clockW + 2 + i*step
	}
	for _, m := range p.all {
		_, _, style := p.state(m)
		if p.well(m) && !m.leads {
			style = theme.Dim
		}
		in.Put(max(min(xs[m.Name]-1, iw-4), 0), 0, shortName(m.Name), style)
	}
	list := p.charted(ih - 1)
	if n == 1 {
		in.PutMax(1, 1, iw-2, p.say("raft.chart-alone"), theme.Dim)
		return
	}
	if len(list) == 0 {
		in.PutMax(1, 1, iw-2, p.say("raft.chart-empty"), theme.Dim)
		return
	}
	start, _ := p.lossOf() // offsets count from it while an election is going on or has just been, else from the present
	for y, m := range list {
		row := y + 1
		in.PutRight(clockW-1, row, p.offset(m, start), theme.Dim)
		for _, x := range xs {
			in.Put(x, row, "│", theme.Frame)
		}
		p.drawMessage(in, row, m, xs)
	}
}

// charted are the last messages that fit. Those that only say that the leader is there are left out, unless time is slowed down or they were lost.
func (p *figure) charted(n int) []message {
	var out []message
	for i := len(p.sent) - 1; i >= 0 && len(out) < n; i-- {
		m := p.sent[i]
		if m.beat && !m.lost && p.f.Slow == 0 {
			continue
		}
		if m.beat && m.answer && !m.lost && p.f.Slow < 200 { // the answer to a heartbeat says little
			continue
		}
		out = append(out, m)
	}
	slices.Reverse(out)
	return out
}

// offset of a message: since the loss of the leader, or how long ago.
func (p *figure) offset(m message, start time.Time) string {
	if !start.IsZero() && !m.wall.IsZero() {
		d := m.wall.Sub(start)
		if d < -10*time.Second || d > time.Minute {
			return ago(p.clock.since(m.wall, m.sim))
		}
		if d < 0 {
			return "-" + millis(-d)
		}
		return "+" + millis(d)
	}
	return ago(p.clock.since(m.wall, m.sim))
}

func millis(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%d.%dms", d.Milliseconds(), d.Microseconds()%1000/100)
	}
	if d < 10*time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return words.Span(d)
}

func ago(d time.Duration) string {
	if d < 100*time.Millisecond { // no time has passed: nothing is "before"
		return runs(0)
	}
	if d < 10*time.Second {
		return "-" + runs(d)
	}
	return "-" + words.Span(d)
}

// drawMessage draws an arrow from one line of life to another with what it says, or a word on the line of its member.
func (p *figure) drawMessage(c grid.Canvas, y int, m message, xs map[string]int) {
	w, _ := c.Size()
	a, b := xs[m.from], xs[m.to]
	if m.from == m.to {
		text := string(grid.Running) + " " + m.text
		if over := a + grid.Width(text) - w; over > 0 && a-grid.Width(m.text)-1 > 9 {
			c.PutRight(a+1, y, m.text+" "+string(grid.Running), m.style)
			return
		}
		c.PutMax(a, y, w-a, text, m.style)
		return
	}
	style := m.style
	if m.lost {
		style = theme.Failing
	}
	lo, hi := min(a, b), max(a, b)
	for x := lo + 1; x < hi; x++ {
		c.Put(x, y, string(grid.LineH), style)
	}
	head, at := string(grid.Play), hi
	if b < a {
		head, at = string(grid.LeftTo), lo
	}
	if m.lost { // it stops on its way
		at, head = (a+b*4)/5, string(grid.Times)
		for x := min(at, b) + 1; x < max(at, b); x++ {
			c.Put(x, y, " ", 0)
		}
		lo, hi = min(a, at), max(a, at)
	}
	c.Put(at, y, head, style)
	text := " " + m.text + " "
	if room := hi - lo - 3; room > 3 {
		text = grid.Cut(text, room)
		c.Put(lo+2+max(0, (room-grid.Width(text))/2), y, text, style)
	}
}

// chartTitle says that the instants of messages are real ones, where simulated time is another.
func (p *figure) chartTitle() string {
	if title := p.say("raft.chart"); p.real(title) == title {
		return title
	}
	return p.say("raft.chart-real")
}
