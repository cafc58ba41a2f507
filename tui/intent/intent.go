// Package intent is what a key or the mouse means, before anything acts on it. Views take intents and return new ones; only the root turns one into a command.
//
// Imports of ours: engine/command, engine/event. Goroutines: values. Time: none.
package intent

import (
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
)

// Intent is one of the types here.
type Intent any

type (
	// Move goes to the neighbour in a direction.
	Move struct{ DX, DY int }
	// Next goes through everything in reading order; By is 1 or -1.
	Next struct{ By int }
	// Enter goes deeper, Back comes back.
	Enter struct{}
	Back  struct{}
	// Page scrolls by screens; Edge goes to the first (-1) or last (1).
	Page struct{ By int }
	Edge struct{ To int }
	// Point is a click, Wheel a turn of the mouse wheel, in cells of the view.
	Point struct{ X, Y int }
	Wheel struct{ By int }

	// Show changes the view; Cycle goes to the next one.
	Show  struct{ View string }
	Cycle struct{ By int }
	// Chain shows what led to a record; Seq 0 means the one under the cursor.
	Chain struct{ Seq event.Seq }
	// Help, Console: overlays and modes of the root.
	Help    struct{}
	Console struct{}
	Quit    struct{}
	Suspend struct{}

	// Power kills what is selected, or starts it when it is down.
	Power struct{}
	// Restart kills and starts it.
	Restart struct{}
	// Wipe deletes the disk of a master that is down.
	Wipe struct{}
	// Cut cuts the selected machine off, or heals it when it is cut.
	Cut struct{}
	// HealAll repairs all links.
	HealAll struct{}
	// Scale changes the replicas of the selected pod's Deployment.
	Scale struct{ By int }
	// Delete deletes the selected pod.
	Delete struct{}

	// TogglePause, Faster and Step act on time.
	TogglePause struct{}
	Faster      struct{ By int }
	Step        struct{}

	// Run sends a command.
	Run struct{ Command command.Command }
	// Tell shows a sentence for a while.
	Tell struct{ Text string }
)
