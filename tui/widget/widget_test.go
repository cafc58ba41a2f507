package widget

import (
	"strings"
	"testing"

	"example.com/kubeviz/tui/grid"
)

func TestWrapKeepsWordsAndWidth(t *testing.T) {
	for _, text := range []string{"", "one", "a few words that go over the end", strings.Repeat("x", 50), "short " + strings.Repeat("y", 30) + " end", "日本語 日本語"} {
		for w := 2; w < 20; w++ {
			lines := Wrap(text, w)
			joined := strings.Join(lines, "")
			for _, l := range lines {
				if grid.Width(l) > w {
					t.Fatalf("Wrap(%q, %d) has %q", text, w, l)
				}
			}
			if strings.ReplaceAll(joined, " ", "") != strings.ReplaceAll(text, " ", "") {
				t.Fatalf("Wrap(%q, %d) lost something: %q", text, w, lines)
			}
		}
	}
}

func TestABarShowsTheSmallestShare(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		full        int
	}{{0, 100, 0}, {1, 100, 1}, {50, 100, 4}, {100, 100, 8}, {300, 100, 8}, {5, 0, 0}} {
		if got := strings.Count(Bar(c.part, c.whole, 8), string(grid.BarFull)); got != c.full {
			t.Errorf("%d of %d fills %d cells, want %d", c.part, c.whole, got, c.full)
		}
	}
}

func TestWindowKeepsTheRowInSight(t *testing.T) {
	for _, c := range [][4]int{{0, 10, 4, 0}, {5, 10, 4, 3}, {9, 10, 4, 6}, {2, 3, 4, 0}, {5, 10, 0, 0}, {0, 0, 4, 0}} {
		if got := Window(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("row %d of %d in %d: from %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}

func TestSeekGoesAroundTheEnds(t *testing.T) {
	even := func(i int) bool { return i%2 == 0 }
	for _, c := range [][4]int{{5, 1, 1, 2}, {5, 5, 1, 0}, {5, -1, -1, 4}, {4, 3, 1, 0}, {4, -1, -1, 2}} {
		if got, ok := Seek(c[0], c[1], c[2], even); !ok || got != c[3] {
			t.Errorf("of %d from %d by %d: %d %v, want %d", c[0], c[1], c[2], got, ok, c[3])
		}
	}
	if _, ok := Seek(3, 0, 1, func(int) bool { return false }); ok {
		t.Error("what is nowhere was found")
	}
	if _, ok := Seek(0, 0, 1, even); ok {
		t.Error("something was found among nothing")
	}
}
