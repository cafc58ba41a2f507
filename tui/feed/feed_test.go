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

func TestNothingIsFoldedAcrossACommandOrAHeadline(t *testing.T) {
	f := New(words.English())
	read(f, 0, bound("web-7f9c8d4b5d-aaaaa"))
	read(f, time.Second, event.CommandGiven{Text: "kill master-1"})
	read(f, 2*time.Second, bound("web-7f9c8d4b5d-bbbbb"))
	read(f, 3*time.Second, event.MachineDown{Host: "m", Reason: "killed"})
	read(f, 4*time.Second, bound("web-7f9c8d4b5d-ccccc"))
	if n := len(f.Lines()); n != 5 {
		t.Errorf("%d lines, want 5: what follows would be told above what it follows from", n)
	}
}

func TestALineKnowsItsMembersAndARecordItsLine(t *testing.T) {
	f := New(words.English())
	read(f, 0, bound("web-7f9c8d4b5d-aaaaa"))            // 1
	read(f, 0, event.MachineUp{Host: "m"})               // 2
	read(f, time.Second, event.LeaseRenewed{Lease: "x"}) // 3, not told
	read(f, time.Second, bound("web-7f9c8d4b5d-bbbbb"))  // 4
	if at, ok := f.LineOf(4); !ok || at != 0 {
		t.Errorf("record 4 is in line %d %v", at, ok)
	}
	if at, ok := f.LineOf(2); !ok || at != 1 {
		t.Errorf("record 2 is in line %d %v", at, ok)
	}
	if _, ok := f.LineOf(3); ok {
		t.Error("record 3 is in a line")
	}
	members := f.Members(&f.Lines()[0])
	if len(members) != 2 || members[0].First != 1 || members[1].First != 4 {
		t.Errorf("%+v", members)
	}
	if n := len(f.Each()); n != 3 {
		t.Errorf("%d sentences one by one", n)
	}
}

func TestLinesKeepTheirNumberWhenOldOnesAreForgotten(t *testing.T) {
	f := New(words.English())
	for i := range maxLines + 1 {
		read(f, time.Duration(i)*time.Hour, event.MachineDown{Host: "m", Reason: "killed"})
	}
	last := len(f.Lines()) - 1
	if at, ok := f.LineOf(f.Last()); !ok || at != last {
		t.Errorf("the last record is in line %d %v, want %d", at, ok, last)
	}
	if _, ok := f.LineOf(1); ok {
		t.Error("the first record is still in a line")
	}
}

func TestSeveralSpeakersAreNamedByWhatTheyAre(t *testing.T) {
	f := New(words.English())
	for i, node := range []string{"worker-1", "worker-2"} {
		f.Read(event.Record{Seq: event.Seq(i + 1), At: time.Unix(0, 0), Actor: event.On("containerd", node), Event: event.ContainerChanged{Node: node,
			Pod: kinds.ObjectRef{Namespace: "default", Name: "web-7f9c8d4b5d-aaaa" + node[7:]}, State: event.ContainerRunning}}, &world.World{})
	}
	if l := f.Lines()[0]; l.Who != "kubelet" || l.Count != 2 {
		t.Errorf("%q says %q", l.Who, l.Text())
	}
}
