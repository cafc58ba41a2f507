package kinds

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

type podEdit func(*corev1.Pod)

func podOf(edits ...podEdit) *corev1.Pod {
	p := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
	for _, e := range edits {
		e(p)
	}
	return p
}

func phase(ph corev1.PodPhase) podEdit { return func(p *corev1.Pod) { p.Status.Phase = ph } }
func reason(r string) podEdit          { return func(p *corev1.Pod) { p.Status.Reason = r } }
func condition(t corev1.PodConditionType, s corev1.ConditionStatus, why string) podEdit {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: s, Reason: why})
	}
}
func ready() podEdit { return condition(corev1.PodReady, corev1.ConditionTrue, "") }
func deleted() podEdit {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }
}

// a container that the spec has but no status speaks of
func silent(n int) podEdit {
	return func(p *corev1.Pod) {
		for range n {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", len(p.Spec.Containers))})
		}
	}
}

func container(state corev1.ContainerState, isReady bool, restarts int32) podEdit {
	return func(p *corev1.Pod) {
		name := fmt.Sprint("c", len(p.Spec.Containers))
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name})
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, State: state, Ready: isReady, RestartCount: restarts})
	}
}

func initial(state corev1.ContainerState, restarts int32) podEdit {
	return func(p *corev1.Pod) {
		name := fmt.Sprint("i", len(p.Spec.InitContainers))
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: name})
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, corev1.ContainerStatus{Name: name, State: state, RestartCount: restarts})
	}
}

func sidecar(state corev1.ContainerState, started, isReady bool, restarts int32) podEdit {
	return func(p *corev1.Pod) {
		initial(state, restarts)(p)
		always := corev1.ContainerRestartPolicyAlways
		p.Spec.InitContainers[len(p.Spec.InitContainers)-1].RestartPolicy = &always
		s := &p.Status.InitContainerStatuses[len(p.Status.InitContainerStatuses)-1]
		s.Started, s.Ready = &started, isReady
	}
}

func waiting(r string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: r}}
}
func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}
func ended(r string, code, signal int32) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: r, ExitCode: code, Signal: signal}}
}

func TestPodColumnsReadAsKubectlPrintsThem(t *testing.T) {
	initialized := condition(corev1.PodInitialized, corev1.ConditionTrue, "")
	for _, c := range []struct {
		name     string
		pod      *corev1.Pod
		status   string
		ready    string
		restarts int
	}{
		{"a new pod shows its phase", podOf(silent(1)), "Pending", "0/1", 0},
		{"a reason of the status hides the phase", podOf(silent(1), phase("Failed"), reason("Evicted")), "Evicted", "0/1", 0},
		{"a gated pod says so", podOf(silent(1), condition(corev1.PodScheduled, "False", "SchedulingGated")), "SchedulingGated", "0/1", 0},
		{"an unschedulable pod is just Pending", podOf(silent(1), condition(corev1.PodScheduled, "False", "Unschedulable")), "Pending", "0/1", 0},
		{"images are being pulled", podOf(container(waiting("ContainerCreating"), false, 0)), "ContainerCreating", "0/1", 0},
		{"all is well", podOf(phase("Running"), container(running(), true, 0), ready()), "Running", "1/1", 0},
		{"running but not ready is still Running", podOf(phase("Running"), container(running(), false, 2)), "Running", "0/1", 2},
		{"a crash loop", podOf(phase("Running"), container(waiting("CrashLoopBackOff"), false, 5)), "CrashLoopBackOff", "0/1", 5},
		{"the first container's reason wins", podOf(phase("Running"), container(waiting("ErrImagePull"), false, 0), container(waiting("CrashLoopBackOff"), false, 1)), "ErrImagePull", "0/2", 1},
		{"the only failing one of two", podOf(phase("Running"), container(running(), true, 0), container(ended("Error", 1, 0), false, 3)), "Error", "1/2", 3},
		{"ended without a reason, by signal", podOf(phase("Failed"), container(ended("", 137, 9), false, 0)), "Signal:9", "0/1", 0},
		{"ended without a reason, by exit code", podOf(phase("Failed"), container(ended("", 3, 0), false, 0)), "ExitCode:3", "0/1", 0},
		{"waiting without a reason changes nothing", podOf(container(waiting(""), false, 0)), "Pending", "0/1", 0},
		{"done", podOf(phase("Succeeded"), container(ended("Completed", 0, 0), false, 0)), "Completed", "0/1", 0},
		{"one done, one runs, pod ready", podOf(phase("Running"), container(ended("Completed", 0, 0), false, 0), container(running(), true, 0), ready()), "Running", "1/2", 0},
		{"one done, one runs, pod not ready", podOf(phase("Running"), container(ended("Completed", 0, 0), false, 0), container(running(), true, 0)), "NotReady", "1/2", 0},
		{"one done, one failed: the failure shows", podOf(phase("Failed"), container(ended("Completed", 0, 0), false, 0), container(ended("OOMKilled", 137, 0), false, 0)), "OOMKilled", "0/2", 0},
		{"one done, one failed, one runs, pod not ready: the failure shows", podOf(phase("Running"), container(ended("Completed", 0, 0), false, 0), container(ended("Error", 1, 0), false, 0), container(running(), true, 0)), "Error", "1/3", 0},

		{"first init container runs", podOf(silent(1), initial(running(), 0), initial(waiting("PodInitializing"), 0)), "Init:0/2", "0/1", 0},
		{"second init container waits for its turn", podOf(silent(1), initial(ended("Completed", 0, 0), 0), initial(waiting("PodInitializing"), 0)), "Init:1/2", "0/1", 0},
		{"an init container cannot be pulled", podOf(silent(1), initial(waiting("ErrImagePull"), 0)), "Init:ErrImagePull", "0/1", 0},
		{"an init container crash-loops; its restarts count", podOf(silent(1), initial(waiting("CrashLoopBackOff"), 4)), "Init:CrashLoopBackOff", "0/1", 4},
		{"an init container failed", podOf(silent(1), initial(ended("Error", 1, 0), 0)), "Init:Error", "0/1", 0},
		{"an init container failed without reason", podOf(silent(1), initial(ended("", 2, 0), 0)), "Init:ExitCode:2", "0/1", 0},
		{"an init container was killed without reason", podOf(silent(1), initial(ended("", 137, 9), 0)), "Init:Signal:9", "0/1", 0},
		{"after initialisation its restarts no longer count", podOf(phase("Running"), initial(ended("Completed", 0, 0), 4), container(running(), true, 1)), "Running", "1/1", 1},
		{"a started sidecar counts and holds nothing back", podOf(phase("Running"), sidecar(running(), true, true, 2), container(running(), true, 1)), "Running", "2/2", 3},
		{"a sidecar that has not started holds back", podOf(silent(1), sidecar(running(), false, false, 0)), "Init:0/1", "0/2", 0},
		{"a crashing sidecar of an initialised pod lets the containers speak", podOf(phase("Running"), sidecar(waiting("CrashLoopBackOff"), false, false, 3), container(running(), true, 0), initialized), "Init:CrashLoopBackOff", "1/2", 3},

		{"deleted", podOf(phase("Running"), container(running(), true, 0), deleted()), "Terminating", "1/1", 0},
		{"deleted while pending", podOf(silent(1), deleted()), "Terminating", "0/1", 0},
		{"deleted after it ended keeps its result", podOf(phase("Succeeded"), container(ended("Completed", 0, 0), false, 0), deleted()), "Completed", "0/1", 0},
		{"deleted and the node is lost", podOf(phase("Running"), reason("NodeLost"), container(running(), true, 0), deleted()), "Unknown", "1/1", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ColumnsOf(c.pod)
			if got.Status != c.status || fmt.Sprintf("%d/%d", got.Ready, got.Total) != c.ready || got.Restarts != c.restarts {
				t.Errorf("got %q %d/%d restarts %d, want %q %s restarts %d", got.Status, got.Ready, got.Total, got.Restarts, c.status, c.ready, c.restarts)
			}
		})
	}
}

func TestLastRestartIsTheLatestOfAllContainers(t *testing.T) {
	p := podOf(phase("Running"), container(running(), true, 1), container(running(), true, 2))
	for i, d := range []time.Duration{time.Minute, time.Second} {
		p.Status.ContainerStatuses[i].LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(noon.Add(d))}}
	}
	if got := ColumnsOf(p).LastRestart; !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("last restart %v", got)
	}
}

func TestAgesReadAsKubectlPrintsThem(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {95 * time.Second, "95s"}, {119 * time.Second, "119s"}, {2 * time.Minute, "2m"}, {5 * time.Minute, "5m"}, {5*time.Minute + 30*time.Second, "5m30s"},
		{9*time.Minute + 59*time.Second, "9m59s"}, {10*time.Minute + 30*time.Second, "10m"}, {45 * time.Minute, "45m"}, {179 * time.Minute, "179m"}, {3 * time.Hour, "3h"},
		{5*time.Hour + 12*time.Minute, "5h12m"}, {8*time.Hour + time.Minute, "8h"}, {30 * time.Hour, "30h"}, {47 * time.Hour, "47h"}, {2 * day, "2d"}, {3*day + 4*time.Hour, "3d4h"},
		{8*day + 4*time.Hour, "8d"}, {120 * day, "120d"}, {729 * day, "729d"}, {730 * day, "2y"}, {764 * day, "2y34d"}, {8 * 365 * day, "8y"}, {-5 * time.Second, "<invalid>"},
	} {
		if got := Age(c.d); got != c.want {
			t.Errorf("Age(%v) = %q, want %q", c.d, got, c.want)
		}
	}
}

func BenchmarkColumnsOf(b *testing.B) {
	p := podOf(phase("Running"), initial(ended("Completed", 0, 0), 0), container(running(), true, 0), container(running(), true, 0), ready())
	b.ReportAllocs()
	for range b.N {
		ColumnsOf(p)
	}
}
