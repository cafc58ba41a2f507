// Package objectview is the view of the API's objects: a table for each kind with kubectl's columns, to sort, filter and go into.
//
// Imports of ours: engine/event, engine/world, tui/*. Goroutines: the screen's one. Time: simulated.
package objectview

import (
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
)

// ID of the view.
const ID = "objects"

// View is the view.
type View struct{}

var _ view.View = View{}

// ID names the view.
func (v View) ID() string { return ID }

// Handle takes an intent.
func (v View) Handle(i intent.Intent, f view.Frame) (view.View, []intent.Intent) {
	return v, []intent.Intent{i}
}

// Draw draws the view.
func (v View) Draw(f view.Frame, c grid.Canvas) {}
