package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
)

// Limits of Jobs; they bound the length of lists of indexes in the status.
const (
	parallelismMax         = 100_000 // of Indexed Jobs
	failedIndexesMax       = 100_000
	manyCompletions        = 100_000 // above these, the following two hold
	parallelismMaxOfMany   = 10_000
	failedIndexesMaxOfMany = 10_000
	managedByLengthMax     = 63
)

// validateGeneratedSelector checks that a selector that the server made, and the labels it made for the pods, are what they ought to be: a user may have written others before.
func validateGeneratedSelector(j *batchv1.Job) field.ErrorList {
	if m := j.Spec.ManualSelector; (m != nil && *m) || j.Spec.Selector == nil {
		return nil
	}
	var errs field.ErrorList
	if j.UID == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "uid"), ""))
	}
	at := field.NewPath("spec", "template", "metadata", "labels")
	expected := labels.Set{}
	for _, l := range []struct{ key, value string }{{legacyUIDLabel, string(j.UID)}, {legacyNameLabel, j.Name}, {uidLabel, string(j.UID)}, {nameLabel, j.Name}} {
		expected[l.key] = l.value
		v, ok := j.Spec.Template.Labels[l.key]
		switch {
		case !ok:
			errs = append(errs, field.Required(at.Key(l.key), fmt.Sprintf("must be '%s'", l.value)))
		case v != l.value:
			errs = append(errs, field.Invalid(at.Key(l.key), j.Spec.Template.Labels, fmt.Sprintf("must be '%s'", l.value)))
		}
	}
	if s, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !s.Matches(expected) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), j.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

// validateIndexedName refuses names that are too long for the hostnames of an Indexed Job's pods.
func validateIndexedName(j *batchv1.Job) field.ErrorList {
	if !indexed(&j.Spec) || j.Spec.Completions == nil || *j.Spec.Completions <= 0 {
		return nil
	}
	host := fmt.Sprintf("%s-%d", j.Name, *j.Spec.Completions-1)
	if len(validation.IsDNS1123Label(host)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), j.Name, "will not able to create pod with invalid DNS label: "+host)}
}

// validateJob checks a Job's spec; lax lets values pass in the selector that are no label values.
func validateJob(s *batchv1.JobSpec, lax bool, at *field.Path) field.ErrorList {
	errs := validateJobSpec(s, at)
	if s.Selector == nil {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	} else {
		errs = append(errs, check.LabelSelector(s.Selector, lax, at.Child("selector"))...)
	}
	if sel, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !sel.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	return errs
}

// validateJobSpec checks what Jobs and the templates of CronJobs have alike.
func validateJobSpec(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.Opt("parallelism", s.Parallelism), check.Opt("completions", s.Completions), check.Opt("activeDeadlineSeconds", s.ActiveDeadlineSeconds),
		check.Opt("backoffLimit", s.BackoffLimit), check.Opt("ttlSecondsAfterFinished", s.TTLSecondsAfterFinished), check.Opt("backoffLimitPerIndex", s.BackoffLimitPerIndex),
		check.Opt("maxFailedIndexes", s.MaxFailedIndexes))
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if m := s.ManagedBy; m != nil {
		errs = append(errs, validation.IsDomainPrefixedPath(at.Child("managedBy"), *m)...)
		if len(*m) > managedByLengthMax {
			errs = append(errs, field.TooLong(at.Child("managedBy"), "", managedByLengthMax))
		}
	}
	errs = append(errs, validateMode(s, at)...)
	if s.PodFailurePolicy != nil {
		errs = append(errs, validateFailurePolicy(s, at.Child("podFailurePolicy"))...)
	}
	if s.SuccessPolicy != nil {
		if indexed(s) {
			errs = append(errs, validateSuccessPolicy(s, at.Child("successPolicy"))...)
		} else {
			errs = append(errs, field.Invalid(at.Child("successPolicy"), check.GoForm(s.SuccessPolicy), "requires indexed completion mode"))
		}
	}
	errs = append(errs, validateReplacement(s, at.Child("podReplacementPolicy"))...)
	errs = append(errs, pods.ValidateTemplate(&s.Template, at.Child("template"))...)
	return append(errs, validateRestart(s, at.Child("template", "spec", "restartPolicy"))...)
}

func validateMode(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	modes := []batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}
	if s.CompletionMode != nil && !slices.Contains(modes, *s.CompletionMode) {
		e := field.NotSupported(at.Child("completionMode"), *s.CompletionMode, modes)
		errs = append(errs, e)
	}
	if indexed(s) {
		errs = append(errs, validateIndexed(s, at)...)
	}
	if s.CompletionMode == nil || *s.CompletionMode == batchv1.NonIndexedCompletion {
		for _, f := range []struct {
			name  string
			value *int32
		}{{"backoffLimitPerIndex", s.BackoffLimitPerIndex}, {"maxFailedIndexes", s.MaxFailedIndexes}} {
			if f.value != nil {
				errs = append(errs, field.Invalid(at.Child(f.name), *f.value, "requires indexed completion mode"))
			}
		}
	}
	return errs
}

func validateIndexed(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	atMost := func(name string, v *int32, limit int32, format string, args ...any) {
		if v != nil && *v > limit {
			errs = append(errs, field.Invalid(at.Child(name), *v, fmt.Sprintf(format, args...)))
		}
	}
	if s.Completions == nil {
		errs = append(errs, field.Required(at.Child("completions"), "when completion mode is Indexed"))
	}
	atMost("parallelism", s.Parallelism, parallelismMax, "must be less than or equal to %d when completion mode is Indexed", parallelismMax)
	if s.Completions != nil {
		atMost("maxFailedIndexes", s.MaxFailedIndexes, *s.Completions, "must be less than or equal to completions")
	}
	atMost("maxFailedIndexes", s.MaxFailedIndexes, failedIndexesMax, "must be less than or equal to %d", failedIndexesMax)
	if s.Completions == nil || *s.Completions <= manyCompletions || s.BackoffLimitPerIndex == nil {
		return errs
	}
	if s.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(at.Child("maxFailedIndexes"), fmt.Sprintf("must be specified when completions is above %d", manyCompletions)))
	}
	const many = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	atMost("parallelism", s.Parallelism, parallelismMaxOfMany, many, parallelismMaxOfMany, manyCompletions)
	atMost("maxFailedIndexes", s.MaxFailedIndexes, failedIndexesMaxOfMany, many, failedIndexesMaxOfMany, manyCompletions)
	return errs
}

func validateReplacement(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	allowed := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
	if s.PodFailurePolicy != nil {
		allowed = allowed[:1]
	}
	if p := s.PodReplacementPolicy; p != nil && !slices.Contains(allowed, *p) {
		return field.ErrorList{field.NotSupported(at, *p, allowed)}
	}
	return nil
}

// validateRestart: a Job's pods end, so they are not restarted for ever.
func validateRestart(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	switch p := s.Template.Spec.RestartPolicy; {
	case p == corev1.RestartPolicyAlways || p == "":
		return field.ErrorList{field.Required(at, `valid values: "OnFailure", "Never"`)}
	case p != corev1.RestartPolicyOnFailure && p != corev1.RestartPolicyNever:
		return field.ErrorList{field.NotSupported(at, p, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever})}
	case s.PodFailurePolicy != nil && p != corev1.RestartPolicyNever:
		return field.ErrorList{field.Invalid(at, p, `only "Never" is supported when podFailurePolicy is specified`)}
	}
	return nil
}
