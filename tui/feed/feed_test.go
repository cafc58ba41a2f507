package feed

import (
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/words"
)

func read(f *Feed, at time.Duration, e event.Event) {
	f.Read(event.Record{Seq: f.Last() + 1, At: time.Unix(0, 0).Add(at), Actor: "scheduler/master-1", Event: e}, &world.World{})
}

func bound(pod string) event.Event {
	return event.SchedulingAttempt{Pod: kinds.ObjectRef{Namespace: "default", Name: pod}, Node: "worker-1", Nodes: 7, Feasible: 4}
}

func TestRepetitionsAreFoldedAndCounted(t *testing.T) {
	f := New(words.English())
	read(f, 0, bound("web-7f9c8d4b5d-aaaaa"))
	read(f, time.Second, bound("web-7f9c8d4b5d-bbbbb"))
	read(f, 2*time.Second, bound("web-7f9c8d4b5d-ccccc"))
	if n := len(f.Lines()); n != 1 {
		t.Fatalf("%d lines, want 1", n)
	}
	if got := f.Lines()[0].Text(); got != "bound 3 pods of web-7f9c8d4b5d" {
		t.Errorf("%q", got)
	}
	read(f, 10*time.Minute, bound("web-7f9c8d4b5d-ddddd"))
	if n := len(f.Lines()); n != 2 {
		t.Errorf("what happens ten minutes later is folded as well")
	}
}

func TestOnlyTheNewestIsRemembered(t *testing.T) {
	f := New(words.English())
	for i := range maxLines + 100 {
		read(f, time.Duration(i)*time.Hour, event.MachineDown{Host: "m", Reason: "killed"})
	}
	if n := len(f.Lines()); n > maxLines {
		t.Errorf("%d lines", n)
	}
	if len(f.Lines())+f.Dropped() != maxLines+100 {
		t.Errorf("%d and %d dropped are not all", len(f.Lines()), f.Dropped())
	}
	if len(f.Marks()) > maxMarks {
		t.Errorf("%d marks", len(f.Marks()))
	}
}

func TestRatesAreRequestsPerSimulatedSecond(t *testing.T) {
	f := New(words.English())
	for i := range 12 {
		read(f, time.Duration(2*i)*time.Second, event.RequestTally{Server: "master-1", Total: 10})
	}
	rates := f.Rates("master-1")
	if len(rates) != rateTrail || rates[0] != 5 {
		t.Errorf("%v", rates)
	}
}
