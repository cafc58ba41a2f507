package tui

import (
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// palette finds a palette by name.
func (m *model) palette(name string) (theme.Palette, error) {
	if m.palettes != nil {
		return m.palettes(name)
	}
	return theme.Named(name)
}

// speak changes the language: what was told already is told again.
func (m *model) speak(c *words.Catalogue) {
	m.words = c.WithKeys(keymap.Labels(m.keys.All()))
	fresh := newSources(m.journal, m.words)
	fresh.trace, fresh.marks, fresh.motion, fresh.fresh = m.sources.trace, m.sources.marks, m.sources.motion, true
	m.sources = fresh
	m.sources.follow(m.reader, m.clock())
	m.sources.head.TakeNews()
	m.sources.head.TakeAnswers()
	m.touch()
}
