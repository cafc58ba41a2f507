// Package view is the contract between the root of the screen and its views.
//
// A view maps values to cells. It sees a Frame (what is), takes intents (what the user wants) and draws into a canvas; it never sees a message of the terminal
// library, does no I/O and holds no pointer into the engine. The same Frame type serves live, looking back, replay and tests.
//
// Views with a number (map, raft, queues, story, objects) are always there and keep their place; pages (detail, chain, why, decision, history) lie on top of
// the view they were opened from, and Back leaves them.
//
// Imports of ours: engine/event, engine/trace, engine/world, tui/feed, tui/grid, tui/intent, tui/motion, tui/scene, tui/target, tui/words. Goroutines: the screen's
// one. Time: simulated, except Frame.Wall.
package view

import (
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/trace"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
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
	// Rate at which time runs on the screen, simulated seconds per second: that of the cluster, or that of the reader of the past. 0 is paused.
	Rate     float64
	Unpaced  bool
	WhyPause string
	// Slow is how many times slower than wall time records are played again; 0: they are not.
	Slow float64
	// RecordedWall is the wall time of the records that are played again slowly; zero while none are.
	RecordedWall time.Time
	// W and H are the cells the view owns.
	W, H int
	// Live: the newest record is shown and commands are taken. Recording: there is no cluster. Neither: a running cluster is looked at in its past.
	Live, Recording bool
	// Journal, and the index over it. Records after World.Seq are the future: ask the index with upTo = World.Seq.
	Journal Journal
	Trace   *trace.Index
	// Motion is what travels now; Wall the instant at which it is drawn. Still: nothing shall move (reduced motion).
	Motion *motion.Lanes
	Wall   time.Time
	Still  bool
	// NoHint: the user wants no opening hint.
	NoHint bool
	// Location in which clocks are shown.
	Location *time.Location
	// Selected is the thing that keys act on, as the view in front has it.
	Selected target.Target
	// Front is the ID of the view or page in front.
	Front string
}

// Outside is the client from outside that made a request or that a record is about; false: it was none.
func (f Frame) Outside(r *event.Record) (event.ClientConnected, bool) {
	switch e := r.Event.(type) {
	case event.ClientConnected:
		return e, true
	case event.RequestReceived, event.RequestDone, event.WatchOpened, event.WatchClosed, event.WatchBehind, event.ClientGone:
	default:
		return event.ClientConnected{}, false
	}
	for range 3 {
		cause, ok := f.Record(r.Cause)
		if !ok {
			break
		}
		switch e := cause.Event.(type) {
		case event.ClientConnected:
			return e, true
		case event.RequestReceived, event.WatchOpened:
			r = &cause
			continue
		}
		break
	}
	return event.ClientConnected{}, false
}

// Journal is what views may read of the journal.
type Journal interface {
	First() event.Seq
	Last() event.Seq
	Get(event.Seq) (event.Record, bool)
	Read(buf []event.Record, from event.Seq, max int) (recs []event.Record, lost int)
}

// Record looks a record up that the World knows of already.
func (f Frame) Record(seq event.Seq) (event.Record, bool) {
	if f.Journal == nil || seq == 0 || seq > f.World.Seq {
		return event.Record{}, false
	}
	return f.Journal.Get(seq)
}

// About lists the records about a thing as far as the World knows, oldest first. Read only.
func (f Frame) About(t target.Target) []event.Seq {
	if f.Trace == nil || t.Key() == "" {
		return nil
	}
	return f.Trace.About(t.Key(), f.World.Seq)
}

// Placed is the thing with the machine it is on now: a pod gets that of its node.
func (f Frame) Placed(t target.Target) target.Target {
	if t.Kind == target.Pod {
		if p, ok := f.World.Pods.Get(t.Namespace + "/" + t.Name); ok {
			t.Host = p.Object.Spec.NodeName
		}
	}
	return t
}

// View is one screen. Handle returns the view as it is afterwards, and what the root should do; an intent that is not for it comes back untouched.
// Draw is pure: equal receivers and frames draw equal cells.
type View interface {
	ID() string
	Handle(intent.Intent, Frame) (View, []intent.Intent)
	Draw(Frame, grid.Canvas)
}

// Selector is a view that has a selection for keys to act on.
type Selector interface {
	Selection(Frame) target.Target
}

// Titled is a page that names itself in the path ("cluster › worker-3 › chain").
type Titled interface{ Title(Frame) string }

// Clip is a text to copy, with what it is.
type Clip struct {
	// Label is what the menu calls it, in the user's language; Text is copied as it is.
	Label, Text string
}

// Copier offers texts of its selection to copy: the cell, the row, the answer. The first is the most likely one.
type Copier interface{ Clips(Frame) []Clip }

// Finder tells what is searched for, so that the root can show and edit it.
type Finder interface{ Finding() string }
