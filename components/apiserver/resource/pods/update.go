package pods

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// podUpdateText is what a change of a pod is refused with.
const podUpdateText = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate refuses every change of a pod's spec but the few that are allowed (API-9).
func validatePodUpdate(p, old *corev1.Pod, sub string) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("spec")
	mirror := field.NewPath("metadata", "annotations").Key(corev1.MirrorPodAnnotationKey)
	now, is := p.Annotations[corev1.MirrorPodAnnotationKey]
	before, was := old.Annotations[corev1.MirrorPodAnnotationKey]
	switch {
	case is && !was:
		errs = append(errs, field.Forbidden(mirror, "may not add mirror pod annotation"))
	case was && now != before:
		errs = append(errs, field.Forbidden(mirror, "may not remove or update mirror pod annotation"))
	}
	if sub == "status" {
		return errs
	}
	if len(p.Spec.Containers) != len(old.Spec.Containers) {
		return append(errs, field.Forbidden(at.Child("containers"), "pod updates may not add or remove containers"))
	}
	if len(p.Spec.InitContainers) != len(old.Spec.InitContainers) {
		return append(errs, field.Forbidden(at.Child("initContainers"), "pod updates may not add or remove containers"))
	}
	if now, was := p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds; was != nil {
		if now == nil {
			errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), now, "must not update from a positive integer to nil value"))
		} else if *now > *was {
			errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *now, "must be less than or equal to previous value"))
		}
	}
	errs = append(errs, onlyAdded(p.Spec.Tolerations, old.Spec.Tolerations, at.Child("tolerations"))...)
	errs = append(errs, gatesOnlyRemoved(p.Spec.SchedulingGates, old.Spec.SchedulingGates, at.Child("schedulingGates"))...)

	// What may change is put back; the rest must be equal.
	rest := p.Spec.DeepCopy()
	for i := range rest.Containers {
		rest.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range rest.InitContainers {
		rest.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	rest.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	rest.Tolerations = old.Spec.Tolerations
	rest.SchedulingGates = old.Spec.SchedulingGates
	if g := old.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 && p.Spec.TerminationGracePeriodSeconds != nil && *p.Spec.TerminationGracePeriodSeconds == 1 {
		rest.TerminationGracePeriodSeconds = g
	}
	if !apiequality.Semantic.DeepEqual(*rest, old.Spec) {
		errs = append(errs, field.Forbidden(at, podUpdateText+"\n"+check.Diff(old.Spec, *rest)))
	}
	return errs
}

// onlyAdded lets tolerations be added, and the seconds of those that exist be changed.
func onlyAdded(now, was []corev1.Toleration, at *field.Path) field.ErrorList {
	for _, w := range was {
		kept := slices.ContainsFunc(now, func(n corev1.Toleration) bool {
			n.TolerationSeconds = w.TolerationSeconds
			return apiequality.Semantic.DeepEqual(n, w)
		})
		if !kept {
			return field.ErrorList{field.Forbidden(at, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

func gatesOnlyRemoved(now, was []corev1.PodSchedulingGate, at *field.Path) field.ErrorList {
	for _, n := range now {
		if !slices.Contains(was, n) {
			return field.ErrorList{field.Forbidden(at.Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", n.Name))}
		}
	}
	return nil
}
