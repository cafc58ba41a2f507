package pods

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	resourcehelper "k8s.io/component-helpers/resource"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// validatePodResources checks what a pod asks for as a whole, and that its containers fit in.
func validatePodResources(s *corev1.PodSpec, claims []string, at *field.Path) field.ErrorList {
	r := s.Resources
	switch {
	case r == nil:
		return nil
	case s.OS != nil && s.OS.Name == corev1.Windows:
		return field.ErrorList{field.Forbidden(at, "may not be set for a windows pod")}
	}
	var errs field.ErrorList
	if r.Claims != nil {
		errs = append(errs, field.Forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level"))
	}
	errs = append(errs, check.Requirements(r, podResource, claims, at)...)
	all := corev1.Pod{Spec: *s}
	sum := resourcehelper.AggregateContainerRequests(&all, resourcehelper.PodResourcesOptions{})
	for _, n := range check.SortedNames(sum) {
		if has, set := r.Requests[n]; set && quantity(sum, n).Cmp(has) > 0 {
			errs = append(errs, field.Invalid(at.Child("requests").Key(string(n)), has.String(), "must be greater than or equal to aggregate container requests of "+quantity(sum, n).String()))
		}
	}
	// Huge pages are never promised twice, so their limits add up as requests do.
	sum = resourcehelper.AggregateContainerLimits(&all, resourcehelper.PodResourcesOptions{})
	for _, n := range check.SortedNames(sum) {
		if has, set := r.Limits[n]; set && check.HugePage(n) && quantity(sum, n).Cmp(has) > 0 {
			errs = append(errs, field.Invalid(at.Child("limits").Key(string(n)), has.String(), "must be greater than or equal to aggregate container limits of "+quantity(sum, n).String()))
		}
	}
	for i := range s.Containers {
		limits := s.Containers[i].Resources.Limits
		for _, n := range check.SortedNames(limits) {
			if has, set := r.Limits[n]; set && quantity(limits, n).Cmp(has) > 0 {
				errs = append(errs, field.Invalid(at.Child("containers").Index(i).Key(string(n)).Child("limits"), quantity(limits, n).String(), fmt.Sprintf("must be less than or equal to pod limits of %s", has.String())))
			}
		}
	}
	return errs
}

func quantity(list corev1.ResourceList, name corev1.ResourceName) *resource.Quantity {
	q := list[name]
	return &q
}

// podResource checks the name of a resource that a pod may ask for as a whole.
func podResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if errs := check.ResourceName(name, at); len(errs) > 0 {
		return errs
	}
	if !resourcehelper.IsSupportedPodLevelResource(name) {
		return field.ErrorList{check.NotSupported(at, name, []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceHugePagesPrefix, corev1.ResourceMemory})}
	}
	return nil
}

// defaultPodResources fills in what a pod that asks for something as a whole left out, from its containers.
func defaultPodResources(p *corev1.Pod) {
	r := p.Spec.Resources
	if r == nil || len(r.Requests)+len(r.Limits) == 0 {
		return
	}
	set := func(list *corev1.ResourceList, n corev1.ResourceName, q resource.Quantity) {
		if *list == nil {
			*list = corev1.ResourceList{}
		}
		(*list)[n] = q.DeepCopy()
	}
	has := func(list corev1.ResourceList, n corev1.ResourceName) bool { _, ok := list[n]; return ok }
	limits := resourcehelper.AggregateContainerLimits(p, resourcehelper.PodResourcesOptions{})
	for n, q := range limits {
		if check.HugePage(n) && !has(r.Requests, n) && !has(r.Limits, n) {
			set(&r.Limits, n, q)
		}
	}
	for n, q := range resourcehelper.AggregateContainerRequests(p, resourcehelper.PodResourcesOptions{}) {
		if !has(r.Requests, n) && resourcehelper.IsSupportedPodLevelResource(n) && check.Overcommit(n) {
			set(&r.Requests, n, q)
		}
	}
	for n, q := range r.Limits {
		if !has(r.Requests, n) && resourcehelper.IsSupportedPodLevelResource(n) {
			set(&r.Requests, n, q)
		}
	}
	for n, req := range r.Requests {
		if has(r.Limits, n) || !resourcehelper.IsSupportedPodLevelResource(n) || !allLimited(&p.Spec, n) {
			continue
		}
		if q, ok := limits[n]; ok {
			if req.Cmp(q) > 0 {
				q = req
			}
			set(&r.Limits, n, q)
		}
	}
}

// allLimited reports that every container has a limit of a resource, so that there is one of the pod.
func allLimited(s *corev1.PodSpec, n corev1.ResourceName) bool {
	for _, list := range [2][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			if _, ok := list[i].Resources.Limits[n]; !ok {
				return false
			}
		}
	}
	return true
}
