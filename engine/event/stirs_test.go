package event

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestWhatStirsAndWhatAlarms(t *testing.T) {
	for _, c := range []struct {
		name          string
		fact          Event
		stirs, alarms bool
	}{
		{"a heartbeat", LeaseRenewed{}, false, false},
		{"a sample", RaftProgress{}, false, false},
		{"an append", RaftMessage{Kind: "append"}, false, false},
		{"a vote", RaftMessage{Kind: "vote"}, true, false},
		{"an order", CommandGiven{}, false, false},
		{"a machine that the user kills", MachineDown{}, true, false},
		{"a program that is killed", ProcessStopped{Reason: "killed"}, true, false},
		{"a program that ends by itself", ProcessStopped{Reason: "exited"}, true, true},
		{"a member that stands for election", RaftRole{Role: "candidate"}, true, true},
		{"a new leader", RaftRole{Role: "leader"}, true, false},
		{"a node that is heard", NodeJudged{Ready: "True"}, true, false},
		{"a node that is not", NodeJudged{Ready: "Unknown"}, true, true},
		{"a pod that fits", SchedulingAttempt{Node: "worker-1"}, true, false},
		{"a pod that fits nowhere", SchedulingAttempt{Message: "0/7 nodes are available"}, true, true},
		{"a container that ends well", ContainerChanged{State: ContainerExited}, true, false},
		{"a container that fails", ContainerChanged{State: ContainerExited, ExitCode: 1}, true, true},
	} {
		if Stirs(c.fact) != c.stirs || Alarms(c.fact) != c.alarms {
			t.Errorf("%s: stirs %v, alarms %v", c.name, Stirs(c.fact), Alarms(c.fact))
		}
	}
}

func TestWaitingForSomething(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int, e Event) Record { return Record{At: start.Add(time.Duration(s) * time.Second), Event: e} }
	scheduled := ObjectChanged{Type: Added, Object: &corev1.Event{Reason: "Scheduled"}}
	for _, c := range []struct {
		what  string
		comes Event
		want  bool
	}{
		{"NodeJudged", NodeJudged{}, true},
		{"nodejudged", NodeJudged{}, true},
		{"NodeJudged", MachineUp{}, false},
		{"scheduled", scheduled, true},
		{"ObjectChanged", scheduled, true},
		{"Killing", scheduled, false},
		{"anomaly", NodeJudged{Ready: "Unknown"}, true},
		{"Anomaly", MachineUp{}, false},
	} {
		if got := NewAwait(c.what, start).Heard(at(1, c.comes)); got != c.want {
			t.Errorf("%s waits for %s: %v", c.comes.Name(), c.what, got)
		}
	}
	quiet := NewAwait("quiet", start)
	quiet.Heard(at(3, MachineUp{}))
	quiet.Heard(at(7, LeaseRenewed{}))
	if quiet.Calm(start.Add(7 * time.Second)) {
		t.Error("four seconds after something stirred it is quiet")
	}
	if !quiet.Calm(start.Add(8 * time.Second)) {
		t.Error("five seconds after it is not")
	}
	if NewAwait("NodeJudged", start).Calm(start.Add(time.Hour)) {
		t.Error("quiet ends a wait for something else")
	}
}
