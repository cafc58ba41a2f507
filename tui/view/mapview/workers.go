package mapview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// readiness of a worker: its sign, word and style.
func readiness(f view.Frame, w *scene.WorkerInfo) (sign rune, word string, style grid.Style) {
	switch {
	case !w.Up:
		return grid.Failing, f.Words.Say("map.down", "since", f.Scene.Since(w.Since)), theme.Failing
	case w.Node == nil:
		return grid.Waiting, f.Words.Say("map.unregistered"), theme.Waiting
	case w.Node.Ready == "Unknown":
		return grid.Unknown, "Unknown " + since(f, w.Node.Since), theme.Unknown
	case w.Node.Ready != "True":
		return grid.Failing, "NotReady " + since(f, w.Node.Since), theme.Failing
	case w.Silent:
		return grid.Running, f.Words.Say("map.silent", "age", w.LeaseAge), theme.Waiting
	case w.Cordoned:
		return grid.Running, "Ready,SchedulingDisabled", theme.Waiting
	}
	return grid.Running, "Ready", theme.OK
}

func since(f view.Frame, t time.Time) string {
	return f.Words.Say("map.since", "since", f.Scene.Since(t))
}

func (v View) drawWorker(f view.Frame, p *plan, w *scene.WorkerInfo, c grid.Canvas) {
	sign, word, style := readiness(f, w)
	title := widget.Line{{Text: w.Name, Style: titleStyle(w.Wrong)}, {Text: " " + string(sign), Style: style}}
	cw, _ := c.Size()
	room := cw - cardTitle - title.Width() - 1
	if i := strings.LastIndexByte(word, ' '); i > 0 && room < grid.Width(word) && w.Node != nil {
		word = word[i+1:] // the sign says it; since when is what is left to say
	}
	if room >= grid.Width(word) {
		title = append(title, widget.S(" "+word, style&^grid.Bold))
	}
	frame := style
	if w.Wrong && style == theme.OK {
		frame = theme.Fault
	}
	in := v.card(c, w.Name, w.Wrong, title, frame)
	cw, ch := in.Size()
	if cw < 6 || ch < 1 {
		return
	}
	top := v.troubles(f, w, cw)
	tail := v.figures(f, w, cw, ch-len(top))
	pods := v.pods(f, w, cw, ch-len(top)-len(tail))
	lines := append(top, pods...)
	for len(lines) < ch-len(tail) {
		lines = append(lines, nil)
	}
	drawLines(in, append(lines, tail...), cw, ch)
}

// troubles says what is wrong with a worker, by whom, and what comes next.
func (v View) troubles(f view.Frame, w *scene.WorkerInfo, width int) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if !w.Up {
		out = append(out, widget.Line{{Text: say("map.down-by", "by", scene.By(w.By, f.Words)), Style: byStyle(w.By)}, {Text: clockOf(f, w.Since), Style: theme.Dim}})
	}
	if w.Up {
		for _, name := range scene.ProcessNames(w.Host) {
			if pr := w.Host.Processes[name]; !pr.Up {
				out = append(out, widget.Line{{Text: string(grid.Failing) + " " + name + " " + say("map.process-down", "reason", pr.Reason, "since", f.Scene.Since(pr.Since)), Style: theme.Failing}})
			}
		}
	}
	if fl, ok := w.Worst(); ok {
		text := say("map.fault", "kind", string(fl.Fault.Kind), "by", scene.By(fl.By, f.Words), "since", f.Scene.Since(fl.At))
		if width >= 32 && len(w.CutFrom) > 0 {
			text = say("map.cut-from", "from", strings.Join(w.CutFrom, " "), "by", scene.By(fl.By, f.Words), "since", f.Scene.Since(fl.At))
		}
		out = append(out, widget.Line{{Text: string(grid.CutMark) + " " + text, Style: theme.Fault}})
	}
	if next := v.next1(f, w); next != "" {
		out = append(out, widget.Line{{Text: next, Style: theme.Waiting}})
	}
	if w.Differ || (w.Wrong && w.Node != nil && w.Node.Ready != "True" && w.Believed+w.True > 0) {
		style := theme.Dim
		if w.Differ {
			style = theme.Unknown
		}
		if width >= 32 {
			out = append(out, widget.Line{{Text: say("map.belief-truth", "believed", w.Believed, "running", w.True), Style: style}})
		} else {
			out = append(out, widget.Line{{Text: say("map.belief-short", "believed", w.Believed, "running", w.True), Style: style}})
		}
	}
	return out
}

// next1 is what happens next in a few words.
func (v View) next1(f view.Frame, w *scene.WorkerInfo) string {
	say := f.Words.Say
	switch {
	case w.Silent && f.Scene.ActiveControllers == "":
		return say("map.nobody-judges")
	case w.Silent && w.JudgedIn < time.Second:
		return say("map.judged-now")
	case w.Silent:
		return say("map.judged-in", "in", w.JudgedIn)
	case !w.EvictAt.IsZero() && f.Scene.ActiveControllers == "":
		return say("map.nobody-evicts")
	case !w.EvictAt.IsZero():
		return say("map.evict-in", "in", w.EvictAt.Sub(f.Now))
	case w.Node != nil && w.Node.Ready != "True" && f.Scene.ActiveControllers == "":
		return say("map.nobody-judges")
	}
	return ""
}

// figures of a worker: requests and lease, in as many lines as there are.
func (v View) figures(f view.Frame, w *scene.WorkerInfo, width, room int) []widget.Line {
	if room <= 1 || w.Node == nil {
		return nil
	}
	var lines []widget.Line
	if bar := min(8, width-16); room >= 5 && bar >= 5 { // the longest figure is "10.5/7.9Gi"
		lines = append(lines,
			widget.Line{{Text: "cpu " + widget.Bar(w.CPU, w.CPUAll, bar), Style: full(w.CPU, w.CPUAll)}, {Text: fmt.Sprintf("  %s/%s", cores(w.CPU), cores(w.CPUAll)), Style: theme.Dim}},
			widget.Line{{Text: "mem " + widget.Bar(w.Mem, w.MemAll, bar), Style: full(w.Mem, w.MemAll)}, {Text: fmt.Sprintf("  %s/%sGi", gib(w.Mem), gib(w.MemAll)), Style: theme.Dim}})
	} else {
		lines = append(lines, resources(f, w.CPU, w.CPUAll, w.Mem, w.MemAll, width))
	}
	if len(lines)+1 < room && w.LeaseAge >= 0 && !w.Silent {
		line := widget.Line{}
		if width >= 24 {
			for _, name := range scene.ProcessNames(w.Host) {
				pr := w.Host.Processes[name]
				sign, style := grid.Running, theme.OK
				if !pr.Up {
					sign, style = grid.Failing, theme.Failing
				}
				label := theme.Dim
				if v.selected == (scene.Target{Kind: scene.Process, Host: w.Name, Process: name}) {
					label = theme.Accent | grid.Reverse
				}
				line = append(line, widget.S(name, label), widget.S(" "+string(sign)+"  ", style))
			}
		}
		line = append(line, widget.S(f.Words.Say("map.lease", "age", w.LeaseAge), theme.Dim))
		lines = append(lines, line)
	}
	return lines
}

// resources is one line of two bars: what pods ask of what can be given away.
func resources(f view.Frame, cpu, cpuAll, mem, memAll int64, width int) widget.Line {
	n := max(min((width-9)/2, 8), 2)
	if width < narrow { // one of the two, whole
		return widget.Line{{Text: "cpu", Style: theme.Dim}, {Text: " " + widget.Bar(cpu, cpuAll, max(min(width-4, 8), 1)), Style: full(cpu, cpuAll)}}
	}
	return widget.Line{{Text: "cpu", Style: theme.Dim}, {Text: " " + widget.Bar(cpu, cpuAll, n), Style: full(cpu, cpuAll)}, {Text: " mem", Style: theme.Dim}, {Text: " " + widget.Bar(mem, memAll, n), Style: full(mem, memAll)}}
}

// full colours a bar that has little room left.
func full(part, whole int64) grid.Style {
	if whole > 0 && part*10 > whole*9 {
		return theme.Waiting
	}
	return theme.Dim
}

// sign of a pod on a node.
func sign(w *scene.WorkerInfo, p *world.Pod) (rune, grid.Style) {
	lost := w != nil && w.Node != nil && w.Node.Ready == "Unknown"
	switch scene.ShapeOf(p) {
	case scene.ShapeEnding:
		if p.Deleting {
			return grid.Terminating, theme.Waiting
		}
		return grid.Done, theme.Dim
	case scene.ShapeFailing:
		return grid.Failing, theme.Failing
	case scene.ShapeWaiting:
		return grid.Waiting, theme.Waiting
	case scene.ShapeRunning:
		if lost {
			return grid.Unknown, theme.Unknown
		}
		return grid.Running, theme.OK
	}
	if lost {
		return grid.Unknown, theme.Unknown
	}
	return grid.Starting, theme.Busy
}

// pods of a worker: by name where there is room for all, else by shape with counts.
func (v View) pods(f view.Frame, w *scene.WorkerInfo, width, room int) []widget.Line {
	if room <= 0 {
		return nil
	}
	list := scene.PodsOn(f.World, w.Name, 2*width*room)
	total := max(len(list), w.Pods)
	if total == 0 {
		return []widget.Line{{{Text: f.Words.Say("map.no-pods"), Style: theme.Dim}}}
	}
	if total <= room && width >= 24 {
		var out []widget.Line
		for _, p := range list {
			out = append(out, v.podLine(f, w, p, width))
		}
		return out
	}
	owners := ownersLine(list, width)
	rows := room
	if room >= 2 {
		rows = room - 1
	}
	step := 2
	if total > width/2*rows {
		step = 1
	}
	perRow := max(width/step, 1)
	var out []widget.Line
	shown := min(len(list), perRow*rows)
	if shown < total {
		shown = max(shown-5, 0)
	}
	for at := 0; at < shown; at += perRow {
		var line widget.Line
		for _, p := range list[at:min(at+perRow, shown)] {
			r, style := sign(w, p)
			if scene.PodTarget(p) == v.selected {
				style |= grid.Reverse
			}
			line = append(line, widget.S(string(r), style))
			if step == 2 {
				line = append(line, widget.S(" ", 0))
			}
		}
		out = append(out, line)
	}
	if rest := total - shown; rest > 0 {
		if len(out) == 0 {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], widget.S(fmt.Sprintf("+%d", rest), theme.Dim))
	}
	if room >= 2 {
		out = append(out, owners)
	}
	return out
}

func (v View) podLine(f view.Frame, w *scene.WorkerInfo, p *world.Pod, width int) widget.Line {
	r, style := sign(w, p)
	name := theme.Text
	if scene.PodTarget(p) == v.selected {
		name = theme.Accent | grid.Reverse
	}
	status := ""
	if scene.ShapeOf(p) != scene.ShapeRunning && width >= 30 {
		status = " " + p.Status
	}
	room := width - 2 - len(status)
	return widget.Line{{Text: string(r) + " ", Style: style}, {Text: grid.CutMiddle(p.Object.Name, room), Style: name}, {Text: status, Style: style &^ grid.Bold}}
}

// ownersLine counts pods by the name they were made from: "nginx ×3  web ×1".
func ownersLine(pods []*world.Pod, width int) widget.Line {
	var names []string
	count := map[string]int{}
	for i, p := range pods {
		if i == 500 {
			break
		}
		n := Owner(p)
		if count[n] == 0 {
			names = append(names, n)
		}
		count[n]++
	}
	parts := make([]string, 0, len(names))
	for _, n := range names {
		parts = append(parts, fmt.Sprintf("%s %c%d", n, grid.Times, count[n]))
	}
	return widget.Line{{Text: grid.Cut(strings.Join(parts, "  "), width), Style: theme.Dim}}
}

// Owner is the name that pods of one Deployment share: "nginx" for "nginx-6d4cf56db6-x2x7p".
func Owner(p *world.Pod) string {
	name := p.Object.Name
	hash := p.Object.Labels["pod-template-hash"]
	if hash != "" {
		if i := strings.Index(name, "-"+hash); i > 0 {
			return name[:i]
		}
	}
	if g := strings.TrimSuffix(p.Object.GenerateName, "-"); g != "" {
		return g
	}
	return name
}

// drawRow is a worker in one line.
func (v View) drawRow(f view.Frame, w *scene.WorkerInfo, c grid.Canvas) {
	width, _ := c.Size()
	sign1, word, style := readiness(f, w)
	name := theme.Text
	mark := " "
	if v.selected.Host == w.Name && v.selected.Kind != scene.Nothing {
		name, mark = theme.Accent|grid.Reverse, string(grid.Marker)
	} else if w.Wrong {
		name = theme.Title
	}
	line := widget.Line{{Text: mark, Style: theme.Accent}, {Text: string(sign1) + " ", Style: style}, {Text: grid.Pad(w.Name, 11), Style: name}, {Text: " "}}
	room := width - 15
	if w.Wrong {
		line = append(line, widget.S(word+"  ", style))
		if tr := v.troubles(f, w, 40); len(tr) > 0 {
			for _, t := range tr[:min(len(tr), 2)] {
				line = append(append(line, t...), widget.S("  ", 0))
			}
		}
	} else {
		line = append(line, resources(f, w.CPU, w.CPUAll, w.Mem, w.MemAll, 17)...)
		line = append(line, widget.S("  ", 0))
	}
	used := line.Width() - 15
	dots := max(room-used, 0)
	list := scene.PodsOn(f.World, w.Name, dots+1)
	total := max(len(list), w.Pods)
	for i, p := range list {
		if i >= dots-4 && total > dots {
			line = append(line, widget.S(fmt.Sprintf("+%d", total-i), theme.Dim))
			break
		}
		r, st := sign(w, p)
		if scene.PodTarget(p) == v.selected {
			st |= grid.Reverse
		}
		line = append(line, widget.S(string(r), st))
	}
	line.Draw(c, 0, 0, width)
}

func titleStyle(wrong bool) grid.Style {
	if wrong {
		return theme.Title
	}
	return theme.Text
}

// byStyle: what the user did has a colour of its own.
func byStyle(a event.Actor) grid.Style {
	if scene.ByUser(a) {
		return theme.Fault
	}
	return theme.Failing
}

// clockOf is the place of an instant on the clock of the run: " +11m53s".
func clockOf(f view.Frame, t time.Time) string {
	if t.IsZero() || f.World.Start.IsZero() {
		return ""
	}
	return " " + f.Words.Say("map.at", "at", t.Sub(f.World.Start))
}

func cores(milli int64) string {
	if milli%1000 == 0 {
		return fmt.Sprint(milli / 1000)
	}
	return fmt.Sprintf("%.1f", float64(milli)/1000)
}

func gib(bytes int64) string {
	g := float64(bytes) / (1 << 30)
	if g >= 10 || g == float64(int64(g)) {
		return fmt.Sprintf("%.0f", g)
	}
	return fmt.Sprintf("%.1f", g)
}
