package tui

import (
	"slices"
	"strings"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/widget"
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
