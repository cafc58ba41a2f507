package historyview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

var web = target.Target{Kind: target.Pod, Namespace: "default", Name: "web"}

// life is a pod's: made by the user, bound by the scheduler, started by its kubelet, deleted by the user, gone.
func life() []event.Record {
	var recs []event.Record
	start := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	change := func(user string, kind event.ChangeType, p *corev1.Pod) {
		n := event.Seq(len(recs) + 1)
		at := start.Add(time.Duration(n) * time.Second)
		p = p.DeepCopy()
		p.ResourceVersion = fmt.Sprint(n + 100)
		recs = append(recs, event.Record{Seq: n, At: at, Actor: "apiserver/m1", Event: event.RequestReceived{Server: "m1", Verb: "update", Resource: "pods", Namespace: "default", ObjectName: "web", User: user}},
			event.Record{Seq: n + 1, At: at, Actor: "etcd", Cause: n, Event: event.ObjectChanged{Type: kind, Revision: int64(n + 100), Index: 7, Term: 2, Object: p}})
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx:1"}}}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
	change("kubernetes-admin", event.Added, p)
	p.Spec.NodeName = "w1"
	change("system:kube-scheduler", event.Modified, p)
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	change("system:node:w1", event.Modified, p)
	p.Labels = map[string]string{"tier": "a\x1b[31m"}
	change("kubernetes-admin", event.Modified, p)
	now, grace := metav1.NewTime(start.Add(time.Minute)), int64(30)
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &now, &grace
	change("kubernetes-admin", event.Modified, p)
	change("system:node:w1", event.Deleted, p)
	return recs
}

func TestTheLifeOfAPodReadsFromTheNewestDown(t *testing.T) {
	f := viewtest.Frame(life(), 110, 30)
	screen := viewtest.Text(New(intent.Open{Target: web}, f), f)
	at := 0
	for _, want := range []string{"6 revisions", "deleted", "deletion asked for, 30 s of grace", "+metadata.labels.tier=", "Pending → Running, ready 0/1 → 1/1", "bound to w1", "created"} {
		i := strings.Index(screen[at:], want)
		if i < 0 {
			t.Fatalf("%q does not come next on:\n%s", want, screen)
		}
		at += i + len(want)
	}
	viewtest.Says(t, screen, "you", "scheduler", "kubelet/w1")
	if strings.Contains(screen, "\x1b") {
		t.Error("hostile text reaches the screen")
	}
}

func TestTheFieldsOfARevisionAreShownAgainstTheOneBefore(t *testing.T) {
	f := viewtest.Frame(life(), 110, 30)
	v, _ := viewtest.Do(New(intent.Open{Target: web}, f), f, intent.Move{DY: 1}, intent.Move{DY: 1}, intent.Move{DY: 1}, intent.Move{DY: 1})
	screen := viewtest.Text(v, f)
	viewtest.Says(t, screen, "revision 103 against 101, 2.0s before it", "+ nodeName  w1", "raft entry 7 of term 2", "5 / 6")
	viewtest.Hides(t, screen, "resourceVersion")
}

func TestKeysOfTheHistory(t *testing.T) {
	recs := life()
	f := viewtest.Frame(recs, 110, 30)
	v, left := viewtest.Do(New(intent.Open{Target: web}, f), f, intent.Edge{To: 1}, intent.Enter{})
	if len(left) != 1 || left[0] != (intent.Open{Page: "chain", Target: web, Seq: 2}) {
		t.Errorf("enter: %v", left)
	}
	if _, left = viewtest.Do(v, f, intent.Option{Name: "to-revision"}); len(left) != 1 || left[0] != (intent.ToSeq{Seq: 2}) {
		t.Errorf("to the revision: %v", left)
	}
	if _, left = viewtest.Do(v, f, intent.Chain{}); len(left) != 1 || left[0] != (intent.Chain{Seq: 2}) {
		t.Errorf("chain: %v", left)
	}
	if _, left = viewtest.Do(v, f, intent.Back{}, intent.Find{}); len(left) != 2 {
		t.Errorf("what is not for the page does not come back: %v", left)
	}
	w, _ := viewtest.Do(v, f, intent.Text{Value: "nodename"})
	if got := w.(View).seq; got != 4 {
		t.Errorf("the search finds record %d", got)
	}
	if s := viewtest.Text(w, f); strings.Contains(s, "not in this one") {
		t.Errorf("what is found is denied:\n%s", s)
	}
	w, _ = viewtest.Do(v, f, intent.Text{Value: "replicas=("})
	if s := viewtest.Text(w, f); !strings.Contains(s, "not in this one") {
		t.Errorf("a search that finds nothing does not say so:\n%s", s)
	}
	w, _ = viewtest.Do(v, f, intent.Point{X: 5, Y: 2})
	if got := w.(View).seq; got != 10 {
		t.Errorf("a click chooses record %d", got)
	}
	early := viewtest.Frame(recs[:6], 110, 30) // the choice stays when one looks at the past, or goes to what was in force
	if s := viewtest.Text(v, early); !strings.Contains(s, "3 / 3") {
		t.Errorf("the first revision is not chosen any more:\n%s", s)
	}
}

func TestAnEmptyHistorySaysSo(t *testing.T) {
	f := viewtest.Frame(life(), 80, 20)
	if s := viewtest.Text(New(intent.Open{Target: target.Target{Kind: target.Pod, Name: "x"}}, f), f); !strings.Contains(s, "no revision of this object") {
		t.Error(s)
	}
	f = viewtest.Frame(nil, 80, 20)
	viewtest.Text(New(intent.Open{Target: web}, f), f)
}

func TestEverySizeCanBeDrawn(t *testing.T) {
	f := viewtest.Frame(life(), 0, 0)
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 44 {
		f.W, f.H = n*5, n
		if n == 43 {
			f.W, f.H = 500, 500
		}
		f.Words = words.English()
		if n%2 == 0 {
			f.Words = ru
		}
		x, _ := viewtest.Do(New(intent.Open{Target: web}, f), f, intent.Move{DY: 2}, intent.Move{DX: 1}, intent.Page{By: 1}, intent.Edge{To: 1}, intent.Wheel{By: 1, X: 2, Y: n - 3}, intent.Next{By: 1})
		viewtest.Draw(x, f)
		viewtest.Draw(View{about: intent.Open{Target: web}}, f)
	}
}
