// Package viewtest makes what a view needs to be drawn in a test: the Frame after some records, and the cells a view draws as text, with what is to be read there.
//
// Imports of ours: engine/event, engine/journal, engine/trace, engine/world, tui/*. Goroutines: the test's. Time: simulated; wall time stands at the epoch.
package viewtest

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/trace"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/words"
)

// Frame is what a view of w by h cells sees after the records, live, at the instant of the last one.
func Frame(records []event.Record, w, h int) view.Frame {
	j := journal.New(journal.Options{Capacity: max(len(records), 1)})
	wd := &world.World{}
	c := words.English()
	fd := feed.New(c)
	x := trace.New(j)
	lanes := &motion.Lanes{}
	wall := time.Unix(0, 0)
	for _, r := range records {
		j.Append(r)
		wd.Apply(r)
		fd.Read(r, wd)
		lanes.Read(r, wall)
	}
	x.Advance(len(records))
	return view.Frame{World: wd, Scene: scene.Of(wd, wd.At), Feed: fd, Words: c, Now: wd.At, Rate: wd.Rate, Unpaced: wd.Unpaced, W: w, H: h, Live: true, Journal: j, Trace: x,
		Motion: lanes, Wall: wall, Location: time.UTC}
}

// Draw is what a view draws, as plain lines without trailing blanks.
func Draw(v view.View, f view.Frame) []string {
	g := grid.New(f.W, f.H)
	f.Front = v.ID()
	if s, ok := v.(view.Selector); ok {
		f.Selected = s.Selection(f)
	}
	v.Draw(f, g.Canvas())
	lines := strings.Split(strings.TrimRight(g.Render(nil, false), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// Text is what a view draws, as one text.
func Text(v view.View, f view.Frame) string { return strings.Join(Draw(v, f), "\n") }

// Says fails the test for each text that is not on a screen.
func Says(t testing.TB, screen string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
}

// Hides fails the test for each text that is on a screen.
func Hides(t testing.TB, screen string, not ...string) {
	t.Helper()
	for _, n := range not {
		if strings.Contains(screen, n) {
			t.Errorf("%q is on the screen:\n%s", n, screen)
		}
	}
}

// Do gives a view intents one after the other and returns it, with what it left to the root.
func Do(v view.View, f view.Frame, intents ...intent.Intent) (view.View, []intent.Intent) {
	var out []intent.Intent
	for _, i := range intents {
		f.Front = v.ID()
		if s, ok := v.(view.Selector); ok {
			f.Selected = s.Selection(f)
		}
		var left []intent.Intent
		v, left = v.Handle(i, f)
		out = append(out, left...)
	}
	return v, out
}
