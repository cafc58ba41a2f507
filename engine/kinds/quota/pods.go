package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"

	"example.com/kubeviz/engine/kinds"
)

const (
	requestsPrefix    = corev1.DefaultResourceRequestsPrefix
	hugePagesPrefix   = corev1.ResourceHugePagesPrefix
	deviceClassPrefix = "deviceclass.resource.kubernetes.io/"
)

var podNames = []corev1.ResourceName{"count/pods", corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourceRequestsCPU,
	corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage, corev1.ResourcePods}

// required are the resources that every container has to name once a quota limits them.
var required = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory}

func ofPods(n corev1.ResourceName) bool {
	s := string(n)
	return slices.Contains(podNames, n) || strings.HasPrefix(s, hugePagesPrefix) || strings.HasPrefix(s, requestsPrefix+hugePagesPrefix) ||
		strings.HasPrefix(s, requestsPrefix) && (!native(s) || strings.HasPrefix(s, requestsPrefix+deviceClassPrefix))
}

// native are Kubernetes' own resources.
func native(name string) bool {
	return !strings.Contains(name, "/") || strings.Contains(name, "kubernetes.io/")
}

// extended are those that a device plugin brings, and classes of devices.
func extended(n corev1.ResourceName) bool {
	s := string(n)
	if strings.HasPrefix(s, deviceClassPrefix) {
		return true
	}
	return !native(s) && !strings.HasPrefix(s, requestsPrefix) && len(validation.IsQualifiedName(requestsPrefix+s)) == 0
}

// compute is what a quota calls the requests and limits of a pod or container.
func compute(requests, limits corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{corev1.ResourcePods: one()}
	for _, n := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if q, ok := requests[n]; ok {
			out[n], out[requestsPrefix+n] = q, q
		}
		if q, ok := limits[n]; ok {
			out["limits."+n] = q
		}
	}
	for n, q := range requests {
		if strings.HasPrefix(string(n), hugePagesPrefix) {
			out[n], out[requestsPrefix+n] = q, q
		}
		if extended(n) {
			out[requestsPrefix+n] = q
		}
	}
	return out
}

func podUsage(obj kinds.Object, now time.Time) corev1.ResourceList {
	pod := obj.(*corev1.Pod)
	out := corev1.ResourceList{"count/pods": one()} // what is stored, whatever has become of it
	if !charged(pod, now) {
		return out
	}
	o := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	maps.Copy(out, compute(resourcehelper.PodRequests(pod, o), resourcehelper.PodLimits(pod, o)))
	return out
}

// charged are pods that have not ended.
func charged(pod *corev1.Pod, now time.Time) bool {
	return pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded && !ended(pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds, now)
}

// Unnamed says which resources that a quota limits which containers of a pod do not name ("must specify limits.cpu for: a,b; …"); empty: none.
func (m *Meter) Unnamed(limited []corev1.ResourceName, obj kinds.Object) string {
	pod, ok := obj.(*corev1.Pod)
	if !ok || resourcehelper.IsPodLevelResourcesSet(pod) {
		return ""
	}
	var parts []string
	for _, n := range slices.Sorted(slices.Values(limited)) {
		if !slices.Contains(required, n) {
			continue
		}
		var who []string
		for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
			for i := range containers {
				r := &containers[i].Resources
				if _, ok := compute(r.Requests, r.Limits)[n]; !ok {
					who = append(who, containers[i].Name)
				}
			}
		}
		if len(who) > 0 {
			slices.Sort(who)
			parts = append(parts, fmt.Sprintf("%s for: %s", n, strings.Join(slices.Compact(who), ",")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "must specify " + strings.Join(parts, "; ")
}

func podInScope(s corev1.ScopedResourceSelectorRequirement, obj kinds.Object) bool {
	pod := obj.(*corev1.Pod)
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminating(pod)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminating(pod)
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(pod)
	case corev1.ResourceQuotaScopePriorityClass:
		if pod.Spec.PriorityClassName == "" {
			return selects(s)
		}
		return selects(s, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return acrossNamespaces(pod)
	}
	return false
}

// terminating pods are those that run for a limited time.
func terminating(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// bestEffort pods ask for neither CPU nor memory.
func bestEffort(pod *corev1.Pod) bool {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass == corev1.PodQOSBestEffort
	}
	asks := func(l corev1.ResourceList) bool {
		cpu, memory := l[corev1.ResourceCPU], l[corev1.ResourceMemory]
		return !cpu.IsZero() || !memory.IsZero()
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if asks(containers[i].Resources.Requests) || asks(containers[i].Resources.Limits) {
				return false
			}
		}
	}
	return pod.Spec.Resources == nil || !asks(pod.Spec.Resources.Requests) && !asks(pod.Spec.Resources.Limits)
}

func acrossNamespaces(pod *corev1.Pod) bool {
	if pod.Spec.Affinity == nil {
		return false
	}
	across := func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil }
	weighted := func(t corev1.WeightedPodAffinityTerm) bool { return across(t.PodAffinityTerm) }
	if a := pod.Spec.Affinity.PodAffinity; a != nil {
		if slices.ContainsFunc(a.RequiredDuringSchedulingIgnoredDuringExecution, across) || slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution, weighted) {
			return true
		}
	}
	a := pod.Spec.Affinity.PodAntiAffinity
	return a != nil && (slices.ContainsFunc(a.RequiredDuringSchedulingIgnoredDuringExecution, across) || slices.ContainsFunc(a.PreferredDuringSchedulingIgnoredDuringExecution, weighted))
}

func podHandles(subresource string, obj, old kinds.Object) bool {
	switch subresource {
	case "":
		return terminating(obj.(*corev1.Pod)) != terminating(old.(*corev1.Pod))
	case "resize":
		return true
	}
	return false
}

func podFrees(obj, old kinds.Object, now time.Time) bool {
	is, was := obj.(*corev1.Pod), old.(*corev1.Pod)
	return terminating(is) != terminating(was) || charged(was, now) && !charged(is, now) || resized(is.Status.ContainerStatuses, was.Status.ContainerStatuses) ||
		resized(is.Status.InitContainerStatuses, was.Status.InitContainerStatuses)
}

func resized(is, was []corev1.ContainerStatus) bool {
	for i := range was {
		for j := range is {
			if is[j].Name == was[i].Name && !apiequality.Semantic.DeepEqual(is[j].Resources, was[i].Resources) {
				return true
			}
		}
	}
	return false
}
