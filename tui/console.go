package tui

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

const (
	historyMax  = 200
	printedMax  = 2000 // lines of answers that are kept
	consoleRows = 8    // of answers that are shown above the line, at most
)

// console holds the line of command with its history, and what was answered. It stays open until it is left.
type console struct {
	open    bool
	field   textinput.Model
	history []string
	at      int // in history; len: the line being written
	draft   string
	err     string
	offers  []string
	printed []widget.Line
	up      int // lines scrolled back
}

func newConsole() console { return console{field: newField()} }

func (m *model) openConsole(line string) {
	c := &m.console
	c.open = true
	c.field.SetValue(line)
	c.field.CursorEnd()
	c.field.Focus()
	c.at, c.err, c.offers, c.up = len(c.history), "", nil, 0
	c.printed = nil
	m.typing(true)
	m.touch()
}

func (m *model) closeConsole() {
	m.console.open = false
	m.console.field.Blur()
	m.typing(false)
	m.touch()
}

// print adds an answer.
func (c *console) print(a feed.Answer) {
	for _, o := range a.Output {
		c.add(widget.S(sanitize.Text(o), theme.Text))
	}
	switch {
	case a.Error != "":
		c.add(widget.S(sanitize.Text(a.Error), theme.Failing))
	case len(a.Output) == 0:
		c.add(widget.S(string(grid.Running)+" "+sanitize.Text(a.Text), theme.OK))
	}
}

func (c *console) add(s widget.Span) {
	if len(c.printed) >= printedMax {
		c.printed = append(c.printed[:0:0], c.printed[printedMax/4:]...)
	}
	c.printed = append(c.printed, widget.Line{s})
	c.up = 0
}

// consoleKey edits the line: enter gives it, tab goes on, up and down go through what was given before, page up and down through the answers.
func (m *model) consoleKey(msg tea.KeyMsg) tea.Cmd {
	c := &m.console
	switch keyName(msg) {
	case "esc", "ctrl+c":
		m.closeConsole()
		return nil
	case "ctrl+z":
		if m.suspend() {
			return tea.Suspend
		}
		return nil
	case "enter":
		return m.enter()
	case "tab":
		m.complete()
		return nil
	case "up", "ctrl+p":
		m.recall(-1)
		return nil
	case "down", "ctrl+n":
		m.recall(1)
		return nil
	case "pgup":
		c.up = min(c.up+consoleRows, max(len(c.printed)-consoleRows, 0))
		return nil
	case "pgdown":
		c.up = max(c.up-consoleRows, 0)
		return nil
	case "backspace":
		if c.field.Value() == "" {
			m.closeConsole()
			return nil
		}
	}
	before := c.field.Value()
	if before == "" && msg.Type == tea.KeyRunes { // the sign is there already
		msg.Runes = []rune(strings.TrimLeft(string(msg.Runes), ":"))
	}
	c.field = edit(c.field, msg)
	if c.field.Value() != before {
		c.err, c.offers = "", nil
	}
	return nil
}

// edit gives a key to a text field. Runes that come in one piece (a paste, fast typing) are text even where they spell the name of a key: "delete", "up".
func edit(field textinput.Model, msg tea.KeyMsg) textinput.Model {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		field, _ = field.Update(msg)
		return field
	}
	for _, r := range msg.Runes {
		field, _ = field.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	return field
}

// keyName is the name of a key as the table has it; text that only spells one is none.
func keyName(msg tea.KeyMsg) string {
	if msg.Type == tea.KeyRunes && len(msg.Runes) > 1 {
		return ""
	}
	return msg.String()
}

func (m *model) enter() tea.Cmd {
	c := &m.console
	line := strings.TrimSpace(c.field.Value())
	if line == "" {
		m.closeConsole()
		return nil
	}
	act, found, err := m.screenWord(line)
	var order command.Command
	if !found && err == nil {
		order, err = command.Parse(line)
	}
	if err != nil {
		c.err, c.offers = sanitize.Text(err.Error()), nil
		return nil
	}
	c.remember(line)
	c.field.SetValue("")
	c.add(widget.S(": "+sanitize.Text(line), theme.Dim))
	if found {
		return act()
	}
	m.do(order)
	return nil
}

func (c *console) remember(line string) {
	if n := len(c.history); n == 0 || c.history[n-1] != line {
		c.history = append(c.history, line)
		if len(c.history) > historyMax {
			c.history = c.history[1:]
		}
	}
	c.at = len(c.history)
}

func (m *model) complete() {
	c := &m.console
	var targets []string
	if m.cluster != nil {
		targets = m.cluster.Targets()
	}
	line := c.field.Value()
	offers := merge(command.Complete(line, targets), completeScreen(line))
	c.err, c.offers = "", offers
	if len(offers) == 0 {
		return
	}
	head := line[:strings.LastIndexAny(line, " \t")+1]
	if len(offers) == 1 {
		c.field.SetValue(head + offers[0] + " ")
		c.field.CursorEnd()
		c.offers = nil
		return
	}
	if p := commonPrefix(offers); len(p) > len(line)-len(head) {
		c.field.SetValue(head + p)
		c.field.CursorEnd()
	}
}

func commonPrefix(all []string) string {
	p := all[0]
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, p) {
			p = p[:len(p)-1]
		}
	}
	return p
}

func (m *model) recall(by int) {
	c := &m.console
	if c.at == len(c.history) {
		c.draft = c.field.Value()
	}
	c.at = max(min(c.at+by, len(c.history)), 0)
	text := c.draft
	if c.at < len(c.history) {
		text = c.history[c.at]
	}
	c.field.SetValue(text)
	c.field.CursorEnd()
	c.err, c.offers = "", nil
}
