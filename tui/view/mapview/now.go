package mapview

import (
	"strings"
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
)

// hintFor is how long the opening hint stays: a minute of simulated time, or of wall time where that is longer (a fast cluster has short minutes).
const hintFor = time.Minute

// hinting: the first minute of a live cluster, and the user has not touched anything yet.
func (v View) hinting(f view.Frame) bool {
	if v.acted || f.NoHint || !f.Live || f.World.Start.IsZero() || len(f.Scene.Faults) > 0 || len(f.Scene.Trouble) > 0 {
		return false
	}
	for _, c := range f.World.Commands { // an act in the console or from another view is one, too
		if !strings.HasPrefix(c.Text, "apply ") {
			return false
		}
	}
	if f.Now.Sub(f.World.Start) < hintFor {
		return true
	}
	if f.Journal == nil {
		return false
	}
	first, ok := f.Journal.Get(f.Journal.First())
	since := f.Wall.Sub(first.Wall)
	return ok && first.Seq == 1 && !first.Wall.IsZero() && since >= 0 && since < hintFor
}

// nowLines explain the selection, and say what is wrong in the cluster and what comes next.
func (v View) nowLines(f view.Frame, width int) []widget.Line {
	if width < 10 {
		return nil
	}
	var lines []widget.Line
	about := v.details(f)
	for _, l := range about {
		lines = append(lines, wrapLine(l, width)...)
	}
	if f.World.Start.IsZero() {
		return append(lines, wrapLine(text(f.Words.Say("map.empty"), theme.Dim), width)...)
	}
	problems := f.Scene.Problems(f.World, f.Words)
	switch {
	case f.Scene.Starting:
		if len(about) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, startLines(f)...)
	case len(problems) == 0 && len(about) == 0:
		for _, l := range wellLines(f) {
			lines = append(lines, wrapLine(l, width)...)
		}
		if f.Live && !v.hinting(f) {
			lines = append(append(lines, nil), wrapLine(text(f.Words.Say("map.try-keys"), theme.Dim), width)...)
		}
	case len(about) > 0 && len(problems) > 0:
		lines = append(lines, nil)
	}
	if !f.Scene.Starting {
		for _, p := range problems {
			if len(about) > 0 && v.selected.Host != "" && p.Target.Host == v.selected.Host && p.Target.Kind != scene.Pod {
				continue // said above
			}
			lines = append(lines, problemLines(p, width)...)
		}
	}
	return lines
}

func hintLines(f view.Frame, width int) []widget.Line {
	var out []widget.Line
	for _, l := range widget.Wrap(f.Words.Say("map.hint"), width) {
		out = append(out, text(l, theme.Accent))
	}
	return out
}

// startLines are what a cluster that comes up has, and what it still waits for.
func startLines(f view.Frame) []widget.Line {
	say, s := f.Words.Say, f.Scene
	item := func(done bool, some bool, text string) widget.Line {
		switch {
		case done:
			return widget.Line{{Text: string(grid.Running) + " ", Style: theme.OK}, {Text: text, Style: theme.Dim}}
		case some:
			return widget.Line{{Text: string(grid.Starting) + " ", Style: theme.Busy}, {Text: text, Style: theme.Text}}
		}
		return widget.Line{{Text: string(grid.Waiting) + " ", Style: theme.Waiting}, {Text: text, Style: theme.Text}}
	}
	healthy, nodes, all := came(s)
	out := []widget.Line{text(say("map.starting"), theme.Text)}
	if q := s.Quorum; q.Raft {
		key := "map.start-etcd"
		if q.Leader != "" {
			key = "map.start-led"
		}
		out = append(out, item(q.Leader != "", q.Alive > 0, say(key, "alive", q.Alive, "members", q.Members, "leader", q.Leader)))
	}
	return append(out,
		item(healthy == len(s.Masters), healthy > 0, say("map.start-api", "n", healthy, "of", len(s.Masters))),
		item(s.ActiveControllers != "", false, say("map.start-controllers")),
		item(s.ActiveScheduler != "", false, say("map.start-scheduler")),
		item(nodes == all, nodes > 0, say("map.start-nodes", "n", nodes, "of", all)))
}

// startBrief is startLines in a line: only what is waited for.
func startBrief(f view.Frame) string {
	s, say := f.Scene, f.Words.Say
	healthy, nodes, all := came(s)
	var parts []string
	if s.Quorum.Raft && s.Quorum.Leader == "" {
		parts = append(parts, say("map.brief-etcd"))
	}
	if healthy < len(s.Masters) {
		parts = append(parts, say("map.brief-api", "n", healthy, "of", len(s.Masters)))
	}
	if s.ActiveControllers == "" {
		parts = append(parts, "controller manager")
	}
	if s.ActiveScheduler == "" {
		parts = append(parts, "scheduler")
	}
	if nodes < all {
		parts = append(parts, say("map.brief-nodes", "n", nodes, "of", all))
	}
	return say("map.brief-start", "what", strings.Join(parts, ", "))
}

// came counts API servers that answer and nodes that are Ready, of all machines.
func came(s *scene.Scene) (healthy, nodes, all int) {
	nodes, all = s.NodesReady, len(s.Masters)+len(s.Workers)
	for i := range s.Masters {
		m := &s.Masters[i]
		if m.Backend != nil && m.Backend.Healthy {
			healthy++
		}
		if m.Node != nil && m.Node.Ready == "True" {
			nodes++
		}
	}
	return healthy, nodes, all
}

// drawNow draws the pane of now, or its short form.
func (v View) drawNow(f view.Frame, p *plan, c grid.Canvas) {
	w, h := c.Size()
	if w < 20 || h < 1 {
		return
	}
	if p.class == compact {
		v.drawBrief(f, c)
		return
	}
	if h < 3 {
		return
	}
	title := f.Words.Say("map.now")
	if v.selected.Kind != scene.Nothing {
		title = f.Words.Say("map.about", "what", v.nameOf(f))
	}
	in := pane(c, title)
	iw, ih := in.Size()
	if v.hinting(f) { // at the foot, whatever there is to say above
		hint := hintLines(f, iw)
		for i, l := range hint {
			l.Draw(in, 0, ih-len(hint)+i, iw)
		}
		ih -= len(hint)
	}
	lines := v.nowLines(f, iw)
	if n := len(lines) - ih; n > 0 && ih > 0 {
		lines = append(lines[:ih-1:ih-1], text(f.Words.Say("map.more-lines", "n", n+1), theme.Dim))
	}
	drawLines(in, lines, iw, ih)
}

// drawBrief says in a line or two what is wrong or selected, and what comes next.
func (v View) drawBrief(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	var lines []widget.Line
	switch about := v.details(f); {
	case f.World.Start.IsZero():
		lines = []widget.Line{text(" "+f.Words.Say("map.empty"), theme.Dim)}
	case len(about) > 0:
		head := widget.Line{{Text: string(grid.Marker), Style: theme.Accent}, {Text: v.nameOf(f), Style: theme.Accent}, {Text: "  "}}
		lines = []widget.Line{append(head, about[0]...)}
		if len(about) > 1 { // what comes next is last
			lines = append(lines, append(widget.Line{{Text: "  "}}, about[len(about)-1]...))
		}
	case f.Scene.Starting:
		lines = []widget.Line{text(" "+string(grid.Starting)+" "+startBrief(f), theme.Busy)}
	default:
		lines = v.briefProblems(f)
	}
	if v.hinting(f) && h > 1 {
		lines = append(lines[:min(len(lines), 1):min(len(lines), 1)], text(" "+f.Words.Say("map.hint"), theme.Accent))
	}
	drawLines(c, lines, w, h)
}

func (v View) briefProblems(f view.Frame) []widget.Line {
	problems := f.Scene.Problems(f.World, f.Words)
	if len(problems) == 0 {
		return []widget.Line{append(widget.Line{{Text: " "}}, wellLines(f)[0]...), text("   "+wellLines(f)[1][0].Text, theme.Dim)}
	}
	width := max(f.W-2, 0)
	block := func(p scene.Problem) widget.Line {
		sign, style, body := problemSign(p)
		return widget.Line{{Text: " " + string(sign) + " ", Style: style}, {Text: p.Text, Style: body}}
	}
	first := block(problems[0])
	said := 1
	var second widget.Line
	next := widget.S(string(grid.RightTo)+" "+problems[0].Next, theme.Waiting)
	switch {
	case problems[0].Next == "":
	case first.Width()+2+grid.Width(next.Text) <= width:
		first = append(first, widget.S("  ", 0), next)
	default:
		second = widget.Line{{Text: "   "}, next}
	}
	if second == nil && len(problems) > 1 {
		second, said = block(problems[1]), 2
		if n := problems[1].Next; n != "" {
			second = append(second, widget.S("  "+string(grid.RightTo)+" "+n, theme.Waiting))
		}
	}
	if n := len(problems) - said; n > 0 {
		more := f.Words.Say("map.more-problems", "n", n)
		room := max(width-grid.Width(more)-2, 0)
		for second.Width() > room && len(second) > 1 {
			last := &second[len(second)-1]
			if cut := grid.Width(last.Text) - (second.Width() - room); cut > 8 || len(second) == 2 {
				last.Text = grid.Cut(last.Text, cut)
				break
			}
			second = second[:len(second)-1]
		}
		second = append(second, widget.S("  "+more, theme.Dim))
	}
	return []widget.Line{first, second}
}

func problemSign(p scene.Problem) (sign rune, style, body grid.Style) {
	switch p.Severity {
	case scene.Lasting:
		if p.Hinders {
			return grid.Starting, theme.Fault, theme.Text
		}
		return grid.CutMark, theme.Fault, theme.Text
	case scene.Broken:
		return grid.Failing, theme.Failing, theme.Text
	case scene.Grave:
		return grid.Failing, theme.Failing, theme.Failing
	}
	return grid.Waiting, theme.Waiting, theme.Text
}

func problemLines(p scene.Problem, width int) []widget.Line {
	sign, style, text := problemSign(p)
	var out []widget.Line
	for i, l := range widget.Wrap(p.Text, width-2) {
		head := "  "
		if i == 0 {
			head = string(sign) + " "
		}
		out = append(out, widget.Line{{Text: head, Style: style}, {Text: l, Style: text}})
	}
	if p.Next != "" {
		for i, l := range widget.Wrap(p.Next, width-4) {
			head := "    "
			if i == 0 {
				head = "  " + string(grid.RightTo) + " "
			}
			out = append(out, widget.Line{{Text: head, Style: theme.Dim}, {Text: l, Style: theme.Waiting}})
		}
	}
	return out
}

// wellLines say that nothing is wrong, with what there is.
func wellLines(f view.Frame) []widget.Line {
	s := f.Scene
	out := []widget.Line{{{Text: string(grid.Running) + " ", Style: theme.OK}, {Text: f.Words.Say("map.well"), Style: theme.Text}}}
	out = append(out, widget.Line{{Text: f.Words.Say("map.well-counts", "masters", len(s.Masters), "workers", len(s.Workers), "pods", s.PodsRunning), Style: theme.Dim}})
	if n := len(f.World.Elections); n > 0 && s.Quorum.Leader != "" {
		e := f.World.Elections[n-1]
		if m, ok := f.World.Members.Get(s.Quorum.Leader); ok && (e.To != m.Name || e.Term != m.Term) { // nobody told of its election: a new group has begun
			e.To, e.Term, e.At = m.Name, m.Term, m.Since
		}
		out = append(out, widget.Line{{Text: f.Words.Say("map.well-leader", "leader", e.To, "since", f.Scene.Since(e.At), "term", e.Term), Style: theme.Dim}})
	}
	return out
}

// wrapLine breaks a line of one style at blanks.
func wrapLine(l widget.Line, width int) []widget.Line {
	if len(l) != 1 {
		return []widget.Line{l}
	}
	var out []widget.Line
	for _, t := range widget.Wrap(l[0].Text, width) {
		out = append(out, widget.Line{{Text: t, Style: l[0].Style}})
	}
	return out
}
