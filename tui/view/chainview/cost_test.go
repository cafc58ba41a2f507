package chainview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
)

var podsKind = kinds.Pods

func podNamed(f view.Frame, prefix string) string {
	out := ""
	f.World.Pods.Scan(func(_ string, p *world.Pod) bool {
		if strings.HasPrefix(p.Object.Name, prefix) {
			out = p.Object.Name
		}
		return out == ""
	})
	return out
}

// many is a command that n containers follow from directly, each with two records of its own, on a cluster that goes on.
func many(n int) (view.Frame, event.Seq) {
	tp := newTape()
	command := tp.put(event.You, 0, event.CommandGiven{Text: "kubectl create deployment web --image=nginx"})
	for i := range n {
		ref := kinds.ObjectRef{Resource: "pods", Namespace: "default", Name: fmt.Sprint("web-", i)}
		made := tp.after(time.Millisecond).put("scheduler/master-1", command, event.SchedulingAttempt{Pod: ref, Node: "worker-1"})
		tp.put("containerd/worker-1", made, event.ContainerChanged{Node: "worker-1", Pod: ref, Container: "c", State: event.ContainerRunning})
	}
	return viewtest.Frame(tp.recs, 200, 60), command
}

func TestThousandsOfEffectsAreFoldedAndCostNoMore(t *testing.T) {
	f, command := many(5_000)
	v := New(intent.Open{Seq: command}, f)
	lines := viewtest.Draw(v, f)
	if !has(lines, "×512+") {
		t.Errorf("effects are not folded, or nobody says that there are more:\n%s", strings.Join(lines[:8], "\n"))
	}
	p := v.look(f)
	if n := len(p.tree.all); n > hopsMax+effectsMax {
		t.Errorf("%d hops were followed", n)
	}
	all, _ := viewtest.Do(v, f, intent.Option{Name: "expand"})
	if n := len(all.(View).look(f).rows); n > rowsMax+1 {
		t.Errorf("%d rows", n)
	}
	viewtest.Draw(all, f)
}

func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{10, 1000, 150_000} {
		b.Run(fmt.Sprint(n, " pods"), func(b *testing.B) {
			f, command := many(n)
			v := New(intent.Open{Seq: command}, f)
			g := grid.New(f.W, f.H)
			b.ReportAllocs()
			for b.Loop() {
				g.Reset()
				v.Draw(f, g.Canvas())
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10, 1000, 150_000} {
		b.Run(fmt.Sprint(n, " pods"), func(b *testing.B) {
			f, command := many(n)
			b.ReportAllocs()
			for b.Loop() {
				New(intent.Open{Seq: command}, f).look(f)
			}
		})
	}
}
