package kubelet_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

func TestARebootRestartsThePodsInPlace(t *testing.T) {
	m := start(t)
	m.create("a")
	m.create("job", command("sleep", "3600"), restart(corev1.RestartPolicyNever))
	m.c.Run(10 * time.Second)
	before := m.pod("a")
	m.pr.Group.Kill()
	m.cfg.Runtime.PowerOff(0)
	m.c.Net.SetHost("w1", false)
	m.c.Run(20 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running") // nobody knows yet
	m.cfg.Runtime.PowerOn()
	m.startKubelet()
	m.c.Run(20 * time.Second)
	m.expect("a", "Running ready=True restarts=1 running")
	m.expect("job", "Failed ready=False restarts=0 Unknown(255)")
	after := m.pod("a")
	if last := after.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 255 || last.Reason != "Unknown" {
		t.Errorf("last state %+v", last)
	}
	if after.UID != before.UID || after.Status.PodIP == before.Status.PodIP {
		t.Errorf("uid %s, address %s as before", after.UID, after.Status.PodIP)
	}
	reasons, _ := m.events("Pod", "a")
	if !slices.Contains(reasons, "SandboxChanged") {
		t.Errorf("events %v", reasons)
	}
	if reasons, _ := m.events("Node", "w1"); !slices.Contains(reasons, "Rebooted") {
		t.Errorf("events of the node %v", reasons)
	}
}

func TestARestartedKubeletAdoptsWhatRuns(t *testing.T) {
	m := start(t)
	m.create("a", func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe = httpProbe("/") })
	m.create("doomed")
	m.c.Run(20 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	m.pr.Group.Kill()
	m.c.Run(10 * time.Second)
	zero := int64(0)
	if err := m.c.Delete(kinds.Pods, "default", "doomed", &metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	mark := m.c.Journal.Last()
	m.startKubelet()
	m.c.Run(30 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	for _, l := range m.c.LogSince(mark, kinds.Pods) {
		t.Errorf("the pod was written: %s", l)
	}
	for _, r := range m.containers("a", event.ContainerExited, event.ContainerGone, event.ContainerRunning) {
		if r.Seq > mark {
			t.Errorf("the container changed: %+v", r.Event)
		}
	}
	if len(m.containers("doomed", event.ContainerGone)) != 1 {
		t.Error("a pod deleted meanwhile was not killed")
	}
}

func TestCutOffPodsLiveOnUntilTheLinkHeals(t *testing.T) {
	m := start(t)
	m.create("evicted")
	m.create("spared")
	m.create("crashing")
	m.c.Run(20 * time.Second)
	cut := m.c.Journal.Emit(event.Engine, 0, event.FaultAdded{Fault: fault.Fault{Kind: fault.Cut, A: "w1", B: fault.All}})
	m.c.Net.AddFault(cut, fault.Fault{Kind: fault.Cut, A: "w1", B: fault.All})
	m.c.Run(time.Minute)
	if err := m.c.Delete(kinds.Pods, "default", "evicted", nil); err != nil {
		t.Fatal(err)
	}
	m.cfg.Runtime.Crash(0, m.pod("crashing").UID, "c", 1, "")
	m.c.MergePatch(kinds.Pods, "default", "spared", "status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}`)
	m.create("late")
	m.c.Run(6 * time.Minute)
	m.expect("evicted", "Running ready=True restarts=0 running terminating")
	if n := len(m.containers("evicted", event.ContainerStopping)); n != 0 {
		t.Error("the kubelet stopped a pod it cannot know about")
	}
	if n := len(m.containers("crashing", event.ContainerRunning)); n != 2 {
		t.Errorf("the crashed container was started %d times", n)
	}
	m.c.Net.RemoveFaults(func(fault.Active) bool { return true })
	healed := m.c.Loop.Now()
	m.c.RunUntil(2*time.Minute, func() bool { return m.pod("evicted") == nil })
	// The watch is tried again after up to 60 s (a reflector's back-off of 30 s, stretched by up to as much), then the copy is stopped.
	within(t, "the end of the evicted copy", m.c.Loop.Now().Sub(healed), time.Second, 90*time.Second)
	m.c.Run(30 * time.Second)
	m.expect("spared", "Running ready=True restarts=0 running")
	m.expect("crashing", "Running ready=True restarts=1 running")
	m.expect("late", "Running ready=True restarts=0 running")
}

func TestANodeComesBackReadySoonAfterTheLinkHeals(t *testing.T) {
	m := start(t)
	m.c.Net.AddFault(1, fault.Fault{Kind: fault.Cut, A: "w1", B: fault.All})
	m.c.Run(2 * time.Minute)
	m.c.Update(kinds.Nodes, "", "w1", "status", nodeUnknown)
	m.c.Net.RemoveFaults(func(fault.Active) bool { return true })
	healed := m.c.Loop.Now()
	ready := func() bool {
		for _, c := range m.node().Status.Conditions {
			if c.Type == corev1.NodeReady {
				return c.Status == corev1.ConditionTrue
			}
		}
		return false
	}
	if ready() {
		t.Fatal("ready while cut off")
	}
	m.c.RunUntil(time.Minute, ready)
	within(t, "becoming ready", m.c.Loop.Now().Sub(healed), 0, 15*time.Second)
}

func nodeUnknown(o kinds.Object) {
	n := o.(*corev1.Node)
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.Status, c.Reason, c.Message = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status."
	}
}

func TestForceDeletingAPodStopsItOnALivingNode(t *testing.T) {
	m := start(t)
	m.create("a")
	m.c.Run(10 * time.Second)
	zero := int64(0)
	if err := m.c.Delete(kinds.Pods, "default", "a", &metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	m.expect("a", "gone")
	m.c.Run(3 * time.Second)
	if len(m.containers("a", event.ContainerGone)) != 1 {
		t.Error("it still runs")
	}
}

func TestARestartedKubeletLeavesStaticPodsAndMirrorsAlone(t *testing.T) {
	m, started := master(t, nil)
	m.c.Run(30 * time.Second)
	m.pr.Group.Kill()
	m.c.Run(5 * time.Second)
	mark := m.c.Journal.Last()
	m.startKubelet()
	m.c.Run(time.Minute)
	for _, l := range m.c.LogSince(mark, kinds.Pods) {
		t.Errorf("written: %s", l)
	}
	if len(started["etcd"]) != 1 {
		t.Errorf("etcd was started %d times", len(started["etcd"]))
	}
	m.pr.Group.Kill()
	m.cfg.StaticPods = m.cfg.StaticPods[:3]
	m.startKubelet()
	m.c.Run(20 * time.Second)
	if p := m.podIn("kube-system", "kube-scheduler-w1"); p != nil || !started["kube-scheduler"][0].stopped {
		t.Errorf("a manifest that went while no kubelet ran: %s", is(p))
	}
}
