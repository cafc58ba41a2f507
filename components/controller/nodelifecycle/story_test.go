package nodelifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/sim"
)

func onNode(name string) fields.Selector { return fields.OneTermEqualSelector("spec.nodeName", name) }

const (
	lostNode    = "node w2 Ready=Unknown NodeStatusUnknown taints "
	nodeEvent   = `event Node/w2 Normal NodeNotReady "Node w2 status is now: NodeNotReady" node-controller`
	marked      = " Running Ready=False"
	targeted    = marked + " DisruptionTarget=True DeletionByTaintManager: Taint manager: deleting due to NoExecute taint"
	terminating = targeted + " deleting grace 30"
)

func podEvent(pod string) string {
	return fmt.Sprintf(`event Pod/%s Warning NodeNotReady "Node is not ready" node-controller`, pod)
}

func eviction(pod string) string {
	return fmt.Sprintf(`event Pod/%s Normal TaintManagerEviction "Marking for deletion Pod default/%s" taint-eviction-controller`, pod, pod)
}

func cancelled(pod string) string {
	return fmt.Sprintf(`event Pod/%s Normal TaintManagerEviction "Cancelling deletion of Pod default/%s" taint-eviction-controller`, pod, pod)
}

// The whole of reference/node-loss.jsonl that these controllers write, and C-01: fifty seconds, then six minutes.
func TestANodeFallsSilentAndReturns(t *testing.T) {
	r := newRig(t, 3, 3)
	r.pod("web-1", "w2")
	r.pod("web-2", "w2")
	r.pod("other", "w1")
	r.run(5 * time.Minute)
	r.now()
	kill := r.kubelets["w2"].kill()

	r.run(40 * time.Second)
	if s := r.story("w2", "web-"); len(s) > 0 {
		t.Fatalf("in the first forty seconds nothing may change:\n%s", show(s))
	}
	r.run(60 * time.Second)
	silent := r.within(40*time.Second, 60*time.Second, lostNode+"[]")
	at := silent.at
	same := func(text string) line {
		t.Helper()
		l := r.within(at, at+time.Second/2, text)
		r.follows(l, kill)
		return l
	}
	r.follows(silent, kill)
	same(nodeEvent)
	same(lostNode + "[unreachable:NoSchedule]")
	for _, pod := range []string{"web-1", "web-2"} {
		said := same(podEvent(pod))
		if l := same("pod " + pod + marked); l.rec.Seq > said.rec.Seq {
			t.Errorf("pod %s is told before it is marked", pod)
		}
	}
	tainted := same(lostNode + "[unreachable:NoSchedule unreachable:NoExecute]")
	for _, l := range r.story("w2", "web-") {
		if l.at < at+time.Second && l.rec.Seq > tainted.rec.Seq && l.text != podEvent("web-1") && l.text != podEvent("web-2") && l.text != nodeEvent {
			t.Errorf("after the NoExecute taint came %q", l.text)
		}
	}

	r.run(tainted.at + 299*time.Second - 100*time.Second)
	r.never("DisruptionTarget")
	r.run(2 * time.Second)
	for _, pod := range []string{"web-1", "web-2"} {
		a := r.within(340*time.Second, 365*time.Second, "pod "+pod+targeted)
		b := r.within(a.at, a.at+time.Second, "pod "+pod+terminating)
		e := r.within(tainted.at+300*time.Second, a.at+time.Second, eviction(pod))
		if d := a.at - tainted.at; d < 300*time.Second || d > 301*time.Second {
			t.Errorf("pod %s is evicted %v after the taint", pod, d)
		}
		for _, l := range []line{a, b, e} {
			r.follows(l, kill)
		}
	}
	r.never("pod other")
	for _, f := range r.c.Failures() {
		if strings.Contains(f, "kube-controller-manager") {
			t.Errorf("a request that failed: %s", f)
		}
	}

	r.run(time.Hour)
	r.never(" gone")

	back := r.c.Loop.Now().Sub(r.zero)
	r.kubelets["w2"].start()
	r.run(500 * time.Millisecond)
	// A pod that comes while the taint is still there gets a plan, which is cancelled with the taint.
	if s := r.story("node w2 "); strings.HasSuffix(s[len(s)-1].text, "[unreachable:NoExecute]") {
		r.pod("late", "w2")
	}
	r.run(20 * time.Second)
	ready := r.within(back, back+15*time.Second, "node w2 Ready=True KubeletReady taints [unreachable:NoSchedule unreachable:NoExecute]")
	off := r.within(ready.at, ready.at+time.Second, "node w2 Ready=True KubeletReady taints [unreachable:NoExecute]")
	clean := r.within(off.at, ready.at+5500*time.Millisecond, "node w2 Ready=True KubeletReady taints []")
	for _, pod := range []string{"web-1", "web-2"} {
		r.find("pod " + pod + targeted + " deleting grace 0 gone")
		for _, l := range r.story(cancelled(pod)) {
			t.Errorf("a deletion already issued is cancelled: %s", l.text)
		}
	}
	r.within(clean.at, clean.at+time.Second, cancelled("late"))
}

// C-11: half of six nodes is below the threshold, since masters count.
func TestAllWorkersDieAndTheMastersLive(t *testing.T) {
	r := newRig(t, 3, 3)
	for _, w := range []string{"w1", "w2", "w3"} {
		r.pod("web-"+w, w)
	}
	r.run(5 * time.Minute)
	r.now()
	for _, w := range []string{"w1", "w2", "w3"} {
		r.kubelets[w].kill()
	}
	r.run(10 * time.Minute)
	for _, w := range []string{"w1", "w2", "w3"} {
		r.within(40*time.Second, 60*time.Second, "node "+w+" Ready=Unknown NodeStatusUnknown taints [unreachable:NoSchedule]")
	}
	names, at := r.noExecuteTaints()
	const apart = 10*time.Second - 10*time.Millisecond // the writes' own latency differs
	if len(at) != 3 || at[1]-at[0] < apart || at[2]-at[1] < apart || at[2] > 82*time.Second {
		t.Fatalf("NoExecute taints of %v at %v", names, at)
	}
	last := time.Duration(0)
	for _, n := range names {
		l := r.within(340*time.Second, 390*time.Second, "pod web-"+n+terminating)
		if l.at < last {
			t.Errorf("pods go in another order than their nodes were tainted: %v", names)
		}
		last = l.at
	}
	r.kubelets["w1"].start()
	r.run(20 * time.Second)
	r.within(10*time.Minute, 10*time.Minute+20*time.Second, "node w1 Ready=True KubeletReady taints []")
	r.find("pod web-w1" + targeted + " deleting grace 0 gone")
	if s := r.story("pod web-w2"); s[len(s)-1].text != "pod web-w2"+terminating {
		t.Errorf("web-w2 is now %q", s[len(s)-1].text)
	}
}

// NODE-8: with one master the same loss is 75 %, and eviction stops. The nodes that fell before the threshold was crossed keep their taint.
func TestMoreThanHalfLostStopsEviction(t *testing.T) {
	r := newRig(t, 1, 3)
	for _, w := range []string{"w1", "w2", "w3"} {
		r.pod("web-"+w, w)
	}
	r.run(time.Minute)
	r.now()
	r.kubelets["w1"].kill()
	r.run(12 * time.Second)
	r.kubelets["w2"].kill()
	r.kubelets["w3"].kill()
	r.run(20 * time.Minute)
	names, _ := r.noExecuteTaints()
	if !slices.Equal(names, []string{"w1"}) && !slices.Equal(names, []string{"w1", "w2"}) && !slices.Equal(names, []string{"w1", "w3"}) {
		t.Errorf("tainted: %v", names)
	}
	r.find("pod web-w1" + terminating)
	r.find("node w3 Ready=Unknown NodeStatusUnknown taints [unreachable:NoSchedule]")
	if len(names) == 1 {
		r.never("pod web-w2" + targeted)
	}
	r.judged(t, "PartialDisruption")
}

// NODE-8: when nobody is heard, nobody is blamed.
func TestAllNodesLostTakesTheTaintsOffAndTheFirstOneBackRestartsTheClocks(t *testing.T) {
	r := newRig(t, 0, 3)
	r.pod("web", "w1")
	r.run(time.Minute)
	r.now()
	r.kubelets["w1"].kill()
	r.run(20 * time.Second)
	r.kubelets["w2"].kill()
	r.kubelets["w3"].kill()
	r.run(10 * time.Minute)
	r.find("node w1 Ready=Unknown NodeStatusUnknown taints [unreachable:NoSchedule unreachable:NoExecute]")
	for _, w := range []string{"w1", "w2", "w3"} {
		all := r.story("node " + w)
		if got, want := all[len(all)-1].text, "node "+w+" Ready=Unknown NodeStatusUnknown taints [unreachable:NoSchedule]"; got != want {
			t.Errorf("in full disruption: %q", got)
		}
	}
	r.find(cancelled("web"))
	r.never("DisruptionTarget")
	r.judged(t, "FullDisruption")
	r.now()
	r.kubelets["w3"].start()
	r.run(30 * time.Second)
	names, at := r.noExecuteTaints()
	if len(names) != 2 || at[0] < 9*time.Second {
		t.Errorf("after the first return the others are tainted again, one at a time, the first not before 10 s: %v %v", names, at)
	}
}

// C-12: what tolerates everything, as static pods and daemons do, stays for ever.
func TestADeadMastersPodsStayRunning(t *testing.T) {
	r := newRig(t, 3, 2)
	r.pod("etcd-m3", "m3", corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	r.run(time.Minute)
	r.now()
	r.kubelets["m3"].kill()
	r.run(time.Hour)
	r.within(40*time.Second, 60*time.Second, "node m3 Ready=Unknown NodeStatusUnknown taints [unreachable:NoSchedule]")
	s := r.story("pod etcd-m3")
	if len(s) != 1 || s[0].text != "pod etcd-m3 Running Ready=False" {
		t.Errorf("changes of the static pod:\n%s", show(s))
	}
}

// NODE-7: back in time, nothing is deleted.
func TestANodeThatReturnsWithinFiveMinutesKeepsItsPods(t *testing.T) {
	r := newRig(t, 3, 3)
	r.pod("web", "w2")
	r.now()
	r.kubelets["w2"].kill()
	r.run(3 * time.Minute)
	r.kubelets["w2"].start()
	r.run(20 * time.Minute)
	r.within(3*time.Minute, 3*time.Minute+20*time.Second, "node w2 Ready=True KubeletReady taints []")
	r.find(cancelled("web"))
	r.never("DisruptionTarget")
	var facts []string
	for _, e := range r.facts() {
		switch e.(type) {
		case event.NodeJudged, event.EvictionPlanned, event.EvictionCancelled:
			facts = append(facts, e.Name())
		}
	}
	if want := []string{"NodeJudged", "EvictionPlanned", "NodeJudged", "EvictionCancelled"}; !slices.Equal(facts, want) {
		t.Errorf("facts %v, want %v", facts, want)
	}
}

// NODE-11: a new leader starts all clocks anew.
func TestANewLeaderGivesEveryNodeAFreshGracePeriod(t *testing.T) {
	r := newRig(t, 3, 3)
	r.pod("web", "w2")
	r.run(time.Minute)
	r.now()
	r.kubelets["w2"].kill()
	r.run(30 * time.Second)
	r.lead()
	r.run(time.Minute)
	r.within(80*time.Second, 87*time.Second, lostNode+"[]")
	r.run(2 * time.Minute)
	again := r.c.Loop.Now().Sub(r.zero)
	r.lead()
	r.run(10 * time.Minute)
	r.within(again+300*time.Second, again+312*time.Second, "pod web"+terminating)
}

// NODE-2: a controller that hears nothing at all asks the API before it blames a node.
func TestAControllerCutOffFromTheAPICondemnsNobody(t *testing.T) {
	r := newRig(t, 3, 3)
	r.now()
	r.c.Net.AddFault(r.c.Journal.Emit(event.You, 0, event.CommandGiven{Text: "cut manager all"}), fault.Fault{Kind: fault.Cut, A: "manager", B: fault.All})
	r.run(70 * time.Second)
	r.c.Net.RemoveFaults(func(fault.Active) bool { return true })
	r.run(3 * time.Minute)
	r.never("Ready=Unknown")
	r.kubelets["w2"].kill() // and it still sees
	r.run(time.Minute)
	r.find(lostNode + "[]")
}

// NODE-10: a kubelet that lives and says it is not ready.
func TestAKubeletThatReportsNotReadyIsTaintedNotReady(t *testing.T) {
	r := newRig(t, 3, 3)
	r.pod("web", "w2")
	r.now()
	k := r.kubelets["w2"]
	k.ready = corev1.ConditionFalse
	k.proc.Go("post", k.post)
	r.run(20 * time.Second)
	r.within(0, time.Second, "node w2 Ready=False KubeletNotReady taints [not-ready:NoSchedule]")
	r.within(0, 6*time.Second, "node w2 Ready=False KubeletNotReady taints [not-ready:NoSchedule not-ready:NoExecute]")
	k.kill()
	r.run(2 * time.Minute)
	// Two workers write the two taints; which of them comes first is open.
	other := lostNode + "[unreachable:NoExecute unreachable:NoSchedule]"
	if !slices.ContainsFunc(r.story("node w2"), func(l line) bool { return l.text == other }) {
		r.find(lostNode + "[unreachable:NoSchedule unreachable:NoExecute]")
	}
	for _, l := range r.story("node w2") {
		if l.text == lostNode+"[unreachable:NoSchedule]" {
			t.Error("one NoExecute taint was taken off before the other was there")
		}
	}
}

// NODE-2, NODE-3: a node that registers and is never heard of again.
func TestANodeThatNeverPostsStatus(t *testing.T) {
	r := newRig(t, 1, 1)
	r.now()
	r.do(func(p *sim.Proc, c *kubeapi.Client) error {
		_, err := kubeapi.Make(p, c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "w9"}})
		return err
	})
	r.run(2 * time.Minute)
	r.within(0, 6*time.Second, `event Node/w9 Normal RegisteredNode "Node w9 event: Registered Node w9 in Controller" node-controller`)
	r.within(59*time.Second, 66*time.Second, "node w9 Ready=Unknown NodeStatusNeverUpdated taints [unreachable:NoSchedule]")
	r.never("event Node/w9 Normal NodeNotReady")
}

func TestEqualSeedsGiveEqualStories(t *testing.T) {
	play := func() string {
		r := newRig(t, 3, 3)
		r.pod("web-1", "w1")
		r.pod("web-2", "w2")
		r.now()
		r.kubelets["w1"].kill()
		r.kubelets["w2"].kill()
		r.run(8 * time.Minute)
		return show(r.story())
	}
	if a, b := play(), play(); a != b {
		t.Fatalf("two runs differ:\n%s\n%s", a, b)
	}
}

// facts since zero.
func (r *rig) facts() []event.Event {
	recs, _ := r.c.Journal.Read(nil, r.mark+1, 1<<20)
	var out []event.Event
	for _, rec := range recs {
		out = append(out, rec.Event)
	}
	return out
}

// judged checks that the last judgement of a node as lost saw its zone in that state.
func (r *rig) judged(t *testing.T, zone string) {
	t.Helper()
	var last event.NodeJudged
	for _, e := range r.facts() {
		if j, ok := e.(event.NodeJudged); ok && j.Ready == "Unknown" {
			last = j
		}
	}
	if last.Zone != zone || last.SilentFor < 50*time.Second {
		t.Errorf("the last judgement is %+v, want zone %s", last, zone)
	}
}
