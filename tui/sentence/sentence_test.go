package sentence

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/words"
)

// facts is one of each; the test below checks that none was forgotten.
func facts() []event.Event {
	ref := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: "web-7f9c8d4b5d-abcde"}
	return []event.Event{event.ClusterStarted{Preset: "ha"}, event.CommandGiven{Text: "kill master-1"}, event.CommandRefused{Text: "x", Reason: "y"}, event.CommandDone{Text: "x"},
		event.RateChanged{Rate: 2}, event.MachineUp{Host: "m"}, event.MachineDown{Host: "m", Reason: "killed"}, event.ProcessStarted{Host: "m", Process: "etcd"},
		event.ProcessStopped{Host: "m", Process: "etcd", Reason: "killed"}, event.FaultAdded{}, event.FaultRemoved{}, event.BackendChanged{Backend: "m"}, event.RaftRole{Member: "m", Role: "leader"},
		event.RaftProgress{Member: "m"}, event.RaftMessage{From: "a", To: "b", Kind: "vote"}, event.ObjectChanged{Revision: 4}, event.LeaseRenewed{Lease: "x"}, event.RequestReceived{Verb: "get"},
		event.RequestDone{Verb: "get", Code: 200}, event.RequestTally{Server: "m"}, event.QueueChanged{Queue: "q"}, event.Reconciled{Controller: "c", Key: "k"}, event.Leading{Lease: "kube-scheduler"},
		event.SchedulingAttempt{Pod: ref}, event.PodQueued{Pod: ref}, event.NodeJudged{Node: "n", Ready: "Unknown"}, event.EvictionPlanned{Pod: ref}, event.EvictionCancelled{Pod: ref},
		event.ContainerChanged{Pod: ref, State: event.ContainerRunning}, event.Crashed{Who: "x"}}
}

func TestEveryFactHasASentence(t *testing.T) {
	known := map[string]bool{}
	teller := NewTeller(words.English())
	for _, e := range facts() {
		known[e.Name()] = true
		s := teller.Tell(event.Record{Seq: 1, Actor: "kubelet/worker-1", Event: e}, nil)
		if s.One == "" || s.Who == "" || strings.ContainsAny(s.One, "{}") {
			t.Errorf("%s: %q says %q", e.Name(), s.Who, s.One)
		}
		if s.One == e.Name() {
			t.Errorf("%s has no sentence of its own", e.Name())
		}
		if s.Many != nil && strings.ContainsAny(s.Many(3), "{}") {
			t.Errorf("%s, three times: %q", e.Name(), s.Many(3))
		}
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../../engine/event/facts.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "Name" {
			if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok && !known[id.Name] {
				t.Errorf("%s is not in this test", id.Name)
			}
		}
		return true
	})
}

func TestTheStoryOfATroubledCluster(t *testing.T) {
	teller := NewTeller(words.English())
	var story []string
	for _, r := range fixture.Trouble(4).Records {
		if s := teller.Tell(r, nil); s.Weight >= Notable {
			story = append(story, s.Who+": "+s.One)
		}
	}
	all := strings.Join(story, "\n")
	for _, want := range []string{
		"you: kill master-1", "machine: master-1 killed", "raft: master-2 won term 4 with 2 of", "scheduler: scheduler on master-3 leads now", "you: cut worker-3 all",
		"network: packets between worker-3 and all vanish", "node-lifecycle: worker-3 is Unknown: not heard for 52s", "will be evicted from worker-3 in 5m00s", "big fits nowhere: 0/7 nodes are available",
		"waits before it is started again: CrashLoopBackOff",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("not told: %s\n%s", want, all)
		}
	}
}

func TestHeartbeatsAreNotTold(t *testing.T) {
	teller := NewTeller(words.English())
	for _, e := range []event.Event{event.LeaseRenewed{}, event.RequestTally{}, event.RaftProgress{}, event.QueueChanged{}, event.RaftMessage{Kind: "heartbeat"}, event.CommandGiven{Text: "pause"}} {
		if s := teller.Tell(event.Record{At: time.Now(), Event: e}, nil); s.Weight != Hidden {
			t.Errorf("%s is told: %q", e.Name(), s.One)
		}
	}
}

func TestAgainIsSaidOnlyOfWhatWasOutBefore(t *testing.T) {
	teller := NewTeller(words.English())
	tell := func(e event.Event) string {
		return teller.Tell(event.Record{Seq: 1, Actor: "haproxy/balancer", Event: e}, nil).One
	}
	if got := tell(event.BackendChanged{Backend: "master-1", Healthy: true}); strings.Contains(got, "again") {
		t.Errorf("the first time: %q", got)
	}
	tell(event.BackendChanged{Backend: "master-1", Reason: "i/o timeout"})
	if got := tell(event.BackendChanged{Backend: "master-1", Healthy: true}); !strings.Contains(got, "again") {
		t.Errorf("after it was out: %q", got)
	}
}

func TestWhatFailedIsNamedShortBecauseItWasGivenInFull(t *testing.T) {
	teller := NewTeller(words.English())
	for text, want := range map[string]string{
		"kill master-9": "kill master-9 failed: nobody",
		"kubectl scale deployment nginx --replicas=4 -n default": "scale deployment failed: nobody",
		"heal": "heal failed: nobody",
	} {
		if got := teller.Tell(event.Record{Seq: 1, Actor: event.You, Event: event.CommandDone{Text: text, Error: "nobody"}}, nil).One; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestProbesOfTheControlPlaneAndRepetitionsAreNoStory(t *testing.T) {
	teller := NewTeller(words.English())
	weight := func(namespace, pod, message string, count int32) Weight {
		o := &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: pod}, Type: corev1.EventTypeWarning, Reason: "Unhealthy", Message: message, Count: count}
		return teller.Tell(event.Record{Seq: 1, Actor: "etcd/master-1", Event: event.ObjectChanged{Type: event.Added, Object: o}}, nil).Weight
	}
	for _, c := range []struct {
		name, namespace, pod, message string
		count                         int32
		told                          bool
	}{
		{"an API server that starts", "kube-system", "kube-apiserver-master-1", "Readiness probe failed: HTTP probe failed with statuscode: 500", 1, false},
		{"an API server that hangs", "kube-system", "kube-apiserver-master-1", "Liveness probe failed: timeout", 1, true},
		{"a pod of the user", "default", "web-7f9c8d4b5d-abcde", "Readiness probe failed: refused", 1, true},
		{"the same again", "default", "web-7f9c8d4b5d-abcde", "Readiness probe failed: refused", 7, false},
	} {
		if got := weight(c.namespace, c.pod, c.message, c.count) >= Routine; got != c.told {
			t.Errorf("%s: told %v, want %v", c.name, got, c.told)
		}
	}
}
