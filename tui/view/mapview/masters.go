package mapview

import (
	"fmt"
	"strconv"
	"strings"

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
	cw, _ := c.Size()
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
			key := widget.Line{{Text: "k", Style: theme.Key}, {Text: " " + say("map.key-start"), Style: theme.Dim}}
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
		case m.Boots(n):
			if !wrong {
				wrong, style = true, theme.Busy
			}
		default:
			wrong, style = true, theme.Failing
		}
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
		mark := " " + string(grid.CutMark) + " "
		args := []any{"kind", string(fault.Fault.Kind), "by", scene.By(fault.By, f.Words), "since", now.Since(fault.At)}
		ends = []widget.Line{
			append(leads[:len(leads):len(leads)], widget.S(mark+say("map.fault-since", args...), theme.Fault)),
			append(leads[:len(leads):len(leads)], widget.S(mark+say("map.since", args...), theme.Fault)),
		}
	}
	in := v.card(c, m.Name, wrong, fitting(cw-cardTitle, m.Name, titleStyle(len(m.Faults) > 0), ends...), style)
	w, h := in.Size()
	var lines []widget.Line
	if h < 2 { // one line for all: their signs
		drawLines(in, []widget.Line{v.signs(f, m, w)}, w, h)
		return
	}
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
	switch {
	case width < narrow:
		pad = 4
	case width < 24:
		pad = 6
	}
	line := widget.Line{{Text: grid.Pad(label, pad), Style: style}, {Text: " "}}
	switch {
	case m.Boots(name):
		return append(line, widget.S(string(grid.Starting)+" "+brief(width, f.Words.Say("map.boots", "since", f.Scene.Since(m.Since)), f.Words.Say("map.since", "since", f.Scene.Since(m.Since))), theme.Busy))
	case !pr.Up:
		since := f.Words.Say("map.since", "since", f.Scene.Since(pr.Since))
		return append(line, widget.S(string(grid.Failing)+" "+brief(width, f.Words.Say("map.process-down", "reason", pr.Reason, "since", f.Scene.Since(pr.Since)), since), theme.Failing))
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
	default:
		line = append(line, widget.S(string(grid.Running), theme.OK), widget.S(restarts(f, pr.Restarts), theme.Waiting))
	}
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
		if v.selected == (scene.Target{Kind: scene.Process, Host: m.Name, Process: name}) {
			label.Style = theme.Accent | grid.Reverse
		}
		sign := widget.S(string(grid.Running), theme.OK)
		if whole := v.processLine(f, nil, m, name, 0); len(whole) > 2 && whole[2].Text != "" { // name, gap, sign
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

// narrow is the width of a card's inside below which only signs and one figure fit.
const narrow = 16

// brief is the long text where there is room for words, and the short one elsewhere.
func brief(width int, long, short string) string {
	if width < narrow {
		return short
	}
	return long
}

func (v View) apiserver(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	b := m.Backend
	if b != nil && !b.Healthy && width < narrow-5 {
		return widget.Line{{Text: string(grid.Starting) + " " + f.Words.Say("map.out"), Style: theme.Waiting}}
	}
	if b != nil && !b.Healthy && width < 28 { // no room for all: the reason says that it is not ready
		reason, _, _ := strings.Cut(strings.TrimPrefix(b.Reason, "[-]"), ": reason withheld")
		return widget.Line{{Text: string(grid.Starting) + " " + f.Words.Say("map.reason", "reason", reason), Style: theme.Waiting}}
	}
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
	text := fmt.Sprintf(" %3s/s", rate(b.PerSec))
	if 1+len(text) > width {
		text = " " + rate(b.PerSec)
	}
	return append(line, widget.S(text, theme.Dim))
}

func etcd(f view.Frame, m *scene.MasterInfo, width int) widget.Line {
	e := m.Member
	if e == nil {
		return widget.Line{{Text: string(grid.Running), Style: theme.OK}}
	}
	line := widget.Line{}
	if width < narrow-5 { // no room for words: the sign and where the log is
		sign, style := string(grid.Running), theme.OK
		switch {
		case m.Leads:
			sign, style = string(grid.Leader), theme.Leader
		case m.Claims || m.Muted() || e.Role == "candidate" || e.Leader == "":
			sign, style = string(grid.Starting), theme.Waiting
		}
		index := fmt.Sprintf(" i%d", e.LastIndex)
		if 1+len(index) > width {
			index = fmt.Sprintf(" %d", e.LastIndex)
		}
		return widget.Line{{Text: sign, Style: style}, {Text: index, Style: theme.Dim}}
	}
	switch {
	case m.Muted():
		return widget.Line{{Text: string(grid.Starting) + " " + firstThatFits(width-2, f.Words.Say("map.muted"), f.Words.Say("map.muted-short")), Style: theme.Waiting}}
	case m.Leads:
		line = append(line, widget.S(string(grid.Leader), theme.Leader))
	case m.Claims: // leader of a term that the majority has left
		line = append(line, widget.S(string(grid.Leader)+" "+f.Words.Say("map.stale-leader", "term", e.Term), theme.Waiting))
		return line
	case e.Role == "candidate":
		line = append(line, widget.S(string(grid.Starting)+" "+firstThatFits(width-2, f.Words.Say("map.candidate", "term", e.Term), f.Words.Say("map.candidate-short")), theme.Waiting))
		return line
	case e.Leader == "":
		line = append(line, widget.S(string(grid.Starting)+" "+firstThatFits(width-2, f.Words.Say("map.no-leader"), f.Words.Say("map.no-leader-short")), theme.Waiting))
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
func role(f view.Frame, r *scene.Role, width int) widget.Line {
	if r.Active {
		line := widget.Line{{Text: string(grid.Leader), Style: theme.Leader}}
		if r.Queued {
			style := theme.Dim
			if r.Waiting > 0 || r.InWork > 0 {
				style = theme.Busy
			}
			queue := fmt.Sprintf(" q %d·%d·%d", r.Waiting, r.InWork, r.Delayed)
			if grid.Width(queue) >= width {
				queue = queue[2:]
			}
			line = append(line, widget.S(queue, style))
		}
		return line
	}
	line := widget.Line{{Text: string(grid.Standby), Style: theme.Dim}}
	if r.Duration > 0 {
		style := theme.Dim
		text := firstThatFits(width-2, f.Words.Say("map.lease", "age", r.Age), f.Words.Say("map.age", "age", r.Age))
		switch {
		case r.Age > r.Duration:
			over := r.Age - r.Duration
			style, text = theme.Waiting, firstThatFits(width-2, f.Words.Say("map.lease-over", "age", over), f.Words.Say("map.over", "age", over), f.Words.Say("map.age", "age", over))
		case r.Age > r.Duration/2:
			style = theme.Waiting
		}
		line = append(line, widget.S(" "+text, style))
	}
	return line
}

// firstThatFits picks the longest way to say something that is not cut; the last where none fits.
func firstThatFits(width int, ways ...string) string {
	for _, s := range ways {
		if grid.Width(s) <= width {
			return s
		}
	}
	return ways[len(ways)-1]
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
		if width < narrow {
			return "sch"
		}
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
