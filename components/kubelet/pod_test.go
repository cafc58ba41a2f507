package kubelet_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

func (m *machine) order(name string, states ...event.ContainerState) string {
	var out []string
	for _, r := range m.containers(name, states...) {
		e := r.Event.(event.ContainerChanged)
		out = append(out, e.Container+" "+string(e.State))
	}
	return strings.Join(out, ", ")
}

func sidecar(name string) corev1.Container {
	always := corev1.ContainerRestartPolicyAlways
	return corev1.Container{Name: name, Image: "envoy:1", RestartPolicy: &always}
}

func TestSidecarsStartFirstAndStopLastInReverse(t *testing.T) {
	m := start(t)
	p := m.create("a", func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{sidecar("s1"), sidecar("s2")} })
	m.c.Run(15 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	m.cfg.Runtime.Crash(0, p.UID, "s1", 1, "")
	m.c.Run(10 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	if err := m.c.Delete(kinds.Pods, "default", "a", nil); err != nil {
		t.Fatal(err)
	}
	m.c.Run(10 * time.Second)
	m.expect("a", "gone")
	want := "s1 running, s2 running, c running, s1 exited, s1 running, c exited, s2 exited, s1 exited"
	if got := m.order("a", event.ContainerRunning, event.ContainerExited); got != want {
		t.Errorf("order %s\n want %s", got, want)
	}
}

func TestAJobWithASidecarEndsWhenItsWorkIsDone(t *testing.T) {
	m := start(t)
	m.create("a", command("sleep", "3"), restart(corev1.RestartPolicyNever), func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{sidecar("s")} })
	m.c.Run(20 * time.Second)
	m.expect("a", "Succeeded ready=False restarts=0 Completed(0)")
}

func TestAFailingInitContainerIsRetriedOrEndsThePod(t *testing.T) {
	for policy, want := range map[corev1.RestartPolicy]corev1.PodPhase{corev1.RestartPolicyNever: corev1.PodFailed, corev1.RestartPolicyAlways: corev1.PodPending} {
		m := start(t)
		m.create("a", restart(policy), func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "busybox:1.36", Command: []string{"false"}}}
		})
		m.c.Run(time.Minute)
		p := m.pod("a")
		if p.Status.Phase != want || (want == corev1.PodPending && p.Status.InitContainerStatuses[0].RestartCount < 2) {
			t.Errorf("%s: %s, init %+v", policy, is(p), p.Status.InitContainerStatuses)
		}
	}
}

func TestPreStopRunsWithinTheGracePeriod(t *testing.T) {
	for _, c := range []struct {
		says      string
		hook      int64
		low, high time.Duration
	}{
		{"a short hook delays TERM", 5, 5 * time.Second, 7 * time.Second},
		{"a hook as long as the grace period leaves two seconds more", 60, 10 * time.Second, 12 * time.Second},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := start(t)
			grace := int64(10)
			m.create("a", func(p *corev1.Pod) {
				p.Spec.TerminationGracePeriodSeconds = &grace
				p.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: min(c.hook, grace)}}}
				if c.hook > grace {
					p.Spec.Containers[0].Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "60"}}}
				}
			})
			m.c.Run(10 * time.Second)
			began := m.c.Loop.Now()
			m.c.Delete(kinds.Pods, "default", "a", nil)
			m.c.RunUntil(time.Minute, func() bool { return len(m.containers("a", event.ContainerExited)) > 0 })
			within(t, "the end", m.c.Loop.Now().Sub(began), c.low, c.high)
		})
	}
}

func TestASecondDeletionShortensTheGrace(t *testing.T) {
	m := start(t)
	m.create("a", command("sleep", "3600"))
	m.c.Run(10 * time.Second)
	began := m.c.Loop.Now()
	m.c.Delete(kinds.Pods, "default", "a", nil)
	m.c.Run(5 * time.Second)
	two := int64(2)
	m.c.Delete(kinds.Pods, "default", "a", &metav1.DeleteOptions{GracePeriodSeconds: &two})
	m.c.RunUntil(time.Minute, func() bool { return m.pod("a") == nil })
	within(t, "the end", m.c.Loop.Now().Sub(began), 7*time.Second, 9*time.Second)
}

func TestAnActiveDeadlineEndsThePod(t *testing.T) {
	m := start(t)
	limit := int64(20)
	m.create("a", command("sleep", "3600"), func(p *corev1.Pod) {
		p.Spec.ActiveDeadlineSeconds = &limit
		one := int64(1)
		p.Spec.TerminationGracePeriodSeconds = &one
	})
	m.c.Run(15 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	m.c.Run(15 * time.Second)
	p := m.pod("a")
	if p.Status.Phase != corev1.PodFailed || p.Status.Reason != "DeadlineExceeded" {
		t.Errorf("status %s %s", is(p), p.Status.Reason)
	}
}

func TestAHostPortIsGivenOnce(t *testing.T) {
	m := start(t)
	port := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080}}
	}
	m.create("a", port)
	m.create("b", port)
	m.c.Run(10 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	if p := m.pod("b"); p.Status.Reason != "NodePorts" || p.Status.Phase != corev1.PodFailed {
		t.Errorf("b is %s %s", is(p), p.Status.Reason)
	}
}

func TestPullsAreOneAfterTheOther(t *testing.T) {
	m := start(t)
	for _, image := range []string{"redis:7", "postgres:17", "httpd:2.4"} {
		name, _, _ := strings.Cut(image, ":")
		m.create(name, func(p *corev1.Pod) { p.Spec.Containers[0].Image = image })
	}
	m.c.Run(20 * time.Second)
	var longest time.Duration
	for _, name := range []string{"redis", "postgres", "httpd"} {
		m.expect(name, "Running ready=True restarts=0 running")
		_, messages := m.events("Pod", name)
		var pulled, waited string
		words := strings.Fields(messages[1])
		pulled, waited = words[5], strings.TrimPrefix(words[6], "(")
		a, errA := time.ParseDuration(pulled)
		b, errB := time.ParseDuration(waited)
		if errA != nil || errB != nil {
			t.Fatalf("message %q", messages[1])
		}
		longest = max(longest, b-a)
	}
	if longest < time.Second {
		t.Errorf("nobody had to wait: %v", longest)
	}
}
