package scheduler_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler"
	"example.com/kubeviz/components/scheduler/internal/fixture"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// The scheduler acts on a picture a second old: somebody else has placed the pod meanwhile.
func TestABindingThatComesTooLateIsDropped(t *testing.T) {
	c, pr := settled(t, 2)
	c.Net.AddFault(1, fault.Fault{Kind: fault.Delay, A: pr.Addr.String(), B: "master-1/apiserver", Duration: time.Second})
	create(t, c, fixture.Pod("p: cpu 3"))
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		p.Sleep(1050 * time.Millisecond) // the scheduler has heard of the pod, and its binding is under way
		pod, err := kubeapi.Fetch[*corev1.Pod](p, client, kinds.Pods, "default", "p")
		if err == nil {
			err = kubeapi.Bind(p, client, pod, "worker-2")
		}
		if err != nil {
			t.Error(err)
		}
	})
	c.Run(30 * time.Second)
	if n := nodeOf(c, "p"); n != "worker-2" || len(attempts(c, "p")) != 1 {
		t.Errorf("on %q after %d attempts", n, len(attempts(c, "p")))
	}
	if len(events(c, "p", "FailedScheduling"))+len(events(c, "p", "Scheduled")) != 0 {
		t.Error("the scheduler told of a binding that was not its own")
	}
	create(t, c, fixture.Pod("q: cpu 3")) // fits beside p only if p is counted where it is
	c.Run(30 * time.Second)
	if n := nodeOf(c, "q"); n != "worker-1" {
		t.Errorf("the next pod is on %q", n)
	}
}

func TestAnOrderToStopReleasesTheLease(t *testing.T) {
	c := apitest.New(t)
	c.Nodes(1)
	stop := &sim.Future[event.Seq]{}
	pr := c.Process("master-1", "scheduler", apitest.Scheduler)
	scheduler.Start(pr, scheduler.Config{Stop: stop})
	c.Run(5 * time.Second)
	c.Loop.Soon(func() { stop.Set(1) })
	c.Run(5 * time.Second)
	if want := []string{pr.Addr.String() + ": stopped"}; !slices.Equal(c.Exits, want) {
		t.Errorf("exits %v, want %v", c.Exits, want)
	}
	start(c, "master-2")
	create(t, c, fixture.Pod("p: cpu 1"))
	c.Run(time.Second)
	if nodeOf(c, "p") == "" {
		t.Error("the next scheduler did not take over at once")
	}
}

func TestTheQueueIsVisible(t *testing.T) {
	c, _ := settled(t, 1)
	create(t, c, fixture.Pod("a: selector disk=ssd"))
	create(t, c, fixture.Pod("b: cpu 100"))
	create(t, c, fixture.Pod("c: gate example.com/ready"))
	create(t, c, fixture.Pod("d: cpu 1"))
	c.Run(10 * time.Second)
	var last event.QueueChanged
	where := map[string]string{}
	for _, r := range c.Records() {
		switch e := r.Event.(type) {
		case event.QueueChanged:
			last = e
		case event.PodQueued:
			where[e.Pod.Name] += e.Queue + " "
			if r.Cause == 0 {
				t.Errorf("no cause: %+v", e)
			}
		}
	}
	if last.Waiting != 0 || last.InWork != 0 || last.Parts["unschedulable"] != 3 {
		t.Errorf("the queue ends as %+v", last)
	}
	for pod, want := range map[string]string{"a": "active unschedulable ", "b": "active unschedulable ", "c": "unschedulable ", "d": "active "} {
		if where[pod] != want {
			t.Errorf("%s went through %q, want %q", pod, where[pod], want)
		}
	}
	if len(attempts(c, "c")) != 0 {
		t.Error("a gated pod was tried")
	}
}

func TestReplicasSpreadOverNodes(t *testing.T) {
	c, _ := settled(t, 3)
	rs := c.Create(apitest.ReplicaSet("web", 6))
	for i := range 6 {
		pod := apitest.Pod("web-" + string(rune('a'+i)))
		pod.Labels = map[string]string{"app": "web"}
		yes := true
		owner := fixture.Pod("x: owner web").OwnerReferences[0]
		owner.UID, owner.Controller = rs.GetUID(), &yes
		pod.OwnerReferences = append(pod.OwnerReferences, owner)
		create(t, c, pod)
	}
	c.Run(5 * time.Second)
	got := map[string]int{}
	for _, o := range c.List(kinds.Pods) {
		got[o.(*corev1.Pod).Spec.NodeName]++
	}
	for _, n := range []string{"worker-1", "worker-2", "worker-3"} {
		if got[n] != 2 {
			t.Errorf("6 replicas are spread as %v", got)
			break
		}
	}
}
