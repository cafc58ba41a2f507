package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/sanitize"
)

const historyMax = 200

func (m *model) openConsole() {
	m.console.open = true
	m.console.field.SetValue("")
	m.console.field.Focus()
	m.console.at, m.console.err, m.console.offers = len(m.console.history), "", nil
	m.typing(true)
	m.touch()
}

func (m *model) closeConsole() {
	m.console.open = false
	m.console.field.Blur()
	m.typing(false)
	m.touch()
}

// consoleKey edits the line: enter gives it, tab goes on, up and down go through what was given before.
func (m *model) consoleKey(msg tea.KeyMsg) tea.Cmd {
	c := &m.console
	switch msg.String() {
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
	case "backspace":
		if c.field.Value() == "" {
			m.closeConsole()
			return nil
		}
	}
	before := c.field.Value()
	c.field, _ = c.field.Update(msg)
	if c.field.Value() != before {
		c.err, c.offers = "", nil
	}
	return nil
}

func (m *model) enter() tea.Cmd {
	c := &m.console
	line := strings.TrimSpace(c.field.Value())
	switch strings.ToLower(line) { // what people try: these are the screen's, no scenario can use them
	case "":
		m.closeConsole()
		return nil
	case "help", "?":
		m.closeConsole()
		m.overlay = m.help()
		return nil
	case "quit", "exit", "q", "q!":
		m.ending = true
		return tea.Quit
	}
	order, err := command.Parse(line)
	if err != nil {
		c.err, c.offers = sanitize.Text(err.Error()), nil
		return nil
	}
	if n := len(c.history); n == 0 || c.history[n-1] != line {
		c.history = append(c.history, line)
		if len(c.history) > historyMax {
			c.history = c.history[1:]
		}
	}
	m.closeConsole()
	m.do(order)
	return nil
}

func (m *model) complete() {
	c := &m.console
	var targets []string
	if m.cluster != nil {
		targets = m.cluster.Targets()
	}
	line := c.field.Value()
	offers := command.Complete(line, targets)
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
