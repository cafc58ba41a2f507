package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
)

// play runs a cluster of masters and no workers for a while, with commands "AT WORDS" given on the way.
func play(t *testing.T, o Options, masters int, length time.Duration, do ...string) []event.Record {
	t.Helper()
	o.Scenario = scenario.Scenario{Name: "orders", Cluster: scenario.Cluster{Masters: masters}}
	o.Scenario.Default()
	for _, d := range do {
		at, words, _ := strings.Cut(d, " ")
		o.Scenario.Steps = append(o.Scenario.Steps, scenario.Step{At: at, Do: words})
	}
	o.Rate, o.Seed = sim.Unpaced, 1
	if o.Start.IsZero() {
		o.Start = RepeatableStart
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = e.RunFor(context.Background(), length)
	if cerr := e.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	recs, _ := e.Journal().Read(nil, 1, 1<<20)
	return recs
}

// failures of the commands given, in order.
func failures(recs []event.Record) (out []string) {
	for _, r := range recs {
		if d, ok := r.Event.(event.CommandDone); ok && d.Error != "" {
			out = append(out, d.Text+": "+d.Error)
		}
	}
	return out
}

func TestOrdersThatMakeNoSenseSayWhy(t *testing.T) {
	recs := play(t, Options{Store: StoreMemory}, 3, 40*time.Second,
		"15s cut scheduler-leader master-1/scheduler",
		"15s cut scheduler-leader master-2/scheduler",
		"15s cut scheduler-leader master-3/scheduler",
		"16s heal",
		"20s partition scheduler-leader | master-1,master-2,master-3",
		"20s stop master-2",
		"21s start master-2",
		"21s stop master-2",
		"30s start master-2",
		"30s start master-2",
		"35s wipe master-2",
		"36s heal",
	)
	got := strings.Join(failures(recs), "\n")
	for _, want := range []string{
		"start master-2: master-2 is still shutting down; start it when it is off",
		"stop master-2: master-2 is shutting down already",
		"start master-2: master-2 is running already",
		"wipe master-2: master-2 is running; kill it first",
		"heal: no link is broken",
		"both ends are master-",
		" stands in two places",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing said %q; there is\n%s", want, got)
		}
	}
}

func TestSimulatedTimeGoesOnWhereTheDataDirectoryLeftIt(t *testing.T) {
	dir := t.TempDir()
	play(t, Options{Store: StoreRaft, DataDir: dir}, 1, 20*time.Second)
	recs := play(t, Options{Store: StoreRaft, DataDir: dir}, 1, time.Second)
	if got := recs[0].At.Sub(RepeatableStart); got < 20*time.Second {
		t.Errorf("it begins %s after the first beginning, in a store that has seen 20s", got)
	}
}

// A second run is told of what the first wrote, whose records it does not have; the second run is shorter, so that their numbers are those of later records or of none.
func TestAJournalNamesNoRecordOfAnEarlierRunOnTheSameFolder(t *testing.T) {
	dir := t.TempDir()
	play(t, Options{Store: StoreRaft, DataDir: dir}, 3, 20*time.Second)
	recs := play(t, Options{Store: StoreRaft, DataDir: dir}, 3, 20*time.Second)
	told, own := 0, 0
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.ObjectChanged:
			told++
		case event.RaftAppended:
			for _, x := range e.Entries {
				for _, w := range x.Writes {
					if w.Cause >= r.Seq {
						t.Errorf("entry %d in record %d names record %d", x.Index, r.Seq, w.Cause)
					}
					if w.Cause != 0 {
						own++
					}
				}
			}
		}
		if r.Cause >= r.Seq {
			t.Errorf("record %d, %s, names record %d as its cause", r.Seq, r.Event.Name(), r.Cause)
		}
	}
	if told == 0 || own == 0 {
		t.Fatalf("%d changes of objects, %d writes of this run: nothing is shown", told, own)
	}
}

func TestARunKnowsItsOwnMarks(t *testing.T) {
	began := time.Date(2026, 12, 2, 10, 0, 0, 0, time.UTC)
	first, second, unkept := newRunMark(true, began), newRunMark(true, began.Add(time.Second)), newRunMark(false, began)
	for _, seq := range []event.Seq{0, 1, 4711, 1<<recordBits - 1} {
		for _, r := range []runMark{first, second, unkept} {
			for _, by := range []runMark{first, second, unkept} {
				want := event.Seq(0)
				if by == r {
					want = seq
				}
				if got := r.record(by.tag(seq)); got != want {
					t.Errorf("record %d of run %x is %d to run %x, want %d", seq, by, got, r, want)
				}
			}
		}
	}
	if unkept.tag(7) != 7 {
		t.Error("the same seed does not write the same")
	}
}

func TestAMemberWhoseDiskIsDamagedIsAProgramThatExits(t *testing.T) {
	dir := t.TempDir()
	play(t, Options{Store: StoreRaft, DataDir: dir}, 3, 20*time.Second)
	if err := os.WriteFile(filepath.Join(dir, "store", "master-2", "raft.db"), []byte(strings.Repeat("nonsense", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	recs := play(t, Options{Store: StoreRaft, DataDir: dir}, 3, 60*time.Second,
		"30s kill master-2", "31s wipe master-2", "32s start master-2")
	exits, muted, healed := 0, false, false
	for _, r := range recs {
		switch e := r.Event.(type) {
		case event.ProcessStopped:
			if e.Host == "master-2" && e.Process == "etcd" && strings.Contains(e.Message, "disk damaged") {
				exits++
			}
		case event.RaftRole:
			if e.Member == "master-2" && e.Role != "down" {
				muted = muted || e.Err != ""
				healed = muted && e.Err == ""
			}
		}
	}
	if exits == 0 {
		t.Error("etcd on master-2 runs on a disk that is garbage")
	}
	if exits > 6 {
		t.Errorf("it was started %d times in 30s, without back-off", exits)
	}
	if !muted || !healed {
		t.Errorf("after the wipe it was without a vote: %v, and got it back: %v", muted, healed)
	}
}
