package detailview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

func drawn(t target.Target, tab string, records []event.Record, w, h int) string {
	f := viewtest.Frame(records, w, h)
	return viewtest.Text(New(intent.Open{Page: ID, Target: t, Tab: tab}, f), f)
}

// written goes on from a tape: a request that makes a pod, one that is refused, an Event, a watch, and the pod's deletion.
func written() []event.Record {
	recs := slices.Clone(fixture.Trouble(6).Records)
	at := recs[len(recs)-1].At
	put := func(actor event.Actor, cause event.Seq, e event.Event) event.Seq {
		at = at.Add(3 * time.Millisecond)
		seq := event.Seq(len(recs) + 1)
		recs = append(recs, event.Record{Seq: seq, At: at, Actor: actor, Cause: cause, Event: e})
		return seq
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "late", UID: "u-late", ResourceVersion: "900", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "hidden"}}},
		Spec: corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
	req := event.RequestReceived{Server: "master-2", Verb: "create", Resource: "pods", Namespace: "default", ObjectName: "late", User: "kubernetes-admin"}
	got := put("apiserver/master-2", 0, req)
	put("etcd", got, event.ObjectChanged{Type: event.Added, Revision: 900, Object: p})
	put("apiserver/master-2", got, event.RequestDone{Server: "master-2", Verb: "create", Resource: "pods", Namespace: "default", ObjectName: "late", User: "kubernetes-admin", Code: 201,
		Stages: []event.Stage{{Stage: "authentication"}, {Stage: "store", Took: 4 * time.Millisecond, Note: "fsync"}}})
	put("apiserver/master-2", 0, event.RequestDone{Server: "master-2", Verb: "patch", Resource: "pods", Namespace: "default", ObjectName: "late", User: "system:node:worker-1", Code: 409, Message: "object has been modified"})
	put("etcd", 0, event.ObjectChanged{Type: event.Added, Revision: 901, Object: &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "late.1"}, Type: "Warning", Reason: "BackOff", Message: "again and again", Count: 7,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: "late"}, LastTimestamp: metav1.NewTime(at)}})
	put("apiserver/master-2", 0, event.WatchOpened{Server: "master-2", Watch: 4, Resource: "pods", Selector: "fieldSelector=spec.nodeName=worker-1", Client: "kubelet/worker-1", Revision: 900})
	put("containerd/worker-1", 0, event.ContainerChanged{Node: "worker-1", Pod: kinds.RefOf(p), Container: "c", State: event.ContainerRunning})
	return recs
}

var late = target.Target{Kind: target.Pod, Namespace: "default", Name: "late"}

func TestThePageSaysWhatMatters(t *testing.T) {
	recs := written()
	for _, c := range []struct {
		name  string
		about target.Target
		tab   string
		wants []string
	}{
		{"a worker that is not heard", target.Target{Kind: target.Worker, Host: "worker-3"}, "", []string{"worker worker-3", "● on for", "cut worker-3 all", "by you", "? NotReady", "Node object", "unreachable:NoExecute"}},
		{"a master that was killed", target.Target{Kind: target.Master, Host: "master-1"}, "", []string{"✗ master", "off, by you"}},
		{"a pod that fits nowhere", target.Target{Kind: target.Pod, Namespace: "default", Name: "big"}, "", []string{"○ Pending", "why", "0/9 nodes are available", "tried 1 time, in queue unschedulable"}},
		{"belief and truth of a pod", late, "", []string{"store", "nothing reported yet", "runtime", "running for", "! differs"}},
		{"YAML without book-keeping", late, "yaml", []string{"apiVersion: v1", "kind: Pod", "nodeName: worker-1"}},
		{"as kubectl describe", late, "describe", []string{"Name:", "Containers:", "Image:", "Events:", "BackOff", "x7 over"}},
		{"Events", late, "events", []string{"BackOff", "again and again", "×7"}},
		{"requests, the newest first", late, "requests", []string{"× 409", "kubelet/worker-1", "object has been modified", "· 201", "you", "create pods late"}},
		{"requests that an API server answered", target.Target{Kind: target.Process, Host: "master-2", Process: "apiserver"}, "requests", []string{"create pods late", "× 409"}},
		{"requests that a kubelet made", target.Target{Kind: target.Process, Host: "worker-1", Process: "kubelet"}, "requests", []string{"× 409"}},
		{"watches of an API server", target.Target{Kind: target.Process, Host: "master-2", Process: "apiserver"}, "watches", []string{"kubelet/worker-1", "pods", "spec.nodeName=worker-1", "from revision 900"}},
		{"watches of a kubelet", target.Target{Kind: target.Process, Host: "worker-1", Process: "kubelet"}, "watches", []string{"master-2"}},
		{"where a pod waits", target.Target{Kind: target.Pod, Namespace: "default", Name: "big"}, "queue", []string{"scheduler", "unschedulable"}},
		{"records as sentences", target.Target{Kind: target.Pod, Namespace: "default", Name: "big"}, "records", []string{"scheduler", "fits nowhere"}},
		{"etcd", target.Target{Kind: target.Process, Host: "master-2", Process: "etcd"}, "", []string{"★ leader", "log to", "quorum", "2 of 3 can work together"}},
		{"the active scheduler", target.Target{Kind: target.Process, Host: "master-3", Process: "scheduler"}, "", []string{"★ leads"}},
		{"the balancer", target.Target{Kind: target.Balancer}, "", []string{"master-1", "sends nothing here", "sends requests here"}},
		{"the user", target.Target{Kind: target.Client, Name: "you"}, "", []string{"kill master-1"}},
		{"a Deployment", target.Target{Kind: target.Object, Type: "deployments.apps", Namespace: "default", Name: "nginx"}, "", []string{"Deployment default/nginx", "replicas", "strategy"}},
		{"a lease", target.Target{Kind: target.Object, Type: "leases.coordination.k8s.io", Namespace: "kube-node-lease", Name: "worker-3"}, "", []string{"ran out", "holder", "worker-3"}},
		{"a thing that nobody knows", target.Target{Kind: target.Pod, Namespace: "x", Name: "y"}, "", []string{"Nothing is known"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			viewtest.Says(t, drawn(c.about, c.tab, recs, 110, 44), c.wants...)
		})
	}
	if screen := drawn(late, "yaml", recs, 110, 44); strings.Contains(screen, "hidden") {
		t.Error("managed fields are shown")
	}
}

func TestAPageAboutADeletedObjectStays(t *testing.T) {
	recs := written()
	last := recs[len(recs)-1]
	var gone event.ObjectChanged
	req := event.Record{Seq: last.Seq + 1, At: last.At, Actor: "apiserver/master-2", Event: event.RequestReceived{Server: "master-2", Verb: "delete", Resource: "pods", ObjectName: "late", User: "kubernetes-admin"}}
	for _, r := range recs {
		if e, ok := r.Event.(event.ObjectChanged); ok && e.Object != nil && e.Object.GetName() == "late" {
			gone = e
		}
	}
	recs = append(recs, req, event.Record{Seq: last.Seq + 2, At: last.At, Actor: "etcd", Cause: req.Seq, Event: event.ObjectChanged{Type: event.Deleted, Revision: 950, Object: gone.Object}})
	viewtest.Says(t, drawn(late, "", recs, 110, 30), "✗ Pod default/late", "deleted", "by you", "this is its last state", "nginx")
	viewtest.Says(t, drawn(late, "yaml", recs, 110, 30), "nodeName: worker-1")
}

func do(v view.View, f view.Frame, i ...intent.Intent) (View, []intent.Intent) {
	x, left := viewtest.Do(v, f, i...)
	return x.(View), left
}

func TestRowsLeadOn(t *testing.T) {
	f := viewtest.Frame(written(), 110, 44)
	v, left := do(New(intent.Open{Target: late, Tab: "requests"}, f), f, intent.Enter{})
	if len(left) != 1 || left[0].(intent.Open).Page != "chain" || left[0].(intent.Open).Seq == 0 {
		t.Errorf("a request leads to %v", left)
	}
	v, _ = do(v, f, intent.Move{DY: 1})
	viewtest.Says(t, viewtest.Text(v, f), "store 4.0ms (fsync)")
	v, left = do(New(intent.Open{Target: late}, f), f, intent.Move{DY: 1}, intent.Enter{})
	if len(left) != 1 || left[0] != (intent.Open{Page: ID, Target: target.Target{Kind: target.Worker, Host: "worker-1"}}) {
		t.Errorf("the node leads to %v", left)
	}
	if got := v.Selection(f); got.Host != "worker-1" || got.Name != "late" {
		t.Errorf("keys act on %+v", got)
	}
	if _, left = do(v, f, intent.Option{Name: "history"}); len(left) != 1 || left[0].(intent.Open).Page != "history" {
		t.Errorf("history: %v", left)
	}
	if _, left = do(v, f, intent.Back{}, intent.Why{}, intent.Find{}); len(left) != 3 {
		t.Errorf("what is not for the page does not come back: %v", left)
	}
	w, _ := do(v, f, intent.Next{By: 1}, intent.Move{DX: 1})
	if w.tab != described {
		t.Errorf("tab and right lead to tab %d", w.tab)
	}
	for name, tab := range map[string]int{"overview": overview, "yaml": manifest, "describe": described, "requests": requests, "records": records} {
		if w, _ = do(v, f, intent.Option{Name: name}); w.tab != tab {
			t.Errorf("%s shows tab %d", name, w.tab)
		}
	}
	p := v.page(f)
	x := p.lay.tabs.X + 1
	for tab := range events {
		x += tabWidth(f, p, tab)
	}
	if w, _ = do(v, f, intent.Point{X: x, Y: 1}); w.tab != events {
		t.Errorf("a click on a tab shows %d", w.tab)
	}
}

func TestSearchGoesFromRowToRow(t *testing.T) {
	f := viewtest.Frame(written(), 110, 20)
	v, _ := do(New(intent.Open{Target: late, Tab: "yaml"}, f), f, intent.Text{Value: "NAME"})
	first := v.page(f).at
	v, _ = do(v, f, intent.Match{By: 1})
	if second := v.page(f).at; second == first || !strings.Contains(strings.ToLower(v.page(f).rows[second].Text()), "name") {
		t.Errorf("from row %d to %d", first, second)
	}
	v, left := do(v, f, intent.Back{})
	if v.Finding() != "" || len(left) != 0 {
		t.Errorf("esc leaves %q and %v", v.Finding(), left)
	}
}

func TestCopyOffersTheRowAndTheManifest(t *testing.T) {
	f := viewtest.Frame(written(), 110, 44)
	var labels []string
	for _, c := range New(intent.Open{Target: late}, f).Clips(f) {
		labels = append(labels, c.Label)
		if c.Label == "kubectl describe" && c.Text != "kubectl describe pod late -n default" {
			t.Error(c.Text)
		}
	}
	if got := strings.Join(labels, ", "); got != "value, row, name, this page, kubectl get, kubectl describe, YAML" {
		t.Error(got)
	}
}

func TestHostileTextIsNeutralised(t *testing.T) {
	recs := written()
	last := recs[len(recs)-1]
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "evil", Labels: map[string]string{"a\x1b[2J": "b\u202e"}, Annotations: map[string]string{"x": "1\n\x1b]0;t\x07"}},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "\x1bc", Image: "i\x07"}}, Tolerations: []corev1.Toleration{{Key: "\x1b"}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: "Ready\x1b", Status: "False", Reason: "\x07", Message: "\x1b[31m"}}}}
	recs = append(recs, event.Record{Seq: last.Seq + 1, At: last.At, Actor: "etcd", Event: event.ObjectChanged{Type: event.Added, Revision: 990, Object: p}})
	for _, tab := range tabIDs {
		if s := drawn(target.Target{Kind: target.Pod, Namespace: "default", Name: "evil"}, tab, recs, 200, 60); strings.ContainsAny(s, "\x1b\x07\u202e") {
			t.Errorf("%s: %q", tab, s)
		}
	}
}

func TestEverySizeCanBeDrawn(t *testing.T) {
	f := viewtest.Frame(written(), 0, 0)
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	things := []target.Target{late, {Kind: target.Worker, Host: "worker-3"}, {Kind: target.Process, Host: "master-2", Process: "apiserver"}, {}}
	for n := range 44 {
		f.W, f.H = n*5, n
		switch n {
		case 41:
			f.W, f.H = 80, 24
		case 42:
			f.W, f.H = 200, 60
		case 43:
			f.W, f.H = 500, 500
		}
		f.Words = words.English()
		if n%2 == 0 {
			f.Words = ru
		}
		for i, about := range things {
			v := New(intent.Open{Target: about, Tab: tabIDs[(n+i)%tabCount]}, f)
			x, _ := viewtest.Do(v, f, intent.Move{DY: 1}, intent.Page{By: 1}, intent.Edge{To: 1}, intent.Wheel{By: -1}, intent.Point{X: n, Y: 2}, intent.Drag{FromX: 70, X: 80, Y: 9}, intent.Text{Value: "e"})
			viewtest.Draw(x, f)
			viewtest.Draw(View{about: intent.Open{Target: about}}, f)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	f := viewtest.Frame(written(), 200, 60)
	for _, tab := range []string{"overview", "yaml", "describe", "requests"} {
		b.Run(fmt.Sprint(tab), func(b *testing.B) {
			v := New(intent.Open{Target: late, Tab: tab}, f)
			for b.Loop() {
				viewtest.Draw(v, f)
			}
		})
	}
}
