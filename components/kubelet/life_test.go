package kubelet_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func TestANodeRegistersIsNotReadyFirstAndThenReady(t *testing.T) {
	m := start(t)
	n := m.node()
	var ready []string
	for _, l := range m.c.Log(kinds.Nodes) {
		if _, after, ok := strings.Cut(l, "ready="); ok && (len(ready) == 0 || ready[len(ready)-1] != after) {
			ready = append(ready, after)
		}
	}
	if got := strings.Join(ready, ", "); got != "False KubeletNotReady, True KubeletReady" {
		t.Errorf("ready was %s", got)
	}
	m.expectEvents("Node", "w1", "Starting", "NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID", "NodeAllocatableEnforced", "NodeReady")
	if n.Labels[corev1.LabelHostname] != "w1" || n.Status.NodeInfo.KubeletVersion != "v1.37.2" || n.Status.Allocatable.Pods().Value() != 110 {
		t.Errorf("node is %+v", n)
	}
	before := m.c.Journal.Last()
	m.c.Run(10 * time.Minute)
	posts, renewals := 0, 0
	for _, r := range m.c.Records() {
		if r.Seq <= before {
			continue
		}
		switch e := r.Event.(type) {
		case event.ObjectChanged:
			if _, ok := e.Object.(*corev1.Node); ok {
				posts++
			}
		case event.LeaseRenewed:
			if e.Namespace == "kube-node-lease" {
				renewals++
			}
		}
	}
	if posts < 1 || posts > 4 || renewals < 57 || renewals > 60 {
		t.Errorf("in ten quiet minutes the status was posted %d times, the lease renewed %d times", posts, renewals)
	}
}

func TestTheLifeOfAPod(t *testing.T) {
	m := start(t)
	m.create("a")
	m.c.Run(10 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	messages := m.expectEvents("Pod", "a", "Pulling", "Pulled", "Created", "Started")
	if !strings.HasPrefix(messages[1], `Successfully pulled image "nginx:1.27" in `) || !strings.Contains(messages[1], "including waiting). Image size: ") {
		t.Errorf("pulled: %s", messages[1])
	}
	p := m.pod("a")
	if p.Status.PodIP != "10.244.1.2" || p.Status.HostIP != "192.168.0.11" || p.Status.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("status %+v", p.Status)
	}
	for _, c := range p.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			t.Errorf("condition %s=%s %s", c.Type, c.Status, c.Reason)
		}
	}
	if f := m.c.Failures(); len(f) > 0 {
		for _, x := range f {
			if !strings.Contains(x, "leases") {
				t.Errorf("failed: %s", x)
			}
		}
	}
	m.create("b")
	m.c.Run(10 * time.Second)
	if messages := m.expectEvents("Pod", "b", "Pulled", "Created", "Started"); messages[0] != `Container image "nginx:1.27" already present on machine and can be accessed by the pod` {
		t.Errorf("pulled: %s", messages[0])
	}
}

func TestStatusWritesAreFew(t *testing.T) {
	m := start(t)
	m.create("a")
	m.c.Run(time.Minute)
	writes := 0
	for _, l := range m.c.Log(kinds.Pods) {
		if strings.HasPrefix(l, "modified pods a ") {
			writes++
		}
	}
	if writes != 2 { // it is being created; it runs
		t.Errorf("%d writes:\n%s", writes, strings.Join(m.c.Log(kinds.Pods), "\n"))
	}
}

func TestAGracefulDeletion(t *testing.T) {
	for _, c := range []struct {
		says      string
		change    func(*corev1.Pod)
		low, high time.Duration
	}{
		{"a server ends soon after TERM", func(*corev1.Pod) {}, 100 * time.Millisecond, 2 * time.Second},
		{"a command that ignores TERM takes its 30 s", command("sleep", "3600"), 30 * time.Second, 31 * time.Second},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := start(t)
			m.create("a", c.change)
			m.c.Run(10 * time.Second)
			m.expect("a", "Running ready=True restarts=0 running")
			began := m.c.Loop.Now()
			if err := m.c.Delete(kinds.Pods, "default", "a", nil); err != nil {
				t.Fatal(err)
			}
			m.expect("a", "Running ready=True restarts=0 running terminating")
			m.c.RunUntil(time.Minute, func() bool { return len(m.containers("a", event.ContainerGone)) > 0 })
			within(t, "the end", m.c.Loop.Now().Sub(began), c.low, c.high)
			m.c.Run(time.Second)
			m.expect("a", "gone")
			reasons, messages := m.events("Pod", "a")
			if last := len(reasons) - 1; reasons[last] != "Killing" || messages[last] != "Stopping container c" {
				t.Errorf("events %q", messages)
			}
		})
	}
}

func TestEveryContainerFactLeadsBackToTheCommand(t *testing.T) {
	m := start(t)
	m.create("a")
	m.c.Run(10 * time.Second)
	seq := m.c.Command("kubectl delete pod a", func(p *sim.Proc, client *kubeapi.Client) {
		kubeapi.Remove(p, client, kinds.Pods, "default", "a", nil)
	})
	m.c.Run(10 * time.Second)
	gone := m.containers("a", event.ContainerExited, event.ContainerGone)
	if len(gone) != 2 {
		t.Fatalf("%d records of the end", len(gone))
	}
	for _, r := range gone {
		if chain := m.c.Chain(r.Seq); chain[len(chain)-1] != "CommandGiven" {
			t.Errorf("chain of %+v is %v, not to record %d", r.Event, chain, seq)
		}
	}
}

func TestAPodThatDoesNotFitIsRejected(t *testing.T) {
	for _, c := range []struct {
		says            string
		change          func(*corev1.Pod)
		reason, message string
	}{
		{"too much CPU", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = quantity("5") },
			"OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000"},
		{"too much memory", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = quantity("9Gi") }, "OutOfmemory", ""},
		{"another node's label", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }, "NodeAffinity", ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := start(t)
			m.create("a", c.change)
			m.c.Run(5 * time.Second)
			p := m.pod("a")
			if p.Status.Phase != corev1.PodFailed || p.Status.Reason != c.reason || (c.message != "" && p.Status.Message != c.message) {
				t.Errorf("status %s %s %q", p.Status.Phase, p.Status.Reason, p.Status.Message)
			}
			m.expectEvents("Pod", "a", c.reason)
			if err := m.c.Delete(kinds.Pods, "default", "a", nil); err != nil {
				t.Fatal(err)
			}
			m.c.Run(5 * time.Second)
			m.expect("a", "gone")
		})
	}
}

func TestRestartPoliciesDecideHowAPodEnds(t *testing.T) {
	for _, c := range []struct {
		says   string
		policy corev1.RestartPolicy
		script string
		want   string
	}{
		{"Never and success", corev1.RestartPolicyNever, "sleep 1", "Succeeded ready=False restarts=0 Completed(0)"},
		{"Never and failure", corev1.RestartPolicyNever, "exit 3", "Failed ready=False restarts=0 Error(3)"},
		{"OnFailure and success", corev1.RestartPolicyOnFailure, "sleep 1", "Succeeded ready=False restarts=0 Completed(0)"},
		{"OnFailure and failure", corev1.RestartPolicyOnFailure, "exit 1", "Running ready=False restarts=1 CrashLoopBackOff"},
		{"Always and success", corev1.RestartPolicyAlways, "exit 0", "Running ready=False restarts=1 CrashLoopBackOff"},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := start(t)
			m.create("a", command("sh", "-c", c.script), restart(c.policy))
			m.c.Run(10 * time.Second)
			m.expect("a", c.want)
		})
	}
}

func TestInitContainersRunInOrderBeforeTheOthers(t *testing.T) {
	m := start(t)
	m.create("a", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "i1", Image: "busybox:1.36", Command: []string{"sleep", "2"}}, {Name: "i2", Image: "busybox:1.36", Command: []string{"sleep", "2"}}}
	})
	m.c.Run(3500 * time.Millisecond)
	p := m.pod("a")
	if p.Status.Phase != corev1.PodPending || p.Status.ContainerStatuses[0].State.Waiting.Reason != "PodInitializing" {
		t.Errorf("status %+v", p.Status)
	}
	m.c.Run(15 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	var order []string
	for _, r := range m.containers("a", event.ContainerRunning, event.ContainerExited) {
		e := r.Event.(event.ContainerChanged)
		order = append(order, e.Container+" "+string(e.State))
	}
	if got := strings.Join(order, ", "); got != "i1 running, i1 exited, i2 running, i2 exited, c running" {
		t.Errorf("order %s", got)
	}
}

func TestALeaseOfTheNodeIsHeldByIt(t *testing.T) {
	m := start(t)
	l := m.c.Get(kinds.Leases, "kube-node-lease", "w1")
	if l == nil || apitest.Line(l) != "leases w1 holder=w1" || len(l.GetOwnerReferences()) != 1 {
		t.Errorf("lease %+v", l)
	}
}
