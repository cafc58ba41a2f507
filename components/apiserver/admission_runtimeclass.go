package apiserver

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/engine/kinds"
)

// runtimeClass gives a pod what its class says of its nodes and of what a sandbox takes, and refuses pods whose class does not exist (k/k plugin/pkg/admission/runtimeclass).
func runtimeClass(a *attributes) error {
	pod, ok := a.obj.(*corev1.Pod)
	if !ok || !a.creates() {
		return nil
	}
	var class *nodev1.RuntimeClass
	if name := pod.Spec.RuntimeClassName; name != nil {
		found, ok, err := fetched[*nodev1.RuntimeClass](a, kinds.RuntimeClasses, "", *name)
		if err != nil {
			return err
		}
		if !ok {
			return a.forbid("pod rejected: RuntimeClass %q not found", *name)
		}
		class = found
	}
	if class == nil || class.Overhead == nil {
		if len(pod.Spec.Overhead) > 0 {
			return a.forbid("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
		}
	} else if len(pod.Spec.Overhead) == 0 {
		pod.Spec.Overhead = class.Overhead.PodFixed.DeepCopy()
	} else if !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead) {
		return a.forbid("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
	}
	if class == nil || class.Scheduling == nil {
		return nil
	}
	selector := maps.Clone(class.Scheduling.NodeSelector)
	for k, v := range pod.Spec.NodeSelector {
		if have, ok := selector[k]; ok && have != v {
			return a.forbid("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", k, have, k, v)
		}
		if selector == nil {
			selector = map[string]string{}
		}
		selector[k] = v
	}
	pod.Spec.NodeSelector = selector
	for _, t := range class.Scheduling.Tolerations {
		if !slices.ContainsFunc(pod.Spec.Tolerations, func(have corev1.Toleration) bool { return apiequality.Semantic.DeepEqual(have, t) }) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, t)
		}
	}
	return nil
}
