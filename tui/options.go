// Package tui is the screen: a root that only routes, views that draw values, and a terminal that is given back whatever happens.
//
// Run pulls the journal into a World once a frame and draws it. Keys become intents by one table, intents become commands, and commands are the only
// thing that leaves. In a recording the same screen drives a player over the journal and takes no commands.
//
// Owns: the terminal while Run runs, the frame loop, the console. Imports of ours: engine/command, engine/event, engine/journal, engine/world, tui/*; no component,
// no store, not the assembly.
//
// Goroutines: Bubble Tea's; everything here runs on its update loop. Nobody outside ever sends it a message. Time: simulated in frames, wall time for pacing
// frames and toasts.
package tui

import (
	"context"
	"io"
	"os"
	"time"

	"example.com/kubeviz/engine/journal"
	_ "example.com/kubeviz/tui/bgfix" // before Bubble Tea's init; see there
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/term"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// Options of a screen. Either Cluster, or Journal with Replay.
type Options struct {
	// Cluster that is shown and commanded. If it has a method Now() time.Time, safe on any goroutine, that is the clock of the screen.
	Cluster Cluster
	// Journal of a recording, complete in memory; with Replay.
	Journal *journal.Journal
	Replay  bool
	// Title stands in the header; empty: the preset's name.
	Title string
	// Version of the program, for files that are saved.
	Version string
	// Theme is the name of a palette; empty: dark. NoColor and ASCII leave out colours and symbols; NO_COLOR in the environment does too.
	Theme          string
	NoColor, ASCII bool
	// Palette finds a palette by name; nil: the built-in ones.
	Palette func(name string) (theme.Palette, error)
	// Color is a mode of theme.Modes; empty: by the environment. NoColor wins over it.
	Color string
	// Still: nothing moves by itself (reduced motion).
	Still bool
	// NoMouse leaves the mouse to the terminal; NoHint leaves out the opening hint.
	NoMouse, NoHint bool
	// Words are the catalogue of the screen's language; nil: English.
	Words *words.Catalogue
	// Keys are the rows of the key table; nil: the default ones.
	Keys []keymap.Binding
	// Record is the file that the journal is being written to, for the screen to say; SaveDir where files without a folder are saved, empty: the working directory.
	Record, SaveDir string
	// In and Out are the terminal; nil: standard input and output.
	In, Out *os.File
	// Log takes what is written to file descriptor 2 while the screen is up; empty: a file in the temporary directory. CrashDir is where a report
	// of a crash goes; empty: the temporary directory.
	Log, CrashDir string
	// Outside opens the API of the cluster for programs outside where it is not open yet: the console's kubectl, other shells. It is called beside the frames, any
	// number of times; nil: there is no such way. Access is set where it is open from the start.
	Outside func(context.Context) (Access, error)
	Access  *Access
	// Abandon is called before the program ends without Run returning, which happens when a signal is not heeded: it takes files back and must be quick.
	Abandon func()
	// Location of the clock in the header; nil: local.
	Location *time.Location

	// Guard that goroutines of the program were started by; a panic in one ends the screen and gives the terminal back. nil: one of its own.
	Guard *term.Guard

	kubectl  kubectl // in the place of the child; for tests
	wall     func() time.Time
	theme    *theme.Theme
	terminal io.Writer
}
