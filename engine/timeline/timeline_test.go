package timeline

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/btree"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/engine/world/worldtest"
)

func picture(w *world.World) string {
	var b strings.Builder
	fmt.Fprintln(&b, w.Seq, w.At, w.Start, w.Header, w.Rate, w.Revision, w.Elections, w.Requests, w.Commands, w.Lost)
	table(&b, &w.Hosts)
	table(&b, &w.Members)
	table(&b, &w.Nodes)
	table(&b, &w.Pods)
	table(&b, &w.Objects)
	table(&b, &w.Running)
	table(&b, &w.Queues)
	table(&b, &w.Leases)
	table(&b, &w.Backends)
	table(&b, &w.Evictions)
	table(&b, &w.Attempts)
	list, more := w.Anomalies(1000)
	fmt.Fprintln(&b, list, more)
	return b.String()
}

func table[V any](b *strings.Builder, m *btree.Map[string, *V]) {
	m.Scan(func(k string, v *V) bool { fmt.Fprintf(b, "%s %+v\n", k, *v); return true })
}

func journalOf(recs []event.Record, capacity int) *journal.Journal {
	j := journal.New(journal.Options{Capacity: capacity})
	for _, r := range recs {
		j.Append(r)
	}
	return j
}

func refold(recs []event.Record, to event.Seq) *world.World {
	w := &world.World{}
	for _, r := range recs[:to] {
		w.Apply(r)
	}
	return w
}

func TestLawThePastIsWhatAFoldFromTheBeginningGives(t *testing.T) {
	for seed := range uint64(2) {
		recs := worldtest.Records(worldtest.Options{Seed: seed}, 2500)
		rng := rand.New(rand.NewPCG(seed, 1))
		for name, line := range map[string]*Timeline{"live": Follow(journalOf(recs, 0)), "replay": Replay(journalOf(recs, 0))} {
			for range 15 {
				seq := event.Seq(rng.IntN(len(recs)) + 1)
				switch rng.IntN(5) {
				case 0:
					line.SeekSeq(seq)
				case 1:
					seq = line.Seek(recs[seq-1].At)
				case 2:
					seq = line.Step(rng.IntN(7) - 3)
				case 3:
					line.Advance(rng.IntN(2000))
					line.SeekSeq(seq)
				default:
					line.GoLive()
					line.Advance(100)
					seq = line.Seq()
				}
				if seq == 0 {
					continue
				}
				want := picture(refold(recs, seq))
				if got := picture(line.World()); got != want || line.Seq() != seq {
					t.Fatalf("seed %d %s: at %d (asked for %d) the world differs from a refold", seed, name, line.Seq(), seq)
				}
			}
		}
	}
}

func TestSeekFindsTheLastRecordAtAnInstant(t *testing.T) {
	recs := worldtest.Records(worldtest.Options{Seed: 5}, 1000)
	line := Replay(journalOf(recs, 0))
	for _, i := range []int{0, 1, 17, 500, 999} {
		at := recs[i].At
		want := recs[i].Seq
		for int(want) < len(recs) && recs[want].At.Equal(at) {
			want++
		}
		if got := line.Seek(at); got != want {
			t.Errorf("at %v: record %d, want %d", at, got, want)
		}
		if at.After(recs[0].At) && i > 0 && recs[i-1].At.Before(at) {
			if got := line.Seek(at.Add(-1)); got != recs[i-1].Seq {
				t.Errorf("just before %v: record %d, want %d", at, got, recs[i-1].Seq)
			}
		}
	}
	if got := line.Seek(recs[0].At.Add(-time.Hour)); got != 1 {
		t.Errorf("before the beginning: record %d", got)
	}
	if got := line.Seek(recs[999].At.Add(time.Hour)); got != 1000 {
		t.Errorf("after the end: record %d", got)
	}
}

func TestLivingOnWhileLookingBack(t *testing.T) {
	story := worldtest.New(worldtest.Options{Seed: 2})
	j := journal.New(journal.Options{})
	more := func(n int) {
		for range n {
			j.Append(story.Next())
		}
	}
	more(1000)
	line := Follow(j)
	if _, n := line.Advance(600); n != 600 || line.Seq() != 600 || line.Behind() != 400 || !line.Live() {
		t.Fatalf("folded %d, at %d, behind %d", n, line.Seq(), line.Behind())
	}
	line.Advance(10000)
	line.SeekSeq(300)
	before := picture(line.World())
	more(500)
	line.Advance(10000)
	if line.Live() || line.Seq() != 300 || picture(line.World()) != before {
		t.Error("the past moved while the cluster lived on")
	}
	if line.Head().Seq != 1500 {
		t.Errorf("the head is at %d", line.Head().Seq)
	}
	line.GoLive()
	if !line.Live() || line.Seq() != 1500 {
		t.Errorf("live at %d", line.Seq())
	}
	if line.Step(-1); line.Live() || line.Seq() != 1499 {
		t.Errorf("a step back leads to %d", line.Seq())
	}
	if line.Step(5); line.Seq() != 1500 || line.Live() {
		t.Errorf("steps beyond the end lead to %d", line.Seq())
	}
}

func TestAReplayStartsAtItsBeginningAndIsNeverLive(t *testing.T) {
	line := Replay(journalOf(worldtest.Records(worldtest.Options{}, 700), 0))
	if line.Live() || line.Seq() != 1 {
		t.Errorf("at %d, live %v", line.Seq(), line.Live())
	}
	if line.Advance(10000); line.Seq() != 1 {
		t.Errorf("preparing moved the cursor to %d", line.Seq())
	}
	if line.GoLive(); line.Live() || line.Seq() != 700 {
		t.Errorf("its end: at %d, live %v", line.Seq(), line.Live())
	}
	if empty := Replay(journalOf(nil, 0)); empty.Seq() != 0 || empty.Seek(time.Now()) != 0 {
		t.Error("an empty file has a record")
	}
}

func TestOfWhatFellOutOfMemoryCheckpointsRemain(t *testing.T) {
	recs := worldtest.Records(worldtest.Options{Seed: 4}, 30000)
	j := journal.New(journal.Options{Capacity: 8192})
	line := Follow(j)
	for i, r := range recs {
		j.Append(r)
		if i%100 == 0 {
			line.Advance(1000)
		}
	}
	line.Advance(1000)
	if line.Head().Lost != 0 {
		t.Fatalf("lost %d", line.Head().Lost)
	}
	for _, want := range []event.Seq{10, 5000, 12345, j.First() - 1, j.First(), j.First() + 3000} {
		got := line.SeekSeq(want)
		if got > want+1 || want-got > 2*everyMin {
			t.Errorf("asked for %d, got %d", want, got)
		}
		if want >= j.First() && got != want {
			t.Errorf("asked for %d, which is in memory, got %d", want, got)
		}
		if picture(line.World()) != picture(refold(recs, got)) {
			t.Errorf("at %d the world differs from a refold", got)
		}
		if at := line.Seek(recs[want-1].At); want-min(at, want) > 2*everyMin || at > want+20 {
			t.Errorf("asked for the instant of %d, got %d", want, at)
		}
	}
	if first, last := line.Bounds(); !first.Equal(recs[0].At) || !last.Equal(recs[len(recs)-1].At) {
		t.Errorf("bounds %v %v", first, last)
	}
}

func TestRecentTellsTheLastRecordsUpToTheCursor(t *testing.T) {
	recs := worldtest.Records(worldtest.Options{Seed: 4}, 3000)
	line := Replay(journalOf(recs, 0))
	line.SeekSeq(2000)
	got := line.Recent(5, nil)
	if len(got) != 5 || got[0].Seq != 1996 || got[4].Seq != 2000 {
		t.Errorf("the last five: %v", got)
	}
	commands := func(r event.Record) bool { _, ok := r.Event.(event.CommandGiven); return ok }
	var want []event.Seq
	for _, r := range recs[:2000] {
		if commands(r) {
			want = append(want, r.Seq)
		}
	}
	want = want[max(0, len(want)-12):]
	got = line.Recent(12, commands)
	if len(got) != len(want) {
		t.Fatalf("%d commands, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].Seq != want[i] {
			t.Errorf("command %d is record %d, want %d", i, got[i].Seq, want[i])
		}
	}
	if got := line.Recent(3, func(event.Record) bool { return false }); len(got) != 0 {
		t.Errorf("nothing asked for, got %v", got)
	}
}

// An hour of a small cluster at ten records a second: checkpoints stay under 100 MB, and any instant is reached in under 100 ms.
func TestAnHourOfASmallClusterIsCheapToHoldAndToSeek(t *testing.T) {
	if testing.Short() {
		t.Skip("folds 100,000 records")
	}
	for _, c := range []struct {
		name string
		o    worldtest.Options
		n    int
	}{
		{"quiet", worldtest.Options{Seed: 1, Step: 100 * time.Millisecond, Calm: true}, 36_000},
		{"busy", worldtest.Options{Seed: 2, Workers: 12, Pods: 300, Step: 36 * time.Millisecond, Calm: true}, 100_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			recs := worldtest.Records(c.o, c.n)
			j := journalOf(recs, 0)
			before := heap()
			line := Follow(j)
			began := time.Now()
			line.Advance(c.n)
			folded := time.Since(began)
			held := heap() - before
			rng := rand.New(rand.NewPCG(1, 1))
			var took []time.Duration
			for range 200 {
				began := time.Now()
				line.SeekSeq(event.Seq(rng.IntN(c.n) + 1))
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			slow := took[len(took)*9/10] // the rest is other programs on this machine
			t.Logf("%d records over %v: folded in %v, %d checkpoints every %d hold %d MB, nine of ten seeks within %v, the slowest %v", c.n, recs[c.n-1].At.Sub(recs[0].At).Round(time.Minute),
				folded.Round(time.Millisecond), len(line.marks.list), line.marks.every, held>>20, slow.Round(100*time.Microsecond), took[len(took)-1].Round(100*time.Microsecond))
			if held > 100<<20 {
				t.Errorf("checkpoints hold %d MB", held>>20)
			}
			if slow > 100*time.Millisecond {
				t.Errorf("one seek in ten takes %v", slow)
			}
			runtime.KeepAlive(recs)
		})
	}
}

func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestCheckpointsOfALargeClusterStayWithinTheirBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("folds 120,000 records")
	}
	n := 120_000
	story := worldtest.New(worldtest.Options{Seed: 1, Workers: 500, Pods: 8000, Calm: true, Step: time.Millisecond})
	j := journal.New(journal.Options{})
	line := Follow(j)
	for i := range n {
		j.Append(story.Next())
		if i%5000 == 0 {
			line.Advance(n)
		}
	}
	line.Advance(n)
	with := heap()
	every, marks := line.marks.every, len(line.marks.list)
	line.marks = checkpoints{}
	held := with - heap()
	t.Logf("%d checkpoints every %d hold %d MB", marks, every, held>>20)
	if held > 300<<20 {
		t.Errorf("checkpoints hold %d MB", held>>20)
	}
	runtime.KeepAlive(line)
	runtime.KeepAlive(j)
}
