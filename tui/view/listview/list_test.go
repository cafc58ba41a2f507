package listview

import (
	"strings"
	"testing"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/widget"
)

func shown(l List, w, h int) string {
	g := grid.New(w, h)
	l.Draw(g.Canvas())
	var b strings.Builder
	for y := range h {
		for x := range w {
			if r := g.At(x, y).Rune; r != 0 {
				b.WriteRune(r)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestWhatIsTooLongGoesOnBelow(t *testing.T) {
	l := List{Title: "t", Width: 40, Lines: []widget.Line{
		{widget.S("key  ", 0), widget.S("one two three four five six seven eight nine ten", 0)},
		{widget.S(strings.Repeat("prefix ", 5), 0), widget.S("beside nothing", 0)},
	}}
	for _, w := range []int{30, 44, 80} {
		got := shown(l, w, 20)
		for _, word := range []string{"key", "one", "ten", "beside nothing"} {
			if !strings.Contains(got, word) {
				t.Errorf("%d wide: %q is not there:\n%s", w, word, got)
			}
		}
	}
}

func TestTheEndCanBeReachedWhereLinesAreBroken(t *testing.T) {
	l := List{Title: "t", Width: 30}
	for range 10 {
		l.Lines = append(l.Lines, widget.Line{widget.S("a few words that need more than one line", 0)})
	}
	l.Lines = append(l.Lines, widget.Line{widget.S("the end", 0)})
	l, _ = l.Handle(intent.Edge{To: 1}, 40, 10)
	if got := shown(l, 40, 10); !strings.Contains(got, "the end") {
		t.Errorf("not at the end:\n%s", got)
	}
	if got := shown(l, 40, 40); !strings.Contains(got, "a few words") || !strings.Contains(got, "the end") {
		t.Errorf("after the terminal grew:\n%s", got)
	}
}
