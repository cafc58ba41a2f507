package mapview

import (
	"fmt"
	"strconv"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// card draws the frame of a machine with its title and returns the inside. Wrong machines are heavy.
func (v View) card(c grid.Canvas, host string, wrong bool, title widget.Line, style grid.Style) grid.Canvas {
	w, h := c.Size()
	border, line := grid.Thin, theme.Frame
	if wrong {
		border, line = grid.Heavy, style
	}
	chosen := v.selected.Host == host && host != "" && !(v.selected.Kind == scene.Pod && v.selected.Host == "")
	if chosen {
		line = theme.Accent
	}
	in := c.Box(border, line)
	if w < 8 || h < 2 {
		return in
	}
	x := 2
	if chosen {
		c.Put(1, 0, string(grid.Marker), theme.Accent)
		for i := range title {
			if i == 0 && !v.inside() {
				title[i].Style |= grid.Reverse
			}
		}
	}
	c.Put(x, 0, " ", line)
	end := title.Draw(c, x+1, 0, w-x-3)
	c.Put(end, 0, " ", line)
	iw, ih := in.Size()
	return in.Sub(layout.Rect{X: 1, W: max(iw-1, 0), H: ih})
}

// masterParts are the parts on a master's card, one a line.
func masterParts(f view.Frame, host string) []string {
	m, _ := f.Scene.Find(scene.Target{Host: host})
	if m == nil {
		return nil
	}
	return scene.ProcessNames(m.Host)
}

func (v View) drawMaster(f view.Frame, p *plan, m *scene.MasterInfo, c grid.Canvas) {
	say := f.Words.Say
	now := f.Scene
	if !m.Up {
		title := widget.Line{{Text: m.Name, Style: theme.Title}, {Text: " " + string(grid.Failing) + " " + say("map.down", "since", now.Since(m.Since)), Style: theme.Failing}}
		in := v.card(c, m.Name, true, title, theme.Failing)
		w, h := in.Size()
		lines := []widget.Line{
			{{Text: say("map.down-by", "by", scene.By(m.By, f.Words)), Style: byStyle(m.By)}, {Text: clockOf(f, m.Since), Style: theme.Dim}},
		}
		if m.Member != nil && m.Member.LastIndex > 0 {
			lines = append(lines, widget.Line{{Text: say("map.disk-kept", "n", m.Member.LastIndex), Style: theme.Text}})
		}
		lines = append(lines, v.lost(f, m)...)
		if f.Live {
			for len(lines) < h-1 {
				lines = append(lines, nil)
			}
			lines = append(lines, widget.Line{{Text: "k", Style: theme.Key}, {Text: " " + say("map.key-start"), Style: theme.Dim}})
		}
		drawLines(in, lines, w, h)
		return
	}
	title := widget.Line{{Text: m.Name, Style: titleStyle(len(m.Faults) > 0)}}
	wrong := len(m.Faults) > 0
	style := theme.Fault
	for _, n := range scene.ProcessNames(m.Host) {
		if !m.Host.Processes[n].Up {
			wrong, style = true, theme.Failing
		}
	}
	if m.Leads {
		title = append(title, widget.S(" "+string(grid.Leader), theme.Leader))
	}
	if fault, ok := m.Worst(); ok {
		title = append(title, widget.S(" "+string(grid.CutMark)+" "+say("map.fault-since", "kind", string(fault.Fault.Kind), "by", scene.By(fault.By, f.Words), "since", now.Since(fault.At)), theme.Fault))
	}
	in := v.card(c, m.Name, wrong, title, style)
	w, h := in.Size()
	var lines []widget.Line
	for _, name := range scene.ProcessNames(m.Host) {
		lines = append(lines, v.processLine(f, p, m, name, w))
	}
	if m.Node != nil && h > len(lines)+1 {
		lines = append(lines, resources(f, m.Node.MilliCPU, m.Node.Object.Status.Allocatable.Cpu().MilliValue(), m.Node.Memory, m.Node.Object.Status.Allocatable.Memory().Value(), w))
	}
	drawLines(in, lines, w, h)
}

// lost says what went down with the machine.
func (v View) lost(f view.Frame, m *scene.MasterInfo) []widget.Line {
	var out []widget.Line
	if m.Member != nil && f.Scene.Quorum.Raft {
		q := f.Scene.Quorum
		out = append(out, widget.Line{{Text: f.Words.Say("map.left", "alive", q.Alive, "members", q.Members), Style: theme.Dim}})
	}
	return out
}

// processLine is one part of a master: its state and the figure that matters for it.
func (v View) processLine(f view.Frame, p *plan, m *scene.MasterInfo, name string, width int) widget.Line {
	pr := m.Host.Processes[name]
	label := shortName(name, width)
	style := theme.Text
	if v.selected == (scene.Target{Kind: scene.Process, Host: m.Name, Process: name}) {
		style = theme.Accent | grid.Reverse
	}
	pad := 10
	if width < 24 {
		pad = 6
	}
	line := widget.Line{{Text: grid.Pad(label, pad), Style: style}, {Text: " "}}
	if !pr.Up {
		return append(line, widget.S(fmt.Sprintf("%c %s", grid.Failing, f.Words.Say("map.process-down", "reason", pr.Reason, "since", f.Scene.Since(pr.Since))), theme.Failing))
	}
	switch name {
	case "apiserver":
		return append(line, v.apiserver(f, m, width-pad-1)...)
	case "etcd":
		return append(line, etcd(f, m, width-pad-1)...)
	case "scheduler":
		return append(line, role(f, &m.Scheduler)...)
	case "controller-manager":
		return append(line, role(f, &m.Controllers)...)
	}
	return append(line, widget.S(string(grid.Running), theme.OK), widget.S(restarts(f, pr.Restarts), theme.Waiting))
}

func (v View) apiserver(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	b := m.Backend
	if b != nil && !b.Healthy {
		return widget.Line{{Text: string(grid.Starting) + " " + f.Words.Say("map.not-ready"), Style: theme.Waiting}, {Text: " " + f.Words.Say("map.reason", "reason", b.Reason), Style: theme.Dim}}
	}
	line := widget.Line{{Text: string(grid.Running), Style: theme.OK}}
	if b == nil {
		return line
	}
	if width >= 16 {
		line = append(line, widget.S(" "+widget.Spark(f.Feed.Rates(m.Name), 6), theme.Dim))
	}
	return append(line, widget.S(fmt.Sprintf(" %3s/s", rate(b.PerSec)), theme.Dim))
}

func etcd(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	e := m.Member
	if e == nil {
		return widget.Line{{Text: string(grid.Running), Style: theme.OK}}
	}
	line := widget.Line{}
	switch {
	case m.Leads:
		line = append(line, widget.S(string(grid.Leader), theme.Leader))
	case m.Claims: // leader of a term that the majority has left
		line = append(line, widget.S(string(grid.Leader)+" "+f.Words.Say("map.stale-leader", "term", e.Term), theme.Waiting))
		return line
	case e.Role == "candidate":
		line = append(line, widget.S(string(grid.Starting)+" "+f.Words.Say("map.candidate", "term", e.Term), theme.Waiting))
		return line
	case e.Leader == "":
		line = append(line, widget.S(string(grid.Starting)+" "+f.Words.Say("map.no-leader"), theme.Waiting))
		return line
	default:
		line = append(line, widget.S(string(grid.Running), theme.OK))
	}
	text := fmt.Sprintf(" t%d i%d", e.Term, e.LastIndex)
	if width >= 24 {
		text += fmt.Sprintf(" c%d a%d", e.CommitIndex, e.Applied)
	} else if width >= len(text)+6 {
		text += fmt.Sprintf(" c%d", e.CommitIndex)
	}
	style := theme.Dim
	if f.Scene.Quorum.Commit > e.LastIndex+20 { // far behind the group
		style = theme.Waiting
	}
	return append(line, widget.S(text, style))
}

// role of an active-standby component: the leader shows its queue, the standby how old the lease is that it watches.
func role(f view.Frame, r *scene.Role) widget.Line {
	if r.Active {
		line := widget.Line{{Text: string(grid.Leader), Style: theme.Leader}}
		if r.Queued {
			style := theme.Dim
			if r.Waiting > 0 || r.InWork > 0 {
				style = theme.Busy
			}
			line = append(line, widget.S(fmt.Sprintf(" q %d·%d·%d", r.Waiting, r.InWork, r.Delayed), style))
		}
		return line
	}
	line := widget.Line{{Text: string(grid.Standby), Style: theme.Dim}}
	if r.Duration > 0 {
		style := theme.Dim
		text := f.Words.Say("map.lease", "age", r.Age)
		switch {
		case r.Age > r.Duration:
			style, text = theme.Waiting, f.Words.Say("map.lease-over", "age", r.Age-r.Duration)
		case r.Age > r.Duration/2:
			style = theme.Waiting
		}
		line = append(line, widget.S(" "+text, style))
	}
	return line
}

func drawLines(c grid.Canvas, lines []widget.Line, w, h int) {
	for y, l := range lines {
		if y >= h {
			return
		}
		l.Draw(c, 0, y, w)
	}
}

// shortName of a process where columns are few.
func shortName(name string, width int) string {
	if width >= 24 {
		switch name {
		case "controller-manager":
			return "ctrl-mgr"
		case "cloud-controller-manager":
			return "cloud-mgr"
		}
		return name
	}
	switch name {
	case "apiserver":
		return "api"
	case "scheduler":
		return "sched"
	case "controller-manager":
		return "cm"
	case "cloud-controller-manager":
		return "ccm"
	case "kubelet":
		return "klet"
	}
	return name
}

// shortHost is "m2" for "master-2".
func shortHost(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '-' && i+1 < len(name) {
			return name[:1] + name[i+1:]
		}
	}
	return name
}

func rate(perSec float64) string {
	if perSec < 10 && perSec > 0 {
		return strconv.FormatFloat(perSec, 'f', 1, 64)
	}
	return strconv.Itoa(int(perSec + 0.5))
}

func restarts(f view.Frame, n int) string {
	if n == 0 {
		return ""
	}
	return " " + f.Words.Say("map.restarts", "n", n)
}
