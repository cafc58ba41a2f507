package tui

import (
	"slices"
	"strings"
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
	"github.com/charmbracelet/bubbles/textinput"
)

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
	say := m.words.Say
	lines, from, to, of, wider := k.log.View(m.w-2, m.consoleRoom())
	n := len(lines)
	if n > 0 || k.job != nil {
		box := c.Sub(layout.Rect{Y: row - n - 1, W: m.w, H: n + 1})
		box.Clear()
		box.HLine(0, grid.LineH, theme.Frame)
		for i, line := range lines {
			line.Draw(box, 1, i+1, m.w-2)
		}
		m.consoleRule(box, from, to, of, wider)
	}
	c.Sub(layout.Rect{Y: row, W: m.w, H: 1}).Clear()
	field, sign := &k.field, ":"
	if k.filtering {
		field, sign = &k.filter, "/"
	}
	m.drawField(c, row, sign, field)
	hint := func(text string, style grid.Style) { c.PutMax(1, under, m.w-2, text, style) }
	switch {
	case k.filtering:
		hint(say("ui.console-filter"), theme.Dim)
	case k.err != "":
		hint(k.err, theme.Failing)
	case len(k.offers) > 0:
		m.drawOffers(c, row, under)
	case k.asking != nil:
		hint(say("shell.asking"), theme.Dim)
	case k.field.Value() != "":
		hint(m.usage(k.field.Value()), theme.Dim)
	case k.job != nil:
		hint(say("ui.console-running"), theme.Dim)
	case k.log.Len() > 0:
		hint(say("ui.console-answers"), theme.Dim)
	default:
		hint(say("ui.console"), theme.Dim)
	}
}

// consoleRule says on the line above the answers what runs, what is filtered and where one is.
func (m *model) consoleRule(box grid.Canvas, from, to, of int, wider bool) {
	k := &m.console
	say := m.words.Say
	end := m.w - 2
	right := func(text string, style grid.Style) {
		end = box.PutRight(end, 0, " "+text+" ", style) - 1
	}
	if to-from+1 < of {
		right(say("ui.scroll", "from", from, "to", to, "of", of), theme.Dim)
	}
	if wider && end > m.w/2 {
		right(say("ui.wider"), theme.Dim)
	}
	if k.log.Gone > 0 && end > m.w/2 {
		right(say("ui.gone", "n", k.log.Gone), theme.Waiting)
	}
	x := 1
	if j := k.job; j != nil {
		key, style := "shell.running", theme.Busy
		switch {
		case j.cancelled > 0:
			key, style = "shell.stopping", theme.Waiting
		case j.prog == nil:
			key = "shell.starting"
		}
		text := say(key, "line", grid.Cut(sanitize.Text(j.line), max(m.w/3, 10)), "time", words.Span(time.Duration(j.second)*time.Second))
		x = box.PutMax(x, 0, max(end-x, 0), " "+string(grid.Starting)+" "+text+" ", style) + 1
	}
	if f := k.log.Filtered(); f != "" {
		box.PutMax(x, 0, max(end-x, 0), " / "+sanitize.Text(f)+" ", theme.Accent)
	}
}

// offerRows is how many rows of offers are shown at most.
const offerRows = 6

// drawOffers shows how a line can go on: in the row under it, or in columns above it where they are many.
func (m *model) drawOffers(c grid.Canvas, row, under int) {
	offers := m.console.offers
	width, all := 0, 0
	for _, o := range offers {
		width, all = max(width, grid.Width(o)+2), all+grid.Width(o)+2
	}
	if all <= m.w {
		c.PutMax(1, under, m.w-2, strings.Join(offers, "  "), theme.Dim)
		return
	}
	columns := max((m.w-2)/width, 1)
	rows := min((len(offers)+columns-1)/columns, offerRows)
	box := c.Sub(layout.Rect{Y: row - rows - 1, W: m.w, H: rows + 1})
	box.Clear()
	box.HLine(0, grid.LineH, theme.Frame)
	for i, o := range offers[:min(rows*columns, len(offers))] {
		box.PutMax(1+(i%columns)*width, 1+i/columns, m.w-2, o, theme.Text)
	}
	if more := len(offers) - rows*columns; more > 0 {
		c.PutMax(1, under, m.w-2, m.words.Say("shell.more-offers", "n", more), theme.Dim)
		return
	}
	c.PutMax(1, under, m.w-2, m.words.Say("shell.offers"), theme.Dim)
}

// usage of the word that a line begins with.
func (m *model) usage(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if _, is := isKubectl(line); is {
		return m.words.Say("word.kubectl")
	}
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
