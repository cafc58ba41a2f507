package mapview

import (
	"sort"
	"time"

	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/sentence"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// drawNow explains the selection, and says what is wrong in the cluster.
func (v View) drawNow(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 20 || h < 3 {
		return
	}
	title := f.Words.Say("map.now")
	about := v.details(f)
	if len(about) > 0 {
		title = f.Words.Say("map.about", "what", v.nameOf(f))
	}
	in := pane(c, title)
	iw, ih := in.Size()
	var lines []widget.Line
	for _, l := range about {
		lines = append(lines, wrapLine(l, iw)...)
	}
	problems := f.Scene.Problems(f.World, f.Words)
	if len(about) > 0 && len(problems) > 0 && len(lines)+2 <= ih {
		lines = append(lines, nil)
	}
	if len(problems) == 0 && len(about) == 0 {
		for _, l := range wellLines(f) {
			lines = append(lines, wrapLine(l, iw)...)
		}
	}
	for i, p := range problems {
		if len(about) > 0 && v.selected.Host != "" && p.Target.Host == v.selected.Host {
			continue // said above
		}
		block := problemLines(p, iw)
		if len(lines)+len(block) > ih-1 && i < len(problems)-1 || len(lines)+len(block) > ih {
			if len(lines) < ih {
				lines = append(lines, widget.Line{{Text: f.Words.Say("map.more-problems", "n", len(problems)-i), Style: theme.Dim}})
			}
			break
		}
		lines = append(lines, block...)
	}
	drawLines(in, lines, iw, ih)
}

func problemLines(p scene.Problem, width int) []widget.Line {
	sign, style := grid.Waiting, theme.Waiting
	switch p.Severity {
	case scene.Lasting:
		sign, style = grid.CutMark, theme.Fault
	case scene.Broken, scene.Grave:
		sign, style = grid.Failing, theme.Failing
	}
	text := theme.Text
	if p.Severity == scene.Grave {
		text = theme.Failing
	}
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

func wellLines(f view.Frame) []widget.Line {
	s := f.Scene
	out := []widget.Line{{{Text: string(grid.Running) + " ", Style: theme.OK}, {Text: f.Words.Say("map.well"), Style: theme.Text}}}
	out = append(out, widget.Line{{Text: "  " + f.Words.Say("map.well-counts", "masters", len(s.Masters), "workers", len(s.Workers), "pods", s.PodsRunning), Style: theme.Dim}})
	if f.Live {
		out = append(out, nil, widget.Line{{Text: f.Words.Say("map.try"), Style: theme.Dim}})
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

// nameOf is the selection in a few words.
func (v View) nameOf(f view.Frame) string {
	t := v.selected
	switch t.Kind {
	case scene.Pod:
		return "pod " + t.Name
	case scene.Process:
		return t.Process + " " + f.Words.Say("map.on", "host", t.Host)
	}
	return t.Host
}

// details of the selection: what it is, why, and what comes next.
func (v View) details(f view.Frame) []widget.Line {
	t := v.selected
	master, worker := f.Scene.Find(t)
	switch t.Kind {
	case scene.Master:
		if master != nil {
			return masterDetails(f, master)
		}
	case scene.Worker:
		if worker != nil {
			return workerDetails(f, worker)
		}
	case scene.Process:
		return processDetails(f, t)
	case scene.Pod:
		return podDetails(f, t)
	}
	return nil
}

func text(s string, style grid.Style) widget.Line { return widget.Line{{Text: s, Style: style}} }

func masterDetails(f view.Frame, m *scene.MasterInfo) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if !m.Up {
		out = append(out, text(say("why.machine-down", "host", m.Name, "by", scene.By(m.By, f.Words), "since", f.Scene.Since(m.Since)), theme.Failing))
	} else {
		out = append(out, text(say("about.up", "since", f.Scene.Since(m.Since)), theme.Text))
	}
	if e := m.Member; e != nil {
		key := "about.member"
		if !m.Up || e.Role == "down" {
			key = "about.member-down"
		}
		out = append(out, text(say(key, "role", e.Role, "term", e.Term, "last", e.LastIndex, "commit", e.CommitIndex, "applied", e.Applied), theme.Text))
		if e.Err != "" {
			out = append(out, text(say("about.member-error", "error", e.Err), theme.Failing))
		}
	}
	if b := m.Backend; b != nil {
		key := "about.backend"
		if !b.Healthy {
			key = "about.backend-out"
		}
		out = append(out, text(say(key, "rate", rate(b.PerSec), "total", b.Total, "watches", b.Watches, "reason", b.Reason), theme.Text))
	}
	return append(out, faultLines(f, &m.Machine)...)
}

func faultLines(f view.Frame, m *scene.Machine) []widget.Line {
	var out []widget.Line
	for i, fl := range m.Faults {
		if i == 4 {
			out = append(out, text(f.Words.Say("about.more-faults", "n", len(m.Faults)-i), theme.Dim))
			break
		}
		out = append(out, text(f.Words.Say("why.fault", "fault", fl.Fault.String(), "by", scene.By(fl.By, f.Words), "since", f.Scene.Since(fl.At)), theme.Fault))
	}
	return out
}

func workerDetails(f view.Frame, w *scene.WorkerInfo) []widget.Line {
	say := f.Words.Say
	var out []widget.Line
	if !w.Up {
		out = append(out, text(say("why.machine-down", "host", w.Name, "by", scene.By(w.By, f.Words), "since", f.Scene.Since(w.Since)), theme.Failing))
	}
	if n := w.Node; n != nil {
		out = append(out, text(say("about.node", "ready", n.Ready, "reason", n.Reason, "since", f.Scene.Since(n.Since), "lease", max(w.LeaseAge, 0)), theme.Text))
		for _, t := range n.Object.Spec.Taints {
			out = append(out, text(say("about.taint", "taint", t.Key+":"+string(t.Effect)), theme.Waiting))
		}
	}
	out = append(out, faultLines(f, &w.Machine)...)
	c := f.World.Compare(w.Name)
	out = append(out, text(say("about.belief", "believed", c.Belief, "running", c.Truth), theme.Text))
	if next := f.Scene.Next(w, f.Words); next != "" {
		out = append(out, text(string(grid.RightTo)+" "+next, theme.Waiting))
	}
	return out
}

func processDetails(f view.Frame, t scene.Target) []widget.Line {
	h, ok := f.World.Hosts.Get(t.Host)
	if !ok {
		return nil
	}
	p, ok := h.Processes[t.Process]
	if !ok {
		return nil
	}
	say := f.Words.Say
	out := []widget.Line{}
	if p.Up {
		out = append(out, text(say("about.process", "since", f.Scene.Since(p.Since), "n", p.Restarts), theme.Text))
	} else {
		out = append(out, text(say("why.process-down", "process", t.Process, "host", t.Host, "reason", p.Reason, "by", scene.By(p.By, f.Words), "since", f.Scene.Since(p.Since)), theme.Failing))
	}
	if key := "about." + t.Process; f.Words.Has(key) {
		out = append(out, text(say(key), theme.Dim))
	}
	return out
}

func podDetails(f view.Frame, t scene.Target) []widget.Line {
	say := f.Words.Say
	p, ok := f.World.Pods.Get(t.Namespace + "/" + t.Name)
	if !ok {
		return []widget.Line{text(say("about.gone"), theme.Dim)}
	}
	out := []widget.Line{text(say("about.pod", "status", p.Status, "ready", p.Ready, "total", p.Total, "since", f.Scene.Since(p.Since), "n", p.Restarts), theme.Text)}
	if t.Host != "" {
		out = append(out, text(say("about.pod-node", "node", t.Host), theme.Text))
	} else {
		why, next := f.Scene.PendingWhy(f.World, p, f.Words)
		out = append(out, text(why, theme.Waiting))
		if next != "" {
			out = append(out, text(string(grid.RightTo)+" "+next, theme.Dim))
		}
	}
	if e, ok := f.World.Evictions.Get(t.Namespace + "/" + t.Name); ok {
		out = append(out, text(string(grid.RightTo)+" "+say("why.evict-in", "in", e.Due.Sub(f.Now), "n", 1), theme.Waiting))
	}
	prefix := t.Host + " " + string(p.Object.UID) + " "
	for _, c := range p.Object.Spec.Containers {
		r, ok := f.World.Running.Get(prefix + c.Name)
		state := say("about.no-container")
		if ok {
			state = string(r.State) + " " + words.Span(f.Scene.Since(r.Since))
			if r.Until.After(f.Now) {
				state += ", " + say("about.until", "in", r.Until.Sub(f.Now))
			}
		}
		out = append(out, text(say("about.container", "name", c.Name, "image", c.Image, "state", state), theme.Dim))
	}
	return out
}

// drawStrip is the line of time: what the user did, what broke, who was elected, from the start to now.
func drawStrip(f view.Frame, c grid.Canvas) {
	w, h := c.Size()
	if w < 20 || h < 1 || f.World.Start.IsZero() {
		return
	}
	line := c
	last := " " + f.Words.Say("map.strip-now") + " "
	right := w - grid.Width(last) - 1
	for x := 1; x <= right; x++ {
		line.Put(x, 0, string(grid.LineH), theme.Frame)
	}
	line.Put(1, 0, string(grid.LineStart), theme.Frame)
	line.Put(right, 0, string(grid.LineEnd), theme.Frame)
	line.Put(right+1, 0, last, theme.Dim)
	span := f.Now.Sub(f.World.Start)
	if span <= 0 {
		return
	}
	room := right - 2
	place := func(t time.Time) int {
		return 2 + int(float64(t.Sub(f.World.Start))/float64(span)*float64(max(room-1, 1))+0.5)
	}
	marks := append([]feed.Mark(nil), f.Feed.Marks()...)
	sort.SliceStable(marks, func(i, j int) bool { return marks[i].Kind < marks[j].Kind }) // what matters most is drawn last
	for _, m := range marks {
		if m.At.Before(f.World.Start) || m.At.After(f.Now) {
			continue
		}
		sign, style := markSign(m.Kind)
		line.Put(min(max(place(m.At), 2), right-1), 0, string(sign), style)
	}
	if h < 2 {
		return
	}
	line.Put(1, 1, "0", theme.Dim)
	line.PutRight(right+1, 1, words.Span(span), theme.Dim)
	used := 3
	sort.SliceStable(marks, func(i, j int) bool { return marks[i].At.After(marks[j].At) }) // the newest get their words first
	taken := make([]bool, w)
	for x := range min(used, w) {
		taken[x] = true
	}
	for x := max(right-len(words.Span(span))-1, 0); x < w; x++ {
		taken[x] = true
	}
	for _, m := range marks {
		if m.Kind == sentence.Order || m.At.Before(f.World.Start) || m.At.After(f.Now) {
			continue
		}
		word := grid.Cut(m.Word, 14)
		x := min(max(place(m.At)-grid.Width(word)/2, 3), max(right-grid.Width(word), 3))
		if free(taken, x-1, x+grid.Width(word)+1) {
			_, style := markSign(m.Kind)
			line.Put(x, 1, word, style&^grid.Bold)
			for i := x - 1; i <= x+grid.Width(word) && i < w; i++ {
				taken[max(i, 0)] = true
			}
		}
	}
}

func free(taken []bool, from, to int) bool {
	for x := max(from, 0); x < to; x++ {
		if x >= len(taken) || taken[x] {
			return false
		}
	}
	return true
}

func markSign(m sentence.Mark) (rune, grid.Style) {
	switch m {
	case sentence.Break:
		return grid.CutMark, theme.Fault
	case sentence.Elect:
		return grid.Leader, theme.Leader
	case sentence.Trouble:
		return grid.Failing, theme.Failing
	}
	return grid.Moment, theme.Accent
}
