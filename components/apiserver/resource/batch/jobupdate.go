package batch

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// validateJobUpdate refuses changes of a Job. Its pods may be changed while it is suspended and none runs: where they are scheduled, and what they ask for.
func validateJobUpdate(j, old *batchv1.Job, at *field.Path) field.ErrorList {
	s, was := &j.Spec, &old.Spec
	errs := validateJob(s, metavalidation.LabelSelectorHasInvalidLabelValue(was.Selector), at)
	errs = append(errs, validateCompletions(s, was, at.Child("completions"))...)
	errs = append(errs, immutable(s.Selector, was.Selector, at.Child("selector"))...)
	errs = append(errs, validateTemplateUpdate(s, old, at)...)
	errs = append(errs, immutable(s.CompletionMode, was.CompletionMode, at.Child("completionMode"))...)
	errs = append(errs, immutable(s.PodFailurePolicy, was.PodFailurePolicy, at.Child("podFailurePolicy"))...)
	errs = append(errs, immutable(s.BackoffLimitPerIndex, was.BackoffLimitPerIndex, at.Child("backoffLimitPerIndex"))...)
	errs = append(errs, immutable(s.ManagedBy, was.ManagedBy, at.Child("managedBy"))...)
	return append(errs, immutable(s.SuccessPolicy, was.SuccessPolicy, at.Child("successPolicy"))...)
}

func immutable(v, old any, at *field.Path) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(v, old, at)
	for _, e := range errs {
		e.BadValue = check.GoForm(v)
	}
	return errs
}

// validateCompletions: an Indexed Job may change its completions together with its parallelism, others not at all.
func validateCompletions(s, old *batchv1.JobSpec, at *field.Path) field.ErrorList {
	if !indexed(s) {
		return immutable(s.Completions, old.Completions, at)
	}
	if apiequality.Semantic.DeepEqual(s.Completions, old.Completions) || s.Completions == nil {
		return nil // none at all is refused elsewhere
	}
	if s.Parallelism == nil || *s.Completions != *s.Parallelism {
		return field.ErrorList{field.Invalid(at, s.Completions, fmt.Sprintf("can only be modified in tandem with %s", at.Root().Child("parallelism")))}
	}
	return nil
}

func validateTemplateUpdate(s *batchv1.JobSpec, old *batchv1.Job, at *field.Path) field.ErrorList {
	t := &s.Template
	was := old.Spec.Template.DeepCopy()
	suspended := old.Spec.Suspend != nil && *old.Spec.Suspend
	idle := suspended && (old.Status.StartTime == nil || isTrue(old.Status.Conditions, batchv1.JobSuspended)) && old.Status.Active == 0
	if idle {
		allowScheduling(was, t)
	}
	if !idle {
		return immutable(t, was, at.Child("template"))
	}
	allowResources(was.Spec.Containers, t.Spec.Containers)
	allowResources(was.Spec.InitContainers, t.Spec.InitContainers)
	return immutable(t.Spec, was.Spec, at.Child("template.spec"))
}

// allowScheduling takes over into the old template what decides where pods go.
func allowScheduling(old, t *corev1.PodTemplateSpec) {
	have, want := old.Spec.Affinity, t.Spec.Affinity
	switch {
	case want == nil && have != nil:
		have.NodeAffinity = nil
		if *have == (corev1.Affinity{}) {
			old.Spec.Affinity = nil
		}
	case want != nil && have == nil:
		old.Spec.Affinity = &corev1.Affinity{NodeAffinity: want.NodeAffinity}
	case want != nil:
		have.NodeAffinity = want.NodeAffinity
	}
	old.Spec.NodeSelector, old.Spec.Tolerations, old.Spec.SchedulingGates = t.Spec.NodeSelector, t.Spec.Tolerations, t.Spec.SchedulingGates
	old.Annotations, old.Labels = t.Annotations, t.Labels
}

// allowResources takes over what containers of the same names ask for.
func allowResources(old, now []corev1.Container) {
	if len(old) != len(now) {
		return
	}
	for i := range now {
		if old[i].Name == now[i].Name {
			old[i].Resources = now[i].Resources
		}
	}
}
