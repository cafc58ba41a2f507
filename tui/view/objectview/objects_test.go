package objectview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
	"example.com/kubeviz/tui/words"
)

var start = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// tape is records that put pods into the store, one second apart.
type tape struct{ records []event.Record }

func (t *tape) put(kind event.ChangeType, o kinds.Object) {
	n := len(t.records) + 1
	t.records = append(t.records, event.Record{Seq: event.Seq(n), At: start.Add(time.Duration(n) * time.Second), Actor: "etcd", Event: event.ObjectChanged{Type: kind, Revision: int64(n), Object: o}})
}

func pod(namespace, name, node string, restarts int32) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(start), Labels: map[string]string{"app": strings.Split(name, "-")[0]}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
	p.Status.Phase = corev1.PodPending
	if node != "" {
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Ready: true, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	}
	return p
}

func node(name string, ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(start)}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, Reason: "Silent", Message: "not heard"}}}}
}

func some() *tape {
	t := &tape{}
	t.put(event.Added, node("w1", corev1.ConditionTrue))
	t.put(event.Added, node("w2", corev1.ConditionTrue))
	t.put(event.Added, pod("default", "web-1", "w1", 3))
	t.put(event.Added, pod("default", "web-2", "w1", 0))
	t.put(event.Added, pod("default", "web-10", "w2", 12))
	t.put(event.Added, pod("kube-system", "dns-1", "w2", 1))
	t.put(event.Added, pod("default", "big-1", "", 0))
	return t
}

// names are the objects of the table from top to bottom.
func names(v View, f view.Frame) string {
	s := v.screen(f)
	var out []string
	for i := range s.n {
		o, _ := s.object(f.World, i)
		out = append(out, o.Object.GetName())
	}
	return strings.Join(out, " ")
}

func do(v View, f view.Frame, intents ...intent.Intent) (View, []intent.Intent) {
	x, left := viewtest.Do(v, f, intents...)
	return x.(View), left
}

func TestTheTableIsInTheStoresOrderUntilItIsSorted(t *testing.T) {
	f := viewtest.Frame(some().records, 120, 30)
	for _, c := range []struct {
		name    string
		intents []intent.Intent
		want    string
	}{
		{"as it is", nil, "big-1 web-1 web-10 web-2 dns-1"},
		{"by namespace", []intent.Intent{intent.Option{Name: "sort"}}, "big-1 web-1 web-10 web-2 dns-1"},
		{"by name, numbers as numbers", []intent.Intent{intent.Option{Name: "sort"}, intent.Option{Name: "sort"}}, "big-1 dns-1 web-1 web-2 web-10"},
		{"the other way round", []intent.Intent{intent.Option{Name: "sort"}, intent.Option{Name: "sort"}, intent.Option{Name: "reverse"}}, "web-10 web-2 web-1 dns-1 big-1"},
		{"one namespace, that of the chosen", []intent.Intent{intent.Edge{To: 1}, intent.Option{Name: "namespaces"}}, "dns-1"},
		{"all again", []intent.Intent{intent.Option{Name: "namespaces"}, intent.Option{Name: "namespaces"}}, "big-1 web-1 web-10 web-2 dns-1"},
		{"what is not well", []intent.Intent{intent.Trouble{}}, "big-1"},
		{"by text", []intent.Intent{intent.Text{Value: "WEB"}}, "web-1 web-10 web-2"},
		{"by pattern", []intent.Intent{intent.Text{Value: "web-?"}}, "web-1 web-2"},
		{"by column", []intent.Intent{intent.Text{Value: "status=pending"}}, "big-1"},
		{"by wide column", []intent.Intent{intent.Text{Value: "node=w2"}}, "web-10 dns-1"},
		{"but not", []intent.Intent{intent.Text{Value: "node!=w2"}}, "big-1 web-1 web-2"},
		{"by label", []intent.Intent{intent.Text{Value: "app=dns"}}, "dns-1"},
		{"by selector", []intent.Intent{intent.Text{Value: "-l app in (dns, big)"}}, "big-1 dns-1"},
		{"by namespace in the filter", []intent.Intent{intent.Text{Value: "-n kube-system"}}, "dns-1"},
		{"two terms", []intent.Intent{intent.Text{Value: "web node=w1"}}, "web-1 web-2"},
		{"esc takes the filter off, then !", []intent.Intent{intent.Trouble{}, intent.Text{Value: "x"}, intent.Back{}, intent.Back{}}, "big-1 web-1 web-10 web-2 dns-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, left := do(New(), f, c.intents...)
			if got := names(v, f); got != c.want || len(left) > 0 {
				t.Errorf("%s, want %s (left %v)", got, c.want, left)
			}
			zero, _ := do(View{}, f, c.intents...)
			if got := names(zero, f); got != c.want {
				t.Errorf("the zero value shows %s", got)
			}
		})
	}
}

func TestTheChoiceStaysOnItsObject(t *testing.T) {
	tp := some()
	f := viewtest.Frame(tp.records, 120, 30)
	for _, sorted := range []bool{false, true} {
		v := New()
		if sorted {
			v, _ = do(v, f, intent.Text{Value: "web"}, intent.Option{Name: "sort"})
		} else {
			v, _ = do(v, f, intent.Move{DY: 1})
		}
		before := v.Selection(f)
		if before.Name != "web-1" || before.Kind != target.Pod || before.Host != "w1" {
			t.Fatalf("%+v is chosen", before)
		}
		more := &tape{records: tp.records[:len(tp.records):len(tp.records)]}
		v, _ = do(v, f, intent.Move{DY: 0})
		more.put(event.Added, pod("default", "web-0", "w1", 0))
		g := viewtest.Frame(more.records, 120, 30)
		if got := v.Selection(g); got != before {
			t.Errorf("sorted %v: an object came before it, and %s is chosen", sorted, got.Name)
		}
		more.put(event.Deleted, pod("default", "web-1", "w1", 3))
		h := viewtest.Frame(more.records, 120, 30)
		if got := v.Selection(h).Name; got != "web-10" {
			t.Errorf("sorted %v: it was deleted, and %s is chosen instead of the next", sorted, got)
		}
	}
}

func TestASortedTableFollowsTheJournal(t *testing.T) {
	tp := some()
	v, _ := do(New(), viewtest.Frame(tp.records, 120, 30), intent.Text{Value: "node=w1"}, intent.Trouble{})
	if got := names(v, viewtest.Frame(tp.records, 120, 30)); got != "" {
		t.Errorf("all is well on w1, yet %s", got)
	}
	tp.put(event.Modified, node("w1", corev1.ConditionUnknown))
	if got := names(v, viewtest.Frame(tp.records, 120, 30)); got != "web-1 web-2" {
		t.Errorf("w1 is not heard any more: %q", got)
	}
	if got := names(v, viewtest.Frame(tp.records[:5], 120, 30)); got != "" {
		t.Errorf("back in time, before that: %q", got)
	}
}

func TestKeysMeanWhatTheTableSays(t *testing.T) {
	f := viewtest.Frame(some().records, 120, 30)
	v, left := do(New(), f, intent.Move{DY: 1}, intent.Enter{})
	if len(left) != 1 || left[0] != (intent.Open{Page: "detail", Target: target.Target{Kind: target.Pod, Host: "w1", Namespace: "default", Name: "web-1"}}) {
		t.Errorf("enter: %v", left)
	}
	if _, left = do(v, f, intent.Option{Name: "history"}); len(left) != 1 || left[0].(intent.Open).Page != "history" {
		t.Errorf("history: %v", left)
	}
	if _, left = do(v, f, intent.Find{}, intent.Why{}, intent.Delete{}); len(left) != 3 {
		t.Errorf("what is not for the view does not come back: %v", left)
	}
	if _, left = do(New(), f, intent.Back{}); len(left) != 1 {
		t.Errorf("nothing to come back from, and %v", left)
	}
	w, _ := do(v, f, intent.Next{By: 1})
	if k := w.front(); k != kinds.Deployments {
		t.Errorf("tab goes to %s", k)
	}
	w, _ = do(v, f, intent.Move{DX: -1}, intent.Move{DY: 1}, intent.Move{DY: 1}, intent.Move{DY: 1}, intent.Move{DX: 1})
	if k := w.front(); k != kinds.Nodes || w.onKinds {
		t.Errorf("left, down and right lead to %s", k)
	}
	w, _ = do(New(), f, intent.Select{Target: target.Target{Kind: target.Worker, Host: "w2"}})
	if got := w.Selection(f); got.Name != "w2" || got.Type != "nodes" {
		t.Errorf("a machine is shown as %+v", got)
	}
	w, _ = do(v, f, intent.Text{Value: "dns"}, intent.Select{Target: target.Target{Kind: target.Pod, Namespace: "default", Name: "web-2"}})
	if got := w.Selection(f).Name; got != "web-2" {
		t.Errorf("the filter hides what was asked for: %s", got)
	}
}

func TestTheMouseSortsChoosesAndEnters(t *testing.T) {
	f := viewtest.Frame(some().records, 120, 30)
	s := New().screen(f)
	var x int
	for _, c := range s.columns {
		if c.Header == "RESTARTS" {
			x = s.lay.header.X + c.x
		}
	}
	v, _ := do(New(), f, intent.Point{X: x, Y: s.lay.header.Y})
	if got := names(v, f); got != "big-1 web-2 dns-1 web-1 web-10" {
		t.Errorf("by restarts: %s", got)
	}
	v, _ = do(v, f, intent.Point{X: x, Y: s.lay.header.Y})
	if got := names(v, f); !strings.HasPrefix(got, "web-10") {
		t.Errorf("clicked again: %s", got)
	}
	v, left := do(v, f, intent.Point{X: x, Y: s.lay.rows.Y + 1}, intent.Point{X: x, Y: s.lay.rows.Y + 1, Twice: true})
	if v.Selection(f).Name != "web-1" || len(left) != 1 {
		t.Errorf("%s is chosen, %v", v.Selection(f).Name, left)
	}
	v, _ = do(v, f, intent.Point{X: 3, Y: 5})
	if list, _ := v.listed(f.World); v.front() != list[3] {
		t.Errorf("a click into the list shows %s", v.front())
	}
}

func TestTheScreenSaysWhatIsWrongAndWhatIsLeftOut(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(6).Records, 120, 30)
	all := viewtest.Text(New(), f)
	viewtest.Says(t, all, "pods", "!2", "NAMESPACE", "RESTARTS", "○ default", "CrashLoopBackOff", "0/9 nodes are available", "1 / 9")
	v, _ := do(New(), f, intent.Text{Value: "nothing-like-it"})
	if all = viewtest.Text(v, f); !strings.Contains(all, "None of 9 matches") {
		t.Errorf("an empty table does not explain itself:\n%s", all)
	}
	v, _ = do(New(), f, intent.Text{Value: "app in ("})
	v, _ = do(v, f, intent.Text{Value: "-l ((("})
	if all = viewtest.Text(v, f); !strings.Contains(all, "cannot be read") {
		t.Errorf("a filter that cannot be read is not told:\n%s", all)
	}
	v, _ = do(New(), f, intent.Option{Name: "wide"}, intent.Next{By: 1})
	if all = viewtest.Text(v, f); !strings.Contains(all, "CONTAINERS") {
		t.Errorf("wide has no more columns:\n%s", all)
	}
}

func TestHostileNamesAreNeutralised(t *testing.T) {
	tp := &tape{}
	p := pod("default", "a\x1b[31mb\u202e", "", 0)
	p.Status.Message = "\x1b]0;title\x07"
	tp.put(event.Added, p)
	f := viewtest.Frame(tp.records, 200, 40)
	for _, line := range viewtest.Draw(New(), f) {
		if strings.ContainsAny(line, "\x1b\x07\u202e") {
			t.Errorf("%q", line)
		}
	}
}

func TestEverySizeCanBeDrawn(t *testing.T) {
	records := fixture.Trouble(6).Records
	f := viewtest.Frame(records, 0, 0)
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	sizes := [][2]int{{80, 24}, {120, 40}, {200, 60}, {500, 500}}
	for i := range 41 {
		sizes = append(sizes, [2]int{i * 5, i}, [2]int{i, 40 - i})
	}
	v, _ := do(New(), f, intent.Option{Name: "wide"})
	for n, size := range sizes {
		f.W, f.H = size[0], size[1]
		f.Words = words.English()
		if n%2 == 0 {
			f.Words = ru
		}
		x, _ := viewtest.Do(v, f, intent.Move{DY: 1}, intent.Move{DX: 1}, intent.Page{By: 1}, intent.Point{X: 3, Y: 2}, intent.Wheel{By: 1}, intent.Next{By: 1})
		viewtest.Draw(x, f)
		viewtest.Draw(View{}, f)
	}
}

func TestEqualFramesDrawEqualCells(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(12).Records, 160, 40)
	v, _ := do(New(), f, intent.Option{Name: "sort"}, intent.Trouble{})
	if a, b := fmt.Sprint(viewtest.Draw(v, f)), fmt.Sprint(viewtest.Draw(v, f)); a != b {
		t.Errorf("two drawings differ:\n%s\n%s", a, b)
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"web", "a=b", "-l x in (a,b)", "-n", "![", "status=[", "a!=b c=d", "= !", "*[", "-l"} {
		f.Add(s)
	}
	fr := viewtest.Frame(some().records, 80, 24)
	f.Fuzz(func(t *testing.T, s string) {
		v, _ := do(New(), fr, intent.Text{Value: s})
		viewtest.Draw(v, fr)
	})
}

func many(pods int) view.Frame {
	t := &tape{records: make([]event.Record, 0, pods)}
	for i := range 5000 {
		if i*30 < pods {
			t.put(event.Added, node(fmt.Sprintf("w%d", i), corev1.ConditionTrue))
		}
	}
	for i := range pods {
		t.put(event.Added, pod("default", fmt.Sprintf("web-%06d", i), fmt.Sprintf("w%d", i/30), int32(i%7)))
	}
	return viewtest.Frame(t.records, 200, 60)
}

func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{10, 1000, 150000} {
		f := many(n)
		for name, intents := range map[string][]intent.Intent{"plain": nil, "sorted": {intent.Text{Value: "web"}, intent.Option{Name: "sort"}, intent.Option{Name: "sort"}, intent.Option{Name: "sort"}, intent.Option{Name: "sort"}}} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				v, _ := do(New(), f, intents...)
				g := grid.New(f.W, f.H)
				worst := time.Duration(0)
				for range 60 { // until all is looked through
					at := time.Now()
					v.Draw(f, g.Canvas())
					worst = max(worst, time.Since(at))
				}
				for b.Loop() {
					v.Draw(f, g.Canvas())
				}
				b.ReportMetric(float64(worst.Microseconds()), "worst-µs")
			})
		}
	}
}

func TestRestartsAreWholeOrWithoutTheirTime(t *testing.T) {
	tp := &tape{}
	p := pod("default", "web-1", "w1", 12)
	p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(start.Add(-286 * time.Second))}
	tp.put(event.Added, p)
	for w, want := range map[int]string{80: " 12 ", 120: "12 (4m4", 200: "12 (4m4"} {
		all := viewtest.Text(New(), viewtest.Frame(tp.records, w, 24))
		if !strings.Contains(all, want) || strings.Contains(all, "(4m47s…") || strings.Contains(all, "12 (…") {
			t.Errorf("at %d columns:\n%s", w, all)
		}
	}
}
