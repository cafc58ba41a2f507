package mapview

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/scene"
	"example.com/kubeviz/tui/view"
	"example.com/kubeviz/tui/view/viewtest"
)

// crowd is a cluster with some trouble, workers and pods, all of them running.
func crowd(workers, pods, w, h int) view.Frame {
	f := viewtest.Frame(fixture.Trouble(workers).Records, w, h)
	for i := range pods {
		node := fmt.Sprintf("worker-%d", i%workers+1)
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "load", Name: fmt.Sprintf("app%d-6d4cf56db6-%06d", i%40, i), UID: types.UID(fmt.Sprint("u", i)), Labels: map[string]string{"pod-template-hash": "6d4cf56db6"}},
			Spec:   corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}}
		f.World.Apply(event.Record{Seq: f.World.Seq + 1, At: f.World.At, Event: event.ObjectChanged{Type: event.Added, Object: p}})
		f.World.Apply(event.Record{Seq: f.World.Seq + 1, At: f.World.At, Event: event.ContainerChanged{Node: node, Pod: kinds.RefOf(p), Container: "c", State: event.ContainerRunning}})
	}
	return f
}

// BenchmarkFrame is a frame of the map with all that it needs: some leases are renewed, the scene is made, the map is drawn.
func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct{ workers, pods int }{{4, 10}, {40, 1_000}, {400, 12_000}, {5_000, 150_000}} {
		for _, size := range []struct{ w, h int }{{80, 20}, {200, 55}} {
			b.Run(fmt.Sprintf("%dworkers-%dpods-%dx%d", c.workers, c.pods, size.w, size.h), func(b *testing.B) {
				f := crowd(c.workers, c.pods, size.w, size.h)
				maker := &scene.Maker{}
				g := grid.New(size.w, size.h)
				f.Scene = maker.Of(f.World, f.Now)
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					for range min(c.workers/10, 50) { // what a frame brings at 10 times the pace
						n++
						host := fmt.Sprintf("worker-%d", n%c.workers+1)
						f.World.Apply(event.Record{Seq: f.World.Seq + 1, At: f.World.At.Add(time.Millisecond), Event: event.LeaseRenewed{Namespace: "kube-node-lease", Lease: host, Holder: host}})
					}
					f.Now = f.World.At
					f.Scene = maker.Of(f.World, f.Now)
					g.Reset()
					View{}.Draw(f, g.Canvas())
				}
			})
		}
	}
}
