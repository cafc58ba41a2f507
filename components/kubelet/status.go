package kubelet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubelet/runtime"
)

// statusInput is all that a pod's status depends on.
type statusInput struct {
	pod     *corev1.Pod
	static  bool
	view    view
	old     corev1.PodStatus
	reasons map[string]waiting
	// ready and started judge a running container.
	ready, started func(runtime.ContainerStatus) bool
	verdict        *verdict
	terminated     bool // nothing runs any more
	// what its containers may have and have, and why they may not have what it asks for
	allocated, has *corev1.Pod
	deferred       *verdict
	hostIP         string
	now            time.Time
}

func terminal(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }

// stamp is an instant as the API keeps it.
func stamp(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// makeStatus computes what the API shall read (k/k pkg/kubelet/kubelet_pods.go: generateAPIPodStatus). Pure.
func makeStatus(in statusInput) corev1.PodStatus {
	st := corev1.PodStatus{QOSClass: in.old.QOSClass, StartTime: in.old.StartTime, ResourceClaimStatuses: in.old.ResourceClaimStatuses,
		NominatedNodeName: in.old.NominatedNodeName, ObservedGeneration: in.pod.Generation}
	if st.StartTime == nil {
		t := stamp(in.now)
		st.StartTime = &t
	}
	if in.hostIP != "" {
		st.HostIP, st.HostIPs = in.hostIP, []corev1.HostIP{{IP: in.hostIP}}
	}
	started := in.verdict == nil || len(in.view.containers) > 0 || in.view.hadSandbox
	if started {
		st.InitContainerStatuses = containerStatuses(in, in.pod.Spec.InitContainers, in.old.InitContainerStatuses)
		st.ContainerStatuses = containerStatuses(in, in.pod.Spec.Containers, in.old.ContainerStatuses)
		st.EphemeralContainerStatuses = ephemeralStatuses(in)
	}
	st.Phase = phaseOf(in, st)
	if terminal(in.old.Phase) {
		st.Phase, st.Reason, st.Message = in.old.Phase, in.old.Reason, in.old.Message
	}
	if in.verdict != nil && in.terminated {
		st.Phase, st.Reason, st.Message = corev1.PodFailed, in.verdict.reason, in.verdict.message
	}
	switch {
	case in.view.sandbox != nil:
		st.PodIP, st.PodIPs = in.view.sandbox.IP, []corev1.PodIP{{IP: in.view.sandbox.IP}}
	case in.pod.Spec.HostNetwork && started:
		st.PodIP, st.PodIPs = in.hostIP, []corev1.PodIP{{IP: in.hostIP}}
	case terminal(st.Phase) || in.terminated:
		st.PodIP, st.PodIPs = in.old.PodIP, in.old.PodIPs
	}
	st.Conditions = conditions(in, st, started)
	return st
}

// containerStatuses reports on each container of a list, in the order of their names in the status (sorted, as the kubelet does; init containers in spec order).
func containerStatuses(in statusInput, specs []corev1.Container, before []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(specs) == 0 {
		return nil
	}
	out := make([]corev1.ContainerStatus, 0, len(specs))
	for i := range specs {
		out = append(out, containerStatus(in, &specs[i], before))
	}
	if !isInit(in.pod, specs[0].Name) {
		slices.SortFunc(out, func(a, b corev1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) })
	}
	return out
}

// ephemeralStatuses reports on containers for debugging: they are neither ready nor started, in that nobody waits for it.
func ephemeralStatuses(in statusInput) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range in.pod.Spec.EphemeralContainers {
		st := containerStatus(in, ephemeral(in.pod, i), in.old.EphemeralContainerStatuses)
		st.Ready, st.Started = false, nil
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b corev1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func containerStatus(in statusInput, c *corev1.Container, before []corev1.ContainerStatus) corev1.ContainerStatus {
	st := corev1.ContainerStatus{Name: c.Name, Image: c.Image}
	idle := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	if len(in.pod.Spec.InitContainers) > 0 {
		idle.Waiting.Reason = "PodInitializing"
	}
	list := in.view.containers[c.Name]
	no := false
	st.Started = &no
	if len(list) == 0 {
		st.State = idle
		for _, b := range before { // known to the API, unknown to the runtime: its sandbox was removed
			if b.Name == c.Name && (b.State.Terminated != nil || in.terminated) {
				return gone(b)
			}
		}
	} else {
		st = fromRuntime(in, c, list, idle)
	}
	why, blocked := in.reasons[c.Name]
	if blocked && !in.terminated && st.State.Running == nil {
		if st.State.Terminated != nil {
			if !restarts(in.pod, c, int(st.State.Terminated.ExitCode)) {
				return st
			}
			st.LastTerminationState = st.State
		}
		st.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: why.reason, Message: why.message}}
	}
	return st
}

// gone is the last status of a container whose end nobody saw.
func gone(b corev1.ContainerStatus) corev1.ContainerStatus {
	b.Ready = false
	no := false
	b.Started = &no
	if b.State.Terminated == nil && b.ContainerID != "" {
		b.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown",
			Message: "The container could not be located when the pod was terminated"}}
	}
	return b
}

func fromRuntime(in statusInput, c *corev1.Container, list []runtime.ContainerStatus, idle corev1.ContainerState) corev1.ContainerStatus {
	last := list[len(list)-1]
	no, yes := false, true
	st := corev1.ContainerStatus{Name: c.Name, Image: last.Image, ImageID: last.ImageID, ContainerID: "containerd://" + last.ID, RestartCount: int32(last.Attempt), Started: &no}
	if len(list) > 1 {
		st.LastTerminationState = terminatedState(list[len(list)-2])
	}
	switch last.State {
	case runtime.StateCreated:
		st.State = idle
	case runtime.StateRunning:
		st.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: stamp(last.Started)}}
		if in.started(last) {
			st.Started = &yes
			st.Ready = in.ready(last)
		}
	case runtime.StateExited:
		st.State = terminatedState(last)
		st.Ready = isInit(in.pod, c.Name) && last.ExitCode == 0
	}
	if last.State == runtime.StateRunning && !isEphemeral(in.pod, c.Name) { // told even of nothing: who tells can resize
		if may := containerOf(in.allocated, c.Name); may != nil {
			st.AllocatedResources = may.Resources.Requests
		}
		if has := containerOf(in.has, c.Name); has != nil {
			st.Resources = &has.Resources
		}
	}
	return st
}

func terminatedState(c runtime.ContainerStatus) corev1.ContainerState {
	if c.State != runtime.StateExited {
		return corev1.ContainerState{}
	}
	t := &corev1.ContainerStateTerminated{ExitCode: int32(c.ExitCode), Reason: c.Reason, Message: c.Message, FinishedAt: stamp(c.Finished), ContainerID: "containerd://" + c.ID}
	if !c.Started.IsZero() {
		t.StartedAt = stamp(c.Started)
	}
	return corev1.ContainerState{Terminated: t}
}

// phaseOf is k/k's getPhase.
func phaseOf(in statusInput, st corev1.PodStatus) corev1.PodPhase {
	pod := in.pod
	pendingInit, failedInit := 0, 0
	for i := range st.InitContainerStatuses {
		s := &st.InitContainerStatuses[i]
		c := containerOf(pod, s.Name)
		switch {
		case isSidecar(c):
			if s.State.Running == nil && s.LastTerminationState.Terminated == nil && s.State.Terminated == nil {
				pendingInit++
			}
		case s.State.Terminated != nil:
			if s.State.Terminated.ExitCode != 0 {
				failedInit++
			}
		case s.State.Waiting != nil && s.LastTerminationState.Terminated != nil:
			if s.LastTerminationState.Terminated.ExitCode != 0 {
				failedInit++
			}
		default:
			pendingInit++
		}
	}
	run, wait, stopped, succeeded := 0, 0, 0, 0
	for i := range st.ContainerStatuses {
		s := &st.ContainerStatuses[i]
		switch {
		case s.State.Running != nil:
			run++
		case s.State.Terminated != nil:
			stopped++
			if s.State.Terminated.ExitCode == 0 {
				succeeded++
			}
		case s.LastTerminationState.Terminated != nil:
			stopped++
		default:
			wait++
		}
	}
	if failedInit > 0 && pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		return corev1.PodFailed
	}
	switch {
	case in.terminated && !in.static:
		if stopped > 0 && stopped == succeeded && wait == 0 {
			return corev1.PodSucceeded
		}
		return corev1.PodFailed
	case pendingInit > 0 || failedInit > 0 || wait > 0 || len(st.ContainerStatuses) == 0:
		return corev1.PodPending
	case run > 0:
		return corev1.PodRunning
	}
	switch {
	case pod.Spec.RestartPolicy == corev1.RestartPolicyNever && stopped != succeeded:
		return corev1.PodFailed
	case pod.Spec.RestartPolicy == corev1.RestartPolicyNever || (pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && stopped == succeeded):
		return corev1.PodSucceeded
	}
	return corev1.PodRunning
}

// conditions are the ones the kubelet owns; the status manager adds those of others.
func conditions(in statusInput, st corev1.PodStatus, started bool) []corev1.PodCondition {
	sandbox := in.view.sandbox != nil
	out := []corev1.PodCondition{condition(corev1.PodReadyToStartContainers, sandbox, "", "")}
	initReason, initMessage := "", ""
	var incomplete []string
	for i := range st.InitContainerStatuses {
		s := &st.InitContainerStatuses[i]
		if !s.Ready && !(isSidecar(containerOf(in.pod, s.Name)) && s.Started != nil && *s.Started) {
			incomplete = append(incomplete, s.Name)
		}
	}
	switch {
	case st.Phase == corev1.PodSucceeded:
		incomplete, initReason = nil, "PodCompleted"
	case len(incomplete) > 0 && hasMain(in.pod, in.view): // it was, a sidecar just restarts
		incomplete = nil
	case len(incomplete) > 0:
		initReason, initMessage = "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %v", incomplete)
	}
	out = append(out, condition(corev1.PodInitialized, len(incomplete) == 0, initReason, initMessage))

	ready, reason, message := containersReady(in, st, started)
	podReady, podReason, podMessage := ready, reason, message
	if ready {
		if missing := gates(in.pod, in.pod.Status.Conditions); missing != "" {
			podReady, podReason, podMessage = false, "ReadinessGatesNotReady", missing
		}
	}
	out = append(out, condition(corev1.PodReady, podReady, podReason, podMessage), condition(corev1.ContainersReady, ready, reason, message),
		condition(corev1.PodScheduled, true, "", ""))
	out = append(out, resizeConditions(in)...)
	now := stamp(in.now)
	for i := range out {
		out[i].ObservedGeneration = in.pod.Generation
		out[i].LastTransitionTime = now
		for _, o := range in.old.Conditions {
			if o.Type == out[i].Type && o.Status == out[i].Status && !o.LastTransitionTime.IsZero() {
				out[i].LastTransitionTime = o.LastTransitionTime
			}
		}
	}
	return out
}

func condition(t corev1.PodConditionType, ok bool, reason, message string) corev1.PodCondition {
	c := corev1.PodCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
	if ok {
		c.Status = corev1.ConditionTrue
	}
	return c
}

func containersReady(in statusInput, st corev1.PodStatus, started bool) (ok bool, reason, message string) {
	switch st.Phase {
	case corev1.PodSucceeded:
		return false, "PodCompleted", ""
	case corev1.PodFailed:
		return false, "PodFailed", ""
	}
	if !started {
		return false, "ContainersNotReady", ""
	}
	var unready []string
	for i := range in.pod.Spec.InitContainers {
		c := &in.pod.Spec.InitContainers[i]
		if isSidecar(c) && !st.InitContainerStatuses[i].Ready {
			unready = append(unready, c.Name)
		}
	}
	for i := range in.pod.Spec.Containers {
		name := in.pod.Spec.Containers[i].Name
		for j := range st.ContainerStatuses {
			if s := &st.ContainerStatuses[j]; s.Name == name && !s.Ready {
				unready = append(unready, name)
			}
		}
	}
	if len(unready) > 0 {
		return false, "ContainersNotReady", fmt.Sprintf("containers with unready status: %v", unready)
	}
	return true, "", ""
}

// gates says which readiness gate keeps a pod from being ready.
func gates(pod *corev1.Pod, have []corev1.PodCondition) string {
	var out []string
	for _, g := range pod.Spec.ReadinessGates {
		status := corev1.ConditionFalse
		found := false
		for _, c := range have {
			if c.Type == g.ConditionType {
				status, found = c.Status, true
			}
		}
		switch {
		case !found:
			out = append(out, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", g.ConditionType))
		case status != corev1.ConditionTrue:
			out = append(out, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", g.ConditionType, status))
		}
	}
	return strings.Join(out, ", ")
}
