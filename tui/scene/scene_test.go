package scene

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/words"
)

func fold(recs []event.Record, more ...event.Event) *world.World {
	w := &world.World{}
	for _, r := range recs {
		w.Apply(r)
	}
	for _, e := range more {
		w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Actor: event.You, Event: e})
	}
	return w
}

func cut(a, b string) event.Event {
	return event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: a, B: b}}
}

func TestQuorum(t *testing.T) {
	healthy := fixture.Healthy(2).Records
	for _, c := range []struct {
		name        string
		more        []event.Event
		alive, lose int
		leader      string
	}{
		{"all three", nil, 3, 1, "master-1"},
		{"a follower is off", []event.Event{event.MachineDown{Host: "master-3", Reason: "killed"}}, 2, 0, "master-1"},
		{"the leader is off", []event.Event{event.MachineDown{Host: "master-1", Reason: "killed"}}, 2, 0, ""},
		{"two are off", []event.Event{event.MachineDown{Host: "master-2"}, event.MachineDown{Host: "master-3"}}, 1, -1, ""},
		{"etcd of one is stopped", []event.Event{event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "killed"}}, 2, 0, "master-1"},
		{"the leader is cut off and does not know", []event.Event{cut("master-1", "all")}, 2, 0, ""},
		{"a follower was wiped and has no vote yet", []event.Event{event.RaftRole{Member: "master-3", Role: "follower", Term: 3, Err: "wiped"}}, 2, 0, "master-1"},
		{"one pair cannot talk: the third holds them together", []event.Event{cut("master-2", "master-3")}, 3, 0, "master-1"},
		{"everybody is alone", []event.Event{cut("master-1", "all"), cut("master-2", "all")}, 1, -1, ""},
	} {
		w := fold(healthy, c.more...)
		q := Of(w, w.At).Quorum
		if q.Alive != c.alive || q.Lose != c.lose || q.Leader != c.leader || q.Members != 3 || q.Need != 2 {
			t.Errorf("%s: %+v, can lose %d", c.name, q, q.Lose)
		}
	}
}

func TestWhenNobodyIsLeftTheTermStays(t *testing.T) {
	var all []event.Event
	for _, m := range []string{"master-1", "master-2", "master-3"} {
		all = append(all, event.MachineDown{Host: m, Reason: "killed"})
	}
	w := fold(fixture.Healthy(2).Records)
	before := Of(w, w.At).Quorum
	w = fold(fixture.Healthy(2).Records, all...)
	if q := Of(w, w.At).Quorum; q.Alive != 0 || q.Term != before.Term || before.Term == 0 {
		t.Errorf("%+v, before %+v", q, before)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	w := fold(fixture.Trouble(4).Records)
	s := Of(w, w.At)
	var all []string
	for _, p := range s.Problems(w, words.English()) {
		all = append(all, p.Text+" > "+p.Next)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"master-1 is off, by you, 2m ago", "worker-3 is cut off from all, by you, 2m ago > Unknown since 24s; 1 pod will be evicted in 4m36s",
		"big is Pending: 0/7 nodes are available", "CrashLoopBackOff, 3 restarts"} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %s\n%s", want, text)
		}
	}
	if n := len(Of(fold(fixture.Healthy(4).Records), w.Start).Problems(fold(fixture.Healthy(4).Records), words.English())); n != 0 {
		t.Errorf("a healthy cluster has %d problems", n)
	}
}

func TestASilentNodeIsCountedDown(t *testing.T) {
	w := fold(fixture.Healthy(4).Records)
	l, _ := w.Leases.Get("kube-node-lease/worker-2")
	s := Of(w, l.Renewed.Add(32e9))
	_, worker := s.Find(Target{Kind: Worker, Host: "worker-2"})
	if !worker.Silent || worker.JudgedIn != 18e9 || !worker.Wrong {
		t.Errorf("%+v", worker)
	}
	if got := s.Next(worker, words.English()); !strings.Contains(got, "nobody judges") {
		t.Errorf("with the controller manager's lease over, %q", got)
	}
}

func TestNamesAreInNaturalOrder(t *testing.T) {
	if !NaturalLess("worker-2", "worker-10") || NaturalLess("worker-10", "worker-9") || !NaturalLess("a-1", "b-1") {
		t.Error("worker-2 must come before worker-10")
	}
}

// said is all that is wrong, in one text.
func said(w *world.World) string {
	var b strings.Builder
	s := Of(w, w.At)
	for _, p := range s.Problems(w, words.English()) {
		b.WriteString(p.Text + " > " + p.Next + "\n")
	}
	return b.String()
}

func TestAMachineThatBootsIsNotBroken(t *testing.T) {
	w := fold(fixture.Healthy(2).Records, event.MachineDown{Host: "master-2", Reason: "killed"},
		event.ProcessStopped{Host: "master-2", Process: "apiserver", Reason: "machine down"}, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "exited"})
	w.At = w.At.Add(time.Second)
	w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Actor: event.You, Event: event.MachineUp{Host: "master-2"}})
	got := said(w)
	if strings.Contains(got, "is down") || !strings.Contains(got, "master-2 was switched on 0s ago and starts") {
		t.Errorf("it says:\n%s", got)
	}
}

func TestAWipedMemberWithoutAMajorityBesideItIsExplained(t *testing.T) {
	w := fold(fixture.Healthy(2).Records, event.MachineDown{Host: "master-1", Reason: "killed"}, event.RaftRole{Member: "master-3", Role: "follower", Term: 3, Err: "wiped"})
	got := said(w)
	for _, want := range []string{"No quorum: 1 of 3", "etcd on master-3 forgot", "wipe all and begin anew"} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing says %q; there is\n%s", want, got)
		}
	}
}

func TestWhatEndedByItselfWasNotEndedBySomebody(t *testing.T) {
	w := fold(fixture.Healthy(2).Records)
	w.Apply(event.Record{Seq: w.Seq + 1, At: w.At, Actor: event.On("etcd", "master-2"), Event: event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "exited", Message: "disk damaged: x"}})
	got := said(w)
	if strings.Contains(got, "by etcd/master-2") || !strings.Contains(got, "member replace master-2") {
		t.Errorf("it says:\n%s", got)
	}
}

func TestNothingBrokenByTheUserPassesForWell(t *testing.T) {
	for _, f := range []fault.Fault{
		{Kind: fault.Delay, A: "master-1", B: fault.All, Duration: time.Second}, {Kind: fault.Loss, A: fault.All, B: "worker-1", Percent: 5},
		{Kind: fault.Cut, A: "master-1", B: fault.All}, {Kind: fault.Cut, A: "master-1", B: "worker-1"},
	} {
		if got := said(fold(fixture.Healthy(2).Records, event.FaultAdded{Fault: f})); got == "" {
			t.Errorf("with %s all is well", f)
		}
	}
	out := said(fold(fixture.Healthy(2).Records, event.BackendChanged{Backend: "master-2", Reason: "[-]etcd failed"}))
	if !strings.Contains(out, "the balancer sends nothing to master-2") {
		t.Errorf("an API server that is out: %q", out)
	}
}

func TestWhatIsWrongComesFromTheAnomalies(t *testing.T) {
	stuck := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "slow"}, Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}}}
	waits := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "waits"}}
	for _, c := range []struct {
		name string
		do   event.Event
		want string
	}{
		{"a rollout that is stuck", event.ObjectChanged{Type: event.Added, Revision: 9000, Object: stuck}, "slow makes no progress (ProgressDeadlineExceeded)"},
		{"a pod that was not tried yet", event.ObjectChanged{Type: event.Added, Revision: 9000, Object: waits}, "waits is Pending > waits in the scheduler's queue"},
		{"a holder of a lease that is gone", event.ProcessStopped{Host: "master-3", Process: "scheduler", Reason: "killed"}, "Nobody schedules: pods that need a node wait. > the lease of master-3 runs out in"},
	} {
		if got := said(fold(fixture.Healthy(2).Records, c.do)); !strings.Contains(got, c.want) {
			t.Errorf("%s: nothing says %q; there is\n%s", c.name, c.want, got)
		}
	}
}

func TestASilentNodeIsTold(t *testing.T) {
	w := fold(fixture.Healthy(2).Records)
	l, _ := w.Leases.Get("kube-node-lease/worker-2")
	at := l.Renewed.Add(20 * time.Second)
	s := Of(w, at)
	var all []string
	for _, p := range s.Problems(w, words.English()) {
		all = append(all, p.Text)
	}
	if got := strings.Join(all, "\n"); !strings.Contains(got, "worker-2 renewed its lease 20s ago") {
		t.Errorf("there is\n%s", got)
	}
}

func TestThousandsInTroubleAreBounded(t *testing.T) {
	f := fixture.Healthy(300)
	var down []event.Event
	for i := range 300 {
		down = append(down, event.MachineDown{Host: fmt.Sprint("worker-", i+1), Reason: "killed"})
	}
	w := fold(f.Records, down...)
	problems := Of(w, w.At).Problems(w, words.English())
	if len(problems) > 80 || !strings.Contains(problems[len(problems)-1].Text, "more") {
		t.Errorf("%d problems, the last %q", len(problems), problems[len(problems)-1].Text)
	}
}
