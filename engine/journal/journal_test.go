package journal

import (
	"sync"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
)

func ticking() func() time.Time {
	at := start
	return func() time.Time { at = at.Add(time.Second); return at }
}

func TestMemoryIsBoundedAndWhatFallsOutIsCounted(t *testing.T) {
	j := New(Options{Capacity: 2 * chunkSize, Now: ticking()})
	for i := range 5*chunkSize + 10 {
		if seq := j.Emit("a", 0, event.RateChanged{Rate: float64(i + 1)}); seq != event.Seq(i+1) {
			t.Fatalf("record %d has number %d", i+1, seq)
		}
		if held := int(j.Last()-j.First()) + 1; held > 2*chunkSize {
			t.Fatalf("%d records in memory", held)
		}
		for _, s := range []event.Seq{j.First(), j.Last(), (j.First() + j.Last()) / 2} {
			r, ok := j.Get(s)
			if !ok || r.Seq != s || r.Event.(event.RateChanged).Rate != float64(s) {
				t.Fatalf("Get(%d) = %+v %v", s, r, ok)
			}
		}
	}
	if _, ok := j.Get(j.First() - 1); ok {
		t.Error("a record that fell out is still there")
	}
	if _, ok := j.Get(j.Last() + 1); ok {
		t.Error("a record from the future is there")
	}
	recs, lost := j.Read(nil, 10, 100)
	if lost != int(j.First()-10) || len(recs) != 100 || recs[0].Seq != j.First() {
		t.Errorf("lost %d, %d records from %d", lost, len(recs), recs[0].Seq)
	}
}

func TestReadCrossesChunksAndStopsAtTheEnd(t *testing.T) {
	j := New(Options{Now: ticking()})
	for range 3 * chunkSize {
		j.Emit("a", 0, event.RateChanged{})
	}
	for _, from := range []event.Seq{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 3*chunkSize - 5, 3 * chunkSize, 3*chunkSize + 1, 3*chunkSize + 9} {
		recs, lost := j.Read(nil, from, chunkSize+7)
		want := max(0, min(chunkSize+7, 3*chunkSize-int(max(1, from))+1))
		if len(recs) != want || lost != 0 {
			t.Fatalf("from %d: %d records (lost %d), want %d", from, len(recs), lost, want)
		}
		for i, r := range recs {
			if r.Seq != max(1, from)+event.Seq(i) {
				t.Fatalf("from %d: record %d is number %d", from, i, r.Seq)
			}
		}
	}
}

func TestReadersMayRunBesideTheWriter(t *testing.T) {
	j := New(Options{Capacity: chunkSize, Now: ticking()})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			next, lost := event.Seq(1), 0
			for next <= 20*chunkSize {
				recs, l := j.Read(nil, next, 500)
				next += event.Seq(l)
				lost += l
				for _, r := range recs {
					if r.Seq != next {
						t.Errorf("record %d where %d was to come", r.Seq, next)
						return
					}
					next++
				}
			}
		})
	}
	for range 20 * chunkSize {
		j.Emit("a", 0, event.RateChanged{})
	}
	wg.Wait()
}

func TestChainWalksToTheRoot(t *testing.T) {
	j := New(Options{Now: ticking()})
	j.Emit("a", 0, event.CommandGiven{Text: "root"})
	j.Emit("a", 0, event.RateChanged{})
	j.Emit("a", 1, event.RateChanged{})
	j.Emit("a", 3, event.RateChanged{})
	for _, c := range []struct {
		of   event.Seq
		want []event.Seq
	}{{4, []event.Seq{4, 3, 1}}, {1, []event.Seq{1}}, {2, []event.Seq{2}}, {9, nil}, {0, nil}} {
		var got []event.Seq
		for _, r := range Chain(j, c.of) {
			got = append(got, r.Seq)
		}
		if len(got) != len(c.want) {
			t.Fatalf("chain of %d: %v, want %v", c.of, got, c.want)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Fatalf("chain of %d: %v, want %v", c.of, got, c.want)
			}
		}
	}
	j.Emit("a", 5, event.RateChanged{}) // its own cause: the walk must end
	if got := Chain(j, 5); len(got) != 1 {
		t.Errorf("a record that causes itself: %v", got)
	}
}
