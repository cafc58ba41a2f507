package podgc

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// The node side of the collector (orphans, out of service) is told in controller/nodelifecycle.

func start(c *apitest.Cluster, threshold int) *Controller {
	pr := c.Process("master-1", "controller-manager", apitest.ControllerManager)
	in := informers.New(pr)
	ctl := New(pr.As(apitest.Controller("pod-garbage-collector")), in)
	ctl.threshold = threshold
	in.Start()
	pr.Go("lead", func(p *sim.Proc) { in.WaitSynced(p); ctl.Start() })
	return ctl
}

func finish(c *apitest.Cluster, name, reason string) {
	c.Create(apitest.Pod(name))
	c.Update(kinds.Pods, "default", name, "status", func(o kinds.Object) {
		o.(*corev1.Pod).Status.Phase, o.(*corev1.Pod).Status.Reason = corev1.PodFailed, reason
	})
}

func names(c *apitest.Cluster) []string {
	var out []string
	for _, o := range c.List(kinds.Pods) {
		out = append(out, o.GetName())
	}
	return out
}

func TestOnlyTheSurplusOfFinishedPodsGoesEvictedAndOldestFirst(t *testing.T) {
	c := apitest.New(t)
	for i := range 4 {
		finish(c, fmt.Sprintf("done-%d", i), "")
		c.Run(2 * time.Second)
	}
	finish(c, "evicted", "Evicted")
	c.Create(apitest.Pod("alive"))
	start(c, 3)
	c.Run(2 * Period)
	if got, want := names(c), []string{"alive", "done-1", "done-2", "done-3"}; !slices.Equal(got, want) {
		t.Fatalf("left are %q, want %q", got, want)
	}
	before := c.Journal.Last()
	c.Run(3 * Period)
	if more := c.LogSince(before, kinds.Pods); len(more) > 0 {
		t.Fatalf("later rounds wrote %q", more)
	}
}

func TestPodsOfANodeThatIsBackWithinTheQuarantineStay(t *testing.T) {
	c := apitest.New(t)
	c.Create(apitest.Node("worker-1"))
	c.Create(apitest.Pod("a", func(p *corev1.Pod) { p.Spec.NodeName = "worker-1" }))
	start(c, TerminatedThreshold)
	c.Run(5 * time.Second)
	if err := c.Delete(kinds.Nodes, "", "worker-1", nil); err != nil {
		t.Fatal(err)
	}
	c.Run(30 * time.Second)
	c.Create(apitest.Node("worker-1"))
	c.Run(5 * time.Minute)
	if got := names(c); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("left are %q", got)
	}
}

func TestRemovalOrder(t *testing.T) {
	pod := func(name string, created int, reason string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(int64(created), 0)},
			Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason}}
	}
	pods := []*corev1.Pod{pod("b", 1, ""), pod("young", 9, "Evicted"), pod("a", 1, ""), pod("old", 0, ""), pod("older", 2, "Evicted")}
	slices.SortFunc(pods, removalOrder)
	var got []string
	for _, p := range pods {
		got = append(got, p.Name)
	}
	if want := []string{"older", "young", "old", "a", "b"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// BenchmarkQuietRound is a round with 20,000 running pods and nothing to collect.
func BenchmarkQuietRound(b *testing.B) {
	c := apitest.New(b)
	pr := c.Process("master-1", "controller-manager", apitest.ControllerManager)
	ctl := New(pr.As(apitest.Controller("pod-garbage-collector")), informers.New(pr))
	for i := range 20000 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint(i)}}
		ctl.podChanged(kubeapi.Change[*corev1.Pod]{New: pod, Type: "ADDED"})
	}
	c.DoAs(pr, func(p *sim.Proc, _ *kubeapi.Client) {
		b.ReportAllocs()
		for b.Loop() {
			ctl.collect(p)
		}
	})
}
