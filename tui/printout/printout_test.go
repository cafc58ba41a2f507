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
		if want := max(i+1-Max, 0); l.Gone != want {
			t.Fatalf("%d gone after %d", l.Gone, i+1) // one by one
		}
	}
	if l.Len() != Max || cap(l.rows) > 4*Max {
		t.Errorf("%d kept, room for %d", l.Len(), cap(l.rows))
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

func TestBytesAreBounded(t *testing.T) {
	var l Log
	for range 3 * BytesMax / pieceMax {
		l.Print(strings.Repeat("x", pieceMax), false)
	}
	held := 0
	for _, r := range l.rows {
		held += r.size()
	}
	if held != l.bytes || held > BytesMax || held < BytesMax*9/10 || l.Gone == 0 {
		t.Errorf("%d bytes held, %d counted, %d lines gone", held, l.bytes, l.Gone)
	}
}

func TestThatLinesAreGoneIsSaidAboveTheOldest(t *testing.T) {
	l := Log{Above: func(gone int) widget.Line { return widget.Line{widget.S(fmt.Sprintf("%d gone", gone), theme.Waiting)} }}
	for i := range Max + 7 {
		l.Print(fmt.Sprint(i), false)
	}
	for _, filter := range []string{"", "7"} {
		l.Filter(filter)
		l.Edge(-1, 3)
		if lines, from, _, _, _ := l.View(20, 3); from != 1 || !strings.HasPrefix(drawn(lines), "7 gone\n7\n") {
			t.Errorf("%q: %q", filter, drawn(lines))
		}
	}
	l.Clear()
	l.Print("x", false)
	if lines, _, _, _, _ := l.View(20, 3); drawn(lines) != "x\n" {
		t.Errorf("%q", drawn(lines))
	}
}

func TestSentencesWrapAndOutputDoesNot(t *testing.T) {
	var l Log
	wide := "NAME    STATUS    NODE"
	l.Print(wide, false)
	l.Print(`error: the path "x" does not exist and averylongwordthatdoesnotfit ends`, true)
	l.Say(widget.Line{widget.S("exit code 1, ", theme.Dim), widget.S("after 10 ms of work", theme.Failing)})
	lines, from, to, of, wider := l.View(18, 20)
	want := "NAME    STATUS   …\nerror: the path\n  \"x\" does not\n  exist and\n  averylongwordtha\n  tdoesnotfit ends\nexit code 1, after\n  10 ms of work\n"
	if got := drawn(lines); got != want || from != 1 || to != 8 || of != 8 || !wider {
		t.Errorf("%d-%d of %d, wider %v: %q", from, to, of, wider, got)
	}
	if first := lines[6]; first[0].Style != theme.Dim || first[1].Style != theme.Failing || lines[7][1].Style != theme.Failing {
		t.Errorf("colours are lost: %v", lines[6:])
	}
	l.Aside(4)
	if lines, _, _, _, _ := l.View(18, 20); !strings.HasPrefix(drawn(lines), "    STATUS    NODE\nerror: the path\n") {
		t.Errorf("%q", drawn(lines))
	}
	l.Aside(-4)
	l.Scroll(-2, 4)
	before, _, to, of, _ := l.View(18, 4)
	if to != 6 || of != 8 {
		t.Errorf("to %d of %d", to, of)
	}
	l.Print("error: something that takes two rows", true)
	if after, _, _, _, _ := l.View(18, 4); drawn(before) != drawn(after) {
		t.Errorf("%q, then %q", drawn(before), drawn(after))
	}
	if n := len(wrapped(widget.Line{widget.S("   ", 0)}, 2)); n != 1 {
		t.Errorf("blanks take %d rows", n)
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
		lines, _, _, of, _ := l.View(20, 10)
		if n := l.Len(); n != of {
			t.Fatalf("%d rows, %d counted", of, n)
		}
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
