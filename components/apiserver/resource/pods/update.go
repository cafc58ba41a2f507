package pods

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// podUpdateText is what a change of a pod is refused with.
const podUpdateText = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// validatePodUpdate refuses every change of a pod's spec but the few that are allowed (API-9). Some rules are asked twice, and what breaks them is told twice, as Kubernetes does it.
func validatePodUpdate(p, old *corev1.Pod, sub string) field.ErrorList {
	switch sub {
	case "status":
		return append(annotationUpdates(p, old), validateStatusUpdate(p, old)...)
	case ephemeralPart:
		return validateEphemeral(p, old)
	case resizePart:
		return validateResize(p, old)
	}
	at := field.NewPath("spec")
	errs := validateWhole(p, lenientFor(&old.Spec))
	errs = append(errs, annotationUpdates(p, old)...)
	for _, l := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", p.Spec.Containers, old.Spec.Containers}, {"initContainers", p.Spec.InitContainers, old.Spec.InitContainers}} {
		at := at.Child(l.name)
		if len(l.now) != len(l.was) {
			return append(errs, field.Forbidden(at, "pod updates may not add or remove containers"))
		}
		for i := range l.now {
			errs = append(errs, check.Needed(l.now[i].Image, at.Index(i).Child("image"))...)
			errs = append(errs, trimmed(l.now[i].Image, at.Index(i))...)
		}
	}
	deadline := at.Child("activeDeadlineSeconds")
	switch now, was := p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds; {
	case now == nil && was != nil:
		errs = append(errs, field.Invalid(deadline, now, "must not update from a positive integer to nil value"))
	case now == nil:
	case *now < 0 || *now > math.MaxInt32:
		return append(errs, field.Invalid(deadline, *now, validation.InclusiveRangeError(0, math.MaxInt32)))
	case was != nil && *now > *was:
		return append(errs, field.Invalid(deadline, *now, "must be less than or equal to previous value"))
	}
	errs = append(errs, onlyAdded(p.Spec.Tolerations, old.Spec.Tolerations, at.Child("tolerations"))...)
	errs = append(errs, gatesOnlyRemoved(p.Spec.SchedulingGates, old.Spec.SchedulingGates, at.Child("schedulingGates"))...)
	if apiequality.Semantic.DeepEqual(p.Spec, old.Spec) {
		return errs
	}

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
	if g := old.Spec.TerminationGracePeriodSeconds; g != nil && *g < 0 && rest.TerminationGracePeriodSeconds != nil && *rest.TerminationGracePeriodSeconds == 1 {
		rest.TerminationGracePeriodSeconds = g
	}
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, gatedChanges(rest, &old.Spec, at)...)
	}
	if !apiequality.Semantic.DeepEqual(*rest, old.Spec) {
		errs = append(errs, field.Forbidden(at, podUpdateText+"\n"+check.Diff(old.Spec, *rest)))
	}
	return errs
}

// annotationUpdates keeps the annotations that say what a pod is, and those that its containers began with.
func annotationUpdates(p, old *corev1.Pod) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("metadata", "annotations")
	fixed := func(k, mirror, armor string) {
		if strings.HasPrefix(k, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix) {
			errs = append(errs, field.Forbidden(at.Key(k), armor))
		}
		if k == corev1.MirrorPodAnnotationKey {
			errs = append(errs, field.Forbidden(at.Key(k), mirror))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(old.Annotations)) {
		if v, kept := p.Annotations[k]; !kept || v != old.Annotations[k] {
			fixed(k, "may not remove or update mirror pod annotation", "may not remove or update AppArmor annotations")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(p.Annotations)) {
		if _, had := old.Annotations[k]; !had {
			fixed(k, "may not add mirror pod annotation", "may not add AppArmor annotations")
		}
	}
	return append(errs, validateAnnotations(p.Annotations, &p.Spec, at)...)
}

// gatedChanges lets a pod that waits behind a gate be told more exactly where it may run; what it was told before stays. What may change is put back in rest.
func gatedChanges(rest, old *corev1.PodSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !apiequality.Semantic.DeepEqual(rest.NodeSelector, old.NodeSelector) {
		for k, v := range old.NodeSelector {
			if now, kept := rest.NodeSelector[k]; !kept || now != v {
				errs = append(errs, field.Invalid(at.Child("nodeSelector"), rest.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
				break
			}
		}
		rest.NodeSelector = old.NodeSelector
	}
	now, was := nodeAffinity(rest), nodeAffinity(old)
	if apiequality.Semantic.DeepEqual(now, was) {
		return errs
	}
	errs = append(errs, affinityOnlyGrows(now, was, at.Child("affinity", "nodeAffinity"))...)
	switch {
	case rest.Affinity == nil:
		rest.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && rest.Affinity.PodAffinity == nil && rest.Affinity.PodAntiAffinity == nil:
		rest.Affinity = nil
	default:
		rest.Affinity.NodeAffinity = was
	}
	return errs
}

func nodeAffinity(s *corev1.PodSpec) *corev1.NodeAffinity {
	if s.Affinity == nil {
		return nil
	}
	return s.Affinity.NodeAffinity
}

func affinityOnlyGrows(now, was *corev1.NodeAffinity, at *field.Path) field.ErrorList {
	terms := func(a *corev1.NodeAffinity) []corev1.NodeSelectorTerm {
		if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			return nil
		}
		return a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	olds, news := terms(was), terms(now)
	at = at.Child(required, "nodeSelectorTerms")
	if len(olds) > 0 && len(olds) != len(news) {
		return field.ErrorList{field.Invalid(at, check.GoForm(news), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	var errs field.ErrorList
	for i := range olds {
		if !termOnlyGrows(&news[i], &olds[i]) {
			errs = append(errs, field.Invalid(at.Index(i), check.GoForm(news[i]), "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

// termOnlyGrows: an empty term is met by no node, so that additions would let in more.
func termOnlyGrows(now, was *corev1.NodeSelectorTerm) bool {
	if len(was.MatchExpressions)+len(was.MatchFields) == 0 {
		return len(now.MatchExpressions)+len(now.MatchFields) == 0
	}
	begins := func(now, was []corev1.NodeSelectorRequirement) bool {
		return len(now) >= len(was) && (len(was) == 0 || apiequality.Semantic.DeepEqual(now[:len(was)], was))
	}
	return begins(now.MatchExpressions, was.MatchExpressions) && begins(now.MatchFields, was.MatchFields)
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
	return Tolerations(now, at)
}

func gatesOnlyRemoved(now, was []corev1.PodSchedulingGate, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, n := range now {
		if !slices.Contains(was, n) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", n.Name)))
		}
	}
	return errs
}
