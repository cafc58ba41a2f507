package sentence

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
)

// Style is the role that a tone is drawn in.
func (t Tone) Style() grid.Style {
	switch t {
	case Quiet:
		return theme.Dim
	case Good:
		return theme.OK
	case Warn:
		return theme.Waiting
	case Bad:
		return theme.Failing &^ grid.Bold
	case Lead:
		return theme.Leader
	case User:
		return theme.Fault
	}
	return theme.Text
}
