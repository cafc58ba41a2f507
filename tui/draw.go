package tui

import (
	"fmt"
	"strings"
	"time"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// View is the frame as text. Bubble Tea asks after every message, so it is kept until something changes.
func (m *model) View() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	if m.dirty || m.grid == nil {
		m.draw()
		m.shown = m.grid.Render(m.theme.Seq, m.ascii)
		m.dirty = false
	}
	return m.shown
}

// refresh makes the scene of now. Where that is dear (thousands of machines), it is done for at most a tenth of the time.
func (m *model) refresh() {
	start := m.clock()
	if start.Sub(m.sceneAt) < 10*m.sceneCost {
		return
	}
	m.scene = m.maker.Of(m.line.World(), m.line.Now())
	m.sceneAt = m.clock()
	m.sceneCost = 0
	if cost := m.sceneAt.Sub(start); cost > 2*time.Millisecond {
		m.sceneCost = min(cost, 50*time.Millisecond)
	}
}

func (m *model) draw() {
	if m.grid == nil {
		m.grid = grid.New(m.w, m.h)
	} else {
		m.grid.Reset()
	}
	c := m.grid.Canvas()
	if m.w < minW || m.h < minH {
		m.drawSmall(c)
		return
	}
	m.refresh()
	body := m.body()
	f := m.frame(body)
	m.drawHeader(f, c)
	m.rooms.front().Draw(f, c.Sub(body))
	if m.overlay.Open() {
		m.overlay.Draw(c.Sub(body))
	}
	m.drawFooter(f, c)
}

// tall screens have a line of tabs.
func (m *model) tall() bool { return m.h >= 30 }

func (m *model) tabsRow() int {
	if m.tall() {
		return 1
	}
	return -1
}

// body is where the view draws.
func (m *model) body() layout.Rect {
	top := 2
	if m.tall() {
		top = 3
	}
	return layout.Rect{Y: top, W: m.w, H: max(m.h-top-2, 0)}
}

// drawSmall asks for room, as far as there is room to ask.
func (m *model) drawSmall(c grid.Canvas) {
	text := m.words.Say("ui.small", "w", minW, "h", minH, "width", m.w, "height", m.h)
	lines := widget.Wrap(text, m.w)
	for y, l := range lines {
		if y >= m.h {
			break
		}
		c.Put(0, y, l, theme.Text)
	}
}

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
	if q.Raft {
		switch {
		case q.Leader != "":
			parts = append(parts, part{widget.Line{{Text: say("head.term", "term", q.Term) + " ", Style: theme.Dim}, {Text: string(grid.Leader) + " " + q.Leader, Style: theme.Leader}}, 3})
		default:
			parts = append(parts, part{widget.Line{{Text: say("head.no-leader"), Style: theme.Failing}}, 3})
		}
		parts = append(parts, part{widget.Line{m.quorum(q)}, 2})
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

func (m *model) preset(f view.Frame) string {
	if m.title != "" {
		return m.words.Say("head.title", "title", m.title)
	}
	return m.words.Say("head.title", "title", f.World.Header.Preset)
}

func (m *model) rate(f view.Frame) widget.Line {
	line := widget.Line{}
	if !f.Live {
		line = append(line, widget.S(m.words.Say("head.recording")+" ", theme.Fault))
	}
	if p, ok := m.line.(Pacer); ok && p.Done() {
		return append(line, widget.S(m.words.Say("head.end"), theme.Waiting))
	}
	switch {
	case f.Unpaced:
		return append(line, widget.S(string(grid.Play)+" "+m.words.Say("head.unpaced"), theme.OK))
	case f.Rate == 0 && f.WhyPause != "":
		return append(line, widget.S(string(grid.PauseBar)+" "+m.words.Say("head.paused-why", "why", f.WhyPause), theme.Waiting))
	case f.Rate == 0:
		return append(line, widget.S(string(grid.PauseBar)+" "+m.words.Say("head.paused"), theme.Waiting))
	}
	return append(line, widget.S(fmt.Sprintf("%c %gx", grid.Play, f.Rate), theme.OK))
}

func (m *model) quorum(q scene.Quorum) widget.Span {
	key, style := "quorum.well", theme.Dim
	switch {
	case q.Alive < q.Need:
		key, style = "quorum.lost", theme.Failing
	case q.CanLose() < (q.Members-1)/2:
		style = theme.Waiting
	}
	return widget.S(m.words.Say(key, "alive", q.Alive, "members", q.Members, "need", q.Need, "lose", q.CanLose()), style)
}

// drawTabs shows the views, and where the selection is on the right.
func (m *model) drawTabs(f view.Frame, c grid.Canvas) {
	x := 1
	for i := range m.rooms.all {
		v := m.rooms.all[i].base
		style := theme.Dim
		if i == m.rooms.at {
			style = theme.Accent
		}
		x = c.Put(x, 1, fmt.Sprintf("%d %s", i+1, m.words.Say("view."+v.ID())), style) + 3
	}
	crumbs := []string{m.words.Say("crumb.cluster")}
	t := f.Selected
	switch t.Kind {
	case scene.Master, scene.Worker:
		crumbs = append(crumbs, t.Host)
	case scene.Process:
		crumbs = append(crumbs, t.Host, t.Process)
	case scene.Pod:
		if t.Host != "" {
			crumbs = append(crumbs, t.Host)
		}
		crumbs = append(crumbs, m.words.Say("head.title", "title", t.Namespace+"/"+t.Name))
	}
	text := grid.Cut(strings.Join(crumbs, " "+string(grid.Crumb)+" "), max(m.w-x-2, 0))
	c.PutRight(m.w-1, 1, text, theme.Dim)
}

// tabAt is the view whose tab is at a column.
func (m *model) tabAt(at int) string {
	x := 1
	for i := range m.rooms.all {
		v := m.rooms.all[i].base
		end := x + grid.Width(fmt.Sprintf("%d %s", i+1, m.words.Say("view."+v.ID())))
		if at >= x && at < end {
			return v.ID()
		}
		x = end + 3
	}
	return ""
}

func (m *model) drawFooter(f view.Frame, c grid.Canvas) {
	rule, foot := m.h-2, m.h-1
	c.HLine(rule, grid.LineH, theme.Frame)
	if m.console.open {
		m.drawConsole(c, rule, foot)
		return
	}
	for i, t := range m.toasts {
		y := rule - (len(m.toasts) - 1 - i)
		if y != rule {
			c.Sub(layout.Rect{Y: y, W: m.w, H: 1}).Clear()
		}
		c.Put(1, y, " ", 0)
		end := c.PutMax(2, y, m.w-5, string(grid.Marker)+" "+t.text, t.style|grid.Bold)
		c.Put(end, y, " ", 0)
	}
	x := 1
	binds := m.keys.Foot(f, m.scopes()...)
	help := -1
	for i, b := range binds {
		if b.Short == "foot.help" {
			help = i
		}
	}
	room := m.w - 1
	if help >= 0 { // the way to all other keys is never left out
		room -= grid.Width(binds[help].Label+" "+m.words.Say(binds[help].Short)) + 2
	}
	gap := 2
	if m.w >= 110 {
		gap = 3
	}
	for i, b := range binds {
		word := m.words.Say(b.Short)
		if i == help {
			continue
		}
		if x+grid.Width(b.Label+" "+word) > room {
			break
		}
		x = c.Put(x, foot, b.Label, theme.Key)
		x = c.Put(x+1, foot, word, theme.Dim) + gap
	}
	if help >= 0 {
		b := binds[help]
		x = c.Put(x, foot, b.Label, theme.Key)
		c.Put(x+1, foot, m.words.Say(b.Short), theme.Dim)
	}
}

// drawConsole shows the text field, and under it what is wrong or how it can go on.
func (m *model) drawConsole(c grid.Canvas, row, under int) {
	c.Sub(layout.Rect{Y: row, W: m.w, H: 1}).Clear()
	value := []rune(m.console.field.Value())
	pos := min(m.console.field.Position(), len(value))
	x := c.Put(1, row, ":", theme.Accent)
	room := m.w - x - 2
	from := max(pos-room+1, 0)
	x = c.Put(x, row, string(value[from:pos]), theme.Text)
	at, rest := " ", ""
	if pos < len(value) {
		at, rest = string(value[pos]), string(value[pos+1:])
	}
	x = c.Put(x, row, at, theme.Text|grid.Reverse)
	c.PutMax(x, row, max(m.w-x-1, 0), rest, theme.Text)
	switch {
	case m.console.err != "":
		c.PutMax(1, under, m.w-2, m.console.err, theme.Failing)
	case len(m.console.offers) > 0:
		c.PutMax(1, under, m.w-2, strings.Join(m.console.offers, "  "), theme.Dim)
	case len(value) > 0:
		c.PutMax(1, under, m.w-2, usage(string(value)), theme.Dim)
	default:
		c.PutMax(1, under, m.w-2, m.words.Say("ui.console"), theme.Dim)
	}
}
