package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/view"
)

// keysAtOnce is how many keys of one piece of input are taken for typed; nobody types faster than that between two frames.
const keysAtOnce = 16

// key routes a key: the text fields, then overlay, view and everywhere by the table.
func (m *model) key(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.console.open:
		return m.consoleKey(msg)
	case m.find.open:
		return m.findKey(msg)
	case msg.Type != tea.KeyRunes || len(msg.Runes) < 2:
		return m.press(msg.String())
	}
	var cmds []tea.Cmd
	for i, r := range msg.Runes { // keys typed faster than they are read come as one
		if m.console.open || m.find.open { // the first of them opened a text field
			rest := msg
			rest.Runes = msg.Runes[i:]
			cmds = append(cmds, m.key(rest))
			break
		}
		if i == keysAtOnce {
			break
		}
		cmds = append(cmds, m.press(string(r)))
	}
	return tea.Sequence(cmds...)
}

// scopes in force, the first first.
func (m *model) scopes() []keymap.Scope {
	if m.overlay.Open() {
		return []keymap.Scope{keymap.Overlay, keymap.Everywhere}
	}
	return []keymap.Scope{keymap.Scope(m.rooms.front().ID()), keymap.Everywhere}
}

func (m *model) press(key string) tea.Cmd {
	m.refresh()
	f := m.frame(m.body())
	b, ok := m.keys.Find(key, m.scopes()...)
	if !ok { // a keyboard that was left in another layout
		b, ok = m.keys.Find(keymap.Latin(key), m.scopes()...)
	}
	if !ok || m.overlay.Open() && b.Scope != keymap.Overlay && !passes(b.Do) {
		return nil
	}
	if b.Unless != nil {
		if why := b.Unless(f); why != "" {
			m.say(m.words.Say("not.now", "key", b.Label, "why", m.words.Say(why)), theme.Waiting)
			return nil
		}
	}
	return m.dispatch(b.Do, f)
}

// dispatch gives an intent to the overlay or to what is in front, and acts on what comes back.
func (m *model) dispatch(i intent.Intent, f view.Frame) tea.Cmd {
	var left []intent.Intent
	if _, find := i.(intent.Find); m.overlay.Open() && (find || !passes(i)) {
		m.overlay, left = m.overlay.Handle(i, f.W, f.H)
	} else {
		var v view.View
		v, left = m.rooms.front().Handle(i, f)
		m.rooms.set(v)
	}
	m.dirty = true
	var cmds []tea.Cmd
	for _, i := range left {
		cmds = append(cmds, m.act(i))
	}
	return tea.Sequence(cmds...)
}

// passes reports whether an intent goes past an overlay: time goes on under a list, but nothing is killed from there.
func passes(i intent.Intent) bool {
	switch i.(type) {
	case intent.TogglePause, intent.Faster, intent.Quit, intent.Suspend, intent.Show, intent.Find:
		return true
	}
	return false
}

// tell gives an intent to what is in front after it has changed.
func (m *model) tell(i intent.Intent) tea.Cmd {
	m.refresh()
	return m.dispatch(i, m.frame(m.body()))
}
