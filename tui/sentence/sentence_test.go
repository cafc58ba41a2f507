package sentence

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/words"
)

// facts is one of each; the test below checks that none was forgotten.
func facts() []event.Event {
	ref := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: "web-7f9c8d4b5d-abcde"}
	return []event.Event{event.ClusterStarted{Preset: "ha"}, event.CommandGiven{Text: "kill master-1"}, event.CommandRefused{Text: "x", Reason: "y"}, event.CommandDone{Text: "x"},
		event.RateChanged{Rate: 2}, event.MachineUp{Host: "m"}, event.MachineDown{Host: "m", Reason: "killed"}, event.ProcessStarted{Host: "m", Process: "etcd"},
		event.ProcessStopped{Host: "m", Process: "etcd", Reason: "killed"}, event.FaultAdded{}, event.FaultRemoved{}, event.BackendChanged{Backend: "m"}, event.RaftRole{Member: "m", Role: "leader"},
		event.RaftProgress{Member: "m"}, event.RaftMessage{From: "a", To: "b", Kind: "vote"}, event.RaftTiming{}, event.RaftContact{Member: "m"}, event.RaftAppended{Member: "m"}, event.RaftTruncated{Member: "m"}, event.RaftSnapshot{Member: "m"},
		event.MembersChanged{Members: []event.StoreMember{{Name: "m", ID: "m"}}}, event.StoreCompacted{Revision: 4}, event.StoreDefragmented{Member: "m", Before: 9, After: 4}, event.StoreAlarm{Kind: "NOSPACE", Member: "m", Raised: true},
		event.StoreLease{ID: 7, Change: "granted", TTL: time.Hour}, event.StoreQuota{Bytes: 8 << 20}, event.StoreBackedUp{Member: "m", File: "f"}, event.StoreRestored{File: "f"}, event.DiskChanged{Member: "m", State: "full"},
		event.DiskSetAside{Member: "m", Text: "m.aside-1"}, event.TrapSet{Member: "m", Point: "before-apply", Action: "kill"}, event.TrapSprung{Member: "m", Point: "before-apply", Action: "kill"}, event.StoreDiverged{Member: "m", Index: 1000},
		event.ObjectChanged{Revision: 4}, event.LeaseRenewed{Lease: "x"}, event.RequestReceived{Verb: "get"},
		event.RequestDone{Verb: "get", Code: 200}, event.RequestTally{Server: "m"}, event.WatchOpened{Server: "m", Resource: "pods", Client: "c"},
		event.WatchClosed{Server: "m", Resource: "pods", Client: "c", Reason: "r"}, event.ClientConnected{Client: "kubectl-1/outside", Door: "balancer"}, event.ClientGone{Client: "kubectl-1/outside"}, event.WatchBehind{Server: "m", Watch: 1, Client: "kubectl-1/outside", Changes: 3}, event.QueueChanged{Queue: "q"}, event.Reconciled{Controller: "c", Key: "k"}, event.Leading{Lease: "kube-scheduler"},
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
	known["Unknown"] = true
	files, err := filepath.Glob("../../engine/event/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
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
		"you: kill master-1", "machine: master-1 killed", "raft: master-2 won term 4 with 2 of", "scheduler: the scheduler on master-3 leads now", "you: cut worker-3 all",
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

func TestEveryFactHasASubject(t *testing.T) {
	teller := NewTeller(words.English())
	for _, e := range facts() {
		s := teller.Tell(event.Record{Seq: 7, Actor: "kubelet/worker-1", Event: e}, nil)
		switch e.(type) {
		case event.CommandGiven, event.CommandRefused, event.CommandDone: // those whose words name nothing have none
			continue
		}
		if s.Subject.Kind == target.Nothing {
			t.Errorf("%s is about nothing", e.Name())
		}
	}
}

func TestSubjects(t *testing.T) {
	teller := NewTeller(words.English())
	teller.Tell(event.Record{Seq: 1, Event: event.ClusterStarted{Masters: []string{"master-1"}, Workers: []string{"worker-1"}}}, nil)
	pod := kinds.ObjectRef{Namespace: "default", Name: "web-1"}
	deployment := target.Target{Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "nginx"}
	for want, es := range map[target.Target][]event.Event{
		{Kind: target.Master, Host: "master-1"}: {event.MachineDown{Host: "master-1"}, event.CommandGiven{Text: "kill master-1"}, event.FaultAdded{Fault: fault.Fault{A: "all", B: "master-1"}}},
		{Kind: target.Worker, Host: "worker-1"}: {event.NodeJudged{Node: "worker-1"}, event.CommandGiven{Text: "cut worker-1 all"}, event.Reconciled{Controller: "node_lifecycle_controller", Key: "worker-1"},
			event.ObjectChanged{Object: &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "worker-1"}}}},
		{Kind: target.Process, Host: "master-1", Process: "etcd"}:      {event.ProcessStopped{Host: "master-1", Process: "etcd"}, event.RaftRole{Member: "master-1"}, event.CommandGiven{Text: "restart master-1/etcd"}},
		{Kind: target.Process, Host: "master-1", Process: "scheduler"}: {event.Leading{Lease: "kube-scheduler", Host: "master-1"}, event.Crashed{Who: "scheduler/master-1"}},
		{Kind: target.Process, Host: "master-1", Process: "apiserver"}: {event.BackendChanged{Backend: "master-1"}, event.RequestTally{Server: "master-1"}, event.RequestDone{Server: "master-1", Verb: "list", Resource: "pods"}},
		{Kind: target.Pod, Namespace: "default", Name: "web-1"}: {event.PodQueued{Pod: pod}, event.CommandGiven{Text: "crash pod/default/web-1 code=2"}, event.CommandGiven{Text: "kubectl delete pod web-1"},
			event.Reconciled{Controller: "garbagecollector", Key: "Pod default/web-1 6f9b"}, event.RequestDone{Resource: "pods", Namespace: "default", ObjectName: "web-1"}},
		{Kind: target.Pod, Host: "worker-1", Namespace: "default", Name: "web-1"}: {event.SchedulingAttempt{Pod: pod, Node: "worker-1"}, event.EvictionPlanned{Pod: pod, Node: "worker-1"}, event.ContainerChanged{Pod: pod, Node: "worker-1"}},
		deployment: {event.Reconciled{Controller: "deployment", Key: "default/nginx"}, event.CommandGiven{Text: "kubectl scale deployment nginx --replicas=3"},
			event.CommandGiven{Text: "kubectl set image deployment/nginx nginx=nginx:1.28"}, event.CommandGiven{Text: "kubectl rollout restart deploy nginx -n default"},
			event.CommandGiven{Text: "kubectl create deployment nginx --image=x"}},
		{Kind: target.Object, Type: "leases.coordination.k8s.io", Namespace: "a", Name: "b"}: {event.LeaseRenewed{Namespace: "a", Lease: "b"}},
		{Kind: target.Queue, Host: "worker-1", Process: "kubelet", Name: "pods"}:             {event.QueueChanged{Queue: "pods"}},
		{Kind: target.Record, Seq: 9}: {event.RateChanged{}, event.ClusterStarted{}, event.Unknown{Event: "Later"}},
		{}:                            {event.CommandGiven{Text: "heal"}, event.CommandGiven{Text: "kubectl get"}},
	} {
		for _, e := range es {
			if got := teller.Tell(event.Record{Seq: 9, Actor: "kubelet/worker-1", Event: e}, nil).Subject; got != want {
				t.Errorf("%s %+v: %+v, want %+v", e.Name(), e, got, want)
			}
		}
	}
}

// The steps of a roll-out are told by who decides them; that pods then come, stop and exit as decided is no news.
func TestWhatWasDecidedIsNotToldAgain(t *testing.T) {
	teller := NewTeller(words.English())
	weight := func(e event.Event) Weight {
		return teller.Tell(event.Record{Seq: 1, Actor: "x/master-1", Event: e}, nil).Weight
	}
	yes := true
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = "default", "web-7f9c8d4b5d-abcde"
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-7f9c8d4b5d", Controller: &yes}}
	ref := kinds.RefOf(pod)
	if weight(event.ObjectChanged{Type: event.Added, Object: pod}) < Routine {
		t.Error("a pod that nobody decided on is not told")
	}
	if weight(event.ContainerChanged{Pod: ref, Container: "c", State: event.ContainerExited}) < Routine {
		t.Error("a container that ends by itself is not told")
	}
	weight(event.Reconciled{Controller: "replicaset", Key: "default/web-7f9c8d4b5d", Decision: "create 1 pod: web-7f9c8d4b5d wants 1, 0 exist"})
	if weight(event.ObjectChanged{Type: event.Added, Object: pod}) != Hidden {
		t.Error("the pod is told beside the decision")
	}
	weight(event.ContainerChanged{Pod: ref, Container: "c", State: event.ContainerStopping})
	if weight(event.ContainerChanged{Pod: ref, Container: "c", State: event.ContainerExited}) != Hidden {
		t.Error("a container that exits as asked is told")
	}
	if weight(event.ContainerChanged{Pod: ref, Container: "c", State: event.ContainerExited, ExitCode: 1}) < Routine {
		t.Error("the next end is not told")
	}
	for _, reason := range []string{"ScalingReplicaSet", "Killing", "TaintManagerEviction"} {
		if weight(event.ObjectChanged{Object: &corev1.Event{Reason: reason, Message: "Stopping container c"}}) != Hidden {
			t.Errorf("%s is told", reason)
		}
	}
	if weight(event.ObjectChanged{Object: &corev1.Event{Reason: "Killing", Message: "Container c failed liveness probe, will be restarted"}}) < Notable {
		t.Error("a restart by a probe is not told")
	}
}

func TestAnEvictionIsToldOnceWithItsReason(t *testing.T) {
	teller := NewTeller(words.English())
	pod := &corev1.Pod{}
	pod.Name, pod.UID, pod.DeletionTimestamp, pod.Spec.NodeName = "web-1", "u", &metav1.Time{}, "worker-1"
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager"}}
	tell := func() Sentence {
		return teller.Tell(event.Record{Seq: 1, Event: event.ObjectChanged{Type: event.Modified, Object: pod}}, nil)
	}
	if s := tell(); s.Who != "taint-eviction" || s.One != "web-1 is evicted from worker-1 (DeletionByTaintManager)" || s.Weight < Notable {
		t.Errorf("%+v", s)
	}
	if s := tell(); s.Weight != Hidden {
		t.Errorf("told again: %q", s.One)
	}
}

func TestMemoriesAreBounded(t *testing.T) {
	teller := NewTeller(words.English())
	for i := range 3 * remembered {
		teller.Tell(event.Record{Seq: 1, Event: event.ProcessStarted{Host: fmt.Sprint(i), Process: "kubelet"}}, nil)
	}
	if n := len(teller.made); n > remembered {
		t.Errorf("%d remembered", n)
	}
}

func TestAPodThatLeavesTheQueuesGoesToNone(t *testing.T) {
	one := NewTeller(words.English()).Tell(event.Record{Seq: 1, Event: event.PodQueued{Pod: kinds.ObjectRef{Namespace: "default", Name: "big"}, Why: "it is gone"}}, nil).One
	if one != "default/big leaves the queues: it is gone" {
		t.Error(one)
	}
}
