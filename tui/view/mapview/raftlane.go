package mapview

import (
	"fmt"
	"slices"
	"strings"

	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// etcdOf names the member on a master.
func etcdOf(host string) scene.Target {
	return scene.Target{Kind: scene.Process, Host: host, Process: "etcd"}
}

// link of the raft lane: a member, with the way to it from the one that speaks.
type link struct {
	m    *scene.MasterInfo
	lane int // cells of the way; 0 for the one that speaks
	rect layout.Rect
}

// links places the members on the raft lane: who leads or stands for election first, the others in the order of names, those that are away last.
func links(f view.Frame, p *plan) []link {
	if p.raft.Empty() || p.raft.W < 30 {
		return nil
	}
	speaker := -1
	for i := range f.Scene.Masters {
		m := &f.Scene.Masters[i]
		switch {
		case m.Member == nil || !m.Up || m.Member.Out:
		case m.Leads:
			speaker = i
		case m.Member.Role == "candidate" && (speaker < 0 || !f.Scene.Masters[speaker].Leads && f.Scene.Masters[speaker].Member.Term < m.Member.Term):
			speaker = i
		}
	}
	var out []link
	if speaker >= 0 {
		out = append(out, link{m: &f.Scene.Masters[speaker]})
	}
	for _, away := range []bool{false, true} { // those that are away last, so that no lane seems to pass through them
		for i := range f.Scene.Masters {
			if m := &f.Scene.Masters[i]; i != speaker && m.Member != nil && !m.Member.Out && away == (!m.Up || m.Member.Role == "down" || len(m.CutFrom) > 0) {
				out = append(out, link{m: m})
			}
		}
	}
	lane := 4
	switch {
	case p.raft.W >= 130 && len(out) <= 5:
		lane = 10
	case p.raft.W >= 110 && len(out) <= 3:
		lane = 8
	}
	x := p.raft.X + 1 + grid.Width(f.Words.Say("map.raft")) + 2
	for i := range out {
		n := linkLine(f, &out[i], p.raft.W).Width()
		if i > 0 && speaker >= 0 {
			out[i].lane = lane
			x++ // a blank before the sign
		} else if i > 0 {
			x += 2
		}
		x += out[i].lane
		out[i].rect = layout.Rect{X: x, Y: p.raft.Y, W: n, H: 1}
		x += n
		if speaker >= 0 && i < len(out)-1 {
			x++
		}
	}
	return out
}

// linkLine is a member on the lane: its sign, its short name, and what is to be said of it.
func linkLine(f view.Frame, l *link, width int) widget.Line {
	m := l.m
	sign, style, word := grid.Running, theme.OK, ""
	switch {
	case !m.Up && m.Seq == 0, m.Member.Role == "down" && m.Member.Seq == 0: // it has not begun yet
		sign, style = grid.Waiting, theme.Waiting
	case !m.Up:
		sign, style, word = grid.Failing, theme.Failing, since(f, m.Since)
	case m.Member.Role == "down":
		sign, style, word = grid.Failing, theme.Failing, since(f, m.Member.Since)
	case m.Leads:
		sign, style = grid.Leader, theme.Leader
	case len(m.CutFrom) > 0:
		sign, style = grid.CutMark, theme.Fault
		if fault, ok := m.Worst(); ok {
			word = since(f, fault.At)
		}
	case storeTrouble(f, m) != "":
		sign, style = grid.Failing, theme.Failing
	case m.Member.Learns():
		sign, style, word = grid.Starting, theme.Waiting, f.Words.Say("map.learner-short")
	case m.Muted():
		sign, style, word = grid.Starting, theme.Waiting, f.Words.Say("map.muted-short")
	case m.Member.Role == "candidate":
		sign, style, word = grid.Starting, theme.Waiting, fmt.Sprintf("t%d", m.Member.Term)
	case m.Member.Leader == "":
		sign, style = grid.Starting, theme.Waiting
	}
	if word == "" && width >= 100 {
		word = fmt.Sprintf("i%d", m.Member.LastIndex)
	}
	name := widget.S(sanitize.Text(shortHost(m.Name)), theme.Text)
	out := widget.Line{widget.S(string(sign), style), name}
	if word != "" {
		s := theme.Dim
		if style != theme.OK && style != theme.Leader {
			s = style
		}
		out = append(out, widget.S(" "+word, s))
	}
	return out
}

// drawRaft shows the store's group: who leads, the ways to the others with what is on them, and what the group can bear.
func (v View) drawRaft(f view.Frame, p *plan, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 1 {
		return
	}
	c.Put(1, 0, f.Words.Say("map.raft"), theme.Dim)
	all := links(f, p)
	x := 1
	for i := range all {
		l := &all[i]
		at := l.rect.X - p.raft.X
		if l.lane > 0 {
			speaker := all[0].m
			style, end := theme.Frame, string(grid.Play)
			if !l.m.Up || l.m.Member.Role == "down" || parted(speaker, l.m) {
				style, end = theme.Failing, string(grid.Times)
			}
			at--
			drawLane(f, c, at-l.lane, 0, l.lane-1, style, false, motion.Lane{Kind: motion.Raft, From: speaker.Name, To: l.m.Name}, motion.Lane{Kind: motion.Raft, To: l.m.Name})
			c.Put(at-1, 0, end, style)
			at++
		}
		line := linkLine(f, l, p.raft.W)
		if v.inside == "" && v.selected == etcdOf(l.m.Name) {
			for k := range line {
				line[k].Style = theme.Accent | grid.Reverse
			}
		}
		x = line.Draw(c, at, 0, w-at)
	}
	q := quorumSpan(f, w)
	if x+3+grid.Width(q.Text) > w {
		short := f.Scene.Quorum
		q.Text = f.Words.Say("map.quorum-short", "alive", short.Alive, "members", short.Members)
	}
	x = c.Put(x+3, 0, grid.Cut(q.Text, w-x-3), q.Style)
	if at := f.Words.Say("map.raft-at", "term", f.Scene.Quorum.Term, "last", f.Scene.Quorum.Last, "commit", f.Scene.Quorum.Commit); f.Scene.Quorum.Leader != "" && x+3+grid.Width(at) <= w {
		c.Put(x+3, 0, at, theme.Dim)
	}
}

// parted: one of two masters is cut off from the other.
func parted(a, b *scene.MasterInfo) bool {
	from := func(ends []string, name string) bool {
		return slices.ContainsFunc(ends, func(end string) bool {
			host, _, _ := strings.Cut(end, "/")
			return host == name || host == fault.All
		})
	}
	return from(a.CutFrom, b.Name) || from(b.CutFrom, a.Name)
}

// quorumSpan is the sentence about the quorum, in the colour that it deserves.
func quorumSpan(f view.Frame, width int) widget.Span {
	q := f.Scene.Quorum
	switch {
	case q.Alive < q.Need && f.Scene.Starting:
		return widget.S(f.Words.Say("map.quorum-short", "alive", q.Alive, "members", q.Members), theme.Waiting)
	case q.Alive < q.Need:
		return widget.S(f.Words.Say("quorum.lost", "alive", q.Alive, "members", q.Members, "need", q.Need), theme.Failing)
	case q.Leader == "":
		return widget.S(f.Words.Say("quorum.electing", "alive", q.Alive, "members", q.Members), theme.Waiting)
	case q.Lose == 0 && q.Members > 1 && width < 130:
		return widget.S(f.Words.Say("quorum.well", "alive", q.Alive, "members", q.Members, "lose", 0), theme.Waiting)
	case q.Lose == 0 && q.Members > 1:
		return widget.S(f.Words.Say("quorum.edge", "alive", q.Alive, "members", q.Members), theme.Waiting)
	}
	return widget.S(f.Words.Say("quorum.well", "alive", q.Alive, "members", q.Members, "lose", q.Lose), theme.Dim)
}

// drawPending says why the pod that waits has no node, and how many wait.
func (v View) drawPending(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 1 || len(f.Scene.Pending) == 0 {
		return
	}
	at := 0
	for i, p := range f.Scene.Pending {
		if scene.PodTarget(p) == v.selected {
			at = i
		}
	}
	p := f.Scene.Pending[at]
	text, next := f.Scene.PendingWhy(f.World, p, f.Words)
	mark, style := " ", theme.Waiting
	if scene.PodTarget(p) == v.selected {
		mark, style = string(grid.Marker), theme.Accent|grid.Reverse
	}
	line := widget.Line{{Text: mark, Style: theme.Accent}, {Text: fmt.Sprintf("%c %s ", grid.Waiting, f.Words.Say("map.pending", "n", f.Scene.PodsPending)), Style: style}, {Text: " " + text, Style: theme.Text}}
	if next != "" {
		tail := widget.Line{{Text: "  " + string(grid.RightTo) + " " + next, Style: theme.Dim}}
		if room := w - tail.Width(); line.Width() > room && room > 40 { // what comes next is not what is cut
			line[2].Text = grid.Cut(line[2].Text, max(room-line[0:2:2].Width(), 0))
		}
		line = append(line, tail...)
	}
	line.Draw(c, 0, 0, w)
}
