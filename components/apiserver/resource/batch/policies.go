package batch

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// Limits of the policies of Jobs.
const (
	rulesMax        = 20 // of either policy
	exitCodesMax    = 255
	conditionsMax   = 20
	indexesBytesMax = 64 * 1024
)

// oneOf checks a value of a set that must be there.
func oneOf[T ~string](at *field.Path, v T, allowed ...T) field.ErrorList {
	switch {
	case v == "":
		return field.ErrorList{field.Required(at, fmt.Sprintf("valid values: %q", allowed))}
	case !slices.Contains(allowed, v):
		return field.ErrorList{field.NotSupported(at, v, allowed)}
	}
	return nil
}

func validateFailurePolicy(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	at = at.Child("rules")
	rules := s.PodFailurePolicy.Rules
	if len(rules) > rulesMax {
		errs = append(errs, field.TooMany(at, len(rules), rulesMax))
	}
	for i := range rules {
		errs = append(errs, validateFailureRule(s, &rules[i], at.Index(i))...)
	}
	return errs
}

func validateFailureRule(s *batchv1.JobSpec, r *batchv1.PodFailurePolicyRule, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Action == batchv1.PodFailurePolicyActionFailIndex {
		if s.BackoffLimitPerIndex == nil {
			errs = append(errs, field.Invalid(at.Child("action"), r.Action, "requires the backoffLimitPerIndex to be set"))
		}
	} else {
		errs = append(errs, oneOf(at.Child("action"), r.Action, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionFailJob,
			batchv1.PodFailurePolicyActionIgnore)...)
	}
	codes, conditions := r.OnExitCodes != nil, len(r.OnPodConditions) > 0
	if codes {
		errs = append(errs, validateExitCodes(s, r.OnExitCodes, at.Child("onExitCodes"))...)
	}
	if conditions {
		errs = append(errs, validateConditionPatterns(r.OnPodConditions, at.Child("onPodConditions"))...)
	}
	switch {
	case codes && conditions:
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported"))
	case !codes && !conditions:
		errs = append(errs, field.Invalid(at, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required"))
	}
	return errs
}

func validateExitCodes(s *batchv1.JobSpec, r *batchv1.PodFailurePolicyOnExitCodesRequirement, at *field.Path) field.ErrorList {
	errs := oneOf(at.Child("operator"), r.Operator, batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if r.ContainerName != nil && !hasContainer(&s.Template.Spec, *r.ContainerName) {
		errs = append(errs, field.Invalid(at.Child("containerName"), *r.ContainerName, "must be one of the container or initContainer names in the pod template"))
	}
	at = at.Child("values")
	switch {
	case len(r.Values) == 0:
		errs = append(errs, field.Invalid(at, r.Values, "at least one value is required"))
	case len(r.Values) > exitCodesMax:
		errs = append(errs, field.TooMany(at, len(r.Values), exitCodesMax))
	}
	seen := map[int32]bool{}
	for i, v := range r.Values {
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && v == 0 {
			errs = append(errs, field.Invalid(at.Index(i), v, "must not be 0 for the In operator"))
		}
		if seen[v] {
			errs = append(errs, field.Duplicate(at.Index(i), v))
		}
		seen[v] = true
	}
	if !slices.IsSorted(r.Values) {
		errs = append(errs, field.Invalid(at, r.Values, "must be ordered"))
	}
	return errs
}

func hasContainer(s *corev1.PodSpec, name string) bool {
	is := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(s.Containers, is) || slices.ContainsFunc(s.InitContainers, is)
}

func validateConditionPatterns(list []batchv1.PodFailurePolicyOnPodConditionsPattern, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(list) > conditionsMax {
		errs = append(errs, field.TooMany(at, len(list), conditionsMax))
	}
	for i, p := range list {
		errs = append(errs, check.Each(at.Index(i).Child("type"), string(p.Type), validation.IsQualifiedName(string(p.Type)))...)
		errs = append(errs, oneOf(at.Index(i).Child("status"), p.Status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)...)
	}
	return errs
}

func validateSuccessPolicy(s *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	at = at.Child("rules")
	rules := s.SuccessPolicy.Rules
	if len(rules) == 0 {
		errs = append(errs, field.Required(at, "at least one rules must be specified when the successPolicy is specified"))
	}
	if len(rules) > rulesMax {
		errs = append(errs, field.TooMany(at, len(rules), rulesMax))
	}
	completions := int32(0) // an Indexed Job without completions is refused for that
	if s.Completions != nil {
		completions = *s.Completions
	}
	for i := range rules {
		errs = append(errs, validateSuccessRule(&rules[i], completions, at.Index(i))...)
	}
	return errs
}

func validateSuccessRule(r *batchv1.SuccessPolicyRule, completions int32, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.SucceededCount == nil && r.SucceededIndexes == nil {
		errs = append(errs, field.Required(at, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	var total int32
	if r.SucceededIndexes != nil {
		at := at.Child("succeededIndexes")
		if len(*r.SucceededIndexes) > indexesBytesMax {
			errs = append(errs, field.TooLong(at, "", indexesBytesMax))
		}
		list, err := parseIndexes(*r.SucceededIndexes, completions)
		if err != nil {
			errs = append(errs, field.Invalid(at, *r.SucceededIndexes, "error parsing succeededIndexes: "+err.Error()))
		}
		total = list.count()
	}
	if n := r.SucceededCount; n != nil {
		errs = append(errs, check.Counts(at, check.N("succeededCount", *n))...)
		at := at.Child("succeededCount")
		if *n > completions {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
		}
		if r.SucceededIndexes != nil && *n > total {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
		}
	}
	return errs
}
