package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"example.com/kubeviz/engine/event"
)

// admitted sums up what the pods admitted on the node ask for.
type admitted struct {
	allocatable corev1.ResourceList
	milliCPU    int64
	memory      int64
	pods        int64
}

// requestMax bounds what a request may count: sums stay within int64 whatever users write.
var requestMax = resource.MustParse("1Ei")

func bounded(q resource.Quantity) resource.Quantity {
	if q.Cmp(requestMax) > 0 {
		return requestMax
	}
	return q
}

func ask(pod *corev1.Pod) (milliCPU, memory int64) {
	r := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	cpu := r[corev1.ResourceCPU]
	if cpu.Cmp(resource.MustParse("1P")) > 0 {
		cpu = resource.MustParse("1P")
	}
	mem := bounded(r[corev1.ResourceMemory])
	return cpu.MilliValue(), mem.Value()
}

func (a *admitted) add(w *pod) {
	if w.counted {
		return
	}
	w.counted = true
	w.milliCPU, w.memory = ask(w.allocated)
	a.milliCPU, a.memory, a.pods = a.milliCPU+w.milliCPU, a.memory+w.memory, a.pods+1
}

func (a *admitted) remove(w *pod) {
	if !w.counted {
		return
	}
	w.counted = false
	a.milliCPU, a.memory, a.pods = a.milliCPU-w.milliCPU, a.memory-w.memory, a.pods-1
}

// refuse says why a pod cannot run on a node with these labels beside what is admitted; nil: it can (k/k pkg/kubelet/lifecycle/predicate.go).
func (a *admitted) refuse(pod *corev1.Pod, node *corev1.Node) *verdict {
	cpu, mem := ask(pod)
	for _, c := range []struct {
		name            corev1.ResourceName
		asked, used, of int64
	}{
		{corev1.ResourcePods, 1, a.pods, a.allocatable.Pods().Value()},
		{corev1.ResourceCPU, cpu, a.milliCPU, a.allocatable.Cpu().MilliValue()},
		{corev1.ResourceMemory, mem, a.memory, a.allocatable.Memory().Value()},
	} {
		if c.asked > 0 && c.used+c.asked > c.of {
			return &verdict{"OutOf" + string(c.name), fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", c.name, c.asked, c.used, c.of)}
		}
	}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !ok {
		return &verdict{"NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"}
	}
	return nil
}

// admit decides about a pod that is new here. What already ended stays ended; what already runs is never refused.
func (k *Kubelet) admit(w *pod, cause event.Seq) {
	if terminal(w.spec.Status.Phase) {
		k.recall(w)
		w.terminated = true
		w.stopping = stopDone
		return
	}
	why := k.sum.refuse(w.spec, k.describe())
	if why == nil && k.portTaken(w) {
		why = &verdict{"NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"}
	}
	if why != nil && w.spec.DeletionTimestamp == nil {
		k.podEventFor(cause, w, "", corev1.EventTypeWarning, why.reason, why.message)
		why.message = "Pod was rejected: " + why.message
		w.verdict = why
		k.stop(w, stopVerdict, cause)
		return
	}
	k.sum.add(w)
}

// portTaken reports that another pod admitted here has one of the host ports that w asks for.
func (k *Kubelet) portTaken(w *pod) bool {
	type port struct {
		protocol corev1.Protocol
		number   int32
	}
	each := func(p *corev1.Pod, fn func(port)) {
		for i := range p.Spec.Containers {
			for _, cp := range p.Spec.Containers[i].Ports {
				if cp.HostPort > 0 {
					fn(port{cp.Protocol, cp.HostPort})
				}
			}
		}
	}
	wanted := map[port]bool{}
	each(w.spec, func(p port) { wanted[p] = true })
	if len(wanted) == 0 {
		return false
	}
	taken := false
	for _, o := range k.allPods() {
		if o.counted && o != w {
			each(o.spec, func(p port) { taken = taken || wanted[p] })
		}
	}
	return taken
}
