package timebar

import (
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/words"
)

var start = time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)

func bar(marks ...Mark) *Bar {
	return &Bar{First: start, Last: start.Add(10 * time.Minute), At: start.Add(10 * time.Minute), Start: start, Live: true, Marks: marks, Words: words.English()}
}

func drawn(b *Bar, w, h int) []string {
	g := grid.New(w, h)
	b.Draw(g.Canvas())
	return strings.Split(g.Render(nil, false), "\n")
}

func TestEveryColumnIsAnInstantAndComesBack(t *testing.T) {
	b := bar()
	for _, w := range []int{20, 80, 120, 200, 500} {
		from, n := b.track(w)
		for i := range n - 1 {
			at, end, ok := b.Instant(from+i, w)
			if !ok || end {
				t.Fatalf("w %d: column %d is no instant", w, i)
			}
			if got := b.column(at, n); got != i {
				t.Errorf("w %d: column %d became %d", w, i, got)
			}
		}
		if _, end, ok := b.Instant(w-2, w); !ok || !end {
			t.Errorf("w %d: the right end is not the newest instant", w)
		}
	}
}

func TestMarksStandWhereTheyHappened(t *testing.T) {
	b := bar(Mark{1, start.Add(5 * time.Minute), Order, "kill master-1"}, Mark{2, start.Add(8 * time.Minute), Elect, "master-2"})
	lines := drawn(b, 107, 2)
	_, n := b.track(107)
	if got := []rune(lines[0])[1+b.column(start.Add(5*time.Minute), n)]; got != grid.Moment {
		t.Errorf("the order is %q", got)
	}
	if !strings.Contains(lines[0], "★") || !strings.Contains(lines[1], "kill master-1") || !strings.Contains(lines[0], "now") {
		t.Errorf("drawn\n%s\n%s", lines[0], lines[1])
	}
}

func TestOfMarksInOneCellTheHeaviestIsSeen(t *testing.T) {
	at := start.Add(5 * time.Minute)
	b := bar(Mark{1, at, Elect, "master-2"}, Mark{2, at, Order, "x"}, Mark{3, at, Break, "master-1"})
	if line := drawn(b, 80, 1)[0]; !strings.Contains(line, "★") || strings.Contains(line, "▲") {
		t.Errorf("drawn %s", line)
	}
}

func TestThePlaceInThePastIsNamed(t *testing.T) {
	b := bar()
	b.Live, b.At = false, start.Add(3*time.Minute+20*time.Second)
	if lines := drawn(b, 80, 2); !strings.Contains(lines[1], "+3m20s") {
		t.Errorf("drawn\n%s", strings.Join(lines, "\n"))
	}
}

func TestNoSizeAndNoSpanBreaksIt(t *testing.T) {
	b := bar(Mark{1, start.Add(time.Hour), Order, strings.Repeat("x", 300)}, Mark{2, start.Add(-time.Hour), Order, "y"}, Mark{3, start.Add(10 * time.Minute), Break, "a\x1b[31m"})
	for w := range 300 {
		for _, live := range []bool{true, false} {
			b.Live = live
			for _, l := range drawn(b, w, w%4) {
				if grid.Width(l) > w || strings.Contains(l, "\x1b") {
					t.Fatalf("w %d: %q", w, l)
				}
			}
		}
	}
	b.Last = b.First
	drawn(b, 80, 2)
	b.Instant(5, 80)
}

func TestWhatLeavesAMark(t *testing.T) {
	var m Marks
	seq := event.Seq(0)
	read := func(e event.Event) {
		seq++
		m.Read(event.Record{Seq: seq, At: start.Add(time.Duration(seq) * time.Second), Event: e})
	}
	read(event.CommandGiven{Text: "kill master-1"})
	read(event.CommandGiven{Text: "speed 20x"}) // no mark: it changes nothing in the cluster
	read(event.MachineDown{Host: "master-1"})
	read(event.RaftRole{Member: "master-2", Role: "candidate", Term: 3})
	read(event.RaftRole{Member: "master-2", Role: "leader", Term: 3})
	read(event.RaftRole{Member: "master-2", Role: "leader", Term: 3}) // said twice
	read(event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "worker-1", B: "all"}})
	read(event.NodeJudged{Node: "worker-1", Ready: "True"})
	read(event.NodeJudged{Node: "worker-1", Ready: "Unknown"})
	read(event.NodeJudged{Node: "worker-1", Ready: "Unknown"})
	var got []string
	for _, k := range m.All() {
		sign, _ := Sign(k.Kind)
		got = append(got, string(sign)+k.Word)
	}
	if want := "▲kill master-1 ╳master-1 ★master-2 ╳cut worker-1 all ?worker-1"; strings.Join(got, " ") != want {
		t.Errorf("marks %s, want %s", strings.Join(got, " "), want)
	}
	if k, ok := m.Near(3, 1); !ok || k.Seq != 5 {
		t.Errorf("after 3 comes %v", k)
	}
	if k, ok := m.Near(3, -1); !ok || k.Seq != 1 {
		t.Errorf("before 3 comes %v", k)
	}
	if _, ok := m.Near(1, -1); ok {
		t.Error("there is a mark before the first")
	}
}

func TestMarksAreBounded(t *testing.T) {
	var m Marks
	for i := range 10 * marksMax {
		m.Read(event.Record{Seq: event.Seq(i + 1), Event: event.MachineDown{Host: "worker-1"}})
	}
	if n := len(m.All()); n > marksMax {
		t.Errorf("%d marks", n)
	}
	last := event.Seq(0)
	for _, k := range m.All() {
		if k.Seq <= last {
			t.Fatal("out of order")
		}
		last = k.Seq
	}
}
