package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
	"github.com/charmbracelet/bubbles/textinput"
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
	m.scene = m.maker.Of(m.reader.World(), m.reader.Now())
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
	if r := m.barRect(); !r.Empty() {
		m.timebar().Draw(c.Sub(r))
	}
	if m.overlay.Open() {
		m.overlay.Draw(c.Sub(body))
	}
	m.drawFooter(f, c)
}

// tall screens have a line of tabs.
func (m *model) tall() bool { return m.h >= 30 }

func (m *model) tabsRow() int { return 1 }

// body is where the view draws.
func (m *model) body() layout.Rect {
	top := 2
	if m.tall() {
		top = 3
	}
	return layout.Rect{Y: top, W: m.w, H: max(m.h-top-2-m.barRows(), 0)}
}

// barRows are the rows of the line of time.
func (m *model) barRows() int {
	if m.tall() {
		return 2
	}
	return 1
}

// barRect is where the line of time is.
func (m *model) barRect() layout.Rect {
	return layout.Rect{Y: m.h - 2 - m.barRows(), W: m.w, H: m.barRows()}
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
	case q.CanLose() < (q.Members-1)/2:
		style = theme.Waiting
	}
	return widget.S(m.words.Say(key, "alive", q.Alive, "members", q.Members, "need", q.Need, "lose", q.CanLose()), style)
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
	case target.Client, target.Zone:
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

func (m *model) drawFooter(f view.Frame, c grid.Canvas) {
	rule, foot := m.h-2, m.h-1
	c.HLine(rule, grid.LineH, theme.Frame)
	if m.console.open {
		m.drawConsole(c, rule, foot)
		return
	}
	m.drawToasts(c, rule)
	if m.find.open {
		m.drawFind(c, rule, foot)
		return
	}
	for _, k := range m.foot(f) {
		x := c.Put(k.x, foot, k.label, theme.Key)
		c.Put(x+1, foot, k.word, theme.Dim)
	}
}

// toastRows is how many rows one toast may take.
const toastRows = 2

// drawToasts puts what just happened on the rule above the footer and, where that is not enough, over the rows above it.
func (m *model) drawToasts(c grid.Canvas, rule int) {
	var lines []widget.Line
	all := m.toasts
	if !m.leaving.IsZero() { // a question waits for its answer below all news
		all = append(all[:len(all):len(all)], toast{text: m.words.Say("toast.quit"), style: theme.Waiting})
	}
	for _, t := range all {
		rows := widget.Wrap(t.text, m.w-6)
		if len(rows) > toastRows {
			rows = append(rows[:toastRows-1:toastRows-1], grid.Cut(strings.Join(rows[toastRows-1:], " "), m.w-6))
		}
		for i, row := range rows {
			head := string(grid.Marker) + " "
			if i > 0 {
				head = "  "
			}
			lines = append(lines, widget.Line{widget.S(head+row, t.style|grid.Bold)})
		}
	}
	for i, line := range lines {
		y := rule - (len(lines) - 1 - i)
		if y != rule {
			c.Sub(layout.Rect{Y: y, W: m.w, H: 1}).Clear()
		}
		c.Put(1, y, " ", 0)
		c.Put(line.Draw(c, 2, y, m.w-4), y, " ", 0)
	}
}

// footKey is a key in the footer.
type footKey struct {
	x           int
	label, word string
	key         string
}

// foot places the keys of the footer. The way to all other keys is never left out.
func (m *model) foot(f view.Frame) []footKey {
	scopes := m.scopes()
	if m.overlay.Open() {
		scopes = scopes[:1]
	}
	binds := m.keys.Foot(f, scopes...)
	gap := 2
	if m.w >= 110 {
		gap = 3
	}
	word := func(b keymap.Binding) string {
		text := m.words.Say(b.Short)
		if _, cut := b.Do.(intent.Cut); cut && f.Selected.Process != "" { // links are cut for the whole machine
			text += " " + sanitize.Text(f.Selected.Host)
		}
		return text
	}
	wide := func(b keymap.Binding) int { return grid.Width(b.Label) + 1 + grid.Width(word(b)) }
	room := m.w - 1
	help := slices.IndexFunc(binds, func(b keymap.Binding) bool { return b.Short == "foot.help" })
	if help >= 0 {
		room -= wide(binds[help]) + gap
	}
	var out []footKey
	x := 1
	put := func(b keymap.Binding) {
		out = append(out, footKey{x, b.Label, word(b), b.Keys[0]})
		x += wide(b) + gap
	}
	for i, b := range binds {
		if i == help {
			continue
		}
		if x+wide(b) > room {
			break
		}
		put(b)
	}
	if help >= 0 {
		put(binds[help])
	}
	return out
}

// footAt is the key whose place in the footer is at a column.
func (m *model) footAt(at int) string {
	for _, k := range m.foot(m.frame(m.body())) {
		if at >= k.x && at <= k.x+grid.Width(k.label)+grid.Width(k.word) {
			return k.key
		}
	}
	return ""
}

// drawFind shows the text that is searched for.
func (m *model) drawFind(c grid.Canvas, row, under int) {
	c.Sub(layout.Rect{Y: row, W: m.w, H: 1}).Clear()
	m.drawField(c, row, "/", &m.find.field)
	c.PutMax(1, under, m.w-2, m.words.Say("ui.find"), theme.Dim)
}

// drawField draws a text field with its cursor.
func (m *model) drawField(c grid.Canvas, row int, sign string, field *textinput.Model) {
	value := []rune(field.Value())
	pos := min(field.Position(), len(value))
	x := c.Put(1, row, sign, theme.Accent)
	room := m.w - x - 2
	from := max(pos-room+1, 0)
	x = c.Put(x, row, string(value[from:pos]), theme.Text)
	at, rest := " ", ""
	if pos < len(value) {
		at, rest = string(value[pos]), string(value[pos+1:])
	}
	x = c.Put(x, row, at, theme.Text|grid.Reverse)
	c.PutMax(x, row, max(m.w-x-1, 0), rest, theme.Text)
}

// drawConsole shows the answers, the text field, and under it what is wrong or how it can go on.
func (m *model) drawConsole(c grid.Canvas, row, under int) {
	k := &m.console
	if n := min(len(k.printed), consoleRows, max(row-6, 0)); n > 0 {
		box := c.Sub(layout.Rect{Y: row - n - 1, W: m.w, H: n + 1})
		box.Clear()
		box.HLine(0, grid.LineH, theme.Frame)
		end := len(k.printed) - min(k.up, len(k.printed)-n)
		for i, line := range k.printed[end-n : end] {
			line.Draw(box, 1, i+1, m.w-2)
		}
		if len(k.printed) > n {
			box.PutRight(m.w-2, 0, " "+m.words.Say("ui.scroll", "from", end-n+1, "to", end, "of", len(k.printed))+" ", theme.Dim)
		}
	}
	c.Sub(layout.Rect{Y: row, W: m.w, H: 1}).Clear()
	m.drawField(c, row, ":", &k.field)
	switch {
	case k.err != "":
		c.PutMax(1, under, m.w-2, k.err, theme.Failing)
	case len(k.offers) > 0:
		c.PutMax(1, under, m.w-2, strings.Join(k.offers, "  "), theme.Dim)
	case k.field.Value() != "":
		c.PutMax(1, under, m.w-2, m.usage(k.field.Value()), theme.Dim)
	default:
		c.PutMax(1, under, m.w-2, m.words.Say("ui.console"), theme.Dim)
	}
}

// usage of the word that a line begins with.
func (m *model) usage(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	for _, w := range command.Words() {
		if w.Name == strings.ToLower(word) {
			return w.Usage + "  " + m.words.Say("word."+w.Name)
		}
	}
	for _, w := range screenWords() {
		if w.name == strings.ToLower(word) {
			return w.usage + "  " + m.words.Say(w.help)
		}
	}
	return ""
}
