package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it). Got:\n%s", name, got)
	}
}

func scenes() map[string][]event.Record {
	return map[string][]event.Record{"healthy": fixture.Healthy(4).Records, "trouble": fixture.Trouble(4).Records, "many": fixture.Trouble(60).Records}
}

var sizes = []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}}

func TestFramesAreAsTheyWere(t *testing.T) {
	for name, recs := range scenes() {
		for _, s := range sizes {
			id := fmt.Sprintf("%s-%dx%d", name, s.w, s.h)
			golden(t, id+".txt", Snapshot(recs, Still{W: s.w, H: s.h, Plain: true})+"\n")
			golden(t, id+".ansi", Snapshot(recs, Still{W: s.w, H: s.h, Depth: theme.Colours256})+"\n")
		}
	}
	recs := scenes()["trouble"]
	for name, keys := range map[string][]string{
		"selected": {"right", "down", "enter"}, "story": {"2"}, "help": {"?"}, "chain": {"2", "up", "up", "up", "c"}, "console": {":", "k", "i", "l", "l", " "},
	} {
		for _, s := range sizes[:2] {
			golden(t, fmt.Sprintf("%s-%dx%d.txt", name, s.w, s.h), Snapshot(recs, Still{W: s.w, H: s.h, Plain: true, Keys: keys})+"\n")
		}
	}
	golden(t, "ascii-80x24.txt", Snapshot(recs, Still{W: 80, H: 24, Plain: true, ASCII: true})+"\n")
}

func TestFramesNeverLeaveTheScreen(t *testing.T) {
	recs := append(scenes()["trouble"], scenes()["many"]...)
	for _, keys := range [][]string{nil, {"2"}, {"?"}, {":", "k"}, {"down", "enter", "y"}} {
		m := still(recs, Still{W: 100, H: 30, Keys: keys})
		for h := 0; h <= 500; h = h*3/2 + 1 {
			for w := 0; w <= 500; w = w*4/3 + 1 {
				m.resize(w, h)
				lines := strings.Split(m.View(), "\n")
				if len(lines) > max(h, 1) {
					t.Fatalf("%v at %dx%d: %d lines", keys, w, h, len(lines))
				}
				for _, l := range lines {
					if n := grid.Width(plain(l)); n > w {
						t.Fatalf("%v at %dx%d: a line of %d cells: %q", keys, w, h, n, l)
					}
				}
			}
		}
	}
}

// plain takes the colours out.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0x1b {
			for i < len(s) && s[i] != 'm' {
				i++
			}
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
