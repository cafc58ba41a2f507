package apiserver

import (
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func trimSpace(s string) string { return strings.TrimSpace(s) }

func validateLabelKey(key string, at *field.Path) field.ErrorList {
	return metavalidation.ValidateLabelName(key, at)
}

func validateLabelValue(v string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, text := range validation.IsValidLabelValue(v) {
		errs = append(errs, field.Invalid(at, v, text))
	}
	return errs
}

func validateLabels(m map[string]string, at *field.Path) field.ErrorList {
	return metavalidation.ValidateLabels(m, at)
}

func validateEffect(e corev1.TaintEffect, allowEmpty bool, at *field.Path) field.ErrorList {
	if e == "" && allowEmpty {
		return nil
	}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if e == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if !slices.Contains(effects, e) {
		return field.ErrorList{notSupported(at, e, effects)}
	}
	return nil
}

// Bounds of amounts: what the arithmetic of quantities can hold (pitfalls K2). CPU is counted in thousandths.
var (
	amountMax = resource.NewQuantity(1<<63-1, resource.DecimalSI)
	cpuMax    = resource.NewMilliQuantity(1<<63-1, resource.DecimalSI)
)

func validateAmounts(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedNames(list) {
		errs = append(errs, validateAmount(name, list[name], at.Key(string(name)))...)
	}
	return errs
}

func validateAmount(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	limit := amountMax
	if name == corev1.ResourceCPU {
		limit = cpuMax
	}
	switch {
	case q.Sign() < 0:
		return field.ErrorList{field.Invalid(at, q.String(), "must be greater than or equal to 0")}
	case q.Cmp(*limit) > 0:
		return field.ErrorList{field.Invalid(at, q.String(), "must be less than or equal to "+limit.String())}
	}
	return nil
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	return names
}

// validateRequirements checks what a container asks for and may use.
func validateRequirements(r *corev1.ResourceRequirements, at *field.Path) field.ErrorList {
	lims, reqs := at.Child("limits"), at.Child("requests")
	errs := validateAmounts(r.Limits, lims)
	for _, name := range sortedNames(r.Requests) {
		q := r.Requests[name]
		errs = append(errs, validateAmount(name, q, reqs.Key(string(name)))...)
		if lim, ok := r.Limits[name]; ok && q.Cmp(lim) > 0 {
			errs = append(errs, field.Invalid(reqs, q.String(), "must be less than or equal to "+string(name)+" limit of "+lim.String()))
		}
	}
	return errs
}

// validateSelector checks a controller's selector and that it selects the controller's own pods.
func validateSelector(sel *metav1.LabelSelector, template map[string]string, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	at := spec.Child("selector")
	mismatch := func() {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), template, "`selector` does not match template `labels`"))
	}
	if sel == nil {
		errs = append(errs, field.Required(at, ""))
		mismatch()
		return errs
	}
	errs = append(errs, metavalidation.ValidateLabelSelector(sel, metavalidation.LabelSelectorValidationOptions{}, at)...)
	if len(sel.MatchLabels)+len(sel.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(at, sel, "empty selector is invalid for deployment"))
	}
	s, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return append(errs, field.Invalid(at, sel, "invalid label selector"))
	}
	if !s.Empty() && !s.Matches(labels.Set(template)) {
		mismatch()
	}
	return errs
}

// validateTemplate checks the pods a controller makes. They must be restarted for ever, since the controller replaces none that ends in good order.
func validateTemplate(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := validateLabels(t.Labels, at.Child("metadata", "labels"))
	errs = append(errs, validatePodSpec(&t.Spec, at.Child("spec"))...)
	if p := t.Spec.RestartPolicy; p != corev1.RestartPolicyAlways && (p == corev1.RestartPolicyNever || p == corev1.RestartPolicyOnFailure) {
		errs = append(errs, notSupported(at.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "must not be specified"))
	}
	return errs
}
