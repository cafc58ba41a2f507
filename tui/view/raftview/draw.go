package raftview

import (
	"fmt"
	"slices"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

func (p *figure) draw(c grid.Canvas) {
	w, h := c.Size()
	if len(p.all) == 0 {
		p.drawNothing(c)
		return
	}
	l := p.plan()
	for _, r := range l.boxes {
		if r.Empty() {
			p.without++
		}
	}
	p.headLine().Draw(c.Sub(l.head), 0, 0, w)
	if l.head.H > 1 {
		p.factsLine(w).Draw(c.Sub(l.head), 0, 1, w)
	}
	for i, r := range l.boxes {
		if l.framed {
			p.drawBox(p.shown[i], c.Sub(r))
		} else {
			p.drawRows(p.shown[i], c.Sub(r))
		}
	}
	if len(p.shown) == 0 && h > 3 {
		c.PutMax(1, 2, w-2, p.say("raft.all-well"), theme.Dim)
	}
	p.drawTable(c.Sub(l.table))
	p.drawChart(c.Sub(l.chart))
	p.drawElections(c.Sub(l.elections))
	p.drawNow(c.Sub(l.foot))
}

// drawNothing explains why there is no group.
func (p *figure) drawNothing(c grid.Canvas) {
	w, h := c.Size()
	text := p.say("raft.starting")
	if p.f.World.Header.Store == "memory" {
		text = p.say("raft.memory")
	}
	lines := widget.Wrap(text, min(max(w-4, 1), 76))
	for i, line := range lines {
		c.Put(2, max(h/2-len(lines)/2, 0)+i, line, theme.Text)
	}
}

// headLine says who leads and what the group can bear; in slow motion first of all where in it.
func (p *figure) headLine() widget.Line {
	q := p.f.Scene.Quorum
	var line widget.Line
	if p.f.Slow > 0 {
		text := p.say("raft.slow", "factor", int(p.f.Slow+0.5))
		if start, ok := p.lossOf(); ok {
			d := p.clock.wall.Sub(start)
			sign := "+"
			if d < 0 {
				sign, d = "-", -d
			}
			text = p.say("raft.slow-at", "factor", int(p.f.Slow+0.5), "at", fmt.Sprintf("%s%d", sign, d.Milliseconds()))
		}
		line = append(line, widget.S(" "+text+"  ", theme.Busy|grid.Bold))
	}
	line = append(line, widget.S(" "+p.say("raft.head-term", "term", q.Term)+"  ", theme.Dim))
	if m := p.member(q.Leader); m != nil {
		line = append(line, widget.S(string(grid.Leader)+" "+p.say("raft.head-leads", "leader", q.Leader, "since", p.f.Now.Sub(m.Since)), theme.Leader))
	} else {
		line = append(line, widget.S(string(grid.Failing)+" "+p.say("raft.head-nobody"), theme.Failing))
	}
	line = append(line, widget.S("   ", 0))
	if q := p.quorum(); line.Width()+grid.Width(q.Text) <= p.f.W {
		line = append(line, q)
	} else {
		line = append(line, widget.S(p.quorumShort(), q.Style))
	}
	folded := 0
	for _, m := range p.all {
		if !slices.Contains(p.shown, m) {
			folded++
		}
	}
	if folded > 0 {
		line = append(line, widget.S("   "+p.say("raft.folded", "n", folded), theme.Dim))
	}
	if n := p.without; n > 0 {
		line = append(line, widget.S("   "+p.say("raft.no-room", "n", n), theme.Dim))
	}
	return line
}

// quorum is what the group can bear, and what another number of members would.
func (p *figure) quorum() widget.Span {
	q := p.f.Scene.Quorum
	args := []any{"alive", q.Alive, "members", q.Members, "need", q.Need, "lose", max(q.Lose, 0), "more", q.Members + 2, "then", (q.Members + 1) / 2}
	switch {
	case q.Alive < q.Need:
		return widget.S(p.say("raft.quorum-lost", args...), theme.Failing)
	case q.Members == 1:
		return widget.S(p.say("raft.quorum-one"), theme.Dim)
	case q.Alive == q.Members && q.Members%2 == 0:
		return widget.S(p.say("raft.quorum-even", append(args, "less", q.Members-1)...), theme.Waiting)
	case q.Lose == 0:
		return widget.S(p.say("raft.quorum-edge", args...), theme.Waiting)
	}
	return widget.S(p.say("raft.quorum", args...), theme.Dim)
}

// quorumShort is the same where there is little room.
func (p *figure) quorumShort() string {
	q := p.f.Scene.Quorum
	if q.Alive < q.Need {
		return p.say("quorum.lost", "alive", q.Alive, "members", q.Members, "need", q.Need)
	}
	return p.say("raft.quorum-short", "alive", q.Alive, "members", q.Members, "lose", max(q.Lose, 0))
}

// drawNow writes what happens now and why.
func (p *figure) drawNow(c grid.Canvas) {
	w, h := c.Size()
	if w < 8 || h < 1 {
		return
	}
	y := 0
	if h > 4 {
		c.Sub(layout.Rect{W: w, H: 1}).HLine(0, grid.LineH, theme.Frame)
		y = 1
	}
	for i, s := range p.now() {
		lines := widget.Wrap(s.text, w-2)
		if i > 0 && y+len(lines) > h { // no half sentences
			continue
		}
		for _, line := range lines {
			c.Put(1, y, line, s.style)
			y++
		}
	}
}
