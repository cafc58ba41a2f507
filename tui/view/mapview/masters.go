package mapview

import (
	"fmt"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
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
	in1 := v.inside != "" && v.inside == host
	chosen := in1 || v.selected.Host == host && host != "" && (v.selected.Kind == scene.Master || v.selected.Kind == scene.Worker)
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
			if i == 0 && !in1 {
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

// cardTitle is how many cells of a card's top are not its title's.
const cardTitle = 5

// fitting makes a title that fits: with the first of the ends that lets it, under the full name if possible, else under the short one.
func fitting(width int, name string, style grid.Style, ends ...widget.Line) widget.Line {
	var title widget.Line
	for _, n := range []string{name, shortHost(name)} {
		for _, end := range ends {
			title = append(widget.Line{{Text: n, Style: style}}, end...)
			if title.Width() <= width {
				return title
			}
		}
	}
	return title
}

// wrapLines breaks lines that are too long at blanks; the parts take the style of the span they begin in.
func wrapLines(lines []widget.Line, width int) []widget.Line {
	var out []widget.Line
	for _, l := range lines {
		if l.Width() <= width {
			out = append(out, l)
			continue
		}
		for _, s := range l {
			out = append(out, wrapLine(widget.Line{s}, width)...)
		}
	}
	return out
}

func (v View) drawMaster(f view.Frame, m *scene.MasterInfo, c grid.Canvas) {
	say := f.Words.Say
	now := f.Scene
	cw, _ := c.Size()
	if !m.Up && m.Seq == 0 { // it was never on
		v.card(c, m.Name, false, widget.Line{{Text: sanitize.Text(m.Name), Style: theme.Text}, {Text: " " + string(grid.Waiting) + " " + say("map.not-on"), Style: theme.Waiting}}, theme.Frame)
		return
	}
	if !m.Up {
		since := now.Since(m.Since)
		title := fitting(cw-cardTitle, m.Name, theme.Title,
			widget.Line{{Text: " " + string(grid.Failing) + " " + say("map.down", "since", since), Style: theme.Failing}},
			widget.Line{{Text: " " + string(grid.Failing) + " " + say("map.since", "since", since), Style: theme.Failing}})
		in := v.card(c, m.Name, true, title, theme.Failing)
		w, h := in.Size()
		lines := []widget.Line{
			{{Text: say("map.down-by", "by", scene.By(m.By, f.Words)), Style: byStyle(m.By)}, {Text: clockOf(f, m.Since), Style: theme.Dim}},
		}
		switch {
		case m.Member != nil && m.Member.LastIndex > 0:
			lines = append(lines, widget.Line{{Text: say("map.disk-kept", "n", m.Member.LastIndex), Style: theme.Text}})
		case m.Member != nil:
			lines = append(lines, widget.Line{{Text: say("map.disk-empty"), Style: theme.Waiting}})
		}
		lines = append(lines, v.lost(f, m)...)
		lines = wrapLines(lines, w)
		if f.Live {
			lines = lines[:min(len(lines), max(h-1, 1))]
			for len(lines) < h-1 {
				lines = append(lines, nil)
			}
			key := widget.Line{{Text: say("map.power-key"), Style: theme.Key}, {Text: " " + say("map.key-start"), Style: theme.Dim}}
			if key.Width() > w {
				key[1].Text = " " + say("foot.start")
			}
			lines = append(lines, key)
		}
		drawLines(in, lines, w, h)
		return
	}
	wrong := len(m.Faults) > 0
	style := theme.Fault
	for _, n := range scene.ProcessNames(m.Host) {
		switch {
		case m.Host.Processes[n].Up:
		case n == "etcd" && m.Member != nil && m.Member.Out: // as it was ordered
		case m.Boots(n):
			if !wrong {
				wrong, style = true, theme.Busy
			}
		default:
			wrong, style = true, theme.Failing
		}
	}
	if storeTrouble(f, m) != "" && !wrong {
		wrong, style = true, theme.Failing
	}
	if m.Muted() && !wrong {
		wrong, style = true, theme.Waiting
	}
	var leads widget.Line
	if m.Leads {
		leads = widget.Line{{Text: " " + string(grid.Leader), Style: theme.Leader}}
	}
	ends := []widget.Line{leads}
	if fault, ok := m.Worst(); ok {
		mark := " " + string(faultMark(fault.Fault)) + " "
		args := []any{"kind", string(fault.Fault.Kind), "by", scene.By(fault.By, f.Words), "since", now.Since(fault.At)}
		ends = []widget.Line{
			append(leads[:len(leads):len(leads)], widget.S(mark+say("map.fault", args...), theme.Fault)),
			append(leads[:len(leads):len(leads)], widget.S(mark+say("map.since", args...), theme.Fault)),
		}
	}
	in := v.card(c, m.Name, wrong, fitting(cw-cardTitle, m.Name, titleStyle(len(m.Faults) > 0), ends...), style)
	w, h := in.Size()
	if h < 2 { // one line for all: their signs
		drawLines(in, []widget.Line{v.signs(f, m, w)}, w, h)
		return
	}
	var lines []widget.Line
	for _, name := range scene.ProcessNames(m.Host) {
		lines = append(lines, v.processLine(f, m, name, w))
	}
	if m.Node != nil && h > len(lines) && w >= 12 {
		if h > len(lines)+1 {
			lines = append(lines, nil)
		}
		lines = append(lines, resources(m.Node.MilliCPU, m.Node.Object.Status.Allocatable.Cpu().MilliValue(), m.Node.Memory, m.Node.Object.Status.Allocatable.Memory().Value(), w))
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
func (v View) processLine(f view.Frame, m *scene.MasterInfo, name string, width int) widget.Line {
	pr := m.Host.Processes[name]
	label := shortName(name, width)
	style := theme.Text
	if v.inside == m.Name && v.selected.Kind == scene.Process && v.selected.Process == name {
		style = theme.Accent | grid.Reverse
	}
	pad := 10
	switch {
	case width < narrow:
		pad = 4
	case width < 24:
		pad = 6
	}
	line := widget.Line{{Text: grid.Pad(label, pad), Style: style}, {Text: " "}}
	switch {
	case m.Boots(name):
		return append(line, widget.S(string(grid.Starting)+" "+brief(width, f.Words.Say("map.boots", "since", f.Scene.Since(m.Since)), since(f, m.Since)), theme.Busy))
	case !pr.Up && name == "etcd" && m.Member != nil && m.Member.Out:
		return append(line, etcd(f, m, width-pad-1)...)
	case !pr.Up && name == "etcd" && storeTrouble(f, m) != "":
		return append(line, widget.S(string(grid.Failing)+" "+grid.Cut(storeTrouble(f, m), max(width-line.Width()-2, 1)), theme.Failing))
	case !pr.Up:
		return append(line, widget.S(string(grid.Failing)+" "+brief(width, f.Words.Say("map.process-down", "reason", pr.Reason, "since", f.Scene.Since(pr.Since)), since(f, pr.Since)), theme.Failing))
	}
	switch name {
	case "apiserver":
		line = append(line, v.apiserver(f, m, width-pad-1)...)
	case "etcd":
		line = append(line, etcd(f, m, width-pad-1)...)
	case "scheduler":
		line = append(line, role(f, &m.Scheduler, width-pad-1)...)
	case "controller-manager":
		line = append(line, role(f, &m.Controllers, width-pad-1)...)
	case "kubelet":
		line = append(line, widget.S(string(grid.Running), theme.OK))
		if n := statics(f, m.Name); n > 0 && width >= narrow {
			line = append(line, widget.S(" "+f.Words.Say("map.statics", "n", n), theme.Dim))
		}
	default:
		line = append(line, widget.S(string(grid.Running), theme.OK))
	}
	if pr.Restarts > 0 {
		text := " " + f.Words.Say("map.restarts", "n", pr.Restarts)
		if line.Width()+grid.Width(text) > width {
			text = fmt.Sprintf(" %c%d", grid.Times, pr.Restarts)
		}
		line = append(line, widget.S(text, theme.Waiting))
	}
	line = append(line, stir(f, m, name)...)
	for width < narrow && len(line) > 3 && line.Width() > width { // a figure cut in the middle says something wrong
		line = line[:len(line)-1]
	}
	return line
}

// signs is a master's parts in one line: who runs, who leads.
func (v View) signs(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	var line widget.Line
	for i, name := range scene.ProcessNames(m.Host) {
		label := widget.S(shortName(name, 0), theme.Text)
		if v.inside == m.Name && v.selected.Kind == scene.Process && v.selected.Process == name {
			label.Style = theme.Accent | grid.Reverse
		}
		sign := widget.S(string(grid.Running), theme.OK)
		if whole := v.processLine(f, m, name, 0); len(whole) > 2 && whole[2].Text != "" { // name, gap, sign
			sign = widget.S(string([]rune(whole[2].Text)[:1]), whole[2].Style)
		}
		if i > 0 {
			line = append(line, widget.S(" ", 0))
		}
		line = append(line, label, sign)
	}
	if line.Width() <= width {
		return line
	}
	for i := range line { // initials
		if grid.Width(line[i].Text) > 1 {
			line[i].Text = line[i].Text[:1]
		}
	}
	return line
}
