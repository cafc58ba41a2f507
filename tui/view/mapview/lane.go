package mapview

import (
	"fmt"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

func (v View) drawBalancer(f view.Frame, p *plan, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 1 {
		return
	}
	total := 0.0
	for _, b := range f.Scene.Backends {
		if b.Healthy {
			total += b.PerSec
		}
	}
	if p.class == compact {
		line := widget.Line{{Text: " " + f.Words.Say("map.balancer"), Style: theme.Dim}}
		for _, b := range f.Scene.Backends {
			line = append(line, widget.S("  ", 0))
			line = append(line, backend(f, b.Host, b.Healthy, b.PerSec, total, shortHost(b.Host))...)
		}
		pods := "   " + f.Words.Say("map.pods", "running", f.Scene.PodsRunning, "n", f.Scene.Pods)
		if line.Width()+grid.Width(pods) > w {
			pods = "  " + f.Words.Say("map.pods-short", "running", f.Scene.PodsRunning, "n", f.Scene.Pods)
		}
		if line.Width()+grid.Width(pods) <= w {
			line = append(line, widget.S(pods, theme.Dim))
		}
		line.Draw(c, 0, 0, w)
		return
	}
	in := pane(c, f.Words.Say("map.balancer"))
	iw, ih := in.Size()
	var lines []widget.Line
	for _, b := range f.Scene.Backends {
		lines = append(lines, backend(f, b.Host, b.Healthy, b.PerSec, total, grid.Pad(b.Host, 9)))
	}
	for len(lines) < ih-2 {
		lines = append(lines, nil)
	}
	s := f.Scene
	lines = append(lines,
		widget.Line{{Text: f.Words.Say("map.workers-ready", "ready", s.NodesReady, "n", len(s.Workers)), Style: calm(s.NodesReady == len(s.Workers))}},
		widget.Line{{Text: f.Words.Say("map.pods", "running", s.PodsRunning, "n", s.Pods), Style: calm(s.PodsRunning+s.PodsEnding == s.Pods)}})
	drawLines(in, lines, iw, ih)
}

func calm(ok bool) grid.Style {
	if ok {
		return theme.Dim
	}
	return theme.Waiting
}

// backend is one API server behind the balancer with its share of the requests.
func backend(f view.Frame, host string, healthy bool, perSec, total float64, label string) widget.Line {
	if !healthy {
		return widget.Line{{Text: string(grid.Failing) + " " + label, Style: theme.Failing}, {Text: " " + f.Words.Say("map.out"), Style: theme.Dim}}
	}
	share := 0
	if total > 0 {
		share = int(perSec/total*100 + 0.5)
	}
	return widget.Line{{Text: string(grid.Running), Style: theme.OK}, {Text: " " + label, Style: theme.Text}, {Text: fmt.Sprintf(" %3d%%", share), Style: theme.Dim}}
}

// drawRaft says in words what the group can bear, and what it last did.
func (v View) drawRaft(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 1 {
		return
	}
	say := f.Words.Say
	q := f.Scene.Quorum
	line := widget.Line{{Text: " " + say("map.raft") + "  ", Style: theme.Dim}}
	for i := range f.Scene.Masters {
		m := &f.Scene.Masters[i]
		if m.Member == nil {
			continue
		}
		sign, style := string(grid.Running), theme.OK
		switch {
		case !m.Up || m.Member.Role == "down":
			sign, style = string(grid.Failing), theme.Failing
		case m.Leads:
			sign, style = string(grid.Leader), theme.Leader
		case len(m.CutFrom) > 0:
			sign, style = string(grid.CutMark), theme.Fault
		case m.Member.Role == "candidate" || m.Member.Leader == "" || m.Muted():
			sign, style = string(grid.Starting), theme.Waiting
		}
		if i > 0 {
			line = append(line, widget.S(string(grid.LineH)+string(grid.LineH), theme.Frame))
		}
		line = append(line, widget.S(sign+shortHost(m.Name), style))
	}
	line = append(line, widget.S("  ", 0), quorumSpan(f, w))
	if q.Leader != "" && q.Alive >= q.Need {
		at := widget.S("   "+say("map.raft-at", "term", q.Term, "last", q.Last, "commit", q.Commit), theme.Dim)
		if line.Width()+grid.Width(at.Text) > w {
			at.Text = "   " + say("head.term", "term", q.Term)
		}
		if line.Width()+grid.Width(at.Text) <= w {
			line = append(line, at)
		}
	}
	line.Draw(c, 0, 0, w)
}

// quorumSpan is the sentence about the quorum, in the colour that it deserves.
func quorumSpan(f view.Frame, width int) widget.Span {
	q := f.Scene.Quorum
	switch {
	case q.Alive < q.Need:
		return widget.S(f.Words.Say("quorum.lost", "alive", q.Alive, "members", q.Members, "need", q.Need), theme.Failing)
	case q.Leader == "":
		return widget.S(f.Words.Say("quorum.electing", "alive", q.Alive, "members", q.Members), theme.Waiting)
	case q.CanLose() == 0 && q.Members > 1 && width < 110:
		return widget.S(f.Words.Say("quorum.well", "alive", q.Alive, "members", q.Members, "lose", 0), theme.Waiting)
	case q.CanLose() == 0 && q.Members > 1:
		return widget.S(f.Words.Say("quorum.edge", "alive", q.Alive, "members", q.Members), theme.Waiting)
	}
	return widget.S(f.Words.Say("quorum.well", "alive", q.Alive, "members", q.Members, "lose", q.CanLose()), theme.Dim)
}

func (v View) drawPending(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 10 || h < 1 || len(f.Scene.Pending) == 0 {
		return
	}
	n := f.Scene.PodsPending
	at := 0
	for i, p := range f.Scene.Pending {
		if scene.PodTarget(p) == v.selected {
			at = i
		}
	}
	p := f.Scene.Pending[at]
	text, next := f.Scene.PendingWhy(f.World, p, f.Words)
	style := theme.Waiting
	if scene.PodTarget(p) == v.selected {
		style |= grid.Reverse
	}
	line := widget.Line{{Text: fmt.Sprintf(" %c %s ", grid.Waiting, f.Words.Say("map.pending", "n", n)), Style: style}, {Text: " " + text, Style: theme.Text}}
	if next != "" {
		line = append(line, widget.S("  "+next, theme.Dim))
	}
	line.Draw(c, 0, 0, w)
}
