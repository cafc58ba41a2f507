package kubelet_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

func wants(cpu string, policies ...corev1.ContainerResizePolicy) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Image, c.Command, c.ResizePolicy = "busybox:1.36", []string{"sleep", "3600"}, policies
		c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: quantity(cpu)}
	}
}

// resized tells what a pod's first container has, may have, and what is said of its resize.
func resized(p *corev1.Pod) string {
	st := p.Status.ContainerStatuses[0]
	s := "has " + st.Resources.Requests.Cpu().String() + " of " + st.AllocatedResources.Cpu().String()
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress {
			s += ", " + string(c.Type) + " " + c.Reason
		}
	}
	return s
}

func (m *machine) ask(name, cpu string) {
	m.t.Helper()
	m.patch(name, "resize", `{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"`+cpu+`"}}}]}}`)
	m.c.Run(3 * time.Second)
}

func TestAPodIsResizedWhileItRuns(t *testing.T) {
	m := start(t)
	m.create("a", wants("1"))
	m.create("b", wants("1"))
	m.c.Run(10 * time.Second)
	expect := func(what, name, want string) {
		t.Helper()
		if got := resized(m.pod(name)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	m.ask("a", "2")
	expect("more", "a", "has 2 of 2")
	m.expect("a", "Running ready=True restarts=0 running")
	m.ask("b", "3")
	expect("more than is left", "b", "has 1 of 1, PodResizePending Deferred")
	m.ask("b", "5")
	expect("more than there is", "b", "has 1 of 1, PodResizePending Infeasible")
	m.ask("b", "3")
	m.c.Delete(kinds.Pods, "default", "a", nil)
	m.c.Run(40 * time.Second)
	expect("when the other has gone", "b", "has 3 of 3")
	m.create("c", wants("1500m"))
	m.create("d", wants("500m"))
	m.c.Run(10 * time.Second)
	if c, d := m.pod("c"), m.pod("d"); c.Status.Reason != "OutOfcpu" || d.Status.Phase != corev1.PodRunning {
		t.Errorf("what was resized counts: c is %s %s, d is %s", is(c), c.Status.Reason, is(d))
	}
	for _, r := range m.c.Records() {
		if ch, ok := r.Event.(event.ObjectChanged); ok {
			if e, ok := ch.Object.(*corev1.Event); ok && e.Reason == "ResizeCompleted" && e.Count > 1 {
				t.Errorf("told %d times: %s", e.Count, e.Message)
			}
		}
	}
	messages := m.expectEvents("Pod", "b", "Pulling", "Pulled", "Created", "Started", "ResizeDeferred", "ResizeInfeasible", "ResizeDeferred", "ResizeStarted", "ResizeCompleted")
	if len(messages) > 5 && !strings.HasSuffix(messages[5], `"generation":3,"error":"Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000"}`) {
		t.Errorf("message %s", messages[4])
	}
}

func TestAContainerStartsAgainWhereItsResizeAsksForThat(t *testing.T) {
	m := start(t)
	m.create("a", wants("1", corev1.ContainerResizePolicy{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}))
	m.c.Run(10 * time.Second)
	m.ask("a", "2")
	m.c.Run(time.Minute)
	m.expect("a", "Running ready=True restarts=1 running")
	if got := resized(m.pod("a")); got != "has 2 of 2" {
		t.Error(got)
	}
}

func TestAKubeletThatStartsAnewKeepsWhatItGave(t *testing.T) {
	m := start(t)
	m.create("a", wants("1"))
	m.c.Run(10 * time.Second)
	m.ask("a", "2")
	m.pr.Group.Kill()
	m.startKubelet()
	m.c.Run(20 * time.Second)
	if got := resized(m.pod("a")); got != "has 2 of 2" {
		t.Error(got)
	}
	m.create("b", wants("2500m"))
	m.c.Run(10 * time.Second)
	if b := m.pod("b"); b.Status.Reason != "OutOfcpu" {
		t.Errorf("b is %s %s", is(b), b.Status.Reason)
	}
}
