package mapview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

// apply folds more facts into a frame.
func apply(f view.Frame, events ...event.Event) view.Frame {
	for _, e := range events {
		f.World.Apply(event.Record{Seq: f.World.Seq + 1, At: f.World.At, Actor: event.You, Event: e})
	}
	f.Now = f.World.At
	f.Scene = scene.Of(f.World, f.Now)
	return f
}

func drawn(v View, f view.Frame) string { return strings.Join(viewtest.Draw(v, f), "\n") }

func has(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("nothing says %q in\n%s", w, text)
		}
	}
}

func hasNot(t *testing.T, text string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(text, w) {
			t.Errorf("%q is said in\n%s", w, text)
		}
	}
}

var sizes = []struct{ w, h int }{{80, 19}, {120, 34}, {200, 54}}

func TestACalmClusterIsDrawnThinAndWhole(t *testing.T) {
	for _, s := range sizes {
		out := drawn(View{}, viewtest.Frame(fixture.Healthy(4).Records, s.w, s.h))
		has(t, out, "you", "balancer", "38%", "master-1 ★", "★ t3 i42", "★ q 0·1·0", "raft", "★m1", "quorum 3 of 3, can lose 1", "worker-4", "8/8 pods", "lease 0s", "All is well.")
		hasNot(t, out, "━", "✗")
		if s.w >= 120 {
			has(t, out, "clients", "kubelets", "4/4 ready", "0.3/4", "0.2/8Gi", "kubelet ●", "╭─ story", "╭─ now")
		}
		if s.w >= 200 {
			has(t, out, "╭─ workloads", "last requests")
		}
	}
}

func TestTroubleIsNamedWithWhoWhyAndUntilWhen(t *testing.T) {
	for _, s := range sizes {
		out := drawn(View{}, viewtest.Frame(fixture.Trouble(4).Records, s.w, s.h))
		has(t, out, "┏━ master-1 ✗ down 2m", "off, by you", "disk kept, log to 42", "K start it again", "✗ m", "╳ cut by you 2m", "evict in 4m36s", "1 pending", "big is Pending",
			"master-1 is off, by you", "→ ", "quorum 2 of 3, can lose 0", "× ✗m1 2m")
		hasNot(t, out, "All is well.")
	}
}

func TestBeliefAndTruthAreBothSaidWhereTheyDiffer(t *testing.T) {
	f := apply(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), event.MachineDown{Host: "worker-2", Reason: "killed"})
	has(t, drawn(View{}, f), "belief: 3 pods Running", "truth:  0 still running", "8/8 pods", "really 5")
	f.W, f.H = 80, 19
	has(t, drawn(View{}, f), "belief 3, truth 0", "really 5")
}

func TestEveryMachineThatIsWrongIsNamedHoweverManyThereAre(t *testing.T) {
	for _, n := range []int{4, 40, 400, 5000} {
		f := viewtest.Frame(fixture.Trouble(n).Records, 0, 0)
		for _, s := range sizes {
			f.W, f.H = s.w, s.h
			out := drawn(View{}, f)
			has(t, out, "worker-3", "evict in 4m36s")
			if n >= 400 {
				has(t, out, "one cell = ", "worker-1…")
			}
		}
	}
	f := viewtest.Frame(fixture.Trouble(40).Records, 120, 34)
	out := drawn(View{}, f)
	for i := 1; i <= 40; i++ {
		has(t, out, fmt.Sprintf("worker-%d ", i))
	}
}

func TestWhatHasNoPlaceIsCounted(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(400).Records, 80, 19)
	for i := range 30 {
		f = apply(f, event.MachineDown{Host: fmt.Sprintf("worker-%d", 100+i), Reason: "killed"})
	}
	has(t, drawn(View{}, f), "+30 in trouble that do not fit here")
	rows := drawn(View{scale: asRows}, viewtest.Frame(fixture.Healthy(400).Records, 80, 19))
	has(t, rows, "worker-1 ", "0 above, 388 below")
}

func zoned(w, h int) view.Frame {
	f := viewtest.Frame(fixture.Healthy(30).Records, w, h)
	for i := 1; i <= 30; i++ {
		n, _ := f.World.Nodes.Get(fmt.Sprintf("worker-%d", i))
		o := n.Object.DeepCopy()
		o.Labels = map[string]string{corev1.LabelTopologyZone: fmt.Sprintf("zone-%c", 'a'+i%3)}
		f.World.Apply(event.Record{Seq: f.World.Seq + 1, At: f.World.At, Event: event.ObjectChanged{Type: event.Modified, Object: o}})
	}
	return apply(f)
}

func TestZonesByLabelHavePicturesOfTheirOwn(t *testing.T) {
	for _, s := range sizes {
		has(t, drawn(View{scale: asCells}, zoned(s.w, s.h)), "zone-a", "zone-b", "zone-c", "one cell = 1 worker")
	}
}

func TestTaintsAndCordonsAreShown(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 120, 34)
	n, _ := f.World.Nodes.Get("worker-1")
	o := n.Object.DeepCopy()
	o.Spec.Unschedulable = true
	o.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	o.Labels = map[string]string{corev1.LabelTopologyZone: "z1"}
	f = apply(f, event.ObjectChanged{Type: event.Modified, Object: o})
	has(t, drawn(View{}, f), "⊘", "taint gpu:NoSchedule")
	f.W, f.H = 200, 54
	has(t, drawn(View{}, f), "cordoned")
}

func TestAClusterThatComesUpSaysWhatItWaitsFor(t *testing.T) {
	all := fixture.Healthy(4).Records
	has(t, drawn(View{}, viewtest.Frame(all[:2], 80, 19)), "master-3 ○ not on yet")
	for _, s := range sizes {
		out := drawn(View{}, viewtest.Frame(all[:8], s.w, s.h))
		has(t, out, "○m1", "First: tab chooses")
		hasNot(t, out, "by nobody", "━")
		if s.w >= 120 {
			has(t, out, "It waits for:", "etcd elects a leader", "0 of 3 API servers", "0 of 7 nodes Ready", "none answers")
		} else {
			has(t, out, "starting, waits for etcd's leader, API servers (0 of 3)")
		}
	}
	has(t, drawn(View{}, viewtest.Frame(nil, 120, 34)), "Nothing has been recorded yet")
}

func TestTheOpeningHintGoesWithTheMinuteOrTheFirstAct(t *testing.T) {
	recs := fixture.Healthy(4).Records
	calm := slices.IndexFunc(recs, func(r event.Record) bool { _, ok := r.Event.(event.CommandGiven); return ok })
	f := viewtest.Frame(recs[:calm], 120, 34)
	has(t, drawn(View{}, f), "First: tab chooses")
	hasNot(t, drawn(View{}, viewtest.Frame(recs[:calm+1], 120, 34)), "First: tab chooses")
	v := press(t, View{}, f, "next")
	hasNot(t, drawn(v, f), "First: tab chooses")
	hasNot(t, drawn(View{}, viewtest.Frame(recs, 120, 34)), "First: tab chooses")
	f.Live = false
	hasNot(t, drawn(View{}, f), "First: tab chooses")
}

// going makes a frame in which a message has just set out.
func going(f view.Frame, e ...event.Event) view.Frame {
	f.Wall = time.Unix(1000, 0)
	for i, x := range e {
		f.Motion.Read(event.Record{Seq: f.World.Seq + event.Seq(i), At: f.World.At, Cause: f.World.Seq + event.Seq(i) - 1, Event: x}, f.Wall)
	}
	return f
}

func TestMessagesTravelAlongTheirLanes(t *testing.T) {
	for _, s := range sizes {
		f := going(viewtest.Frame(fixture.Healthy(4).Records, s.w, s.h), event.RequestReceived{Server: "master-2", Verb: "get", User: "kubernetes-admin"})
		before := drawn(View{}, f)
		has(t, before, "→")
		f.Wall = f.Wall.Add(motion.Shown * 3 / 4)
		if after := drawn(View{}, f); after == before {
			t.Errorf("nothing has moved:\n%s", after)
		}
		f.Wall = f.Wall.Add(motion.Shown)
		hasNot(t, drawn(View{}, f), "→")
	}
	f := going(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), event.RaftAppended{Member: "master-3", From: 43, To: 43}, event.RaftMessage{From: "master-1", To: "master-2", Kind: "vote"})
	has(t, drawn(View{}, f), "•", "◇")
	f = going(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), event.RequestReceived{Server: "master-2", Verb: "create", Subresource: "binding", User: "system:kube-scheduler"},
		event.ObjectChanged{Type: event.Modified, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nginx-new"}, Spec: corev1.PodSpec{NodeName: "worker-2"}}})
	has(t, drawn(View{}, f), "▼ bind nginx-new")
	f.Still = true
	hasNot(t, drawn(View{}, f), "▼ bind", "•")
}

func TestACrowdedLaneIsARate(t *testing.T) {
	var many []event.Event
	for range 30 {
		many = append(many, event.RequestReceived{Server: "master-2", Verb: "get", User: "kubernetes-admin"})
	}
	f := going(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), many...)
	out := drawn(View{}, f)
	has(t, out, "3.0/s")
	hasNot(t, out, "→")
}

func TestACrowdOfRefusalsIsNoRateOfNothing(t *testing.T) {
	many := []event.Event{event.RequestReceived{Server: "master-2", Verb: "get", User: "kubernetes-admin"}}
	f := going(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), many...)
	f.Now, many = f.Now.Add(time.Minute), nil
	for range 30 {
		many = append(many, event.RequestDone{Server: "master-2", Verb: "get", User: "kubernetes-admin", Code: 504})
	}
	f = going(f, many...)
	f.Now = f.Now.Add(time.Minute)
	out := drawn(View{}, f)
	hasNot(t, out, "─0─", "0/s")
	has(t, out, "×")
}

func TestLargeRatesAreNotCut(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.04: "0.0", 9.94: "9.9", 14: "14", 999: "999", 999.7: "1.0k", 1963: "2.0k", 12345: "12k"} {
		if got := rate(n); got != want {
			t.Errorf("%v is %q, not %q", n, got, want)
		}
	}
	for _, s := range sizes {
		f := viewtest.Frame(fixture.Healthy(4).Records, s.w, s.h)
		for range 3 {
			f.World.Apply(event.Record{Seq: f.World.Seq + 1, At: f.World.At.Add(time.Second), Event: event.RequestTally{Server: "master-1", Total: 1963}})
		}
		f = apply(f)
		out := drawn(View{}, f)
		has(t, out, " 2.0k")
		hasNot(t, out, "2.0…", "2.…")
	}
}

func TestRestartsAreNotCutInTheMiddle(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 120, 34)
	f = apply(f, event.ProcessStopped{Host: "master-2", Process: "etcd", Reason: "killed"}, event.ProcessStarted{Host: "master-2", Process: "etcd"})
	out := drawn(View{}, f)
	has(t, out, "×1")
	hasNot(t, out, " 1 …", " 1 r…")
}

func TestTheLeaderThatIsNamedIsTheOneThatLeads(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 120, 40)
	term := f.Scene.Quorum.Term
	f = apply(f, event.RaftRole{Member: "master-1", Role: "follower", Term: term, Leader: "master-3"}, event.RaftRole{Member: "master-2", Role: "follower", Term: term, Leader: "master-3"},
		event.RaftRole{Member: "master-3", Role: "leader", Term: term, Leader: "master-3"})
	out := drawn(View{}, f)
	has(t, out, "master-3 has led the store")
	hasNot(t, out, "master-1 has led the store")
}

func TestAnybodyWhoAsksIsAClient(t *testing.T) {
	f := going(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), event.RequestReceived{Server: "master-2", Verb: "get", User: "alice"})
	has(t, drawn(View{}, f), "alice")
}

func TestProgramsBeyondThoseRememberedByNameHaveOneLine(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 120, 40)
	f.Wall = time.Unix(1000, 0)
	tell := func(cause event.Seq, e event.Event) event.Seq {
		r := event.Record{Seq: f.World.Seq + 1, At: f.World.At, Actor: event.You, Cause: cause, Event: e}
		f.World.Apply(r)
		f.Motion.Read(r, f.Wall)
		return r.Seq
	}
	const n = 50
	var came []event.Seq
	for i := range n {
		came = append(came, tell(0, event.ClientConnected{Client: event.On(fmt.Sprintf("prog%d-1", i), event.Outside), Door: "balancer", User: "kubernetes-admin"}))
	}
	for _, c := range came {
		tell(c, event.RequestReceived{Server: "master-2", Verb: "get", Resource: "pods", User: "kubernetes-admin"})
	}
	f.Scene = scene.Of(f.World, f.Now)
	if !slices.Contains(f.Motion.People(), motion.Others) {
		t.Fatal("all are remembered by name")
	}
	out := drawn(View{}, f)
	has(t, out, fmt.Sprintf("+%d more", n-2))
	hasNot(t, out, motion.Others)
}

func TestTheMirrorOfAStaticPodShowsWhatRuns(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 120, 34)
	mirror := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "etcd-master-1", UID: "u-mirror", Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "u-manifest"}},
		Spec: corev1.PodSpec{NodeName: "master-1", Containers: []corev1.Container{{Name: "etcd", Image: "etcd:3"}}}}
	f = apply(f, event.ObjectChanged{Type: event.Added, Revision: 9000, Object: mirror},
		event.ContainerChanged{Node: "master-1", Pod: kinds.ObjectRef{Namespace: "kube-system", Name: "etcd-master-1", UID: "u-manifest"}, Container: "etcd", State: event.ContainerRunning})
	out := drawn(View{selected: scene.Target{Kind: scene.Pod, Host: "master-1", Namespace: "kube-system", Name: "etcd-master-1"}}, f)
	has(t, out, "etcd (etcd:3): running 0s")
}

func TestHostileTextIsNeutralised(t *testing.T) {
	const bad = "\x1b[2Jx\u202e"
	f := viewtest.Frame(fixture.Healthy(4).Records, 200, 54)
	n, _ := f.World.Nodes.Get("worker-1")
	o := n.Object.DeepCopy()
	o.Labels = map[string]string{corev1.LabelTopologyZone: bad}
	o.Spec.Taints = []corev1.Taint{{Key: bad, Effect: "NoSchedule"}}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: bad, UID: types.UID("u")}, Spec: corev1.PodSpec{NodeName: "worker-1"}, Status: corev1.PodStatus{Reason: bad}}
	f = apply(f, event.ObjectChanged{Type: event.Modified, Object: o}, event.ObjectChanged{Type: event.Added, Object: p}, event.MachineUp{Host: bad},
		event.ProcessStopped{Host: "master-1", Process: bad, Reason: bad}, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(p), Container: bad, State: event.ContainerRunning, Image: bad},
		event.BackendChanged{Backend: bad, Reason: bad})
	f = going(f, event.RequestReceived{Server: "master-1", Verb: bad, User: bad, ObjectName: bad})
	for _, v := range []View{{}, {selected: scene.Target{Kind: scene.Worker, Host: bad}}, {selected: scene.Target{Kind: scene.Pod, Host: "worker-1", Namespace: "default", Name: bad}, inside: "worker-1"}, {scale: asRows}, {scale: asCells}} {
		for _, s := range sizes {
			f.W, f.H = s.w, s.h
			if out := drawn(v, f); strings.ContainsAny(out, "\x1b\u202e") {
				t.Errorf("it reaches the screen: %q", out)
			}
		}
	}
}

func TestNoSizeIsTooSmallOrTooLarge(t *testing.T) {
	frames := []view.Frame{viewtest.Frame(nil, 0, 0), viewtest.Frame(fixture.Trouble(4).Records, 0, 0), viewtest.Frame(fixture.Trouble(60).Records, 0, 0),
		viewtest.Frame(fixture.Trouble(400).Records, 0, 0), zoned(0, 0)}
	views := []View{{}, {scale: asRows}, {scale: asCells}, {inside: "worker-3", selected: scene.Target{Kind: scene.Process, Host: "worker-3", Process: "kubelet"}},
		{zoom: zoom{from: 100, n: 100}}, {zoom: zoom{labelled: true, label: "zone-a"}}}
	for _, f := range frames {
		for _, v := range views {
			for h := 0; h <= 40; h += 5 {
				for w := 0; w <= 40; w += 8 {
					f.W, f.H = w, h
					drawn(v, f)
				}
			}
			for _, s := range []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}, {500, 500}, {500, 3}, {3, 500}, {99, 27}} {
				f.W, f.H = s.w, s.h
				drawn(v, f)
			}
		}
	}
}

func TestItSpeaksRussian(t *testing.T) {
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sizes {
		for _, recs := range [][]event.Record{fixture.Healthy(4).Records, fixture.Trouble(400).Records, fixture.Healthy(4).Records[:8]} {
			f := viewtest.Frame(recs, s.w, s.h)
			f.Words = ru
			out := drawn(View{}, f)
			hasNot(t, out, "one cell", "{", "clients", "All is well", "workloads")
		}
	}
	f := viewtest.Frame(fixture.Trouble(400).Records, 120, 34)
	f.Words = ru
	has(t, drawn(View{}, f), "клиенты", "одна клетка =", "│ вы ")
}

func TestEqualFramesDrawEqualCells(t *testing.T) {
	for _, s := range sizes {
		f := viewtest.Frame(fixture.Trouble(40).Records, s.w, s.h)
		first := drawn(View{}, f)
		for range 5 {
			if drawn(View{}, f) != first {
				t.Fatal("the same frame was drawn differently")
			}
		}
	}
}

func TestALinkThatIsCutIsSeenOnTheRaftLane(t *testing.T) {
	f := apply(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "master-3", B: fault.All}})
	has(t, drawn(View{}, f), "╳m3", "× ╳m3")
	f = apply(viewtest.Frame(fixture.Healthy(4).Records, 120, 34), event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "master-1", B: "master-3"}})
	out := drawn(View{}, f) // master-1 leads
	has(t, out, "× ╳m3", "▶ ●m2")
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestOnlyACutIsMarkedAsOne(t *testing.T) {
	for kind, c := range map[fault.Kind]struct{ mark, not, says string }{
		fault.Cut:   {"╳", "◐ cut", "cut"},
		fault.Clog:  {"◐ clog", "╳", "only snapshots of the store stop in the middle"},
		fault.Delay: {"◐ delay", "╳", "delay"},
	} {
		f := apply(viewtest.Frame(fixture.Healthy(4).Records, 140, 40), event.FaultAdded{Fault: fault.Fault{Kind: kind, A: "master-1", B: "master-3", Duration: time.Second}})
		got := drawn(View{}, f)
		has(t, got, c.mark, c.says)
		if strings.Contains(got, c.not) {
			t.Errorf("%s is drawn with %q:\n%s", kind, c.not, got)
		}
	}
}
