package reader

import (
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
)

var start = time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)

// rig is a journal of one stirring record a second, with a heartbeat between, and a wall clock we turn.
type rig struct {
	*Reader
	j    *journal.Journal
	wall time.Time
}

func record(seq int) event.Record {
	at := start.Add(time.Duration(seq-1) * 500 * time.Millisecond)
	r := event.Record{Seq: event.Seq(seq), At: at, Wall: time.Unix(1000, 0).Add(time.Duration(seq) * 10 * time.Millisecond), Actor: event.Engine}
	if seq%2 == 1 {
		r.Event = event.MachineUp{Host: "worker-1"}
	} else {
		r.Event = event.LeaseRenewed{Namespace: "kube-node-lease", Lease: "worker-1"}
	}
	return r
}

func follow(n int) *rig {
	r := &rig{j: journal.New(journal.Options{}), wall: time.Unix(0, 0)}
	r.more(n)
	r.Reader = Follow(r.j, nil, func() time.Time { return r.wall })
	r.Advance(n)
	return r
}

func (r *rig) more(n int) {
	for range n {
		r.j.Append(record(int(r.j.Last()) + 1))
	}
}

// pass lets wall time go by in frames.
func (r *rig) pass(d time.Duration) {
	for range int(d / (50 * time.Millisecond)) {
		r.wall = r.wall.Add(50 * time.Millisecond)
		r.Advance(1000)
	}
}

func (r *rig) seconds() float64 { return r.Now().Sub(start).Seconds() }

func TestLiveThePlaceIsTheNewestRecord(t *testing.T) {
	r := follow(100)
	if !r.Live() || r.World().Seq != 100 {
		t.Fatalf("live %v at %d", r.Live(), r.World().Seq)
	}
	r.more(10)
	if _, moved := r.Advance(1000); !moved || r.World().Seq != 110 {
		t.Errorf("at %d", r.World().Seq)
	}
	if _, moved := r.Advance(1000); moved {
		t.Error("nothing is new, but it moved")
	}
}

func TestLookingBackStandsStillWhileTheClusterLivesOn(t *testing.T) {
	r := follow(100)
	r.Seek(start.Add(20 * time.Second))
	if r.Live() || r.seconds() != 20 || r.World().At.After(r.Now()) {
		t.Fatalf("live %v at %v", r.Live(), r.seconds())
	}
	r.more(50)
	r.pass(2 * time.Second)
	if r.seconds() != 20 || r.Head().Seq != 150 {
		t.Errorf("the place is %v, the head %d", r.seconds(), r.Head().Seq)
	}
}

func TestThePastIsPlayedAtItsOwnRateAndEndsInThePresent(t *testing.T) {
	r := follow(100) // 49.5 s
	r.Seek(start.Add(20 * time.Second))
	r.Toggle()
	r.pass(2 * time.Second)
	if got := r.seconds(); got < 21.9 || got > 22.1 {
		t.Errorf("two seconds at 1x came to %v", got)
	}
	r.Play(10)
	r.pass(time.Second)
	if got := r.seconds(); got < 31 || got > 33 {
		t.Errorf("a second at 10x came to %v", got)
	}
	r.pass(3 * time.Second)
	if !r.Live() {
		t.Errorf("the present is not reached: at %v", r.seconds())
	}
}

func TestStepsGoFromOneThingThatStirsToTheNext(t *testing.T) {
	r := follow(100)
	if !r.Step(-1) || r.World().Seq != 99 || r.Live() {
		t.Errorf("a step back from the present leads to %d", r.World().Seq)
	}
	r.Step(-1)
	if r.World().Seq != 97 {
		t.Errorf("the next to %d", r.World().Seq)
	}
	if r.Step(1); r.World().Seq != 99 {
		t.Errorf("forward to %d", r.World().Seq)
	}
	r.SeekSeq(1)
	if r.Step(-1) {
		t.Error("there is something before the first record")
	}
}

func TestSeekingBeyondTheEndsGoesToTheEnds(t *testing.T) {
	r := follow(100)
	r.Seek(start.Add(-time.Hour))
	if r.World().Seq != 1 || r.seconds() != 0 {
		t.Errorf("before the beginning: %d at %v", r.World().Seq, r.seconds())
	}
	r.Seek(start.Add(time.Hour))
	if !r.Live() {
		t.Error("beyond the present is not the present")
	}
}

func TestAStretchIsPlayedAgainByItsWallTime(t *testing.T) {
	r := follow(100) // 10 ms of wall time between records, 500 ms of simulated time
	if !r.Crawl(20, 40, 100) {
		t.Fatal("not played")
	}
	r.pass(5 * time.Second) // 50 ms of their wall time: five records
	if got := r.World().Seq; got < 24 || got > 26 {
		t.Errorf("after 5 s at 1/100 the place is record %d, want 25", got)
	}
	before := r.Now()
	r.wall = r.wall.Add(300 * time.Millisecond)
	r.Advance(10)
	if !r.Now().After(before) {
		t.Error("between two records time stands still")
	}
	r.pass(20 * time.Second)
	if r.Slow() != 0 || r.World().Seq != 40 || r.Live() {
		t.Errorf("it does not end where asked: record %d, slow %v", r.World().Seq, r.Slow())
	}
	at := r.Now()
	r.pass(time.Second)
	if !r.Now().Equal(at) {
		t.Error("after its end it goes on")
	}
	if r.Crawl(40, 20, 10) || r.Crawl(1, 2, 0) {
		t.Error("nonsense is played")
	}
}

func TestARecordingPlaysFromItsBeginningToItsEnd(t *testing.T) {
	j := journal.New(journal.Options{})
	for i := range 21 {
		j.Append(record(i + 1))
	}
	wall := time.Unix(0, 0)
	r := &rig{j: j, wall: wall}
	r.Reader = Replay(j, func() time.Time { return r.wall })
	if r.Live() || !r.Recording() || r.World().Seq != 1 {
		t.Fatalf("at %d", r.World().Seq)
	}
	r.pass(3 * time.Second)
	if got := r.seconds(); got < 2.8 || got > 3 {
		t.Errorf("three seconds came to %v", got)
	}
	r.pass(10 * time.Second)
	if !r.Done() || r.Live() {
		t.Errorf("at %d of %d", r.World().Seq, j.Last())
	}
	if first, last := r.Bounds(); !first.Equal(start) || last.Sub(start) != 10*time.Second {
		t.Errorf("bounds %v %v", first, last)
	}
}

func TestAStoppedProgramDoesNotRaceToCatchUp(t *testing.T) {
	r := follow(200)
	r.Seek(start)
	r.Play(1)
	r.pass(time.Second)
	r.wall = r.wall.Add(time.Hour)
	r.Advance(10)
	if got := r.seconds(); got > 2 {
		t.Errorf("an hour's stop was played: at %v", got)
	}
}

func TestTheNextThingOfAKindIsFound(t *testing.T) {
	r := follow(100)
	r.SeekSeq(10)
	up := func(e event.Record) bool { _, ok := e.Event.(event.MachineUp); return ok }
	if !r.Await(up) || r.World().Seq != 11 {
		t.Errorf("the next is record %d, want 11", r.World().Seq)
	}
	if r.Await(func(event.Record) bool { return false }) || r.World().Seq != 11 {
		t.Error("where nothing comes the place moves")
	}
}
