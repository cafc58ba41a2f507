package mapview

import (
	"fmt"
	"reflect"
	"testing"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/layout"
	"example.com/kubeviz/tui/motion"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/target"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
)

var meanings = map[string]intent.Intent{
	"left": intent.Move{DX: -1}, "right": intent.Move{DX: 1}, "up": intent.Move{DY: -1}, "down": intent.Move{DY: 1}, "next": intent.Next{By: 1}, "before": intent.Next{By: -1},
	"enter": intent.Enter{}, "back": intent.Back{}, "pgdown": intent.Page{By: 1}, "pgup": intent.Page{By: -1}, "home": intent.Edge{To: -1}, "end": intent.Edge{To: 1},
	"scale": intent.Option{Name: "scale"}, "trouble": intent.Trouble{}, "n": intent.Match{By: 1}, "N": intent.Match{By: -1},
}

// press gives a view keys by what they mean; none of them may be left to the root.
func press(t *testing.T, v View, f view.Frame, keys ...string) View {
	t.Helper()
	for _, k := range keys {
		next, left := viewtest.Do(v, f, meanings[k])
		if len(left) > 0 {
			t.Errorf("%s is left to the root: %+v", k, left)
		}
		v = next.(View)
	}
	return v
}

func master(n int) scene.Target {
	return scene.Target{Kind: scene.Master, Host: fmt.Sprintf("master-%d", n)}
}

func worker(n int) scene.Target {
	return scene.Target{Kind: scene.Worker, Host: fmt.Sprintf("worker-%d", n)}
}

func TestArrowsReachEverything(t *testing.T) {
	healthy := fixture.Healthy(4).Records
	for _, s := range sizes {
		f := viewtest.Frame(healthy, s.w, s.h)
		for _, c := range []struct {
			keys []string
			want scene.Target
		}{
			{[]string{"right"}, master(1)},
			{[]string{"right", "right"}, master(2)},
			{[]string{"right", "right", "right", "right"}, master(3)},
			{[]string{"right", "right", "left"}, master(1)},
		} {
			if got := press(t, View{}, f, c.keys...).selected; got != c.want {
				t.Errorf("%dx%d: %v selects %+v, want %+v", s.w, s.h, c.keys, got, c.want)
			}
		}
		if got := press(t, View{}, f, "right", "down").selected; got.Process != "etcd" {
			t.Errorf("%dx%d: under the masters is %+v, not the raft lane", s.w, s.h, got)
		}
		lane := View{selected: etcdOf("master-1")}
		if a, b := press(t, lane, f, "right").selected, press(t, lane, f, "right", "right", "right", "left").selected; a != etcdOf("master-2") || b != etcdOf("master-2") {
			t.Errorf("%dx%d: along the raft lane are %+v, %+v", s.w, s.h, a, b)
		}
		v := View{selected: worker(2)}
		for _, c := range []struct {
			key  string
			want scene.Target
		}{{"left", worker(1)}, {"right", worker(3)}} {
			if got := press(t, v, f, c.key).selected; got != c.want {
				t.Errorf("%dx%d: %s of worker-2 is %+v", s.w, s.h, c.key, got)
			}
		}
		if got := press(t, View{selected: worker(4)}, f, "right").selected; got != worker(4) {
			t.Errorf("right of the last worker is %+v", got)
		}
		if got := press(t, View{selected: worker(1)}, f, "up", "up", "up", "up", "up").selected; got.Host == "worker-1" {
			t.Errorf("%dx%d: up does not leave the workers", s.w, s.h)
		}
	}
	f := viewtest.Frame(healthy, 120, 34)
	if got := press(t, View{selected: master(1)}, f, "left").selected; got != balancerTarget {
		t.Errorf("left of the masters is %+v", got)
	}
	if got := press(t, View{selected: balancerTarget}, f, "left").selected; got.Kind != target.Client {
		t.Errorf("left of the balancer is %+v", got)
	}
}

func TestTabGoesRoundThroughEverything(t *testing.T) {
	for _, s := range sizes {
		f := viewtest.Frame(fixture.Trouble(4).Records, s.w, s.h)
		seen := map[scene.Target]bool{}
		v := press(t, View{}, f, "next")
		for range 40 {
			seen[v.selected] = true
			v = press(t, v, f, "next")
		}
		for _, want := range []scene.Target{master(1), master(3), etcdOf("master-2"), worker(1), worker(4), balancerTarget, clientTarget(motion.You), {Kind: scene.Pod, Namespace: "default", Name: "big"}} {
			if !seen[want] {
				t.Errorf("%dx%d: tab never comes to %+v", s.w, s.h, want)
			}
		}
		a := press(t, View{}, f, "next", "next").selected
		if b := press(t, View{}, f, "next", "next", "next", "before").selected; a != b {
			t.Errorf("shift+tab does not go back: %+v, %+v", a, b)
		}
	}
}

func TestWithNothingSelectedOneBeginsWhereTheTroubleIs(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(4).Records, 120, 34)
	if got := press(t, View{}, f, "down").selected; got != master(1) {
		t.Errorf("the first arrow selects %+v", got)
	}
}

func TestEnterGoesInAndEscComesOut(t *testing.T) {
	for _, s := range sizes {
		f := viewtest.Frame(fixture.Healthy(4).Records, s.w, s.h)
		v := press(t, View{selected: worker(2)}, f, "enter")
		if v.inside != "worker-2" || v.selected.Kind != scene.Pod {
			t.Fatalf("enter selects %+v", v.selected)
		}
		v = press(t, v, f, "down")
		has(t, drawn(v, f), v.selected.Name[len(v.selected.Name)-5:])
		_, left := viewtest.Do(v, f, intent.Enter{})
		if want := []intent.Intent{intent.Open{Page: "detail", Target: v.selected}}; !reflect.DeepEqual(left, want) {
			t.Errorf("enter on a pod gives %+v", left)
		}
		v = press(t, v, f, "end")
		if v.selected.Kind != scene.Process || v.selected.Process != "kubelet" {
			t.Errorf("the last part is %+v", v.selected)
		}
		v = press(t, v, f, "back")
		if v.inside != "" || v.selected != worker(2) {
			t.Errorf("esc selects %+v", v.selected)
		}
		v = press(t, v, f, "back")
		if v.selected != (scene.Target{}) {
			t.Errorf("esc leaves %+v selected", v.selected)
		}
		if _, left := viewtest.Do(v, f, intent.Back{}); !reflect.DeepEqual(left, []intent.Intent{intent.Back{}}) {
			t.Errorf("with nothing to leave, esc gives %+v", left)
		}
		v = press(t, View{selected: master(3)}, f, "enter", "down")
		if v.selected != (scene.Target{Kind: scene.Process, Host: "master-3", Process: "etcd"}) {
			t.Errorf("inside a master: %+v", v.selected)
		}
	}
}

func TestEnterOnOtherThings(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(4).Records, 120, 34)
	big := scene.Target{Kind: scene.Pod, Namespace: "default", Name: "big"}
	for _, c := range []struct {
		on   scene.Target
		want []intent.Intent
	}{
		{clientTarget(motion.You), []intent.Intent{intent.Console{}}},
		{clientTarget(motion.Scheduler), []intent.Intent{intent.Open{Page: "detail", Target: clientTarget(motion.Scheduler)}}},
		{balancerTarget, []intent.Intent{intent.Open{Page: "detail", Target: balancerTarget}}},
		{big, []intent.Intent{intent.Open{Page: "detail", Target: big}}},
		{etcdOf("master-2"), []intent.Intent{intent.Show{View: "raft"}, intent.Select{Target: etcdOf("master-2")}}},
	} {
		if _, left := viewtest.Do(View{selected: c.on}, f, intent.Enter{}); !reflect.DeepEqual(left, c.want) {
			t.Errorf("enter on %+v gives %+v", c.on, left)
		}
	}
}

func TestZonesAreEnteredAndLeft(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(400).Records, 120, 34)
	v := View{selected: zoneTarget(f, zoom{from: 100, n: 100})}
	has(t, drawn(v, f), "▸worker-101…200", "100 workers")
	v = press(t, v, f, "enter")
	if v.zoom != (zoom{from: 100, n: 100}) || v.selected.Kind != scene.Worker {
		t.Fatalf("zoomed to %+v, selected %+v", v.zoom, v.selected)
	}
	has(t, drawn(v, f), "‹ worker-101…200", "100 workers", "worker-101")
	v = press(t, v, f, "right", "enter")
	if v.inside == "" {
		t.Fatalf("enter on %+v does not go in", v.selected)
	}
	has(t, drawn(v, f), v.inside, "kubelet")
	v = press(t, v, f, "back", "back")
	if v.zoom != (zoom{}) || v.selected != zoneTarget(f, zoom{from: 100, n: 100}) {
		t.Errorf("esc comes out at %+v, %+v", v.zoom, v.selected)
	}
	zf := zoned(120, 34)
	z := press(t, View{scale: asCells, selected: zoneTarget(zf, zoom{labelled: true, label: "zone-b"})}, zf, "enter")
	if z.zoom != (zoom{labelled: true, label: "zone-b"}) {
		t.Errorf("enter on a zone by label: %+v", z.zoom)
	}
	has(t, drawn(z, zf), "‹ zone-b", "10 workers")
}

func TestTheScaleKeyGoesRound(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(60).Records, 120, 34)
	has(t, drawn(View{}, f), "one cell = 1 worker")
	v := press(t, View{}, f, "scale")
	has(t, drawn(v, f), "0 above")
	v = press(t, v, f, "scale")
	has(t, drawn(v, f), "one cell = ")
	if v = press(t, v, f, "scale"); v.scale != byRoom {
		t.Errorf("scale is %v", v.scale)
	}
}

func TestRowsScrollUnderTheSelectionAndTheWheel(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(400).Records, 80, 19)
	v := press(t, View{scale: asRows}, f, "pgdown")
	if v.top == 0 {
		t.Error("a page down does not scroll")
	}
	first := v.selected
	v = press(t, v, f, "home")
	if v.top != 0 || v.selected != worker(1) {
		t.Errorf("home is at %d, %+v", v.top, v.selected)
	}
	v = press(t, v, f, "end")
	if v.selected != worker(400) {
		t.Errorf("end selects %+v", v.selected)
	}
	v = press(t, v, f, "up")
	if v.selected == worker(400) || first == v.selected {
		t.Errorf("up selects %+v", v.selected)
	}
	got, _ := viewtest.Do(View{scale: asRows}, f, intent.Wheel{By: 1})
	if got.(View).top != 3 {
		t.Errorf("the wheel scrolls to %d", got.(View).top)
	}
	down := press(t, View{scale: asRows}, f, "home")
	for range 30 {
		down = press(t, down, f, "down")
	}
	if down.selected.Host == "worker-1" || down.top == 0 {
		t.Errorf("going down stops at %+v, top %d", down.selected, down.top)
	}
}

func TestTheSelectionNeverJumps(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(60).Records, 120, 34)
	v := View{selected: worker(17)}
	f = apply(f, event.MachineDown{Host: "worker-3", Reason: "killed"}, event.MachineUp{Host: "worker-0"}, event.MachineDown{Host: "master-1", Reason: "killed"})
	if v.Selection(f) != worker(17) {
		t.Errorf("it selects %+v", v.Selection(f))
	}
	has(t, drawn(v, f), "worker-17")
}

func TestTheMouseSelectsAndTheSecondClickGoesIn(t *testing.T) {
	for _, s := range sizes {
		f := viewtest.Frame(fixture.Healthy(4).Records, s.w, s.h)
		p := makePlan(f, View{})
		middle := func(r layout.Rect, twice bool) intent.Point {
			return intent.Point{X: r.X + r.W/2, Y: r.Y + r.H/2, Twice: twice}
		}
		for _, list := range [][]placed{p.masters, p.floor.cards} {
			for _, m := range list {
				v, _ := viewtest.Do(View{}, f, middle(m.rect, false))
				if v.(View).selected != m.target {
					t.Errorf("a click on %+v selects %+v", m.target, v.(View).selected)
				}
				v, _ = viewtest.Do(v, f, middle(m.rect, true))
				if v.(View).inside != m.target.Host {
					t.Errorf("the second click on %+v does not go in", m.target)
				}
			}
		}
		if v, _ := viewtest.Do(View{}, f, middle(p.balancer, false)); v.(View).selected.Kind != scene.Balancer && !p.users.Empty() {
			t.Errorf("a click on the balancer selects %+v", v.(View).selected)
		}
	}
	f := viewtest.Frame(fixture.Healthy(400).Records, 120, 34)
	p := makePlan(f, View{})
	b := p.floor.blocks[1]
	x, y := b.cellAt(7, 1)
	if v, _ := viewtest.Do(View{}, f, intent.Point{X: x, Y: y}); v.(View).selected != workerAt(f, b.members[7]) {
		t.Errorf("a click on a cell selects %+v", v.(View).selected)
	}
}

func TestFindGoesToMachinesAndPodsByName(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(400).Records, 120, 34)
	f = apply(f, event.ObjectChanged{Type: event.Added, Object: namespace("default")})
	got, _ := viewtest.Do(View{}, f, intent.Text{Value: "worker-30"})
	v := got.(View)
	if v.selected != worker(30) || v.Finding() != "worker-30" {
		t.Errorf("it finds %+v", v.selected)
	}
	if v = press(t, v, f, "n"); v.selected != worker(300) {
		t.Errorf("the next is %+v", v.selected)
	}
	if v = press(t, v, f, "N"); v.selected != worker(30) {
		t.Errorf("the one before is %+v", v.selected)
	}
	got, _ = viewtest.Do(View{}, f, intent.Text{Value: "web-"})
	if v = got.(View); v.selected.Kind != scene.Pod || v.inside != v.selected.Host {
		t.Errorf("a pod is found as %+v in %q", v.selected, v.inside)
	}
	if _, left := viewtest.Do(View{}, f, intent.Find{}); len(left) != 1 {
		t.Error("find is not left to the root")
	}
}

func TestTheTroubleKeyGoesFromOneToTheNext(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(400).Records, 120, 34)
	seen := map[string]bool{}
	v := View{}
	for range 4 {
		v = press(t, v, f, "trouble")
		seen[v.selected.Host+v.selected.Name] = true
	}
	for _, want := range []string{"master-1", "worker-3", "big"} {
		if !seen[want] {
			t.Errorf("it does not come to %s: %v", want, seen)
		}
	}
}

func TestSelectShowsWhereAThingIs(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(1500).Records, 80, 19)
	got, _ := viewtest.Do(View{}, f, intent.Select{Target: worker(1321)})
	v := got.(View)
	if v.selected != worker(1321) || v.zoom == (zoom{}) {
		t.Errorf("selected %+v in %+v", v.selected, v.zoom)
	}
	has(t, drawn(v, f), "‹ worker-1")
}

func TestWhatIsNotForTheMapIsLeftToTheRoot(t *testing.T) {
	f := viewtest.Frame(fixture.Healthy(4).Records, 120, 34)
	for _, i := range []intent.Intent{intent.Chain{}, intent.Why{}, intent.Detail{}, intent.Power{}, intent.Show{View: "raft"}, intent.Option{Name: "other"}, intent.Copy{}} {
		if _, left := viewtest.Do(View{}, f, i); !reflect.DeepEqual(left, []intent.Intent{i}) {
			t.Errorf("%T gives %+v", i, left)
		}
	}
}

func TestWhatCanBeCopied(t *testing.T) {
	f := viewtest.Frame(fixture.Trouble(4).Records, 120, 34)
	clips := View{selected: worker(3)}.Clips(f)
	if len(clips) != 2 || clips[0].Text != "worker-3" {
		t.Fatalf("%+v", clips)
	}
	has(t, clips[1].Text, "cut worker-3 all", "NodeStatusUnknown")
	has(t, View{}.Clips(f)[0].Text, "master-1 is off")
}
