package narrate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/words"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// tape is a journal in the making.
type tape struct {
	j   *journal.Journal
	seq event.Seq
}

func newTape() *tape {
	t := &tape{j: journal.New(journal.Options{Capacity: 1 << 12})}
	t.at(0, event.Engine, event.ClusterStarted{Preset: "ha", Masters: []string{"master-1"}, Workers: []string{"worker-1"}})
	return t
}

func (t *tape) at(at time.Duration, a event.Actor, e event.Event) {
	t.seq++
	t.j.Append(event.Record{Seq: t.seq, At: start.Add(at), Actor: a, Event: e})
}

func bound(pod string) event.Event {
	return event.SchedulingAttempt{Pod: kinds.ObjectRef{Namespace: "default", Name: pod}, Node: "worker-1", Nodes: 1, Feasible: 1}
}

func TestEachSentenceIsALineWithItsInstant(t *testing.T) {
	tp := newTape()
	n := New(words.English(), tp.j)
	n.Lines()
	tp.at(12*time.Minute+5*time.Second, "controller-manager/master-1", event.NodeJudged{Node: "worker-1", Ready: "Unknown", SilentFor: 50 * time.Second})
	if got := strings.Join(n.Lines(), "\n"); got != "+12m05s node-lifecycle: worker-1 is Unknown: not heard for 50s" {
		t.Errorf("%q", got)
	}
	if got := n.Lines(); len(got) != 0 {
		t.Errorf("told twice: %q", got)
	}
}

func TestRepetitionsAreToldOnceWhenTheyHaveSettled(t *testing.T) {
	tp := newTape()
	n := New(words.English(), tp.j)
	n.Lines()
	for i := range 3 {
		tp.at(time.Duration(i)*time.Second, "scheduler/master-1", bound(fmt.Sprintf("web-7f9c8d4b5d-aaaa%d", i)))
	}
	if got := n.Lines(); len(got) != 0 {
		t.Errorf("told before it settled: %q", got)
	}
	tp.at(4*time.Second, "apiserver/master-1", event.RequestTally{Server: "master-1", Total: 1})
	if got := n.Lines(); len(got) != 0 {
		t.Errorf("told two seconds after the last: %q", got)
	}
	tp.at(6*time.Second, "apiserver/master-1", event.RequestTally{Server: "master-1", Total: 1})
	if got := strings.Join(n.Lines(), "\n"); got != "+0s scheduler: bound 3 pods of web-7f9c8d4b5d" {
		t.Errorf("%q", got)
	}
}

func TestWhatGoesOnForLongIsToldBetweenTimes(t *testing.T) {
	tp := newTape()
	n := New(words.English(), tp.j)
	n.Lines()
	for i := range 15 {
		tp.at(time.Duration(i)*time.Second, "scheduler/master-1", bound(fmt.Sprintf("web-7f9c8d4b5d-aaaa%d", i%10)))
	}
	if got := n.Lines(); len(got) != 1 || !strings.Contains(got[0], "bound 10 pods") {
		t.Errorf("%q", got)
	}
}

func TestAPauseSettlesAll(t *testing.T) {
	tp := newTape()
	n := New(words.English(), tp.j)
	n.Lines()
	tp.at(time.Second, "scheduler/master-1", bound("web-7f9c8d4b5d-aaaaa"))
	tp.at(time.Second, event.You, event.RateChanged{})
	if got := n.Lines(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

func TestAnswersAreToldAfterTheirCommandAndHostileTextIsNeutral(t *testing.T) {
	tp := newTape()
	n := New(words.English(), tp.j)
	n.Lines()
	tp.at(time.Second, event.You, event.CommandGiven{Text: "kubectl get pods \x1b[31m"})
	tp.at(time.Second, event.You, event.CommandDone{Text: "kubectl get pods", Output: []string{"NAME  READY", "x\x1b]0;gone\x07  1/1  "}})
	got := strings.Join(n.Lines(), "\n")
	if strings.ContainsAny(got, "\x1b\x07") {
		t.Errorf("a control character is left: %q", got)
	}
	if !strings.HasPrefix(got, "+1s you: kubectl get pods ") || !strings.Contains(got, "\nNAME  READY\nx<U+001B>]0;gone<U+0007>  1/1") {
		t.Errorf("%q", got)
	}
}

// However often the journal is asked, the lines are the same.
func TestNarrationDependsOnlyOnTheRecords(t *testing.T) {
	records := fixture.Trouble(4).Records
	tell := func(step int) string {
		j := journal.New(journal.Options{Capacity: len(records)})
		n := New(words.English(), j)
		var out []string
		for i, r := range records {
			j.Append(r)
			if i%step == 0 {
				out = append(out, n.Lines()...)
			}
		}
		return strings.Join(append(out, n.Flush()...), "\n")
	}
	whole := tell(len(records))
	if whole != tell(1) || whole != tell(7) {
		t.Error("the lines change with how often the journal is asked")
	}
	for _, want := range []string{"you: kill master-1", "raft: master-2 won term 4", "worker-3 is Unknown", "bound 5 pods of nginx-6d4cf56db6"} {
		if !strings.Contains(whole, want) {
			t.Errorf("not told: %s\n%s", want, whole)
		}
	}
}

// gap is a journal that has lost its first records.
type gap struct{ j *journal.Journal }

func (g gap) Read(buf []event.Record, from event.Seq, max int) ([]event.Record, int) {
	lost := 0
	if from < 4 {
		lost, from = int(4-from), 4
	}
	recs, _ := g.j.Read(buf, from, max)
	return recs, lost
}

func TestRecordsThatWereLostAreCounted(t *testing.T) {
	tp := newTape()
	for i := range 5 {
		tp.at(time.Duration(i)*time.Second, "machine/m", event.MachineDown{Host: fmt.Sprint("m", i), Reason: "killed"})
	}
	got := New(words.English(), gap{tp.j}).Lines()
	if len(got) != 4 || got[0] != "3 records were missed here." || !strings.Contains(got[1], "m2 killed") {
		t.Errorf("%q", got)
	}
}

func TestStatusSaysWhoLeadsWhatIsWrongAndWhatComesNext(t *testing.T) {
	for _, c := range []struct {
		name string
		tape *fixture.Tape
		want []string
	}{
		{"calm", fixture.Healthy(4), []string{"master-1 leads the store in term 3; 3 of 3 members work, 2 are needed.", "7 of 7 nodes are Ready", "Nothing is wrong."}},
		{"trouble", fixture.Trouble(4), []string{"master-2 leads the store in term 4; 2 of 3 members work", "Wrong: master-1 is off, by you", "worker-3 is cut off from all, by you", "next: ", "And 2 more things are wrong."}},
	} {
		j := journal.New(journal.Options{Capacity: len(c.tape.Records)})
		for _, r := range c.tape.Records {
			j.Append(r)
		}
		n := New(words.English(), j)
		n.Lines()
		got := Status(words.English(), n.World(), n.World().At)
		if len(got) < 3 || len(got) > 6 {
			t.Errorf("%s: %d sentences", c.name, len(got))
		}
		all := strings.Join(got, "\n")
		for _, want := range c.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s: not said: %s\n%s", c.name, want, all)
			}
		}
	}
}

func TestStatusBeforeAnythingHappened(t *testing.T) {
	n := New(words.English(), journal.New(journal.Options{Capacity: 1}))
	if got := Status(words.English(), n.World(), time.Time{}); len(got) != 1 || got[0] != "Nothing has happened yet." {
		t.Errorf("%q", got)
	}
}

func TestStatusOfAClusterThatComesUpRaisesNoAlarm(t *testing.T) {
	j := journal.New(journal.Options{})
	for _, r := range fixture.Healthy(4).Records[:12] {
		j.Append(r)
	}
	n := New(words.English(), j)
	n.Lines()
	got := strings.Join(Status(words.English(), n.World(), n.World().At), "\n")
	if !strings.Contains(got, "The cluster starts") || strings.Contains(got, "Wrong") || strings.Contains(got, "quorum") {
		t.Errorf("said:\n%s", got)
	}
}
