package queueview

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// tape goes on from a fixture with facts of queues.
type tape struct {
	*fixture.Tape
	more time.Duration // past the fixture's instant
}

func from(t *fixture.Tape) *tape { return &tape{Tape: t} }

func (t *tape) now() time.Time { return t.At().Add(t.more) }

func (t *tape) put(actor event.Actor, e event.Event) event.Seq {
	seq := event.Seq(len(t.Records) + 1)
	t.Records = append(t.Records, event.Record{Seq: seq, At: t.now(), Actor: actor, Event: e})
	return seq
}

func (t *tape) wait(d time.Duration) { t.more += d }

func (t *tape) frame(w, h int) view.Frame {
	f := viewtest.Frame(t.Records, w, h)
	f.Now = t.now()
	return f
}

const (
	manager1   event.Actor = "controller-manager/master-2"
	scheduler1 event.Actor = "scheduler/master-3"
)

// calm is a cluster whose queues rest.
func calm() *tape {
	t := from(fixture.Healthy(4))
	for i, name := range order {
		t.put(manager1, event.QueueChanged{Queue: name, Added: int64(i), Done: int64(i)})
	}
	for range 10 { // a minute and a half
		t.Beat()
	}
	t.put(manager1, event.QueueChanged{Queue: "replicaset"})
	t.put(manager1, event.QueueChanged{Queue: "deployment", Delayed: 1, NextDue: t.now().Add(9 * time.Minute), Items: []event.QueueItem{{Key: "default/nginx", State: event.ItemDelayed, Since: t.now(),
		Due: t.now().Add(9 * time.Minute), Why: "its progress deadline passes then"}}})
	t.put(scheduler1, event.QueueChanged{Queue: "scheduler", Parts: map[string]int{"active": 0, "backoff": 0, "unschedulable": 0}})
	return t
}

// trouble has evictions, a pod that fits nowhere, one that backs off, a controller that fails, a container that is held back.
func trouble() *tape {
	t := from(fixture.Trouble(4))
	for _, name := range order {
		t.put(manager1, event.QueueChanged{Queue: name})
	}
	t.Beat()
	t.Beat()
	attempt := t.put(scheduler1, event.SchedulingAttempt{Pod: kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: "big"}, Attempt: 3, Nodes: 7, Message: "0/7 nodes are available: 7 Insufficient cpu."})
	t.put(scheduler1, event.QueueChanged{Queue: "scheduler", Waiting: 12, InWork: 2, Delayed: 2, NextDue: t.now().Add(4 * time.Second), Parts: map[string]int{"active": 12, "backoff": 1, "unschedulable": 1},
		Added: 40, Done: 26, Retried: 3, Failing: 2, Oldest: t.now().Add(-7 * time.Second), Peak: 19, Waited: time.Second, Items: []event.QueueItem{
			{Key: "default/next-0", State: event.ItemActive, Since: t.now().Add(-7 * time.Second), Why: "the pod has no node"},
			{Key: "default/bound-0", State: event.ItemInWork, Since: t.now(), Why: "binding to worker-1"},
			{Key: "default/again", State: event.ItemBackoff, Since: t.now().Add(-time.Second), Due: t.now().Add(4 * time.Second), Why: "the attempt failed", Retries: 2},
			{Key: "default/big", State: event.ItemUnschedulable, Since: t.now().Add(-20 * time.Second), Due: t.now().Add(280 * time.Second), Why: "refused by NodeResourcesFit",
				Moves: "a pod leaves or shrinks, or a node grows or is new", Retries: 3, Cause: attempt}}})
	var items []event.QueueItem
	for i := range event.QueueItemsMax {
		items = append(items, event.QueueItem{Key: fmt.Sprint("default/evicted-", i), State: event.ItemDelayed, Since: t.now().Add(-22 * time.Second), Due: t.now().Add(278*time.Second + time.Duration(i)),
			Why: "tolerates node.kubernetes.io/unreachable:NoExecute for 5m0s"})
	}
	t.put(manager1, event.QueueChanged{Queue: "taint_eviction_timed", Delayed: 12, NextDue: items[0].Due, Added: 12, Items: items})
	t.put(manager1, event.QueueChanged{Queue: "replicaset", Delayed: 1, NextDue: t.now().Add(time.Second), Added: 9, Done: 9, Retried: 4, Failing: 1, Items: []event.QueueItem{{Key: "default/web",
		State: event.ItemDelayed, Since: t.now(), Due: t.now().Add(time.Second), Why: "retry after an error: quota exceeded", Retries: 4}}})
	t.wait(time.Second)
	return t
}

func TestACalmClusterFoldsWhatRestsAndSaysSo(t *testing.T) {
	text := viewtest.Text(View{}, calm().frame(100, 28))
	viewtest.Says(t, text, "nothing is stuck: 0 waiting, 0 in work, 1 delayed", "scheduler  ★ master-3", "☆ master-1, master-2 standing by", "controller-manager  ★ master-2", "+9 idle: replicaset",
		"9m00s", "+7 kubelets hold back no container", "24 watches", "scheduler on master-1, master-2")
	viewtest.Hides(t, text, "taint_eviction_timed  ", "✗")
}

func TestIdleQueuesAreListedOnDemandAndWhereThereIsRoom(t *testing.T) {
	f := calm().frame(100, 28)
	v, left := viewtest.Do(View{}, f, intent.Option{Name: "idle"})
	viewtest.Says(t, viewtest.Text(v, f), "garbagecollector orphan")
	viewtest.Hides(t, viewtest.Text(v, f), "idle:")
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	viewtest.Says(t, viewtest.Text(View{}, calm().frame(200, 60)), "garbagecollector orphan", "noexec_taint_node")
}

func TestTroubleComesFirstAndSaysWhyAndUntilWhen(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		text := viewtest.Text(View{}, trouble().frame(size[0], size[1]))
		viewtest.Says(t, text, "5 queues are stuck or retry", "○ unschedulable", "<4m39s", "○ replicaset", "1/4", "taint_eviction_timed", "4m37s", "+5 kubelets",
			"pod default/again → scheduler/master-3", "in 3s: the attempt failed", "12 pods on tainted nodes → eviction", "pod default/big → scheduler/master-3")
		if strings.Index(text, "○ replicaset") > strings.Index(text, "· taint_eviction_timed") {
			t.Error("a queue that fails comes after one that does not")
		}
	}
}

func TestEverySelectedThingIsWhatKeysActOn(t *testing.T) {
	f := trouble().frame(120, 40)
	step := func(v view.View, intents ...intent.Intent) view.View { v, _ = viewtest.Do(v, f, intents...); return v }
	at := func(v view.View) target.Target { return v.(view.Selector).Selection(f) }
	var v view.View = View{}
	active := target.Target{Kind: target.Queue, Host: "master-3", Process: "scheduler", Name: "scheduler", Type: "active"}
	if got := at(v); got != active { // the first that is stuck
		t.Fatalf("before anything was chosen: %+v", got)
	}
	parked := step(v, intent.Move{DY: 1}, intent.Move{DY: 1})
	if got := at(parked); got.Type != "unschedulable" {
		t.Fatalf("two below: %+v", got)
	}
	item := step(parked, intent.Enter{})
	if got := at(item); got != (target.Target{Kind: target.Pod, Namespace: "default", Name: "big"}) {
		t.Fatalf("its item: %+v", got)
	}
	_, left := viewtest.Do(item, f, intent.Enter{})
	if o, ok := left[0].(intent.Open); !ok || o.Page != "detail" || o.Target.Name != "big" {
		t.Errorf("enter on an item gives %+v", left)
	}
	_, left = viewtest.Do(item, f, intent.Chain{})
	if o, ok := left[0].(intent.Open); !ok || o.Page != "chain" || o.Seq == 0 {
		t.Errorf("the chain of an item is %+v", left)
	}
	waiting := step(item, intent.Next{By: 1})
	if got := at(waiting); got.Kind == target.Nothing || waiting.(View).pane != waitsPane {
		t.Errorf("tab leads to %+v", got)
	}
	if got := at(step(waiting, intent.Back{})); got != at(parked) {
		t.Errorf("back from there to %+v", got)
	}
	if _, left := viewtest.Do(parked, f, intent.Back{}); len(left) != 1 || left[0] != (intent.Back{}) {
		t.Errorf("a back that is not used is %v", left)
	}
	last := step(v, intent.Edge{To: 1})
	if got := at(last); got.Process != "kubelet" {
		t.Errorf("the last is %+v", got)
	}
	if got := at(step(last, intent.Edge{To: -1})); got != active {
		t.Errorf("the first is %+v", got)
	}
	if got := at(step(v, intent.Page{By: 1})); got == active {
		t.Error("a page down goes nowhere")
	}
	if got := at(step(v, intent.Next{By: -1}, intent.Next{By: 1})); got != active {
		t.Errorf("once round: %+v", got)
	}
	if got := at(step(v, intent.Move{DX: 1}, intent.Move{DX: 1}, intent.Move{DX: -1})); got.Kind != target.Pod {
		t.Errorf("right, right, left: %+v", got)
	}
	for name, other := range map[string]intent.Intent{"a key of the root": intent.Detail{}, "an option of another view": intent.Option{Name: "wide"}, "find": intent.Find{}, "why": intent.Why{}} {
		if _, left := viewtest.Do(v, f, other); len(left) != 1 || left[0] != other {
			t.Errorf("%s comes back as %v", name, left)
		}
	}
}

func TestTheSelectionStaysWhereverItsQueueGoes(t *testing.T) {
	x := trouble()
	v, _ := viewtest.Do(View{}, x.frame(120, 40), intent.Select{Target: target.Target{Kind: target.Queue, Host: "master-2", Process: "controller-manager", Name: "taint_eviction_timed"}},
		intent.Enter{}, intent.Move{DY: 1})
	if got := v.(view.Selector).Selection(x.frame(120, 40)); got.Name != "evicted-1" {
		t.Fatalf("selected %+v", got)
	}
	x.wait(time.Second)
	x.put(manager1, event.QueueChanged{Queue: "deployment", Failing: 1, Delayed: 1, Items: []event.QueueItem{{Key: "default/nginx", State: event.ItemDelayed, Retries: 1}}}) // now stuck: goes above
	x.put(manager1, event.QueueChanged{Queue: "taint_eviction_timed", Delayed: 2, Items: []event.QueueItem{
		{Key: "default/new", State: event.ItemDelayed, Since: x.now()}, {Key: "default/evicted-1", State: event.ItemDelayed, Since: x.now()}}})
	f := x.frame(120, 40)
	if got := v.(view.Selector).Selection(f); got.Name != "evicted-1" {
		t.Errorf("the item was lost: %+v", got)
	}
	viewtest.Says(t, viewtest.Text(v, f), "▸ ◌ delayed   default/evicted-1", "▸ · taint_eviction_timed")
}

func TestFiltersKeepWhatIsAskedFor(t *testing.T) {
	f := trouble().frame(120, 40)
	v, _ := viewtest.Do(View{}, f, intent.Text{Value: "evict"})
	text := viewtest.Text(v, f)
	viewtest.Says(t, text, "named like \"evict\"", "taint_eviction_timed")
	viewtest.Hides(t, text, "garbagecollector", "○ replicaset")
	if v.(view.Finder).Finding() != "evict" {
		t.Error("the root is not told what is searched for")
	}
	v, _ = viewtest.Do(v, f, intent.Text{Value: "default/web"}) // by the key of an item
	viewtest.Says(t, viewtest.Text(v, f), "○ replicaset")
	v, _ = viewtest.Do(v, f, intent.Match{By: 1}, intent.Match{By: -1}, intent.Text{Value: "nothing like it"})
	viewtest.Says(t, viewtest.Text(v, f), "No queue passes the filter")
	v, _ = viewtest.Do(v, f, intent.Back{}, intent.Trouble{})
	text = viewtest.Text(v, f)
	viewtest.Says(t, text, "only what waits or fails", "○ unschedulable", "○ replicaset")
	viewtest.Hides(t, text, "garbagecollector", "deployment  ", "· taint_eviction_timed", "kubelets hold")
	if _, left := viewtest.Do(v, f, intent.Match{By: 1}); len(left) != 1 {
		t.Error("a match without a search is not for this view")
	}
}

func TestTheMouseChoosesAndGoesIn(t *testing.T) {
	f := trouble().frame(120, 40)
	rows := viewtest.Draw(View{}, f)
	row := func(text string) int {
		for y, l := range rows {
			if strings.Contains(l, text) {
				return y
			}
		}
		t.Fatalf("%q is not drawn", text)
		return 0
	}
	v, _ := viewtest.Do(View{}, f, intent.Point{X: 5, Y: row("taint_eviction_timed ")})
	if got := v.(view.Selector).Selection(f); got.Name != "taint_eviction_timed" {
		t.Fatalf("clicked: %+v", got)
	}
	rows = viewtest.Draw(v, f)
	v, left := viewtest.Do(v, f, intent.Point{X: 5, Y: row("default/evicted-2"), Twice: true})
	if o, ok := left[0].(intent.Open); !ok || o.Target.Name != "evicted-2" {
		t.Errorf("a double click on an item gives %+v", left)
	}
	v, _ = viewtest.Do(v, f, intent.Point{X: 100, Y: row("12 pods on tainted")})
	if v.(View).pane != waitsPane {
		t.Error("a click on a chain does not choose it")
	}
	v, _ = viewtest.Do(v, f, intent.Wheel{By: 1, X: 3, Y: 4})
	if v.(View).pane != queuesPane {
		t.Error("the wheel acts elsewhere than where it is turned")
	}
	small := calm().frame(100, 28)
	rows = viewtest.Draw(View{}, small)
	v, _ = viewtest.Do(View{}, small, intent.Point{X: 6, Y: row("idle:")})
	viewtest.Says(t, viewtest.Text(v, small), "garbagecollector orphan")
}

func TestALostLeaderIsWhatTheEyeMeets(t *testing.T) {
	x := calm()
	x.put("kubelet/master-3", event.ProcessStopped{Host: "master-3", Process: "scheduler", Reason: "killed"})
	x.put("etcd", event.LeaseRenewed{Namespace: "kube-system", Lease: "kube-scheduler", Holder: "master-3_5c1e"})
	x.wait(4 * time.Second)
	text := viewtest.Text(View{}, x.frame(120, 40))
	viewtest.Says(t, strings.Split(text, "\n")[0], "all queues of the scheduler → scheduler → master-3's lease  in 11s")
	viewtest.Says(t, text, "nobody leads: master-3 holds the lease for 11s more", "✗ master-3 down")
	x.wait(20 * time.Second)
	viewtest.Says(t, viewtest.Text(View{}, x.frame(120, 40)), "whoever takes the lease next", "the lease has run out")
}

func TestRequestsThatHangLeadToTheStore(t *testing.T) {
	x := from(fixture.Trouble(4))
	for _, m := range []string{"master-2", "master-3"} {
		x.put(event.On("etcd", m), event.RaftRole{Member: m, Role: "follower", Term: 9})
	}
	x.put("apiserver/master-2", event.QueueChanged{Queue: "requests", InWork: 2, Items: []event.QueueItem{
		{Key: "pods default/web", State: event.ItemInWork, Since: x.now().Add(-3 * time.Second), Why: "create by me, in stage store", By: "controller-manager/master-2"},
		{Key: "leases.coordination.k8s.io kube-node-lease/worker-1", State: event.ItemInWork, Since: x.now().Add(-2 * time.Second), By: "kubelet/worker-1"}}})
	text := viewtest.Text(View{}, x.frame(120, 40))
	viewtest.Says(t, text, "2 requests of controller-manager, kubelet → apiserver/master-2", "a leader of the store", "pods default/web", "leases kube-node-leas…rker-1")
	v, _ := viewtest.Do(View{}, x.frame(120, 40), intent.Enter{})
	if got := v.(view.Selector).Selection(x.frame(120, 40)); got != (target.Target{Kind: target.Pod, Namespace: "default", Name: "web"}) {
		t.Errorf("the request is about %+v", got)
	}
}

func TestNothingToldYetIsExplained(t *testing.T) {
	viewtest.Says(t, viewtest.Text(View{}, viewtest.Frame(nil, 80, 20)), "Nobody waits for anybody.", "nothing is stuck")
}

func TestTextsOfTheClusterCannotActOnTheTerminal(t *testing.T) {
	x := trouble()
	bad := "default/\x1b[31mred\u202e"
	x.put(manager1, event.QueueChanged{Queue: "bad\x1bqueue", Waiting: 1, Failing: 1, Oldest: x.now().Add(-time.Minute), Items: []event.QueueItem{
		{Key: bad, State: event.ItemWaiting, Since: x.now().Add(-time.Minute), Why: "why\x07", Moves: "moves\x1b"}}})
	x.put("evil\x1b/master-1", event.QueueChanged{Queue: "x", InWork: 1})
	f := x.frame(160, 50)
	v, _ := viewtest.Do(View{}, f, intent.Text{Value: "bad"}, intent.Enter{})
	text := viewtest.Text(v, f)
	viewtest.Says(t, text, "<U+001B>")
	if strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("%q", text)
	}
	for _, c := range v.(view.Copier).Clips(f) {
		if strings.ContainsAny(c.Text, "\x1b\x07\u202e") {
			t.Errorf("%s copies %q", c.Label, c.Text)
		}
	}
}

func TestCopiesAreOfWhatIsSelected(t *testing.T) {
	f := trouble().frame(120, 40)
	v, _ := viewtest.Do(View{}, f, intent.Move{DY: 2}, intent.Enter{})
	clips := v.(view.Copier).Clips(f)
	if len(clips) < 3 || clips[0].Text != "default/big" || clips[1].Text != "refused by NodeResourcesFit" {
		t.Errorf("%+v", clips)
	}
	v, _ = viewtest.Do(v, f, intent.Next{By: 1})
	if c := v.(view.Copier).Clips(f); !strings.Contains(c[0].Text, " -> ") {
		t.Errorf("%+v", c)
	}
}

func TestEverySizeIsSafeAndRussianIsComplete(t *testing.T) {
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	calm, bad := calm(), trouble()
	sizes := [][2]int{{80, 24}, {80, 20}, {120, 40}, {200, 60}, {500, 500}, {1, 500}, {500, 1}}
	for w := 0; w <= 120; w += 15 {
		for h := 0; h <= 40; h += 8 {
			sizes = append(sizes, [2]int{w, h})
		}
	}
	fc, fb := calm.frame(0, 0), bad.frame(0, 0)
	for _, size := range sizes {
		for _, f := range []view.Frame{fc, fb} {
			f.W, f.H = size[0], size[1]
			for _, c := range []*words.Catalogue{words.English(), ru} {
				f.Words = c
				for _, do := range [][]intent.Intent{nil, {intent.Enter{}}, {intent.Next{By: -1}, intent.Move{DY: 1}}, {intent.Option{Name: "idle"}, intent.Edge{To: 1}, intent.Point{X: 2, Y: 3, Twice: true}}} {
					v, _ := viewtest.Do(View{}, f, do...)
					if text := viewtest.Text(v, f); strings.Contains(text, "{") {
						t.Fatalf("%v: a word is missing in\n%s", size, text)
					}
				}
			}
		}
	}
	fb.W, fb.H, fb.Words = 120, 40, ru
	viewtest.Says(t, viewtest.Text(View{}, fb), "кто кого ждёт", "в резерве: master-2", "выселение")
}

func TestEqualFramesDrawEqualCells(t *testing.T) {
	f := trouble().frame(160, 50)
	a, b := grid.New(f.W, f.H), grid.New(f.W, f.H)
	View{}.Draw(f, a.Canvas())
	View{}.Draw(f, b.Canvas())
	for y := range f.H {
		for x := range f.W {
			if a.At(x, y) != b.At(x, y) {
				t.Fatalf("cell %d,%d differs", x, y)
			}
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, held := range []int{10, 1_000, 150_000} {
		x := trouble()
		for i := range held {
			x.put(event.On("containerd", fmt.Sprint("worker-", i%5000)), event.ContainerChanged{Node: fmt.Sprint("worker-", i%5000), Pod: kinds.ObjectRef{Namespace: "default",
				Name: fmt.Sprint("p", i), UID: fmt.Sprint(i)}, Container: "c", State: event.ContainerBackoff, Until: x.now().Add(time.Minute)})
		}
		f := x.frame(200, 60)
		g := grid.New(f.W, f.H)
		b.Run(fmt.Sprint(held), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				View{}.Draw(f, g.Canvas())
			}
		})
	}
}
