package grid

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.com/kubeviz/tui/layout"
)

func TestEverySymbolIsOneCellWideAndHasATwin(t *testing.T) {
	for _, r := range AllSymbols() {
		if RuneWidth(r) != 1 || ansi.StringWidth(string(r)) != 1 {
			t.Errorf("%q is %d cells for us and %d for the terminal library", r, RuneWidth(r), ansi.StringWidth(string(r)))
		}
		if b, ok := twin(r); !ok || b < 0x20 || b > 0x7e {
			t.Errorf("%q has no ASCII twin", r)
		}
	}
}

func TestNothingIsDrawnOutsideTheCanvas(t *testing.T) {
	g := New(6, 3)
	c := g.Canvas().Sub(layout.Rect{X: 2, Y: 1, W: 3, H: 1})
	c.Put(-2, 0, "abcdefgh", 0)
	c.Put(0, -1, "no", 0)
	c.Put(0, 1, "no", 0)
	if got, want := g.Render(nil, false), "\n  cde\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if s := c.Sub(layout.Rect{X: 1, Y: 0, W: 99, H: 99}); s.r.W != 2 || s.r.H != 1 {
		t.Errorf("a part of a canvas is larger than the canvas: %v", s.r)
	}
}

func TestAWideRuneIsNeverCutInHalf(t *testing.T) {
	g := New(5, 1)
	c := g.Canvas()
	c.Put(0, 0, "日本語", 0)
	if got := g.Render(nil, false); got != "日本" {
		t.Errorf("%q", got)
	}
	c.Put(1, 0, "x", 0)
	if got := g.Render(nil, false); got != " x本" {
		t.Errorf("half of a wide rune is left: %q", got)
	}
}

func TestStylesAreWrittenOncePerRun(t *testing.T) {
	g := New(20, 1)
	g.Canvas().Put(0, 0, "red", 1)
	g.Canvas().Put(4, 0, "red", 1)
	g.Canvas().Put(8, 0, "plain", 0)
	seq := func(s Style) string {
		if s == 1 {
			return "\x1b[31m"
		}
		return ""
	}
	if got, want := g.Render(seq, false), "\x1b[31mred red \x1b[0mplain"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCutKeepsTheWidth(t *testing.T) {
	for _, s := range []string{"", "a", "abcdef", "日本語日本語", "aé日b"} {
		for w := range 10 {
			if got := Cut(s, w); Width(got) > w {
				t.Errorf("Cut(%q, %d) = %q is too wide", s, w, got)
			}
			if got := CutMiddle(s, w); Width(got) > w {
				t.Errorf("CutMiddle(%q, %d) = %q is too wide", s, w, got)
			}
		}
	}
	if got := CutMiddle("nginx-6d4cf56db6-x2x7p", 14); got != "nginx-6…-x2x7p" {
		t.Errorf("%q", got)
	}
}

func TestASCIIFormHasOnlyASCII(t *testing.T) {
	g := New(30, 4)
	in := g.Canvas().Box(Heavy, 0)
	in.Put(0, 0, "●◐○◌✗★☆╳ ▶→…", 0)
	for _, r := range g.Render(nil, true) {
		if r > 0x7e {
			t.Errorf("%q is not ASCII", r)
		}
	}
}

func BenchmarkRender200x60(b *testing.B) {
	g := New(200, 60)
	for i := range 40 {
		g.Canvas().Sub(layout.Rect{X: i % 8 * 25, Y: i / 8 * 12, W: 24, H: 11}).Box(Thin, Style(i%5)).Put(1, 1, strings.Repeat("pod ", 5), 3)
	}
	seq := func(s Style) string { return "\x1b[36m" }
	b.ReportAllocs()
	for b.Loop() {
		g.Render(seq, false)
	}
}
