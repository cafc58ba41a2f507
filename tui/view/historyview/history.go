// Package historyview is the page of an object's revisions, each with what changed.
//
// Imports of ours: engine/event, engine/world, tui/*. Goroutines: the screen's one. Time: simulated.
package historyview

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// ID of the view.
const ID = "history"

// View is the page about what it was opened for.
type View struct{ about intent.Open }

// New makes the page.
func New(about intent.Open, f view.Frame) View { return View{about: about} }

var _ view.View = View{}

// ID names the view.
func (v View) ID() string { return ID }

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	return v, []intent.Intent{i}
}

// Draw draws the view.
func (v View) Draw(f view.Frame, c grid.Canvas) {}
