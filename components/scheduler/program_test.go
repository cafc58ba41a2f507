package scheduler_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// refusing is a way to the API server on which the first bindings fail.
type refusing struct {
	kubeapi.Transport
	bindings int
}

func (f *refusing) Do(p *sim.Proc, r *kubeapi.Request) (*kubeapi.Response, error) {
	if r.Subresource == "binding" && f.bindings > 0 {
		f.bindings--
		return &kubeapi.Response{Err: apierrors.NewInternalError(errors.New("no luck"))}, nil
	}
	return f.Transport.Do(p, r)
}

func TestAFailedBindingGivesTheRoomBackAndIsTriedAgain(t *testing.T) {
	c, pr := settled(t, 1)
	pr.Client.Transport = &refusing{pr.Client.Transport, 3}
	from := c.Loop.Now()
	create(t, c, fixture.Pod("p: cpu 3"))
	c.Run(500 * time.Millisecond)
	const message = `running Bind plugin "DefaultBinder": Internal error occurred: no luck`
	if es := events(c, "p", "FailedScheduling"); len(es) != 1 || es[0].Message != message {
		t.Errorf("events %+v", es)
	}
	if cd := conditionOf(c, "p", corev1.PodScheduled); cd.Status != "False" || cd.Reason != "SchedulerError" || cd.Message != message {
		t.Errorf("condition %+v", cd)
	}
	c.Run(30 * time.Second)
	var at []time.Duration
	for _, r := range c.Records() {
		if _, ok := r.Event.(event.SchedulingAttempt); ok {
			at = append(at, r.At.Sub(from).Round(time.Second))
		}
	}
	if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}; !slices.Equal(at, want) || nodeOf(c, "p") != "worker-1" {
		t.Errorf("tried at %v, on %q", at, nodeOf(c, "p"))
	}

	pr.Client.Transport.(*refusing).bindings = 1
	zero := int64(0)
	if err := c.Delete(kinds.Pods, "default", "p", &metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	create(t, c, fixture.Pod("q: cpu 3"))
	c.Run(100 * time.Millisecond)
	create(t, c, fixture.Pod("r: cpu 3"))
	c.Run(10 * time.Second)
	if nodeOf(c, "r") != "worker-1" || nodeOf(c, "q") != "" {
		t.Errorf("while q backed off, r should take the room: q on %q, r on %q", nodeOf(c, "q"), nodeOf(c, "r"))
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
