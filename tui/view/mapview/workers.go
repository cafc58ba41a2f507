package mapview

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// readiness of a worker: its sign, word and style.
func readiness(f view.Frame, w *scene.WorkerInfo) (sign rune, word string, style grid.Style) {
	switch {
	case !w.Up && w.Seq == 0:
		return grid.Waiting, f.Words.Say("map.not-on"), theme.Waiting
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
		return grid.Cordoned, "cordoned", theme.Waiting
	}
	return grid.Running, "Ready", theme.OK
}

func since(f view.Frame, t time.Time) string {
	return f.Words.Say("map.since", "since", f.Scene.Since(t))
}

func (v View) drawWorker(f view.Frame, w *scene.WorkerInfo, c grid.Canvas) {
	sign, word, style := readiness(f, w)
	title := widget.Line{{Text: sanitize.Text(w.Name), Style: titleStyle(w.Wrong)}, {Text: " " + string(sign), Style: style}}
	cw, _ := c.Size()
	room := cw - cardTitle - title.Width() - 1
	if i := strings.LastIndexByte(word, ' '); i > 0 && room < grid.Width(word) && w.Node != nil {
		word = word[i+1:] // the sign says it; since when is what is left to say
	}
	if room >= grid.Width(word) {
		title = append(title, widget.S(" "+word, style&^grid.Bold))
	}
	if w.Zone != "" && title.Width()+3+grid.Width(sanitize.Text(w.Zone)) <= cw-cardTitle {
		title = append(title, widget.S("  "+sanitize.Text(w.Zone), theme.Dim))
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

// faultMark is the sign of a fault of the network: that of a cut is for cuts alone.
func faultMark(f fault.Fault) rune {
	if f.Kind == fault.Cut {
		return grid.CutMark
	}
	return grid.Starting
}

// troubles says what is wrong with a worker, by whom, and what comes next.
func (v View) troubles(f view.Frame, w *scene.WorkerInfo, width int) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if !w.Up && w.Seq != 0 {
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
		text = firstThatFits(width-2, text, say("map.fault-short", "kind", string(fl.Fault.Kind), "by", scene.By(fl.By, f.Words), "since", f.Scene.Since(fl.At)))
		out = append(out, widget.Line{{Text: string(faultMark(fl.Fault)) + " " + text, Style: theme.Fault}})
	}
	if w.Node != nil && w.Up {
		out = append(out, taints(w, width)...)
	}
	if next := v.next1(f, w, width); next != "" {
		out = append(out, widget.Line{{Text: next, Style: theme.Waiting}})
	}
	if w.Differ || (w.Wrong && w.Node != nil && w.Node.Ready != "True" && w.Believed+w.True > 0) {
		style := theme.Dim
		if w.Differ {
			style = theme.Unknown
		}
		if width >= 22 && w.Compared {
			out = append(out, widget.Line{{Text: say("map.belief", "n", w.Believed), Style: style}}, widget.Line{{Text: say("map.truth", "n", w.True), Style: style}})
		} else if w.Compared {
			out = append(out, widget.Line{{Text: say("map.belief-short", "believed", w.Believed, "running", w.True), Style: style}})
		}
	}
	return out
}

// taints that a person or a condition other than silence has put on a node; those of the node controller are told by its readiness.
func taints(w *scene.WorkerInfo, width int) []widget.Line {
	var own []string
	for _, t := range w.Node.Object.Spec.Taints {
		if !strings.HasPrefix(t.Key, "node.kubernetes.io/") {
			own = append(own, sanitize.Text(t.Key+":"+string(t.Effect)))
		}
	}
	if len(own) == 0 {
		return nil
	}
	return []widget.Line{{{Text: grid.Cut("taint "+strings.Join(own, " "), width), Style: theme.Waiting}}}
}

// next1 is what happens next in a few words.
func (v View) next1(f view.Frame, w *scene.WorkerInfo, width int) string {
	say := f.Words.Say
	switch {
	case w.Silent && f.Scene.ActiveControllers == "":
		return say("map.nobody-judges")
	case w.Silent && w.JudgedIn < time.Second:
		return say("map.judged-now")
	case w.Silent:
		return say("map.judged-in", "in", w.JudgedIn)
	case f.Scene.ActiveControllers == "" && (!w.EvictAt.IsZero() || w.Node != nil && w.Node.Ready != "True"):
		return say("map.nobody-evicts")
	case !w.EvictAt.IsZero():
		return firstThatFits(width, say("map.evict-in", "in", w.EvictAt.Sub(f.Now)), say("map.evict-short", "in", w.EvictAt.Sub(f.Now)))
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
		lines = append(lines, resources(w.CPU, w.CPUAll, w.Mem, w.MemAll, width))
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
				if v.inside == w.Name && v.selected.Kind == scene.Process && v.selected.Process == name {
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
func resources(cpu, cpuAll, mem, memAll int64, width int) widget.Line {
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
