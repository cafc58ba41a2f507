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
