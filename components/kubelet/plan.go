package kubelet

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
)

// view is a picture of what the runtime has of a pod.
type view struct {
	sandbox    *runtime.SandboxStatus // the one that is ready; nil: none
	hadSandbox bool
	// by container name, oldest first
	containers map[string][]runtime.ContainerStatus
}

func (k *Kubelet) look(w *pod) view {
	v := view{containers: map[string][]runtime.ContainerStatus{}}
	for _, s := range k.rt.PodSandboxes(w.uid) {
		v.hadSandbox = true
		if s.Ready {
			v.sandbox = &s
		}
	}
	for _, c := range k.rt.ListContainers(w.uid) {
		v.containers[c.Name] = append(v.containers[c.Name], c)
	}
	return v
}

// last is the newest container of that name.
func (v view) last(name string) (runtime.ContainerStatus, bool) {
	cs := v.containers[name]
	if len(cs) == 0 {
		return runtime.ContainerStatus{}, false
	}
	return cs[len(cs)-1], true
}

// record is the newest change of a container in the picture; 0: none.
func (v view) record() event.Seq {
	var newest event.Seq
	for _, cs := range v.containers {
		for i := range cs {
			newest = max(newest, cs[i].Record)
		}
	}
	return newest
}

// here is last, if it is in the sandbox that is ready.
func (v view) here(name string) (runtime.ContainerStatus, bool) {
	c, ok := v.last(name)
	return c, ok && v.sandbox != nil && c.SandboxID == v.sandbox.ID
}

// kill is a running container to be stopped, and why, in the words of its event.
type kill struct {
	id, name, message string
}

// plan is what to do for a pod now, in this order: kill, sandbox, start.
type plan struct {
	kill    []kill
	sandbox bool // a (new) sandbox is needed
	start   []*corev1.Container
}

// restarts says whether a container that ended with code is to run again.
func restarts(pod *corev1.Pod, c *corev1.Container, code int) bool {
	switch {
	case isSidecar(c):
		return true
	case isEphemeral(pod, c.Name):
		return false
	}
	switch pod.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	}
	return true
}

// planPod decides (k/k pkg/kubelet/kuberuntime: computePodActions). failed gives, for a running container, the probe that failed ("liveness", "startup") or "";
// started says whether a running container counts as started.
func planPod(pod *corev1.Pod, v view, failed func(runtime.ContainerStatus) string, started func(runtime.ContainerStatus) bool) plan {
	var p plan
	if v.sandbox == nil {
		return planSandbox(pod, v)
	}
	for i := range pod.Spec.EphemeralContainers { // each runs once, whatever the others do
		if _, ran := v.last(pod.Spec.EphemeralContainers[i].Name); !ran {
			p.start = append(p.start, ephemeral(pod, i))
		}
	}
	initialized := hasMain(pod, v)
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		st, ok := v.here(c.Name)
		if initialized && !isSidecar(c) {
			continue
		}
		switch {
		case !ok || st.State == runtime.StateCreated:
			p.start = append(p.start, c)
		case st.State == runtime.StateRunning:
			if isSidecar(c) {
				p.judge(pod, c, st, failed(st))
				if started(st) {
					continue
				}
			}
		case isSidecar(c) || (st.ExitCode != 0 && restarts(pod, c, st.ExitCode)):
			p.start = append(p.start, c)
		case st.ExitCode == 0:
			continue
		}
		if !initialized {
			return p // the next one has to wait
		}
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		st, ok := v.here(c.Name)
		switch {
		case !ok || st.State == runtime.StateCreated:
			p.start = append(p.start, c)
		case st.State == runtime.StateRunning:
			p.judge(pod, c, st, failed(st))
		case restarts(pod, c, st.ExitCode):
			p.start = append(p.start, c)
		}
	}
	return p
}

// judge decides about a running container.
func (p *plan) judge(pod *corev1.Pod, c *corev1.Container, st runtime.ContainerStatus, probe string) {
	switch {
	case st.Image != c.Image:
		p.kill = append(p.kill, kill{st.ID, c.Name, "Container " + c.Name + " definition changed, will be restarted"})
		p.start = append(p.start, c)
		return
	case probe == "":
		return
	}
	k := kill{st.ID, c.Name, "Container " + c.Name + " failed " + probe + " probe"}
	if restarts(pod, c, 1) {
		k.message += ", will be restarted"
		p.start = append(p.start, c)
	}
	p.kill = append(p.kill, k)
}

// planSandbox decides for a pod without a ready sandbox: a new one is made only if something shall run in it.
func planSandbox(pod *corev1.Pod, v view) plan {
	wanted := false
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		st, ok := v.last(c.Name)
		if !ok || st.State != runtime.StateExited || restarts(pod, c, st.ExitCode) {
			wanted = true
		}
	}
	if v.hadSandbox && pod.Spec.RestartPolicy == corev1.RestartPolicyNever && len(v.containers) > 0 {
		wanted = false // it may have done its work in the first
	}
	return plan{sandbox: wanted}
}

func hasMain(pod *corev1.Pod, v view) bool {
	for i := range pod.Spec.Containers {
		if _, ok := v.here(pod.Spec.Containers[i].Name); ok {
			return true
		}
	}
	return false
}
