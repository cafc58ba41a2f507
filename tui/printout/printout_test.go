package printout

import (
	"fmt"
	"strings"
	"testing"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
)

func drawn(lines []widget.Line) string {
	var b strings.Builder
	for _, l := range lines {
		for _, s := range l {
			b.WriteString(s.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestNoByteOfAProgramActsOnTheTerminal(t *testing.T) {
	var l Log
	for _, s := range []string{"\x1b[2Jgone", "\x1b[31mred\x1b[0m plain", "\x1b]0;title\a", "a\tb", "\tindented", "c1 \u009b2J", "\x1b[38;5;1mmany", "right\u202eleft", "\x1b[31m"} {
		l.Print(s, false)
	}
	lines, _, _, _, _ := l.View(80, 20)
	want := "<U+001B>[2Jgone\nred plain\n<U+001B>]0;title<U+0007>\na       b\n        indented\nc1 <U+009B>2J\nmany\nright<U+202E>left\n\n"
	if got := drawn(lines); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if lines[1][0].Style != theme.Failing || lines[1][1].Style != theme.Text {
		t.Errorf("red is %v, plain %v", lines[1][0].Style, lines[1][1].Style)
	}
}

func TestATableHasABoldHeadAndColouredStatuses(t *testing.T) {
	var l Log
	l.Print("NAMESPACE     NAME    READY   STATUS             RESTARTS      AGE   NOMINATED NODE", false)
	l.Print("default       a       1/1     Running            0             3m    <none>", false)
	l.Print("default       b       0/1     CrashLoopBackOff   3 (20s ago)   3m    <none>", false)
	l.Print("Error from server (NotFound): pods \"x\" not found", true)
	lines, _, _, _, _ := l.View(100, 9)
	if lines[0][0].Style != theme.Title || lines[1][1].Style != theme.OK || lines[1][1].Text != "Running" || lines[2][1].Style != theme.Failing || lines[3][0].Style != theme.Failing {
		t.Errorf("%v", lines)
	}
	for _, s := range []string{"Hello World", "name: NAME", "a  b", "KIND:       Pod", "A B"} {
		if header.MatchString(s) {
			t.Errorf("%q is taken for the head of a table", s)
		}
	}
}

func TestAFilterLeavesTheHeadAndWhatHoldsTheText(t *testing.T) {
	var l Log
	l.Print("NAME    STATUS", false)
	for i := range 30 {
		l.Print(fmt.Sprintf("pod-%d   Running", i), false)
	}
	l.Say(widget.Line{widget.S("exit 0", theme.Dim)})
	l.Filter("POD-2")
	lines, from, to, of, _ := l.View(80, 5)
	if got := drawn(lines); of != 13 || from != 9 || to != 13 || !strings.HasSuffix(got, "pod-29   Running\nexit 0\n") {
		t.Errorf("%d-%d of %d:\n%s", from, to, of, got)
	}
	l.Edge(-1, 5)
	if lines, _, _, _, _ := l.View(80, 5); !strings.HasPrefix(drawn(lines), "NAME    STATUS\npod-2   Running\npod-20") {
		t.Error(drawn(lines))
	}
}

func TestWhoHasScrolledBackReadsOnWhereTheyAre(t *testing.T) {
	var l Log
	for i := range 20 {
		l.Print(fmt.Sprint(i), false)
	}
	l.Scroll(-5, 4)
	before, _, _, _, _ := l.View(10, 4)
	l.Print("more", false)
	if after, _, _, _, _ := l.View(10, 4); drawn(before) != drawn(after) || drawn(after) != "11\n12\n13\n14\n" {
		t.Errorf("%q, %q", drawn(before), drawn(after))
	}
	l.Edge(1, 4)
	if end, _, _, _, _ := l.View(10, 4); !strings.HasSuffix(drawn(end), "more\n") {
		t.Error(drawn(end))
	}
}

func TestLinesAreBoundedAndLongOnesGoOn(t *testing.T) {
	var l Log
	for i := range 3 * Max {
		l.Print(fmt.Sprint(i), false)
	}
	if l.Len() > Max || l.Gone+l.Len() != 3*Max {
		t.Errorf("%d kept, %d gone", l.Len(), l.Gone)
	}
	l.Clear()
	l.Print(strings.Repeat("é", 5000), false)
	if l.Len() != 5 {
		t.Errorf("%d lines", l.Len())
	}
	lines, _, _, _, wider := l.View(10, 1)
	if got := drawn(lines); !wider || grid.Width(strings.TrimSpace(got)) != 10 {
		t.Errorf("%q %v", got, wider)
	}
}

func FuzzPrint(f *testing.F) {
	f.Add("\x1b[31mx\x1b[0m", 3)
	f.Add("NAME   STATUS", 0)
	f.Add("\t\xff\u202e日本", 1)
	f.Fuzz(func(t *testing.T, s string, right int) {
		var l Log
		l.Print("NAME   STATUS   AGE", false)
		l.Print(s, false)
		l.Print(s, true)
		l.Aside(right % 1000)
		lines, _, _, _, _ := l.View(20, 10)
		for _, line := range lines {
			if line.Width() > 20 {
				t.Fatalf("%q is wider than its window", drawn([]widget.Line{line}))
			}
			for _, span := range line {
				for _, r := range span.Text {
					if grid.RuneWidth(r) == 0 {
						t.Fatalf("%q lets %U through", s, r)
					}
				}
			}
		}
	})
}
