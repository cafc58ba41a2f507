// Package intent is what a key or the mouse means, before anything acts on it. Views take intents and return new ones; only the root turns one into a command.
//
// Imports of ours: engine/command, engine/event, tui/target. Goroutines: values. Time: none.
package intent

import (
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/target"
)

// Intent is one of the types here.
type Intent any

// Moving about in a view.
type (
	// Move goes to the neighbour in a direction.
	Move struct{ DX, DY int }
	// Next goes through everything in reading order; By is 1 or -1.
	Next struct{ By int }
	// Enter goes deeper into what is selected, Back comes back. A view that cannot go back further returns Back; the root then leaves the page.
	Enter struct{}
	Back  struct{}
	// Page scrolls by screens; Edge goes to the first (-1) or last (1).
	Page struct{ By int }
	Edge struct{ To int }
	// Point is a click, Wheel a turn of the mouse wheel, in cells of the view. Twice: it was the second click in the same place.
	Point struct {
		X, Y  int
		Twice bool
	}
	Wheel struct{ By, X, Y int }
	// Drag is a movement of the mouse with the button held, from where it was pressed; Done when it was let go.
	Drag struct {
		FromX, FromY, X, Y int
		Done               bool
	}
)

// Ways to look at things.
type (
	// Show changes to one of the views that have a number; Cycle goes to the next one.
	Show  struct{ View string }
	Cycle struct{ By int }
	// Select makes a view choose a thing; sent after Show.
	Select struct{ Target target.Target }
	// Open puts a page on top of the view: what it is about is a thing or a record. Pages: "detail", "chain", "why", "decision", "history". Tab picks a part of it.
	Open struct {
		Page   string
		Target target.Target
		Seq    event.Seq
		Tab    string
	}
	// Detail, Chain and Why open the page about what is selected. A view may turn them into an Open that says more; else the root opens it for Frame.Selected.
	Detail struct{}
	Chain  struct{ Seq event.Seq } // Seq 0: the last record about what is selected
	Why    struct{}
	// Jump goes to where a thing is at home (a machine on the map, an object in the table of its kind).
	Jump struct{ Target target.Target }
	// Find asks for a text to search for; the root has the text field and sends Text for each change of it.
	Find struct{}
	Text struct {
		Value string
		Done  bool // entered; or left, then Value is what it was before
	}
	// Match goes to the next (1) or previous (-1) find; Trouble shows only what is not well, or all again.
	Match   struct{ By int }
	Trouble struct{}
	// Option is what a key means in one view only, by the name in the key table ("wide", "sort", "yaml", "slow" …).
	Option struct{ Name string }
	// Copy offers what can be copied from the selection; Clip puts a text on the clipboard.
	Copy struct{}
	Clip struct{ Text string }
	// ExportLine puts the line on the clipboard by which a shell finds the cluster; the API is opened for it.
	ExportLine struct{}
	// Help, Console, Export: overlays and modes of the root. Console may begin with a line.
	Help    struct{}
	Console struct{ Line string }
	Export  struct{}
	// Save writes the screen ("text", "svg") or the journal ("recording") to a file of its own name.
	Save    struct{ What string }
	Quit    struct{ Now bool }
	Suspend struct{}
	// Tell shows a sentence for a while.
	Tell struct{ Text string }
)

// Acts on the cluster: on what is selected.
type (
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
	// Scale changes the replicas of the selected Deployment, or of the selected pod's.
	Scale struct{ By int }
	// Delete deletes the selected object.
	Delete struct{}
	// Run sends a command.
	Run struct{ Command command.Command }
)

// Acts on time: on that of the cluster when live, on the reader's place in the journal when looking back or in a recording.
type (
	TogglePause struct{}
	Faster      struct{ By int }
	// Step goes on (1) or back (-1) to the next thing that stirs.
	Step struct{ By int }
	// Scrub moves the place by a share of the time line; Mark goes to the next (1) or previous (-1) mark.
	Scrub struct{ By int }
	Mark  struct{ By int }
	// At goes to an instant; ToSeq to a record. Live comes back to the newest record.
	At    struct{ Time time.Time }
	ToSeq struct{ Seq event.Seq }
	Live  struct{}
	// Until offers what time can be let run to, and the marks to go to.
	Until struct{}
	// Await lets time run, or the place go, to the next thing of that name: anomaly, quiet, or the name of a fact or of an Event's reason.
	Await struct{ What string }
	// Slow plays the records between two numbers again by their wall time, Factor times slower, and stops there.
	Slow struct {
		From, To event.Seq
		Factor   float64
	}
)
