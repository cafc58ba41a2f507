package tui

import (
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/printout"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/shell"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

const (
	historyMax  = 200
	consoleRows = 8           // of answers that are shown above the line, at least, where there is room
	asideStep   = 16          // columns
	stopAgain   = time.Second // on the wall: an esc this soon after the one that stopped a program is about that program
)

// console holds the line of command with its history, what was answered, and the kubectl that runs. It stays open until it is left.
type console struct {
	open    bool
	field   textinput.Model
	history []string
	at      int // in history; len: the line being written
	draft   string
	err     string
	offers  []string
	log     printout.Log
	large   bool // the answers take all the room there is

	filtering bool // the filter is being written
	filter    textinput.Model

	job     *job      // kubectl at work; nil: none
	stopped time.Time // when the last key stopped it, on the wall
	asking  func()    // stops the completion that is asked for; nil: none is
	asked   int
}

func newConsole() console { return console{field: newField(), filter: newField()} }

func (m *model) openConsole(line string) {
	c := &m.console
	c.open = true
	c.field.SetValue(line)
	c.field.CursorEnd()
	c.field.Focus()
	c.at, c.err, c.offers = len(c.history), "", nil
	c.stopFilter()
	c.log.Above = func(n int) widget.Line {
		return widget.Line{widget.S(m.words.Say("shell.gone", "n", n, "lines", printout.Max, "size", printout.BytesMax>>20), theme.Waiting)}
	}
	c.log.Clear()
	m.typing(true)
	m.touch()
}

// closeConsole leaves; what it runs ends with it.
func (m *model) closeConsole() {
	m.console.abandon()
	m.console.open = false
	m.console.field.Blur()
	m.typing(false)
	m.touch()
}

// print adds an answer.
func (c *console) print(a feed.Answer) {
	for _, o := range a.Output {
		c.log.Print(sanitize.Text(o), false) // the small kubectl colours nothing
	}
	switch {
	case a.Error != "":
		c.add(widget.S(sanitize.Text(a.Error), theme.Failing))
	case len(a.Output) == 0:
		c.add(widget.S(string(grid.Running)+" "+sanitize.Text(a.Text), theme.OK))
	}
}

func (c *console) add(s widget.Span) { c.log.Say(widget.Line{s}) }

// consoleRoom is how many rows answers may take: enough to read, and what is talked about stays in sight.
func (m *model) consoleRoom() int {
	body := m.body().H + m.barRows()
	if m.console.large {
		return max(body-1, 1)
	}
	return max(min(consoleRows, body-4), body*3/5, 1)
}

// consoleKey edits the line: enter gives it, tab goes on, up and down go through what was given before, page up and down through the answers.
func (m *model) consoleKey(msg tea.KeyMsg) tea.Cmd {
	c := &m.console
	if c.filtering {
		return m.filterKey(msg)
	}
	empty, page := c.field.Value() == "", max(m.consoleRoom()-1, 1)
	stopped := c.stopped
	c.stopped = time.Time{}
	switch key := keyName(msg); key {
	case "esc", "ctrl+c":
		switch {
		case c.cancel():
			c.stopped = m.clock()
		case c.log.Filtered() != "":
			c.stopFilter()
		case key == "ctrl+c": // as in a shell: it takes the line away, and never leaves
			c.field.SetValue("")
			if c.err, c.offers = "", nil; empty {
				c.err = m.words.Say("shell.ctrl-c")
			}
		case m.clock().Sub(stopped) < stopAgain: // meant for what has ended in between
		default:
			m.closeConsole()
		}
		return nil
	case "ctrl+z":
		if m.suspend() {
			return tea.Suspend
		}
		return nil
	case "enter":
		return m.enter()
	case "tab":
		return m.complete()
	case "up", "ctrl+p":
		m.recall(-1)
		return nil
	case "down", "ctrl+n":
		m.recall(1)
		return nil
	case "pgup":
		c.log.Scroll(-page, page+1)
		return nil
	case "pgdown":
		c.log.Scroll(page, page+1)
		return nil
	case "shift+up":
		c.log.Scroll(-1, page+1)
		return nil
	case "shift+down":
		c.log.Scroll(1, page+1)
		return nil
	case "shift+right", "ctrl+right":
		c.log.Aside(asideStep)
		return nil
	case "shift+left", "ctrl+left":
		c.log.Aside(-asideStep)
		return nil
	case "ctrl+home", "ctrl+end", "home", "end":
		if !empty && !strings.HasPrefix(key, "ctrl") {
			break
		}
		to := 1
		if strings.HasSuffix(key, "home") {
			to = -1
		}
		c.log.Edge(to, page+1)
		return nil
	case "ctrl+o":
		c.large = !c.large
		return nil
	case "/":
		if empty && c.log.Len() > 0 {
			c.filtering = true
			c.filter.SetValue(c.log.Filtered())
			c.filter.CursorEnd()
			c.filter.Focus()
			return nil
		}
	case "backspace":
		if empty && c.job == nil {
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

// filterKey writes the filter of the answers: enter keeps it, esc takes it away.
func (m *model) filterKey(msg tea.KeyMsg) tea.Cmd {
	c := &m.console
	switch key := keyName(msg); key {
	case "enter":
		c.filtering = false
		c.filter.Blur()
		return nil
	case "esc", "ctrl+c":
		c.stopFilter()
		return nil
	case "pgup", "pgdown", "shift+up", "shift+down":
		page := max(m.consoleRoom()-1, 1)
		by := map[string]int{"pgup": -page, "pgdown": page, "shift+up": -1, "shift+down": 1}[key]
		c.log.Scroll(by, page+1)
		return nil
	}
	c.filter = edit(c.filter, msg)
	c.log.Filter(c.filter.Value())
	return nil
}

func (c *console) stopFilter() {
	c.filtering = false
	c.filter.SetValue("")
	c.filter.Blur()
	c.log.Filter("")
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
		if c.job == nil {
			m.closeConsole()
		}
		return nil
	}
	echo := func() {
		c.remember(line)
		c.field.SetValue("")
		c.err, c.offers = "", nil
		c.add(widget.S(": "+sanitize.Text(line), theme.Dim))
	}
	if _, is := isKubectl(line); is && (m.cluster == nil || m.outside.open != nil || m.outside.access != nil) {
		cmd, done := m.kubectlLine(line)
		if done {
			echo()
		}
		return cmd
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
	echo()
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

func (m *model) complete() tea.Cmd {
	c := &m.console
	line := c.field.Value()
	if cmd, ok := m.completeKubectl(line); ok {
		return cmd
	}
	var targets []string
	if m.cluster != nil {
		targets = m.cluster.Targets()
	}
	offers := merge(command.Complete(line, targets), completeScreen(line))
	if m.cluster != nil && line != "" && !strings.ContainsAny(line, " \t") {
		for _, v := range shell.Verbs() {
			if strings.HasPrefix(v, line) {
				offers = merge(offers, []string{v})
			}
		}
	}
	c.err, c.offers = "", nil
	if len(offers) > 0 {
		head := line[:strings.LastIndexAny(line, " \t")+1]
		c.take(head, line[len(head):], offers)
	}
	return nil
}

// take puts the only offer into the line, or what all offers begin with, and shows them.
func (c *console) take(head, last string, offers []string) {
	c.err, c.offers = "", offers
	if len(offers) == 1 {
		text := head + offers[0]
		if !strings.HasSuffix(text, "=") && !strings.HasSuffix(text, "/") {
			text += " "
		}
		c.field.SetValue(text)
		c.field.CursorEnd()
		c.offers = nil
		return
	}
	if p := commonPrefix(offers); len(p) > len(last) {
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
