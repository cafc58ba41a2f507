package tui

import (
	"fmt"
	"strings"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// part of the header; the least important ones go first when columns are few.
type part struct {
	spans widget.Line
	rank  int
}

func (m *model) drawHeader(f view.Frame, c grid.Canvas) {
	say := m.words.Say
	w := f.World
	q := f.Scene.Quorum
	parts := []part{
		{widget.Line{{Text: "kubeviz", Style: theme.Accent}}, 6},
		{widget.Line{{Text: m.preset(f), Style: theme.Title}}, 5},
		{m.rate(f), 0},
		{widget.Line{{Text: f.Now.In(f.Location).Format("15:04:05"), Style: theme.Dim}}, 7},
		{widget.Line{{Text: "+" + words.Span(f.Now.Sub(w.Start)), Style: theme.Text}}, 1},
		{widget.Line{{Text: say("head.revision", "revision", w.Revision), Style: theme.Dim}}, 4},
	}
	switch {
	case w.Start.IsZero() && f.Live:
		parts = append(parts[:2:2], part{widget.Line{{Text: say("head.starting"), Style: theme.Busy}}, 0})
	case w.Start.IsZero():
		parts = append(parts[:2:2], part{m.rate(f), 0})
	}
	if a := m.outside.access; a != nil {
		parts = append(parts, part{widget.Line{{Text: say("head.api") + " ", Style: theme.Dim}, {Text: m.address(a.Address), Style: theme.Text}}, 3})
	}
	if q.Raft {
		switch {
		case q.Leader != "":
			parts = append(parts, part{widget.Line{{Text: say("head.term", "term", q.Term) + " ", Style: theme.Dim}, {Text: string(grid.Leader) + " " + q.Leader, Style: theme.Leader}}, 3})
		default:
			parts = append(parts, part{widget.Line{{Text: say("head.no-leader"), Style: theme.Failing}}, 3})
		}
		if q.Refuses {
			parts = append(parts, part{widget.Line{{Text: string(grid.Failing) + " " + say("head.no-space"), Style: theme.Failing}}, 1})
		}
		parts = append(parts, part{widget.Line{m.quorum(q)}, 2})
	}
	if m.saver.lost {
		parts = append(parts, part{widget.Line{{Text: say("head.record-lost"), Style: theme.Failing}}, 1})
	}
	if n := w.Lost; n > 0 {
		parts = append(parts, part{widget.Line{{Text: say("head.lost", "n", n), Style: theme.Waiting}}, 8})
	}
	for total(parts) > m.w-2 && len(parts) > 1 {
		worst := 0
		for i, p := range parts {
			if p.rank > parts[worst].rank {
				worst = i
			}
		}
		parts = append(parts[:worst], parts[worst+1:]...)
	}
	x := 1
	gap := 2
	if m.w >= 110 && len(parts) > 1 {
		gap = min((m.w-2-total(parts)+2*(len(parts)-1))/(len(parts)-1), 4)
	}
	for i, p := range parts {
		if i > 0 && i == len(parts)-1 && m.w >= 100 { // what can be lost has a place of its own
			x = max(x, m.w-1-p.spans.Width())
		}
		x = p.spans.Draw(c, x, 0, m.w-x) + gap
	}
	rule := 1
	if m.tall() {
		m.drawTabs(f, c)
		rule = 2
	}
	c.HLine(rule, grid.LineH, theme.Frame)
	if !m.tall() { // no row of their own: the tabs are part of the rule
		m.drawTabs(f, c.Sub(layout.Rect{Y: 0, W: m.w, H: 2}))
	}
}

func total(parts []part) int {
	n := 0
	for i, p := range parts {
		if i > 0 {
			n += 2
		}
		n += p.spans.Width()
	}
	return n
}

// address of the API: where columns are few its port alone, the machine being this one.
func (m *model) address(at string) string {
	if i := strings.LastIndexByte(at, ':'); i >= 0 && m.w < 110 {
		return at[i:]
	}
	return at
}

func (m *model) preset(f view.Frame) string {
	if m.title != "" {
		return m.words.Say("head.title", "title", m.title)
	}
	return m.words.Say("head.title", "title", f.World.Header.Preset)
}

// rate says how time runs, and where it is looked at when that is not now.
func (m *model) rate(f view.Frame) widget.Line {
	say := m.words.Say
	line := widget.Line{}
	switch {
	case f.Recording:
		line = append(line, widget.S(say("head.recording")+" ", theme.Fault))
	case !f.Live:
		_, last := m.reader.Bounds()
		line = append(line, widget.S(" "+say("head.past", "ago", last.Sub(f.Now))+" ", theme.Accent|grid.Reverse), widget.S(" ", theme.Text))
	}
	switch {
	case f.Slow > 0:
		return append(line, widget.S(say("head.slow", "factor", int(f.Slow+0.5)), theme.Busy))
	case m.reader.Done():
		return append(line, widget.S(say("head.end"), theme.Waiting))
	case f.Unpaced:
		return append(line, widget.S(string(grid.Play)+" "+say("head.unpaced"), theme.OK))
	case f.Rate == 0 && f.WhyPause != "":
		return append(line, widget.S(string(grid.PauseBar)+" "+say("head.paused-why", "why", f.WhyPause), theme.Waiting))
	case f.Rate == 0:
		return append(line, widget.S(string(grid.PauseBar)+" "+say("head.paused"), theme.Waiting))
	}
	return append(line, widget.S(fmt.Sprintf("%c %gx", grid.Play, f.Rate), theme.OK))
}

func (m *model) quorum(q scene.Quorum) widget.Span {
	key, style := "quorum.well", theme.Dim
	switch {
	case q.Alive < q.Need:
		key, style = "quorum.lost", theme.Failing
	case q.Lose < (q.Members-1)/2:
		style = theme.Waiting
	}
	return widget.S(m.words.Say(key, "alive", q.Alive, "members", q.Members, "need", q.Need, "lose", q.Lose), style)
}

// drawTabs shows the views, and where the selection is on the right.
func (m *model) drawTabs(f view.Frame, c grid.Canvas) {
	x := 1
	pad := ""
	if !m.tall() {
		pad = " "
	}
	for i := range m.rooms.all {
		style := theme.Dim
		if i == m.rooms.at {
			style = theme.Accent
		}
		x = c.Put(x, 1, pad+m.tab(i)+pad, style) + tabGap - 2*len(pad)
	}
	crumbs := m.crumbs(f)
	if !m.tall() && len(crumbs) < 2 {
		return
	}
	text := strings.Join(crumbs, " "+string(grid.Crumb)+" ")
	c.PutRight(m.w-1, 1, pad+grid.CutMiddle(text, max(m.w-x-4, 0))+pad, theme.Dim)
}

// tabGap is the space between tabs.
const tabGap = 3

// tab is the text of a view's tab.
func (m *model) tab(i int) string {
	return fmt.Sprintf("%d %s", i+1, m.words.Say("view."+m.rooms.all[i].base.ID()))
}

// crumbs are the way from the cluster to what is selected or the page in front.
func (m *model) crumbs(f view.Frame) []string {
	say := m.words.Say
	title := func(s string) string { return say("head.title", "title", s) }
	out := []string{say("crumb.cluster")}
	room := &m.rooms.all[m.rooms.at]
	base := f
	base.Selected = selection(room.base, f)
	t := base.Selected
	if t.Host != "" {
		out = append(out, title(t.Host))
	}
	switch t.Kind {
	case target.Process:
		out = append(out, title(t.Process))
	case target.Queue:
		out = append(out, title(t.Process), title(t.Name))
	case target.Pod, target.Object:
		name := t.Name
		if t.Namespace != "" {
			name = t.Namespace + "/" + name
		}
		out = append(out, title(name))
	case target.Client:
		out = append(out, title(motion.Label(t.Name)))
	case target.Zone:
		out = append(out, title(t.Name))
	}
	for _, p := range room.pages {
		name := say("page." + p.ID())
		if n, ok := p.(view.Titled); ok {
			name = n.Title(f)
		}
		out = append(out, name)
	}
	return out
}

// tabAt is the view whose tab is at a column.
func (m *model) tabAt(at int) string {
	x := 1
	for i := range m.rooms.all {
		end := x + grid.Width(m.tab(i))
		if at >= x && at < end {
			return m.rooms.all[i].base.ID()
		}
		x = end + tabGap
	}
	return ""
}
