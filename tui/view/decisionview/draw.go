package decisionview

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/storyview"
	"example.com/kubeviz/tui/widget"
)

// matrixFrom is the width of the list of nodes from which plugins get columns of their own.
const matrixFrom = 100

// places of the parts, in cells of the page.
type places struct {
	head, times, nodes, compare layout.Rect
	timesTop, nodesTop          int
	matrix                      bool
}

func (v View) places(f view.Frame) places {
	var p places
	area := layout.Rect{W: f.W, H: f.H}
	head := 2
	if f.H >= 24 {
		head = 3
	}
	steps, rows := v.steps(f), v.rows(f)
	compare := 0
	if v.comparable(f) {
		compare = min(9, max(f.H/4, 3))
	}
	if f.W >= 150 {
		all := area.Rows(layout.Fixed(head), layout.Fill(1))
		p.head = all[0]
		cols := all[1].Cols(layout.Fixed(46), layout.Fill(1))
		p.times = layout.Rect{X: cols[0].X, Y: cols[0].Y + 1, W: cols[0].W - 1, H: max(cols[0].H-1, 0)}
		parts := cols[1].Rows(layout.Fill(1), layout.Fixed(compare))
		p.nodes, p.compare = parts[0], parts[1]
	} else {
		times := min(len(steps), max(f.H/5, 3), 8)
		if f.H < 14 {
			times = min(times, 2)
		}
		if times > 0 {
			times++ // its heading
		}
		parts := area.Rows(layout.Fixed(head), layout.Fixed(times), layout.Fill(1), layout.Fixed(compare))
		p.head, p.nodes, p.compare = parts[0], parts[2], parts[3]
		p.times = layout.Rect{Y: parts[1].Y + 1, W: parts[1].W, H: max(parts[1].H-1, 0)}
	}
	p.nodes = layout.Rect{X: p.nodes.X, Y: p.nodes.Y + 1, W: p.nodes.W, H: max(p.nodes.H-1, 0)} // below its heading
	p.matrix = p.nodes.W >= matrixFrom
	p.timesTop = widget.Window(v.stepAt(steps), len(steps), p.times.H)
	p.nodesTop = widget.Window(v.cursor(rows), len(rows), p.nodes.H)
	return p
}

// comparable: the row under the cursor passed, and another was chosen.
func (v View) comparable(f view.Frame) bool {
	t := v.table(f)
	at := v.cursor(t.rows)
	return f.H >= 16 && t.best >= 0 && at < len(t.rows) && at != t.best && t.rows[at].plugin == "" && t.rows[at].scores != nil && t.rows[t.best].scores != nil
}

// Draw draws the page.
func (v View) Draw(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 8 || h < 1 {
		return
	}
	f.W, f.H = w, h
	p := v.places(f)
	v.drawHead(f, c.Sub(p.head))
	if len(v.steps(f)) == 0 {
		v.drawNone(f, c.Sub(layout.Rect{Y: p.head.H, W: w, H: h - p.head.H}))
		return
	}
	v.drawTimes(f, c, p)
	v.drawNodes(f, c, p)
	if p.compare.H > 0 {
		v.drawCompare(f, c.Sub(p.compare))
	}
}

// drawHead says what came of the attempt.
func (v View) drawHead(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	line := widget.Line{widget.S(" "+f.Words.Say("why.decision-title", "pod", v.pod.Name), theme.Title)}
	s, ok := v.shown(f)
	if ok {
		line = append(line, widget.S("  "+f.Words.Say("why.decision-attempt", "n", max(s.try.Attempt, 1), "since", f.Scene.Since(s.at), "actor", string(s.actor)), theme.Dim))
	}
	line.Draw(c, 0, 0, w-1)
	if !ok {
		return
	}
	if s.try.Node != "" {
		widget.Line{widget.S(" "+string(grid.Leader)+" ", theme.Leader),
			widget.S(f.Words.Say("why.decision-bound", "node", s.try.Node, "feasible", s.try.Feasible, "nodes", s.try.Nodes), theme.Text)}.Draw(c, 0, 1, w-1)
		return
	}
	lines := widget.Wrap(sanitize.Text(s.try.Message), max(w-5, 1))
	for i, t := range lines {
		lead := "   "
		if i == 0 {
			lead = " " + string(grid.Failing) + " "
		}
		if i == h-2 && len(lines) > h-1 {
			t = grid.Cut(t+" "+string(grid.Ellipsis), w-4)
		}
		widget.Line{widget.S(lead, theme.Failing), widget.S(t, theme.Text)}.Draw(c, 0, 1+i, w-1)
	}
}

// drawNone explains why there is nothing to show.
func (v View) drawNone(f view.Frame, c grid.Canvas) {
	w, _ := c.Size()
	text := f.Words.Say("why.decision-none", "pod", v.pod.Name)
	p, ok := f.World.Pods.Get(v.pod.Namespace + "/" + v.pod.Name)
	switch {
	case v.pod.Name == "":
		text = f.Words.Say("why.decision-no-pod")
	case ok && p.Object.Annotations[corev1.MirrorPodAnnotationKey] != "":
		text = f.Words.Say("why.here-static", "node", p.Object.Spec.NodeName)
	case ok && p.Object.Spec.NodeName != "":
		text = f.Words.Say("why.here-unrecorded", "node", p.Object.Spec.NodeName)
	case !ok:
		text = f.Words.Say("why.gone-unknown", "pod", v.pod.Name)
	}
	for i, l := range widget.Wrap(text, max(min(w-4, 90), 1)) {
		c.Put(3, i, l, theme.Dim)
	}
}

// drawTimes is what happened to the pod at the scheduler, oldest first.
func (v View) drawTimes(f view.Frame, c grid.Canvas, p places) {
	if p.times.H <= 0 {
		return
	}
	steps := v.steps(f)
	at := v.stepAt(steps)
	heading(c, p.times, f.Words.Say("why.decision-times", "n", len(steps)), v.times)
	in := c.Sub(p.times)
	for y := 0; y < p.times.H && p.timesTop+y < len(steps); y++ {
		i := p.timesTop + y
		s := &steps[i]
		look, sign, text := theme.Dim, string(grid.Dot), ""
		switch {
		case s.attempt() && s.try.Node != "":
			look, sign, text = theme.OK, string(grid.Leader), f.Words.Say("why.decision-step-bound", "n", max(s.try.Attempt, 1), "node", s.try.Node)
		case s.attempt():
			look, sign, text = theme.Text, string(grid.Failing), f.Words.Say("why.decision-step-none", "n", max(s.try.Attempt, 1), "nodes", s.try.Nodes)
		case s.move.Queue == "":
			text = f.Words.Say("why.decision-step-left", "why", s.move.Why)
		case s.move.Until.After(s.at):
			text = f.Words.Say("why.decision-step-until", "queue", s.move.Queue, "for", s.move.Until.Sub(s.at), "why", s.move.Why)
		default:
			text = f.Words.Say("why.decision-step-queued", "queue", s.move.Queue, "why", s.move.Why)
		}
		mark := " "
		if i == at {
			mark = string(grid.Marker)
			look |= grid.Bold
			if v.times {
				look |= grid.Reverse
			}
		}
		widget.Line{widget.S(mark, theme.Accent), widget.S(grid.Pad(storyview.Clock(f, s.at), 9), theme.Dim), widget.S(sign+" ", look&^grid.Reverse), widget.S(text, look)}.Draw(in, 0, y, p.times.W)
	}
	v.drawEnd(f, in, p, steps)
}

// drawEnd says below the list when the pod is tried again.
func (v View) drawEnd(f view.Frame, in grid.Canvas, p places, steps []step) {
	last := &steps[len(steps)-1]
	if last.attempt() || !last.move.Until.After(f.Now) || len(steps)-p.timesTop >= p.times.H {
		return
	}
	in.Put(2, len(steps)-p.timesTop, string(grid.Play)+" "+f.Words.Say("why.again-in", "in", last.move.Until.Sub(f.Now)), theme.Waiting)
}

// heading stands on the line above a part.
func heading(c grid.Canvas, r layout.Rect, text string, active bool) {
	look := theme.Dim
	if active {
		look = theme.Accent
	}
	c.PutMax(r.X+1, r.Y-1, max(r.W-1, 0), text, look)
}

// drawNodes is the verdict per node.
func (v View) drawNodes(f view.Frame, c grid.Canvas, p places) {
	t := v.table(f)
	if p.nodes.H <= 0 {
		return
	}
	in := c.Sub(p.nodes)
	if len(t.rows) == 0 {
		in.PutMax(1, 0, p.nodes.W-1, f.Words.Say("why.decision-no-verdicts"), theme.Dim)
		return
	}
	cols := v.columns(f, &t, p.nodes.W, p.matrix)
	if p.matrix {
		drawColumns(c.Sub(layout.Rect{X: p.nodes.X, Y: p.nodes.Y - 1, W: p.nodes.W, H: 1}), f, v, cols)
	} else {
		key := "why.decision-nodes"
		if v.raw {
			key = "why.decision-nodes-raw"
		}
		heading(c, p.nodes, f.Words.Say(key, "n", len(t.rows)), !v.times)
	}
	at := v.cursor(t.rows)
	for y := 0; y < p.nodes.H && p.nodesTop+y < len(t.rows); y++ {
		i := p.nodesTop + y
		r := &t.rows[i]
		if p.matrix {
			v.drawCells(f, in, y, r, cols, i == at)
		} else {
			v.drawLine(f, in, y, r, p.nodes.W, i == at)
		}
	}
	if n := len(t.rows) - p.nodesTop - p.nodes.H; n > 0 {
		in.PutRight(p.nodes.W, p.nodes.H-1, " "+f.Words.Say("why.below", "n", n)+" ", theme.Dim)
	} else if y := len(t.rows) - p.nodesTop; t.untold > 0 && y < p.nodes.H {
		in.PutMax(3, y, p.nodes.W-3, f.Words.Say("why.decision-untold", "n", t.untold), theme.Dim)
	}
}

// label of a row: its node, or how many of which these are examples.
func (r *verdict) label(f view.Frame) string {
	if r.nodes == nil {
		return sanitize.Text(r.name)
	}
	if r.count == 0 {
		return f.Words.Say("why.decision-some")
	}
	return f.Words.Say("why.decision-many", "count", thousands(r.count), "n", r.count)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// because is why a row was refused, with examples of a group.
func (r *verdict) because(f view.Frame) string {
	text := sanitize.Text(r.reason)
	if r.nodes != nil {
		names := r.nodes[:min(len(r.nodes), 3)]
		text += "  " + f.Words.Say("why.decision-example", "names", strings.Join(names, ", "))
	}
	return text
}

// sign is what became of a row: chosen, passed or refused.
func (r *verdict) sign() (string, grid.Style) {
	switch {
	case r.chosen:
		return string(grid.Leader), theme.Leader
	case r.plugin == "":
		return string(grid.Running), theme.OK
	}
	return string(grid.Failing), theme.Failing &^ grid.Bold
}

// drawLine is a node on one line, where plugins have no columns.
func (v View) drawLine(f view.Frame, c grid.Canvas, y int, r *verdict, w int, chosen bool) {
	mark, look := " ", theme.Text
	if chosen {
		mark = string(grid.Marker)
	}
	nameW := min(max(w/4, 12), 24)
	sign, style := r.sign()
	rest := widget.Line{widget.S(grid.Pad(sanitize.Text(r.plugin), 18)+" ", theme.Dim), widget.S(r.because(f), theme.Text)}
	if r.chosen || r.plugin == "" {
		rest = v.scoreLine(f, r)
	}
	if chosen && !v.times {
		look |= grid.Reverse
	} else if chosen {
		look |= grid.Bold
	}
	line := widget.Line{widget.S(mark, theme.Accent), widget.S(sign+" ", style), widget.S(grid.Pad(grid.CutMiddle(r.label(f), nameW), nameW), look), widget.S(" ", 0)}
	append(line, rest...).Draw(c, 0, y, w)
}

// scoreLine writes the scores of a node one after the other, the largest part of the difference first in reading order of the columns.
func (v View) scoreLine(f view.Frame, r *verdict) widget.Line {
	if r.scores == nil {
		return widget.Line{widget.S(f.Words.Say("why.decision-unscored"), theme.Dim)}
	}
	line := widget.Line{widget.S(fmt.Sprintf("%5d ", r.total), theme.Title)}
	for _, p := range scorers {
		s, ok := v.score(r, p)
		if !ok {
			continue
		}
		line = append(line, widget.S(" "+short(p)+" ", theme.Dim), widget.S(strconv.FormatInt(s, 10), theme.Text))
	}
	return line
}

// score of a plugin, raw or weighted.
func (v View) score(r *verdict, plugin string) (int64, bool) {
	scores := r.scores
	if v.raw && r.raw != nil {
		scores = r.raw
	}
	s, ok := scores[plugin]
	return s, ok
}

// short names of plugins for headings.
func short(plugin string) string {
	switch plugin {
	case "NodeUnschedulable":
		return "cordon"
	case "NodeName":
		return "name"
	case "TaintToleration":
		return "taint"
	case "NodeAffinity":
		return "affin"
	case "NodePorts":
		return "ports"
	case "NodeResourcesFit":
		return "fit"
	case "PodTopologySpread":
		return "spread"
	case "InterPodAffinity":
		return "inter"
	case "NodeResourcesBalancedAllocation":
		return "balance"
	case "ImageLocality":
		return "image"
	}
	return plugin
}
