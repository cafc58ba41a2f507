package kubelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// preStopExtra is what a container gets for its end when the preStop hook used up the grace period (k/k: minimumGracePeriodInSeconds).
const preStopExtra = 2 * time.Second

// terminate stops what runs of a pod and, when nobody wants it any more, removes what is left. It returns 0: nothing happens later by itself.
func (k *Kubelet) terminate(p *sim.Proc, w *pod) time.Duration {
	if !w.terminated {
		p.Cause = max(p.Cause, w.stopCause)
		k.killPod(p, w)
		for _, s := range k.rt.PodSandboxes(w.uid) {
			if s.Ready {
				k.rt.StopPodSandbox(p, s.ID)
			}
		}
		w.terminated = true
		k.stopProbes(w)
		k.sum.remove(w)
		k.freed(p.Cause)
		v := k.look(w)
		p.Cause = max(p.Cause, v.record())
		k.publish(w, v, p.Cause)
	}
	if w.stopping < stopDeleted {
		return 0
	}
	if !w.cleaned {
		for _, s := range k.rt.PodSandboxes(w.uid) {
			k.rt.RemovePodSandbox(p, s.ID)
		}
		w.cleaned = true
	}
	if w.stopping == stopRemoved {
		k.forget(w)
		return 0
	}
	k.send(w, p.Cause) // the last status, then the final DELETE
	return 0
}

// killPod stops all containers: the ordinary ones together, then sidecars from the last to the first, all within the grace period.
func (k *Kubelet) killPod(p *sim.Proc, w *pod) {
	deadline := p.Now().Add(graceOf(w.spec))
	v := k.look(w)
	var ends []*sim.Future[struct{}]
	all := slices.Concat(w.spec.Spec.InitContainers, w.spec.Spec.Containers)
	for i := range w.spec.Spec.EphemeralContainers {
		all = append(all, *ephemeral(w.spec, i))
	}
	for _, c := range all {
		if st, ok := v.last(c.Name); ok && st.State != runtime.StateExited && !(isSidecar(&c) && isInit(w.spec, c.Name)) {
			ends = append(ends, k.stopContainer(p, w, &c, st, "Stopping container "+c.Name, deadline))
		}
	}
	for _, e := range ends {
		e.Await(p)
	}
	for i := len(w.spec.Spec.InitContainers) - 1; i >= 0; i-- {
		c := &w.spec.Spec.InitContainers[i]
		if st, ok := k.rt.LastContainer(w.uid, c.Name); ok && st.State != runtime.StateExited {
			k.stopContainer(p, w, c, st, "Stopping container "+c.Name, deadline).Await(p)
		}
	}
}

// killAll stops some containers of a pod that goes on.
func (k *Kubelet) killAll(p *sim.Proc, w *pod, kills []kill) {
	var ends []*sim.Future[struct{}]
	for _, x := range kills {
		st, ok := k.rt.Container(x.id)
		c := containerOf(w.spec, x.name)
		if ok && c != nil {
			ends = append(ends, k.stopContainer(p, w, c, st, x.message, p.Now().Add(k.killGrace(w, c))))
		}
	}
	for _, e := range ends {
		e.Await(p)
	}
}

// killGrace is how long a container that failed a probe gets; the probe may name its own time.
func (k *Kubelet) killGrace(w *pod, c *corev1.Container) time.Duration {
	if c.LivenessProbe != nil && c.LivenessProbe.TerminationGracePeriodSeconds != nil {
		return time.Duration(max(1, *c.LivenessProbe.TerminationGracePeriodSeconds)) * time.Second
	}
	return graceOf(w.spec)
}

// stopContainer runs the preStop hook, then sends TERM, then KILL at the deadline. The answer comes when the container has exited.
func (k *Kubelet) stopContainer(p *sim.Proc, w *pod, c *corev1.Container, st runtime.ContainerStatus, message string, deadline time.Time) *sim.Future[struct{}] {
	k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "Killing", message)
	hook, code := preStop(c)
	left := deadline.Sub(p.Now())
	if hook <= 0 || st.State != runtime.StateRunning {
		if code != 0 {
			k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed")
		}
		return k.rt.StopContainer(p.Cause, st.ID, max(left, time.Second))
	}
	var end sim.Future[struct{}]
	p.Go("preStop "+c.Name, func(hp *sim.Proc) {
		hp.Sleep(min(hook, max(left, 0)))
		if code != 0 {
			k.podEvent(hp, w, c.Name, corev1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed")
		}
		k.rt.StopContainer(hp.Cause, st.ID, max(deadline.Sub(hp.Now()), preStopExtra)).Await(hp)
		end.Set(struct{}{})
	})
	return &end
}

// preStop is how long a container's hook takes and the code it ends with.
func preStop(c *corev1.Container) (time.Duration, int) {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return 0, 0
	}
	switch h := c.Lifecycle.PreStop; {
	case h.Sleep != nil:
		return time.Duration(h.Sleep.Seconds) * time.Second, 0
	case h.Exec != nil:
		return runtime.RunsFor(h.Exec.Command)
	}
	return 0, 0
}

func containerOf(pod *corev1.Pod, name string) *corev1.Container {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		if c := ephemeral(pod, i); c.Name == name {
			return c
		}
	}
	return nil
}

// ephemeral is a container for debugging, seen as a container: all it may say, containers may say.
func ephemeral(pod *corev1.Pod, i int) *corev1.Container {
	return (*corev1.Container)(&pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
}

func isEphemeral(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.EphemeralContainers, func(c corev1.EphemeralContainer) bool { return c.Name == name })
}

// publish makes the pod's status from what runs and hands it to the status manager if it changed.
func (k *Kubelet) publish(w *pod, v view, cause event.Seq) {
	st := makeStatus(statusInput{pod: w.spec, static: w.static, view: v, old: w.oldStatus(), reasons: w.reasons, ready: w.containerReady, started: w.containerStarted,
		verdict: w.verdict, terminated: w.terminated, allocated: w.allocated, has: w.has, deferred: w.deferred, hostIP: k.cfg.NodeIP, now: k.pr.Loop.Now()})
	k.setStatus(w, st, cause)
}

// oldStatus is what was published last, by this kubelet or the one before it.
func (w *pod) oldStatus() corev1.PodStatus {
	if w.statusSet {
		return w.status
	}
	return w.spec.Status
}
