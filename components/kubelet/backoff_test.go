package kubelet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
)

// gaps are the times from each end of a pod's container to its next start.
func (m *machine) gaps(name string) (out []time.Duration) {
	var ended time.Time
	for _, r := range m.containers(name, event.ContainerRunning, event.ContainerExited) {
		if r.Event.(event.ContainerChanged).State == event.ContainerExited {
			ended = r.At
		} else if !ended.IsZero() {
			out = append(out, r.At.Sub(ended))
		}
	}
	return out
}

func TestCrashLoopBackOffCountsFromTheEndAndDoubles(t *testing.T) {
	m := start(t)
	m.create("short", command("sh", "-c", "exit 0"))
	var seen []string
	for range 40 { // the first 20 s, looked at closely
		m.c.Run(500 * time.Millisecond)
		if s := is(m.pod("short")); len(seen) == 0 || seen[len(seen)-1] != s {
			seen = append(seen, s)
		}
	}
	if got := strings.Join(seen, ", "); !strings.Contains(got, "restarts=1 Completed(0), Running ready=False restarts=1 CrashLoopBackOff") {
		t.Errorf("seen: %s", got)
	}
	m.c.Run(20 * time.Minute)
	gaps := m.gaps("short")
	if len(gaps) < 8 {
		t.Fatalf("restarted after %v", gaps)
	}
	within(t, "the first restart", gaps[0], 0, 2*time.Second)
	for i, wait := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		d := wait * time.Second
		within(t, "restart "+d.String(), gaps[i+1], d, d+min(d/2, 35*time.Second)+3*time.Second)
	}
	m.expect("short", fmt.Sprintf("Running ready=False restarts=%d CrashLoopBackOff", len(gaps)))
	p := m.pod("short")
	want := "back-off 5m0s restarting failed container=c pod=short_default(" + string(p.UID) + ")"
	if got := p.Status.ContainerStatuses[0].State.Waiting.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.Reason != "Completed" {
		t.Errorf("last state %+v", last)
	}
	reasons, messages := m.events("Pod", "short")
	if i := index(reasons, "BackOff"); i < 0 || messages[i] != "Back-off restarting failed container c in pod short_default("+string(p.UID)+")" {
		t.Errorf("events %v", messages)
	}
}

func index(list []string, want string) int {
	for i, s := range list {
		if s == want {
			return i
		}
	}
	return -1
}

func TestTenMinutesOfRunningResetTheBackOff(t *testing.T) {
	m := start(t)
	m.create("flaky", command("sh", "-c", "sleep 660; exit 1"))
	m.c.Run(2 * time.Minute)
	p := m.pod("flaky")
	for range 3 {
		m.cfg.Runtime.Crash(0, p.UID, "c", 1, "")
		m.c.Run(2 * time.Minute)
	}
	m.c.Run(12 * time.Minute) // exits by itself after 11
	gaps := m.gaps("flaky")
	within(t, "the third restart", gaps[2], 20*time.Second, 33*time.Second)
	within(t, "the restart after 11 minutes", gaps[3], 0, 2*time.Second)
}

func TestAFailedPullIsRetriedWithItsOwnBackOff(t *testing.T) {
	m := start(t)
	m.create("a", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:nosuch" })
	began := m.c.Loop.Now()
	m.c.Run(3 * time.Second)
	m.expect("a", "Pending ready=False restarts=0 ErrImagePull")
	m.c.Run(15 * time.Second)
	m.c.Run(10 * time.Minute)
	m.expect("a", "Pending ready=False restarts=0 ImagePullBackOff")
	var tries []time.Duration
	for _, r := range m.containers("a", event.ContainerPulling) {
		tries = append(tries, r.At.Sub(began).Truncate(time.Second))
	}
	for i, bounds := range [][2]time.Duration{{0, 2}, {10, 20}, {30, 55}, {75, 115}, {155, 210}, {315, 385}} {
		if i >= len(tries) {
			t.Fatalf("tries %v", tries)
		}
		within(t, "try", tries[i], bounds[0]*time.Second, bounds[1]*time.Second)
	}
	reasons, messages := m.events("Pod", "a")
	if got := strings.Join(reasons[:5], " "); got != "Pulling Failed Failed BackOff Failed" {
		t.Errorf("events %v", reasons)
	}
	if messages[1] != `Failed to pull image "nginx:nosuch": rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/nginx:nosuch": `+
		`failed to resolve image: docker.io/library/nginx:nosuch: not found` || messages[2] != "Error: ErrImagePull" || messages[4] != "Error: ImagePullBackOff" {
		t.Errorf("messages %q", messages[:5])
	}
	if got := m.pod("a").Status.ContainerStatuses[0].State.Waiting.Message; !strings.HasPrefix(got, `Back-off pulling image "nginx:nosuch": ErrImagePull: rpc error`) {
		t.Errorf("waiting: %s", got)
	}
}

func TestImagesThatCannotBeHad(t *testing.T) {
	for _, c := range []struct {
		image  string
		policy corev1.PullPolicy
		want   string
	}{
		{"Nginx", corev1.PullIfNotPresent, "InvalidImageName"},
		{"redis:7", corev1.PullNever, "ErrImageNeverPull"},
		{"registry.invalid/app:1", corev1.PullAlways, "ErrImagePull"},
	} {
		m := start(t)
		m.create("a", func(p *corev1.Pod) {
			p.Spec.Containers[0].Image, p.Spec.Containers[0].ImagePullPolicy = c.image, c.policy
		})
		m.c.Run(4 * time.Second)
		m.expect("a", "Pending ready=False restarts=0 "+c.want)
	}
}

func TestACommandThatDoesNotExist(t *testing.T) {
	m := start(t)
	m.create("a", command("nosuch"))
	m.c.Run(2 * time.Second)
	m.c.Run(2 * time.Minute)
	p := m.pod("a")
	last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated
	if last == nil || last.ExitCode != 128 || last.Reason != "StartError" {
		t.Errorf("last state %+v", last)
	}
}
