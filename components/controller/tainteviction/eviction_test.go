package tainteviction

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// The story with the node lifecycle controller is told in its package; here a user taints by hand.

func begin(t *testing.T) (*apitest.Cluster, *Controller) {
	c := apitest.New(t)
	c.Nodes(1)
	pr := c.Process("master-1", "controller-manager", apitest.ControllerManager)
	in := informers.New(pr)
	ctl := New(pr.As(apitest.Controller("node-controller")), in)
	in.Start()
	pr.Go("lead", func(p *sim.Proc) { in.WaitSynced(p); ctl.Start() })
	c.Run(time.Second)
	return c, ctl
}

func on(tolerations ...corev1.Toleration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName, p.Spec.Tolerations = "worker-1", tolerations }
}

func taint(c *apitest.Cluster, taints ...corev1.Taint) {
	c.Update(kinds.Nodes, "", "worker-1", "", func(o kinds.Object) { o.(*corev1.Node).Spec.Taints = taints })
}

func tolerate(key string, seconds int64) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
}

var maintenance = corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}

func deleting(c *apitest.Cluster) (names []string) {
	for _, o := range c.List(kinds.Pods) {
		if o.GetDeletionTimestamp() != nil {
			names = append(names, o.GetName())
		}
	}
	return names
}

// facts lists plans and cancellations, and the controller's events by message.
func facts(c *apitest.Cluster) (out []string) {
	for _, r := range c.Records() {
		switch e := r.Event.(type) {
		case event.EvictionPlanned:
			out = append(out, "plan "+e.Pod.Name+" in "+e.Due.Sub(r.At).String())
		case event.EvictionCancelled:
			out = append(out, "cancel "+e.Pod.Name)
		case event.ObjectChanged:
			if ev, ok := e.Object.(*corev1.Event); ok && ev.Source.Component == "taint-eviction-controller" {
				out = append(out, strings.Join([]string{ev.Type, ev.Reason, ev.Message}, " "))
			}
		}
	}
	return out
}

func expect(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestPodsGoWhenTheirTolerationSays(t *testing.T) {
	c, _ := begin(t)
	c.Create(apitest.Pod("none", on()))
	c.Create(apitest.Pod("sixty", on(tolerate("maintenance", 60))))
	c.Create(apitest.Pod("zero", on(tolerate("maintenance", 0))))
	c.Create(apitest.Pod("always", on(corev1.Toleration{Operator: corev1.TolerationOpExists})))
	taint(c, maintenance)
	c.Run(time.Second)
	expect(t, "at once", deleting(c), []string{"none", "zero"})
	c.Run(57 * time.Second)
	expect(t, "before the minute", deleting(c), []string{"none", "zero"})
	c.Run(5 * time.Second)
	expect(t, "after the minute", deleting(c), []string{"none", "sixty", "zero"})
	c.Run(time.Hour)
	expect(t, "an hour later", deleting(c), []string{"none", "sixty", "zero"})
}

func TestAPlanIsTakenBackWithTheTaint(t *testing.T) {
	c, _ := begin(t)
	c.Create(apitest.Pod("a", on(tolerate("maintenance", 60))))
	taint(c, maintenance)
	c.Run(30 * time.Second)
	taint(c)
	c.Run(time.Hour)
	expect(t, "deleted", deleting(c), nil)
	expect(t, "facts", facts(c), []string{"plan a in 1m0s", "cancel a", "Normal TaintManagerEviction Cancelling deletion of Pod default/a"})
}

func TestAPlanIsTakenBackWhenThePodGoesByItself(t *testing.T) {
	c, ctl := begin(t)
	c.Create(apitest.Pod("a", on(tolerate("maintenance", 60))))
	taint(c, maintenance)
	c.Run(10 * time.Second)
	c.Delete(kinds.Pods, "default", "a", metav1.NewDeleteOptions(0))
	c.Run(time.Hour)
	expect(t, "facts", facts(c), []string{"plan a in 1m0s", "cancel a", "Normal TaintManagerEviction Cancelling deletion of Pod default/a"})
	if len(ctl.plans) != 0 {
		t.Errorf("%d plans are left", len(ctl.plans))
	}
}

func TestAPodThatComesToATaintedNodeGetsAPlan(t *testing.T) {
	c, _ := begin(t)
	taint(c, maintenance)
	c.Run(time.Minute)
	c.Create(apitest.Pod("late", on(tolerate("maintenance", 60))))
	c.Run(time.Second)
	expect(t, "facts", facts(c), []string{"plan late in 1m0s"})
}

func TestASecondTaintDoesNotRestartTheClock(t *testing.T) {
	c, _ := begin(t)
	c.Create(apitest.Pod("a", on(tolerate("maintenance", 60), tolerate("second", 60))))
	taint(c, maintenance)
	c.Run(40 * time.Second)
	taint(c, maintenance, corev1.Taint{Key: "second", Effect: corev1.TaintEffectNoExecute})
	c.Run(21 * time.Second)
	expect(t, "deleted", deleting(c), []string{"a"})
}

func TestATaintThatIsNotToleratedOverridesAPlan(t *testing.T) {
	c, _ := begin(t)
	c.Create(apitest.Pod("a", on(tolerate("maintenance", 60))))
	taint(c, maintenance)
	c.Run(10 * time.Second)
	taint(c, maintenance, corev1.Taint{Key: "second", Effect: corev1.TaintEffectNoExecute})
	c.Run(time.Second)
	expect(t, "deleted", deleting(c), []string{"a"})
}

func TestEvictionFollowsFromTheTaint(t *testing.T) {
	c, _ := begin(t)
	c.Create(apitest.Pod("a", on(tolerate("maintenance", 60))))
	root := c.Command("kubectl taint node worker-1 maintenance:NoExecute", func(p *sim.Proc, client *kubeapi.Client) {
		if err := taintAs(p, client, maintenance); err != nil {
			t.Error(err)
		}
	})
	c.Run(2 * time.Minute)
	for _, r := range c.Records() {
		e, ok := r.Event.(event.ObjectChanged)
		if !ok || e.Object.GetName() != "a" || e.Object.GetDeletionTimestamp() == nil {
			continue
		}
		seq := r.Seq
		for seq != 0 && seq != root {
			rec, _ := c.Journal.Get(seq)
			seq = rec.Cause
		}
		if seq != root {
			t.Fatalf("the deletion follows from %v", c.Chain(r.Seq))
		}
		return
	}
	t.Fatal("the pod was not deleted")
}

func taintAs(p *sim.Proc, client *kubeapi.Client, t corev1.Taint) error {
	node, err := kubeapi.Fetch[*corev1.Node](p, client, kinds.Nodes, "", "worker-1")
	if err != nil {
		return err
	}
	next := node.DeepCopy()
	next.Spec.Taints = append(next.Spec.Taints, t)
	_, err = kubeapi.PatchFrom(p, client, "", node, next)
	return err
}

func TestPlansAreAQueueWithDueTimesAndReasons(t *testing.T) {
	c, _ := begin(t)
	c.Create(apitest.Pod("late", on(tolerate("maintenance", 300))))
	c.Create(apitest.Pod("soon", on(tolerate("maintenance", 60))))
	last := func() (q event.QueueChanged, at time.Time) {
		for _, r := range c.Records() {
			if e, ok := r.Event.(event.QueueChanged); ok && e.Queue == queueName {
				q, at = e, r.At
			}
		}
		return q, at
	}
	taint(c, maintenance)
	c.Run(2 * time.Second)
	q, at := last()
	if q.Delayed != 2 || len(q.Items) != 2 || q.Items[0].Key != "default/soon" || q.Items[1].Key != "default/late" || q.Items[0].Why != "tolerates maintenance:NoExecute for 1m0s" {
		t.Fatalf("%+v", q)
	}
	if left := q.NextDue.Sub(at).Round(time.Second); left != time.Minute || !q.Items[0].Due.Equal(q.NextDue) || q.Items[0].Cause == 0 {
		t.Errorf("next due in %v: %+v", left, q.Items[0])
	}
	c.Run(2 * time.Minute)
	if q, _ = last(); q.Delayed != 1 || q.InWork != 0 || q.Done != 1 || q.Items[0].Key != "default/late" {
		t.Errorf("after one was evicted: %+v", q)
	}
	taint(c)
	c.Run(2 * time.Second)
	if q, _ = last(); q.Delayed != 0 || len(q.Items) != 0 || !q.NextDue.IsZero() {
		t.Errorf("after the taint was taken off: %+v", q)
	}
}
