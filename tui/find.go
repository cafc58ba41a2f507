package tui

import (
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// finder is the text field of a search; what is searched is the overlay or the view in front.
type finder struct {
	open   bool
	field  textinput.Model
	before string
}

func newFinder() finder { return finder{field: newField()} }

// newField is a line of text to edit.
func newField() textinput.Model {
	f := textinput.New()
	f.Prompt = ""
	f.CharLimit = 4000
	f.KeyMap.Paste.SetEnabled(false) // it would run a program
	return f
}

func (m *model) openFind() {
	m.find.before = ""
	if f, ok := m.rooms.front().(view.Finder); ok && !m.overlay.Open() {
		m.find.before = f.Finding()
	}
	m.find.open = true
	m.find.field.SetValue("")
	m.find.field.Focus()
	m.typing(true)
	m.touch()
	m.tell(intent.Text{}) // all there is, until something is typed
}

// findKey edits the line; what is searched hears of each change.
func (m *model) findKey(msg tea.KeyMsg) tea.Cmd {
	switch keyName(msg) {
	case "esc", "ctrl+c":
		return m.closeFind(m.find.before)
	case "enter":
		return m.closeFind(m.find.field.Value())
	case "up":
		if m.find.field.Value() == "" && m.find.before != "" { // what was searched for before
			m.find.field.SetValue(m.find.before)
			m.find.field.CursorEnd()
			return m.tell(intent.Text{Value: m.find.before})
		}
		return m.tell(intent.Move{DY: -1})
	case "down":
		return m.tell(intent.Move{DY: 1})
	case "ctrl+z":
		if m.suspend() {
			return tea.Suspend
		}
		return nil
	}
	before := m.find.field.Value()
	m.find.field = edit(m.find.field, msg)
	if now := m.find.field.Value(); now != before {
		return m.tell(intent.Text{Value: now})
	}
	return nil
}

func (m *model) closeFind(value string) tea.Cmd {
	m.find.open = false
	m.find.field.Blur()
	m.typing(false)
	m.touch()
	return m.tell(intent.Text{Value: value, Done: true})
}
