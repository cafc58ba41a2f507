package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// settled is a cluster of three masters that keep pods away and some workers, with a scheduler that leads.
func settled(t *testing.T, workers int, opts ...apitest.Option) (*apitest.Cluster, *kubeapi.Process) {
	t.Helper()
	c := apitest.New(t, opts...)
	for i := range 3 {
		n := apitest.Node(fmt.Sprintf("master-%d", i+1))
		n.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
		c.AddNode(n)
	}
	c.Nodes(workers)
	return c, start(c, "master-1")
}

func start(c *apitest.Cluster, host string) *kubeapi.Process {
	pr := c.Process(host, "scheduler", apitest.Scheduler)
	scheduler.Start(pr, scheduler.Config{})
	c.Run(5 * time.Second)
	return pr
}

// create makes a pod by a command of the user.
func create(t *testing.T, c *apitest.Cluster, pod *corev1.Pod) {
	t.Helper()
	pod = pod.DeepCopy()
	pod.UID, pod.Generation = "", 0
	c.Command("create "+pod.Name, func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, pod); err != nil {
			t.Errorf("create %s: %v", pod.Name, err)
		}
	})
}

func attempts(c *apitest.Cluster, pod string) (out []event.SchedulingAttempt) {
	for _, r := range c.Records() {
		if a, ok := r.Event.(event.SchedulingAttempt); ok && a.Pod.Name == pod {
			out = append(out, a)
		}
	}
	return out
}

func events(c *apitest.Cluster, pod, reason string) (out []*corev1.Event) {
	for _, o := range c.List(kinds.Events) {
		if e := o.(*corev1.Event); e.InvolvedObject.Name == pod && e.Reason == reason {
			out = append(out, e)
		}
	}
	return out
}

func nodeOf(c *apitest.Cluster, pod string) string {
	if o := c.Get(kinds.Pods, "default", pod); o != nil {
		return o.(*corev1.Pod).Spec.NodeName
	}
	return ""
}

func conditionOf(c *apitest.Cluster, pod string, typ corev1.PodConditionType) corev1.PodCondition {
	if o := c.Get(kinds.Pods, "default", pod); o != nil {
		for _, cd := range o.(*corev1.Pod).Status.Conditions {
			if cd.Type == typ {
				return cd
			}
		}
	}
	return corev1.PodCondition{}
}

func noFailures(t *testing.T, c *apitest.Cluster) {
	t.Helper()
	for _, f := range c.Failures() {
		if strings.Contains(f, "kube-scheduler") && !strings.Contains(f, "leases") {
			t.Error("request failed: " + f)
		}
	}
}

// The recorded stories of a real cluster of 3 masters and 4 workers.
func TestStoriesOfPodsThatFitNowhere(t *testing.T) {
	c, _ := settled(t, 4)
	for _, s := range []struct{ pod, name, message string }{
		{"big: cpu 100", "big", "0/7 nodes are available: 3 node(s) had untolerated taint(s), 4 Insufficient cpu. " +
			"preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."},
		{"lost: selector disk=ssd", "lost", "0/7 nodes are available: 3 node(s) had untolerated taint(s), 4 node(s) didn't match Pod's node affinity/selector. " +
			"preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling."},
	} {
		from := c.Journal.Last()
		create(t, c, fixture.Pod(s.pod))
		c.Run(10 * time.Second)
		want := []string{
			"added pods " + s.name + " generation=1 phase=Pending",
			"modified pods " + s.name + " generation=1 phase=Pending conditions=[PodScheduled=False Unschedulable]",
		}
		if got := c.LogSince(from, kinds.Pods); !slices.Equal(got, want) {
			t.Errorf("%s: the watches saw\n%s", s.name, strings.Join(got, "\n"))
		}
		es := events(c, s.name, "FailedScheduling")
		if len(es) != 1 || es[0].Message != s.message || es[0].Type != "Warning" || es[0].ReportingController != "default-scheduler" {
			t.Errorf("%s: events %+v", s.name, es)
		}
		if cd := conditionOf(c, s.name, corev1.PodScheduled); cd.Message != s.message {
			t.Errorf("%s: condition %+v", s.name, cd)
		}
	}
	noFailures(t, c)
}

// The recorded "big" was tried again when a pod of a job finished; its condition, which said the same, was not written again.
func TestAFinishedPodWakesWhatLacksResources(t *testing.T) {
	c, _ := settled(t, 1)
	create(t, c, fixture.Pod("job: cpu 100m"))
	create(t, c, fixture.Pod("big: cpu 100"))
	create(t, c, fixture.Pod("lost: selector disk=ssd"))
	c.Run(20 * time.Second)
	from := c.Journal.Last()
	if _, err := c.MergePatch(kinds.Pods, "default", "job", "status", `{"status":{"phase":"Succeeded"}}`); err != nil {
		t.Fatal(err)
	}
	c.Run(20 * time.Second)
	if b, l := attempts(c, "big"), attempts(c, "lost"); len(b) != 2 || b[1].Attempt != 2 || len(l) != 1 {
		t.Errorf("big was tried %d times, lost %d times", len(b), len(l))
	}
	for _, line := range c.LogSince(from, kinds.Pods) {
		if strings.Contains(line, "pods big") {
			t.Errorf("written again: %s", line)
		}
	}
}

// Case C-19.
func TestATypoInANodeSelector(t *testing.T) {
	c, _ := settled(t, 3)
	label := func(node, value string) {
		if _, err := c.MergePatch(kinds.Nodes, "", node, "", `{"metadata":{"labels":{"disktype":"`+value+`"}}}`); err != nil {
			t.Fatal(err)
		}
	}
	label("worker-1", "ssd")
	create(t, c, fixture.Pod("p: selector disktype=sdd"))
	c.Run(30 * time.Second)
	c.Update(kinds.Nodes, "", "worker-2", "status", func(o kinds.Object) { // a heartbeat
		for i := range o.(*corev1.Node).Status.Conditions {
			o.(*corev1.Node).Status.Conditions[i].LastHeartbeatTime = metav1.NewTime(c.Loop.Now())
		}
	})
	c.Run(30 * time.Second)
	const message = "0/6 nodes are available: 3 node(s) didn't match Pod's node affinity/selector, 3 node(s) had untolerated taint(s). " +
		"preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling."
	if a, es := attempts(c, "p"), events(c, "p", "FailedScheduling"); len(a) != 1 || len(es) != 1 || es[0].Message != message {
		t.Fatalf("%d attempts, events %+v", len(a), es)
	}
	if cd := conditionOf(c, "p", corev1.PodScheduled); cd.Status != "False" || cd.Reason != "Unschedulable" || cd.Message != message {
		t.Errorf("condition %+v", cd)
	}
	label("worker-2", "sdd")
	c.Run(time.Second)
	if n := nodeOf(c, "p"); n != "worker-2" {
		t.Errorf("bound to %q", n)
	}
	if es := events(c, "p", "Scheduled"); len(es) != 1 || es[0].Message != "Successfully assigned default/p to worker-2" || es[0].Type != "Normal" {
		t.Errorf("events %+v", es)
	}
	if cd := conditionOf(c, "p", corev1.PodScheduled); cd.Status != "True" {
		t.Errorf("condition %+v", cd)
	}
	noFailures(t, c)
}

func TestABindingLeadsBackToTheCommand(t *testing.T) {
	c, _ := settled(t, 2)
	create(t, c, fixture.Pod("p: cpu 1"))
	c.Run(time.Second)
	for _, r := range c.Records() {
		if ch, ok := r.Event.(event.ObjectChanged); ok && ch.Object.GetName() == "p" && ch.Type == event.Modified {
			want := []string{"ObjectChanged", "RequestReceived", "SchedulingAttempt", "PodQueued", "ObjectChanged", "RequestReceived", "CommandGiven"}
			if got := c.Chain(r.Seq); !slices.Equal(got, want) {
				t.Errorf("the chain is %v", got)
			}
			a := attempts(c, "p")[0]
			if a.Nodes != 5 || a.Feasible != 2 || len(a.Verdicts) != 5 || a.Verdicts[0].Plugin != "TaintToleration" || a.Verdicts[4].Total == 0 {
				t.Errorf("attempt %+v", a)
			}
			return
		}
	}
	t.Error("the pod was not bound")
}

func TestAHigherPriorityTakesTheRoom(t *testing.T) {
	c, _ := settled(t, 1)
	create(t, c, fixture.Pod("low: cpu 3"))
	create(t, c, fixture.Pod("high: cpu 3"))
	c.Run(5 * time.Second)
	if a := attempts(c, "high"); len(a) != 1 || !strings.HasSuffix(a[0].Message, "1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.") {
		t.Fatalf("attempts %+v", a)
	}
	vip := fixture.Pod("vip: cpu 3")
	vip.Spec.PriorityClassName = "system-cluster-critical"
	create(t, c, vip)
	c.Run(5 * time.Second)
	if p := c.Get(kinds.Pods, "default", "vip").(*corev1.Pod); p.Status.NominatedNodeName != "worker-1" || p.Spec.NodeName != "" {
		t.Errorf("vip: nominated %q, node %q", p.Status.NominatedNodeName, p.Spec.NodeName)
	}
	low := c.Get(kinds.Pods, "default", "low").(*corev1.Pod)
	cd := conditionOf(c, "low", corev1.DisruptionTarget)
	if low.DeletionTimestamp == nil || cd.Reason != "PreemptionByScheduler" || cd.Message != "default-scheduler: preempting to accommodate a higher priority pod" {
		t.Errorf("low: deleted %v, condition %+v", low.DeletionTimestamp, cd)
	}
	if es := events(c, "low", "Preempted"); len(es) != 1 || !strings.HasSuffix(es[0].Message, " on node worker-1") {
		t.Errorf("events %+v", es)
	}
	zero := int64(0)
	if err := c.Delete(kinds.Pods, "default", "low", &metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil { // as its kubelet does at the end
		t.Fatal(err)
	}
	c.Run(2 * time.Second)
	if nodeOf(c, "vip") != "worker-1" || nodeOf(c, "high") != "" {
		t.Errorf("vip on %q, high on %q", nodeOf(c, "vip"), nodeOf(c, "high"))
	}
	noFailures(t, c)
}

// Case C-05: the standby is warm but waits for the lease.
func TestAStandbyTakesOver(t *testing.T) {
	c, first := settled(t, 2, apitest.Masters(3))
	start(c, "master-2")
	create(t, c, fixture.Pod("a: cpu 1"))
	c.Run(time.Second)
	if nodeOf(c, "a") == "" {
		t.Fatal("the first scheduler does not work")
	}
	c.Run(20 * time.Second)
	for _, r := range c.Records() {
		if r.Actor == event.On("scheduler", "master-2") && r.Event.Name() != "ProcessStarted" {
			t.Errorf("the standby says %+v", r.Event)
		}
	}
	first.Group.Kill()
	died := c.Loop.Now()
	create(t, c, fixture.Pod("b: cpu 1"))
	if !c.RunUntil(time.Minute, func() bool { return len(attempts(c, "b")) > 0 }) {
		t.Fatal("nobody took over")
	}
	if d := c.Loop.Now().Sub(died); d < 13*time.Second || d > 24*time.Second {
		t.Errorf("took over after %v", d)
	}
	c.Run(time.Second)
	if nodeOf(c, "b") == "" || len(events(c, "b", "FailedScheduling")) != 0 {
		t.Errorf("b on %q, failures %v", nodeOf(c, "b"), events(c, "b", "FailedScheduling"))
	}
}

func TestALostLeaseEndsTheProgram(t *testing.T) {
	c, pr := settled(t, 1)
	c.Net.AddFault(1, fault.Fault{Kind: fault.Cut, A: pr.Addr.String(), B: "master-1/apiserver"})
	c.Run(30 * time.Second)
	if want := []string{pr.Addr.String() + ": leaderelection lost"}; !slices.Equal(c.Exits, want) {
		t.Errorf("exits %v, want %v", c.Exits, want)
	}
}

// burst schedules pods until the cluster is full, with a user who binds and deletes meanwhile.
func burst(t *testing.T, seed uint64) *apitest.Cluster {
	c, _ := settled(t, 4, apitest.Seed(seed))
	rng := c.Loop.Rand("burst")
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		for i := range 60 {
			pod := fixture.Pod(fmt.Sprintf("p%d: cpu %dm, memory %dMi", i, 100+rng.IntN(1500), 100+rng.IntN(2000)))
			pod.UID, pod.Generation = "", 0
			if _, err := kubeapi.Make(p, client, pod); err != nil {
				t.Errorf("create: %v", err)
			}
			switch rng.IntN(4) {
			case 0:
				p.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			case 1:
				zero := int64(0)
				_ = kubeapi.Remove(p, client, kinds.Pods, "default", fmt.Sprintf("p%d", rng.IntN(i+1)), &metav1.DeleteOptions{GracePeriodSeconds: &zero})
			}
		}
	})
	c.Run(time.Minute)
	return c
}

func TestBoundPodsNeverExceedANode(t *testing.T) {
	for seed := range uint64(5) {
		c := burst(t, seed)
		used := map[string][3]int64{}
		bound := 0
		for _, o := range c.List(kinds.Pods) {
			pod := o.(*corev1.Pod)
			if pod.Spec.NodeName == "" {
				if conditionOf(c, pod.Name, corev1.PodScheduled).Status != corev1.ConditionFalse {
					t.Errorf("seed %d: %s waits without a word", seed, pod.Name)
				}
				continue
			}
			bound++
			u, r := used[pod.Spec.NodeName], pod.Spec.Containers[0].Resources.Requests
			used[pod.Spec.NodeName] = [3]int64{u[0] + r.Cpu().MilliValue(), u[1] + r.Memory().Value(), u[2] + 1}
		}
		if bound < 15 {
			t.Errorf("seed %d: only %d pods are bound", seed, bound)
		}
		for n, u := range used {
			if u[0] > 4000 || u[1] > 8<<30 || strings.HasPrefix(n, "master") {
				t.Errorf("seed %d: %s holds %v", seed, n, u)
			}
		}
	}
}

func TestTheSameSeedGivesTheSameJournal(t *testing.T) {
	text := func() string {
		var b strings.Builder
		for _, r := range burst(t, 7).Records() {
			fmt.Fprintf(&b, "%d %v %s %d %s", r.Seq, r.At, r.Actor, r.Cause, r.Event.Name())
			switch e := r.Event.(type) {
			case event.ObjectChanged:
				fmt.Fprintf(&b, " %s %d", apitest.Line(e.Object), e.Revision)
			default:
				fmt.Fprintf(&b, " %+v", e)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	one, two := strings.Split(text(), "\n"), strings.Split(text(), "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			t.Fatalf("record %d differs:\n%s\n%s", i, one[i], two[i])
		}
	}
	if len(one) != len(two) {
		t.Errorf("%d and %d records", len(one), len(two))
	}
}
