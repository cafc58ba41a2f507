package mapview

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

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
			r, style := v.podSign(f, w, p)
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

// mirror: it stands in the store for a static pod of its kubelet.
func mirror(p *world.Pod) bool { return p.Object.Annotations[corev1.MirrorPodAnnotationKey] != "" }

func (v View) podLine(f view.Frame, w *scene.WorkerInfo, p *world.Pod, width int) widget.Line {
	r, style := v.podSign(f, w, p)
	name := theme.Text
	if scene.PodTarget(p) == v.selected {
		name = theme.Accent | grid.Reverse
	}
	status := ""
	if scene.ShapeOf(p) != scene.ShapeRunning && width >= 30 {
		status = " " + sanitize.Text(p.Status)
	}
	room := width - 2 - len(status)
	return widget.Line{{Text: string(r) + " ", Style: style}, {Text: grid.CutMiddle(sanitize.Text(p.Object.Name), room), Style: name}, {Text: status, Style: style &^ grid.Bold}}
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
		parts = append(parts, fmt.Sprintf("%s %c%d", sanitize.Text(n), grid.Times, count[n]))
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

// podSign is the sign of a pod; one whose container has just started is brighter.
func (v View) podSign(f view.Frame, w *scene.WorkerInfo, p *world.Pod) (rune, grid.Style) {
	r, style := sign(w, p)
	if !f.Still && f.Motion.Glows(p.Object.Namespace+"/"+p.Object.Name, f.Wall) {
		style = theme.Accent | grid.Bold
	}
	if scene.PodTarget(p) == v.selected {
		style |= grid.Reverse
	}
	return r, style
}

// drawRow is a worker in one line.
func (v View) drawRow(f view.Frame, w *scene.WorkerInfo, c grid.Canvas) {
	width, _ := c.Size()
	sign1, word, style := readiness(f, w)
	name := theme.Text
	mark := " "
	if v.inside == w.Name || v.selected.Kind == scene.Worker && v.selected.Host == w.Name {
		name, mark = theme.Accent|grid.Reverse, string(grid.Marker)
	} else if w.Wrong {
		name = theme.Title
	}
	line := widget.Line{{Text: mark, Style: theme.Accent}, {Text: string(sign1) + " ", Style: style}, {Text: grid.Pad(sanitize.Text(w.Name), 11), Style: name}, {Text: " "}}
	head := line.Width()
	switch {
	case w.Wrong:
		troubles := v.troubles(f, w, 20)
		if width < 50 { // the sign says what; since when, and what comes next
			if i := strings.LastIndexByte(word, ' '); i > 0 && w.Node != nil {
				word = word[i+1:]
			}
			if next := v.next1(f, w, 20); next != "" {
				troubles = append([]widget.Line{{{Text: next, Style: theme.Waiting}}}, troubles...)
			}
		}
		line = append(line, widget.S(word+"  ", style))
		said := ""
		for _, t := range troubles {
			if !w.Up && len(t) > 1 { // when, the word before has said
				t = t[:1]
			}
			if len(t) > 0 && line.Width()+t.Width() <= width && (said == "" || t[0].Text != said) {
				line = append(append(line, t...), widget.S("  ", 0))
				said = t[0].Text
			}
		}
	case width < 50:
		line = append(line, widget.S(widget.Bar(w.CPU, w.CPUAll, 4), full(w.CPU, w.CPUAll)), widget.S(" "+widget.Bar(w.Mem, w.MemAll, 4)+" ", full(w.Mem, w.MemAll)))
	default:
		line = append(line, resources(w.CPU, w.CPUAll, w.Mem, w.MemAll, 17)...)
		line = append(line, widget.S("  ", 0))
		if w.Zone != "" && width >= 80 {
			line = append(line, widget.S(grid.Pad(sanitize.Text(w.Zone), 10), theme.Dim))
		}
	}
	dots := max(width-head-(line.Width()-head), 0)
	list := scene.PodsOn(f.World, w.Name, dots+1)
	total := max(len(list), w.Pods)
	for i, p := range list {
		if i >= dots-4 && total > dots {
			line = append(line, widget.S(fmt.Sprintf("+%d", total-i), theme.Dim))
			break
		}
		r, st := v.podSign(f, w, p)
		line = append(line, widget.S(string(r), st))
	}
	line.Draw(c, 0, 0, width)
}

// drawBig is the machine that was gone into, over the place of all: its troubles and figures, then a line for each pod and program.
func (v View) drawBig(f view.Frame, w *scene.WorkerInfo, c grid.Canvas) {
	sign, word, style := readiness(f, w)
	title := widget.Line{{Text: sanitize.Text(w.Name), Style: titleStyle(w.Wrong)}, {Text: " " + string(sign), Style: style}, {Text: " " + word, Style: style &^ grid.Bold}}
	frame := style
	if w.Wrong && style == theme.OK {
		frame = theme.Fault
	}
	in := v.card(c, w.Name, w.Wrong, title, frame)
	cw, ch := in.Size()
	lines := joined(v.troubles(f, w, cw), cw)
	if w.Node != nil && ch > len(lines)+4 {
		lines = append(lines, resources(w.CPU, w.CPUAll, w.Mem, w.MemAll, min(cw, 40)))
	}
	parts := v.parts(f, w.Name)
	room := max(ch-len(lines), 0)
	at := 0
	for i, t := range parts {
		if t == v.selected {
			at = i
		}
	}
	from := min(max(at-room/2, 0), max(len(parts)-room, 0))
	for i := from; i < len(parts) && i-from < room; i++ {
		lines = append(lines, v.partLine(f, w, parts[i], cw))
	}
	drawLines(in, lines, cw, ch)
	if n := len(parts) - room; n > 0 && room > 0 {
		_, h := c.Size()
		c.Put(3, h-1, " "+f.Words.Say("map.parts-more", "at", at+1, "n", len(parts))+" ", theme.Dim)
	}
}

// joined puts short lines side by side.
func joined(lines []widget.Line, width int) []widget.Line {
	var out []widget.Line
	for _, l := range lines {
		if n := len(out) - 1; n >= 0 && out[n].Width()+3+l.Width() <= width {
			out[n] = append(append(out[n], widget.S("   ", 0)), l...)
			continue
		}
		out = append(out, l)
	}
	return out
}

// partLine is a pod or a program of a machine, with what there is to say.
func (v View) partLine(f view.Frame, w *scene.WorkerInfo, t scene.Target, width int) widget.Line {
	mark := widget.S(" ", 0)
	if t == v.selected {
		mark = widget.S(string(grid.Marker), theme.Accent)
	}
	if t.Kind == scene.Process {
		pr := w.Host.Processes[t.Process]
		sign, style, word := grid.Running, theme.OK, since(f, pr.Since)
		if !pr.Up {
			sign, style, word = grid.Failing, theme.Failing, f.Words.Say("map.process-down", "reason", pr.Reason, "since", f.Scene.Since(pr.Since))
		}
		return widget.Line{mark, {Text: string(sign) + " ", Style: style}, {Text: grid.Pad(sanitize.Text(t.Process), 34), Style: v.chosen(t, theme.Dim)}, {Text: " " + word, Style: theme.Dim}}
	}
	p, ok := f.World.Pods.Get(t.Namespace + "/" + t.Name)
	if !ok {
		return nil
	}
	r, style := sign(w, p)
	nameW := min(max(width-40, 20), 46)
	line := widget.Line{mark, {Text: string(r) + " ", Style: style}, {Text: grid.Pad(grid.CutMiddle(sanitize.Text(p.Object.Name), nameW), nameW), Style: v.chosen(t, theme.Text)},
		{Text: fmt.Sprintf(" %d/%d ", p.Ready, p.Total), Style: theme.Dim}, {Text: grid.Pad(sanitize.Text(p.Status), 18), Style: style &^ grid.Bold},
		{Text: " " + since(f, p.Since), Style: theme.Dim}}
	if p.Restarts > 0 {
		line = append(line, widget.S("  "+f.Words.Say("map.restarts", "n", p.Restarts), theme.Waiting))
	}
	return line
}
