package kubelet_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
)

func httpProbe(path string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(80)}}}
}

func TestReadinessFollowsItsProbeWithoutRestarts(t *testing.T) {
	m := start(t)
	p := m.create("a", func(p *corev1.Pod) { p.Spec.Containers[0].ReadinessProbe = httpProbe("/ready") })
	m.c.Run(15 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	broke := m.c.Loop.Now()
	m.cfg.Runtime.Break(p.UID, "c", runtime.Health{NotReady: true})
	m.c.RunUntil(time.Minute, func() bool { return is(m.pod("a")) != "Running ready=True restarts=0 running" })
	within(t, "getting unready", m.c.Loop.Now().Sub(broke), 20*time.Second, 32*time.Second)
	m.expect("a", "Running ready=False restarts=0 running")
	for _, c := range m.pod("a").Status.Conditions {
		if c.Type == corev1.PodReady && (c.Reason != "ContainersNotReady" || c.Message != "containers with unready status: [c]") {
			t.Errorf("condition %+v", c)
		}
	}
	reasons, messages := m.events("Pod", "a")
	if i := index(reasons, "Unhealthy"); i < 0 || messages[i] != "Readiness probe failed: HTTP probe failed with statuscode: 503" {
		t.Errorf("events %v", messages)
	}
	m.cfg.Runtime.Break(p.UID, "c", runtime.Health{})
	m.c.Run(12 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
}

func TestAFailedLivenessProbeRestartsTheContainer(t *testing.T) {
	m := start(t)
	p := m.create("a", func(p *corev1.Pod) { p.Spec.Containers[0].LivenessProbe = httpProbe("/live") })
	m.c.Run(15 * time.Second)
	broke := m.c.Loop.Now()
	m.cfg.Runtime.Break(p.UID, "c", runtime.Health{NotLive: true})
	m.c.RunUntil(time.Minute, func() bool { return len(m.containers("a", event.ContainerStopping)) > 0 })
	within(t, "giving up", m.c.Loop.Now().Sub(broke), 20*time.Second, 32*time.Second)
	m.c.Run(10 * time.Second)
	m.expect("a", "Running ready=True restarts=1 running")
	_, messages := m.events("Pod", "a")
	if index(messages, "Liveness probe failed: HTTP probe failed with statuscode: 500") < 0 || index(messages, "Container c failed liveness probe, will be restarted") < 0 {
		t.Errorf("events %q", messages)
	}
	m.c.Run(5 * time.Minute)
	m.expect("a", "Running ready=True restarts=1 running")
}

func TestAStartupProbeHoldsBackTheOthers(t *testing.T) {
	m := start(t)
	m.create("a", func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.StartupProbe, c.ReadinessProbe = httpProbe("/"), httpProbe("/ready")
		c.StartupProbe.InitialDelaySeconds = 20
	})
	m.c.Run(15 * time.Second)
	p := m.pod("a")
	if is(p) != "Running ready=False restarts=0 running" || *p.Status.ContainerStatuses[0].Started {
		t.Errorf("before: %s", is(p))
	}
	m.c.Run(40 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
}
