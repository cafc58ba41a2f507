package kinds

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// PodColumns is what kubectl prints of a pod in its READY, STATUS and RESTARTS columns (fidelity COL-1 and COL-2).
type PodColumns struct {
	Status string
	// Ready of Total containers; sidecars count in both.
	Ready, Total int
	// Restarts in all. Until initialisation has ended these are the init containers' own.
	Restarts int
	// LastRestart is when the restarted container that ended last had ended; zero when none was restarted.
	LastRestart time.Time
}

// ColumnsOf computes the columns of a pod in one pass.
func ColumnsOf(pod *corev1.Pod) PodColumns {
	c := PodColumns{Status: string(pod.Status.Phase), Total: len(pod.Spec.Containers)}
	if pod.Status.Reason != "" {
		c.Status = pod.Status.Reason
	}
	for i := range pod.Status.Conditions {
		if cond := &pod.Status.Conditions[i]; cond.Type == corev1.PodScheduled && cond.Reason == corev1.PodReasonSchedulingGated {
			c.Status = corev1.PodReasonSchedulingGated
		}
	}
	for i := range pod.Spec.InitContainers {
		if isSidecar(&pod.Spec.InitContainers[i]) {
			c.Total++
		}
	}
	initializing, sidecars := c.initContainers(pod)
	if !initializing || podCondition(pod, corev1.PodInitialized) {
		c.Restarts, c.LastRestart = sidecars.Restarts, sidecars.LastRestart
		c.mainContainers(pod)
	}
	if pod.DeletionTimestamp != nil {
		switch {
		case pod.Status.Reason == "NodeLost":
			c.Status = "Unknown"
		case !PodEnded(pod):
			c.Status = "Terminating"
		}
	}
	return c
}

// initContainers walks the init containers up to the first that holds the pod back. It reports whether there is one, and the restarts of sidecars alone.
func (c *PodColumns) initContainers(pod *corev1.Pod) (initializing bool, sidecars PodColumns) {
	for i := range pod.Status.InitContainerStatuses {
		s := &pod.Status.InitContainerStatuses[i]
		sidecar := isSidecar(initContainer(pod, s.Name))
		c.restarted(s)
		if sidecar {
			sidecars.restarted(s)
		}
		ended, waiting := s.State.Terminated, s.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecar && s.Started != nil && *s.Started:
			if s.Ready {
				c.Ready++
			}
			continue
		case ended != nil:
			c.Status = "Init:" + endReason(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			c.Status = "Init:" + waiting.Reason
		default:
			c.Status = "Init:" + strconv.Itoa(i) + "/" + strconv.Itoa(len(pod.Spec.InitContainers))
		}
		return true, sidecars
	}
	return false, sidecars
}

// mainContainers walks from the last container to the first, so that the first one's reason is what stays.
func (c *PodColumns) mainContainers(pod *corev1.Pod) {
	running, failed := false, ""
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		s := &pod.Status.ContainerStatuses[i]
		c.restarted(s)
		switch {
		case s.State.Waiting != nil && s.State.Waiting.Reason != "":
			c.Status = s.State.Waiting.Reason
		case s.State.Terminated != nil:
			c.Status = endReason(s.State.Terminated)
			if s.State.Terminated.ExitCode != 0 {
				failed = c.Status
			}
		case s.Ready && s.State.Running != nil:
			running = true
			c.Ready++
		}
	}
	if c.Status != "Completed" {
		return
	}
	switch { // one container is done, but what of the others?
	case running && podCondition(pod, corev1.PodReady):
		c.Status = "Running"
	case failed != "":
		c.Status = failed
	case running:
		c.Status = "NotReady"
	}
}

func (c *PodColumns) restarted(s *corev1.ContainerStatus) {
	c.Restarts += int(s.RestartCount)
	if t := s.LastTerminationState.Terminated; t != nil && t.FinishedAt.After(c.LastRestart) {
		c.LastRestart = t.FinishedAt.Time
	}
}

func endReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return "Signal:" + strconv.Itoa(int(t.Signal))
	default:
		return "ExitCode:" + strconv.Itoa(int(t.ExitCode))
	}
}

func initContainer(pod *corev1.Pod, name string) *corev1.Container {
	for i := range pod.Spec.InitContainers {
		if pod.Spec.InitContainers[i].Name == name {
			return &pod.Spec.InitContainers[i]
		}
	}
	return nil
}

func isSidecar(c *corev1.Container) bool {
	return c != nil && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func podCondition(pod *corev1.Pod, t corev1.PodConditionType) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == t {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// PodStatus is kubectl's STATUS column.
func PodStatus(pod *corev1.Pod) string { return ColumnsOf(pod).Status }

// PodReady is kubectl's READY column: containers that are ready, of all that count.
func PodReady(pod *corev1.Pod) (ready, total int) {
	c := ColumnsOf(pod)
	return c.Ready, c.Total
}

// PodEnded reports a phase that is final: Succeeded or Failed.
func PodEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// PodIsReady reports the pod's Ready condition, which is what Services and Deployments go by.
func PodIsReady(pod *corev1.Pod) bool { return podCondition(pod, corev1.PodReady) }

// Age is kubectl's way of writing how long ago something was (fidelity COL-7): "95s", "5m30s", "45m", "5h12m", "30h", "3d4h", "120d", "2y34d".
func Age(d time.Duration) string { return duration.HumanDuration(d) }
