// Package view is the contract between the root of the screen and its views.
//
// A view maps values to cells. It sees a Frame (what is), takes intents (what the user wants) and draws into a canvas; it never sees a message of the terminal
// library, does no I/O and holds no pointer into the engine. The same Frame type serves live, replay and tests.
//
// Imports of ours: engine/event, engine/world, tui/feed, tui/grid, tui/intent, tui/scene, tui/words. Goroutines: the screen's one. Time: simulated.
package view

import (
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/words"
)

// Frame is all that a view may look at.
type Frame struct {
	World *world.World
	Scene *scene.Scene
	Feed  *feed.Feed
	Words *words.Catalogue
	// Now is simulated time, a little ahead of World.At while time runs.
	Now time.Time
	// Rate at which time runs on the screen, simulated seconds per second: that of the cluster, or of the player of a recording. 0 is paused.
	Rate     float64
	Unpaced  bool
	WhyPause string
	// W and H are the cells the view owns.
	W, H int
	// Live is false in a recording, which takes no commands.
	Live bool
	// Record looks a record up, for chains of causes.
	Record func(event.Seq) (event.Record, bool)
	// Location in which clocks are shown.
	Location *time.Location
	// Selected is the thing that keys act on, as the view with the selection has it.
	Selected scene.Target
}

// View is one screen. Handle returns the view as it is afterwards, and what the root should do; an intent that is not for it comes back untouched.
// Draw is pure: equal receivers and frames draw equal cells.
type View interface {
	ID() string
	Handle(intent.Intent, Frame) (View, []intent.Intent)
	Draw(Frame, grid.Canvas)
}

// Selector is a view that has a selection for keys to act on.
type Selector interface{ Selection(Frame) scene.Target }
