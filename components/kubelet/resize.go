package kubelet

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// resizeTime is what the runtime takes to give containers other limits.
const resizeTime = 200 * time.Millisecond

// take takes in a newer version of a pod whose spec is the same.
func (w *pod) take(obj *corev1.Pod) {
	if w.allocated == w.spec {
		w.allocated = obj
	}
	if w.has == w.spec {
		w.has = obj
	}
	w.spec = obj
}

// resize decides whether a pod may have what its spec asks for by now (k/k pkg/kubelet/allocation). What it cannot have now it may have when others have gone; what the node does not have at all
// it cannot have. Until then it keeps what it has.
func (k *Kubelet) resize(w *pod, cause event.Seq) {
	if sameResources(w.allocated, w.spec) {
		if w.has == w.allocated {
			w.has = w.spec
		}
		w.allocated, w.deferred = w.spec, nil
		return
	}
	if !w.counted {
		return
	}
	cpu, mem := ask(w.spec)
	var why *verdict
	for _, c := range []struct {
		name            corev1.ResourceName
		asked, used, of int64
	}{{corev1.ResourceCPU, cpu, k.sum.milliCPU - w.milliCPU, k.sum.allocatable.Cpu().MilliValue()}, {corev1.ResourceMemory, mem, k.sum.memory - w.memory, k.sum.allocatable.Memory().Value()}} {
		switch {
		case why != nil:
		case c.asked > c.of:
			why = &verdict{corev1.PodReasonInfeasible, fmt.Sprintf("Node didn't have enough capacity: %s, requested: %d, capacity: %d", c.name, c.asked, c.of)}
		case c.used+c.asked > c.of:
			why = &verdict{corev1.PodReasonDeferred, fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", c.name, c.asked, c.used, c.of)}
		}
	}
	if why != nil {
		if w.deferred == nil || *w.deferred != *why {
			k.podEventFor(cause, w, "", corev1.EventTypeWarning, "Resize"+why.reason, "Pod resize "+why.reason+": "+resizeText(w.spec, why.message))
		}
		w.deferred = why
		return
	}
	k.sum.remove(w)
	w.allocated, w.deferred = w.spec, nil
	k.sum.add(w)
	k.podEventFor(cause, w, "", corev1.EventTypeNormal, "ResizeStarted", "Pod resize started: "+resizeText(w.spec, ""))
}

// resized takes over what an earlier kubelet had given a pod: it ran with that, so it fits.
func (k *Kubelet) resized(w *pod) {
	if w.counted {
		k.sum.remove(w)
		defer k.sum.add(w)
	}
	w.allocated, w.has = w.spec, w.spec
}

// freed lets pods that wait for room look again.
func (k *Kubelet) freed(cause event.Seq) {
	for _, w := range k.allPods() {
		if w.deferred != nil && w.deferred.reason == corev1.PodReasonDeferred {
			k.wake(w, cause)
		}
	}
}

// actuate gives the containers what the pod was allocated, and names those that have to start again for it.
func (k *Kubelet) actuate(p *sim.Proc, w *pod, v view) []kill {
	if sameResources(w.has, w.allocated) { // newer versions with other changes came in between
		w.has = w.allocated
		return nil
	}
	was, is := w.has, w.allocated
	p.Sleep(resizeTime)
	var again []kill
	for _, list := range [2][]corev1.Container{is.Spec.InitContainers, is.Spec.Containers} {
		for i := range list {
			c, old := &list[i], containerOf(was, list[i].Name)
			st, here := v.here(c.Name)
			if old != nil && here && st.State == runtime.StateRunning && slices.ContainsFunc(c.ResizePolicy, func(r corev1.ContainerResizePolicy) bool {
				return r.RestartPolicy == corev1.RestartContainer && amountsDiffer(c, old, r.ResourceName)
			}) {
				again = append(again, kill{st.ID, c.Name, "Container " + c.Name + " resize requires restart"})
			}
		}
	}
	w.has = is
	w.pending = true // its status tells what it has as soon as it has it
	k.podEvent(p, w, "", corev1.EventTypeNormal, "ResizeCompleted", "Pod resize completed: "+resizeText(is, ""))
	return again
}

func amountsDiffer(a, b *corev1.Container, name corev1.ResourceName) bool {
	differ := func(x, y corev1.ResourceList) bool { p, q := x[name], y[name]; return p.Cmp(q) != 0 }
	return differ(a.Resources.Requests, b.Resources.Requests) || differ(a.Resources.Limits, b.Resources.Limits)
}

func sameResources(a, b *corev1.Pod) bool {
	same := func(x, y []corev1.Container) bool {
		return slices.EqualFunc(x, y, func(x, y corev1.Container) bool {
			return equality.Semantic.DeepEqual(x.Resources.Requests, y.Resources.Requests) && equality.Semantic.DeepEqual(x.Resources.Limits, y.Resources.Limits)
		})
	}
	return a == b || same(a.Spec.Containers, b.Spec.Containers) && same(a.Spec.InitContainers, b.Spec.InitContainers)
}

// resizeText is what events tell of a resize.
func resizeText(pod *corev1.Pod, problem string) string {
	type container struct {
		Name      string                      `json:"name"`
		Resources corev1.ResourceRequirements `json:"resources"`
	}
	text := struct {
		Containers []container `json:"containers"`
		Generation int64       `json:"generation"`
		Error      string      `json:"error,omitempty"`
	}{Generation: pod.Generation, Error: problem}
	for i := range pod.Spec.Containers {
		text.Containers = append(text.Containers, container{pod.Spec.Containers[i].Name, pod.Spec.Containers[i].Resources})
	}
	out, _ := json.Marshal(text) // quantities and names always can
	return string(out)
}

// resizeConditions tell of a resize that is not done yet.
func resizeConditions(in statusInput) []corev1.PodCondition {
	switch {
	case in.deferred != nil:
		return []corev1.PodCondition{condition(corev1.PodResizePending, true, in.deferred.reason, in.deferred.message)}
	case !sameResources(in.has, in.allocated):
		return []corev1.PodCondition{condition(corev1.PodResizeInProgress, true, "", "")}
	}
	return nil
}
