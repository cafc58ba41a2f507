package kubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// sync brings a pod nearer to what is wanted and says when to look again; 0: when something changes.
func (k *Kubelet) sync(p *sim.Proc, w *pod) time.Duration {
	if w.stopping != running {
		return k.terminate(p, w)
	}
	if w.static && !k.mayStart(w) {
		return 0
	}
	if w.deferred != nil {
		k.resize(w, p.Cause)
	}
	v := k.look(w)
	k.ensureProbes(w, v)
	k.publish(w, v, max(p.Cause, v.record()))
	if terminal(w.status.Phase) {
		k.stop(w, stopDone, p.Cause)
		return 0
	}
	left, limited := k.deadline(w)
	if limited && left <= 0 {
		message := "Pod was active on the node longer than the specified deadline"
		w.verdict = &verdict{"DeadlineExceeded", message}
		k.podEvent(p, w, "", corev1.EventTypeNormal, "DeadlineExceeded", message)
		k.stop(w, stopVerdict, p.Cause)
		return 0
	}
	next := k.syncRunning(p, w, v)
	if limited && (next == 0 || left < next) {
		next = left
	}
	return next
}

// deadline is what is left of spec.activeDeadlineSeconds.
func (k *Kubelet) deadline(w *pod) (left time.Duration, limited bool) {
	if w.spec.Spec.ActiveDeadlineSeconds == nil || w.status.StartTime == nil {
		return 0, false
	}
	return w.status.StartTime.Add(time.Duration(*w.spec.Spec.ActiveDeadlineSeconds) * time.Second).Sub(k.pr.Loop.Now()), true
}

// syncRunning kills, makes the sandbox and starts containers as planned. Between these it looks whether the pod is to end.
func (k *Kubelet) syncRunning(p *sim.Proc, w *pod, v view) time.Duration {
	now := p.Now()
	if at := k.rt.NetworkReadyAt(); now.Before(at) && !w.spec.Spec.HostNetwork {
		k.podEvent(p, w, "", corev1.EventTypeWarning, "NetworkNotReady", "network is not ready: "+runtime.ErrNetwork.Error())
		return transientBackoff
	}
	failed := func(c runtime.ContainerStatus) string { return w.failedProbe(c.ID) }
	started := func(c runtime.ContainerStatus) bool { return w.containerStarted(c) }
	todo := planPod(w.spec, v, failed, started)
	for _, x := range k.actuate(p, w, v) {
		todo.kill, todo.start = append(todo.kill, x), append(todo.start, containerOf(w.spec, x.name))
	}
	k.killAll(p, w, todo.kill)
	if todo.sandbox && w.stopping == running {
		if v.hadSandbox {
			k.podEvent(p, w, "", corev1.EventTypeNormal, "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.")
		}
		if _, err := k.rt.RunPodSandbox(p, w.spec); err != nil {
			k.podEvent(p, w, "", corev1.EventTypeWarning, "FailedCreatePodSandBox", "Failed to create pod sandbox: "+err.Error())
			return k.jitter(errorBackoff)
		}
		k.removeDeadSandboxes(p, w)
		v = k.look(w)
		todo = planPod(w.spec, v, failed, started)
	}
	next := time.Duration(0)
	for _, c := range todo.start {
		if w.stopping != running {
			return 0
		}
		before, had := w.reasons[c.Name]
		cause := p.Cause
		again := k.startContainer(p, w, v.sandbox, c)
		p.Cause = cause // a container does not follow from the one before it
		if after, has := w.reasons[c.Name]; has && (!had || before != after) && after.reason != "ImagePullBackOff" {
			again = relistPeriod // the API shall read the new reason soon; ErrImagePull is seen until the next sync but one
		}
		if again > 0 && (next == 0 || again < next) {
			next = again
		}
	}
	return next
}

// jitter stretches a delay by 0-50 %.
func (k *Kubelet) jitter(d time.Duration) time.Duration {
	return d + time.Duration(k.rng.Float64()*0.5*float64(d))
}

// removeDeadSandboxes forgets sandboxes from before a loss of power, when there is no container in them that is still of interest (a last state).
func (k *Kubelet) removeDeadSandboxes(p *sim.Proc, w *pod) {
	all := k.rt.PodSandboxes(w.uid)
	for i, s := range all {
		if !s.Ready && i < len(all)-2 {
			k.rt.RemovePodSandbox(p, s.ID)
		}
	}
}

// startContainer gets the image, makes the container and starts it, or says when to try again.
func (k *Kubelet) startContainer(p *sim.Proc, w *pod, sandbox *runtime.SandboxStatus, c *corev1.Container) time.Duration {
	attempt := 0
	if last, ok := k.rt.LastContainer(w.uid, c.Name); ok {
		attempt = last.Attempt + 1
		if again := k.crashBackoff(p, w, c, last); again > 0 {
			return again
		}
	}
	if problem := k.ensureImage(p, w, c, attempt); problem != nil {
		k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "Failed", "Error: "+problem.reason)
		w.reasons[c.Name] = *problem
		w.cause = max(w.cause, p.Cause) // the pull, if there was one
		return k.jitter(errorBackoff)
	}
	if w.stopping != running {
		return 0
	}
	id, err := k.rt.CreateContainer(p, sandbox.ID, c, attempt)
	if err != nil {
		return k.startFailed(p, w, c, "CreateContainerError", err)
	}
	k.follow(p, id)
	k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "Created", "Container created")
	if err := k.rt.StartContainer(p, id); err != nil {
		return k.startFailed(p, w, c, "RunContainerError", err)
	}
	k.follow(p, id)
	k.podEvent(p, w, c.Name, corev1.EventTypeNormal, "Started", "Container started")
	delete(w.reasons, c.Name)
	return 0
}

// follow makes what p does next an effect of the last change of a container.
func (k *Kubelet) follow(p *sim.Proc, id string) {
	if c, ok := k.rt.Container(id); ok {
		p.Cause = max(p.Cause, c.Record)
	}
}

func (k *Kubelet) startFailed(p *sim.Proc, w *pod, c *corev1.Container, reason string, err error) time.Duration {
	k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "Failed", "Error: "+err.Error())
	w.reasons[c.Name] = waiting{reason, err.Error()}
	return k.jitter(errorBackoff)
}

// crashBackoff says how long a container that ended has to wait, 0 when it may start now. The delay counts from its end; the sync that starts it comes up to 50 %
// of the remaining wait later.
func (k *Kubelet) crashBackoff(p *sim.Proc, w *pod, c *corev1.Container, last runtime.ContainerStatus) time.Duration {
	if last.State != runtime.StateExited {
		return 0
	}
	left, delay := k.crashes.left(w.uid, c.Name, last.Finished, p.Now())
	if left <= 0 {
		k.crashes.next(w.uid, c.Name, last.Finished, p.Now())
		return 0
	}
	why := waiting{"CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", delay, c.Name, w)}
	k.podEvent(p, w, c.Name, corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.Name, w))
	k.backingOff(p, w, c, why, last.Attempt, last.Finished.Add(delay))
	return k.jitter(min(left, resyncMax))
}

// backingOff remembers why a container waits and journals it once.
func (k *Kubelet) backingOff(p *sim.Proc, w *pod, c *corev1.Container, why waiting, restarts int, until time.Time) {
	if w.reasons[c.Name] == why {
		return
	}
	w.reasons[c.Name] = why
	p.Cause = k.pr.Emit(p, event.ContainerChanged{Node: k.cfg.Node, Pod: w.ref(), Container: c.Name, State: event.ContainerBackoff, Image: c.Image,
		Restarts: restarts, Reason: why.reason, Until: until})
	w.cause = max(w.cause, p.Cause) // the status that tells of it, and the start after it, follow from it
}
