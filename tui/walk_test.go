package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// hostile is text as a broken or evil cluster could send it.
const hostile = "\x1b]0;owned\x07\x1b[2J\u202eevil\u0000\ufeff\u200d\n\r\t𝕏👨‍👩‍👧" + "ق"

// walker presses keys, moves the mouse, changes the size and lets time pass, all at random from bytes.
type walker struct {
	t     testing.TB
	m     *model
	j     *journal.Journal
	wall  time.Time
	bytes []byte
	keys  []string
	did   []string
}

func newWalker(t testing.TB, seed uint64, data []byte) *walker {
	rng := rand.New(rand.NewPCG(seed, 1))
	workers := []int{0, 1, 3, 4, 13, 60, 150}[rng.IntN(7)]
	tape := fixture.Healthy(max(workers, 3))
	if rng.IntN(3) > 0 {
		tape = fixture.Trouble(max(workers, 3))
	}
	recs := tape.Records[:1+rng.IntN(len(tape.Records))]
	w := &walker{t: t, wall: time.Unix(0, 0), bytes: data, j: journal.New(journal.Options{})}
	for _, r := range recs {
		w.j.Append(r)
	}
	last := recs[len(recs)-1]
	for i, e := range []event.Event{event.CommandGiven{Text: hostile}, event.CommandDone{Text: hostile, Error: hostile, Output: []string{hostile, hostile}},
		event.ProcessStopped{Host: "master-1", Process: "etcd", Reason: "exited", Message: hostile}, event.BackendChanged{Backend: "master-2", Reason: hostile},
		event.RequestDone{Server: "master-1", Verb: "get", Resource: "pods", User: hostile, Code: 500, Message: hostile}, event.Crashed{Who: hostile, Value: hostile}} {
		w.j.Append(event.Record{Seq: last.Seq + 1 + event.Seq(i), At: last.At, Actor: event.Actor(hostile), Event: e})
	}
	o := Options{Location: time.UTC, ASCII: rng.IntN(4) == 0, Still: rng.IntN(4) == 0, theme: theme.New(theme.Dark, theme.Colours256), wall: func() time.Time { return w.wall }}
	if rng.IntN(4) == 0 {
		o.Journal, o.Replay = w.j, true
	} else {
		o.Cluster = stillCluster{journal: w.j, now: last.At}
	}
	if rng.IntN(3) == 0 {
		o.Words, _ = words.Language("ru")
	}
	w.m = newModel(o)
	w.m.saver.dir = "/nonexistent" // nothing is written in this test
	w.m.resize(120, 40)
	for _, b := range keymap.Table() {
		for _, k := range b.Keys {
			if k != "q" && k != "ctrl+c" {
				w.keys = append(w.keys, k)
			}
		}
	}
	w.keys = append(w.keys, "enter", "enter", "down", "down", "right", "esc", "4", "5", "x", "z", "s", "b", "goto +5m", "find nginx", "kill", "web", "!pod")
	return w
}

func (w *walker) next() int {
	if len(w.bytes) == 0 {
		return -1
	}
	b := w.bytes[0]
	w.bytes = w.bytes[1:]
	return int(b)
}

func (w *walker) walk() {
	defer func() {
		if v := recover(); v != nil {
			w.t.Fatalf("after %s: %v", strings.Join(w.did, " "), v)
		}
	}()
	for {
		kind := w.next()
		if kind < 0 {
			return
		}
		a, b := max(w.next(), 0), max(w.next(), 0)
		switch {
		case kind < 170:
			k := w.keys[(a*256+b)%len(w.keys)]
			w.note("key %q", k)
			w.m.Update(keyMsg(k))
		case kind < 190:
			w.note("click %d,%d", a, b%64)
			w.m.Update(click(a, b%64))
		case kind < 200:
			w.note("drag %d,%d", a, b%64)
			w.m.Update(tea.MouseMsg{X: a, Y: b % 64, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion})
		case kind < 210:
			w.note("wheel %d,%d", a, b%64)
			w.m.Update(tea.MouseMsg{X: a, Y: b % 64, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
		case kind < 225:
			w.note("size %dx%d", a*2, b)
			w.m.Update(tea.WindowSizeMsg{Width: a * 2, Height: b})
		default:
			w.note("tick")
			w.wall = w.wall.Add(time.Duration(a) * 10 * time.Millisecond)
			w.m.Update(tickMsg{})
		}
		w.check()
	}
}

func (w *walker) note(format string, args ...any) {
	w.did = append(w.did, fmt.Sprintf(format, args...))
}

// check looks whether the frame fits the screen and holds nothing but colours and text.
func (w *walker) check() {
	text := w.m.View()
	lines := strings.Split(text, "\n")
	if len(lines) > max(w.m.h, 1) {
		w.t.Fatalf("%d lines on %d rows after %s", len(lines), w.m.h, strings.Join(w.did, " "))
	}
	for _, l := range lines {
		bare := plain(l)
		if n := grid.Width(bare); n > w.m.w {
			w.t.Fatalf("%d cells on %d after %s: %q", n, w.m.w, strings.Join(w.did, " "), bare)
		}
		for _, r := range bare {
			if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e || r == 0xfeff || r == 0x200d {
				w.t.Fatalf("the rune %U is on the screen after %s: %q", r, strings.Join(w.did, " "), bare)
			}
		}
	}
}

func TestWalksAtRandomHarmNothing(t *testing.T) {
	walks := 24
	if testing.Short() {
		walks = 6
	}
	for seed := range uint64(walks) {
		rng := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, 360)
		for i := range data {
			data[i] = byte(rng.UintN(256))
		}
		newWalker(t, seed, data).walk()
	}
}

func FuzzWalk(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 2, 180, 40, 5, 230, 10, 0})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		newWalker(t, seed, data[:min(len(data), 600)]).walk()
	})
}
