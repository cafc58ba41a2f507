// Package check holds what kinds check alike: names, labels, amounts, selectors, shares, in the words of k/k pkg/apis/core/validation and its neighbours.
//
// Pure functions; no goroutine, no time.
package check

import (
	"fmt"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// LabelKey checks the name of a label.
func LabelKey(key string, at *field.Path) field.ErrorList {
	return metavalidation.ValidateLabelName(key, at)
}

// LabelValue checks the value of a label.
func LabelValue(v string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, text := range validation.IsValidLabelValue(v) {
		errs = append(errs, field.Invalid(at, v, text))
	}
	return errs
}

// Labels checks names and values of labels.
func Labels(m map[string]string, at *field.Path) field.ErrorList {
	return metavalidation.ValidateLabels(m, at)
}

// TaintEffect checks the effect of a taint, or of a toleration, which may be empty.
func TaintEffect(e corev1.TaintEffect, allowEmpty bool, at *field.Path) field.ErrorList {
	if e == "" && allowEmpty {
		return nil
	}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if e == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	if !slices.Contains(effects, e) {
		return field.ErrorList{NotSupported(at, e, effects)}
	}
	return nil
}

// Bounds of amounts: what the arithmetic of quantities can hold (pitfalls K2). CPU is counted in thousandths.
var (
	amountMax = resource.NewQuantity(1<<63-1, resource.DecimalSI)
	cpuMax    = resource.NewMilliQuantity(1<<63-1, resource.DecimalSI)
)

// Amounts checks a list of resources, in the order of their names.
func Amounts(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range SortedNames(list) {
		errs = append(errs, Amount(name, list[name], at.Key(string(name)))...)
	}
	return errs
}

// Amount checks one amount.
func Amount(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
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

// SortedNames lists the resources of a list by name.
func SortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	return names
}

// Selector checks a controller's selector and that it selects the controller's own pods.
func Selector(sel *metav1.LabelSelector, template map[string]string, spec *field.Path) field.ErrorList {
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

// NotSupported lists the values in the order given: for these old fields Kubernetes does not sort them.
func NotSupported[T ~string](at *field.Path, value T, supported []T) *field.Error {
	e := field.NotSupported(at, value, supported)
	e.Detail = "supported values: "
	for i, v := range supported {
		if i > 0 {
			e.Detail += ", "
		}
		e.Detail += fmt.Sprintf("%q", v)
	}
	return e
}

// DNSLabel checks a name that must be a DNS label.
func DNSLabel(v string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, text := range apivalidation.NameIsDNSLabel(v, false) {
		errs = append(errs, field.Invalid(at, v, text))
	}
	return errs
}

// PortRange checks the number of a port.
func PortRange(n int, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, text := range validation.IsValidPortNum(n) {
		errs = append(errs, field.Invalid(at, n, text))
	}
	return errs
}

// Share checks a number of pods or a percentage of them.
func Share(v intstr.IntOrString, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if v.Type == intstr.String {
		for _, text := range validation.IsValidPercent(v.StrVal) {
			errs = append(errs, field.Invalid(at, v, text))
		}
		return errs
	}
	return apivalidation.ValidateNonnegativeField(int64(v.IntVal), at)
}

// Percent is the number of a percentage; ok is false for plain numbers.
func Percent(v intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(validation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(&v, 100, true)
	return n, err == nil
}

// ShareValue is the number of a share: of pods, or of percent.
func ShareValue(v intstr.IntOrString) int {
	if n, ok := Percent(v); ok {
		return n
	}
	return v.IntValue()
}

// SetDefault fills a field that users may leave out.
func SetDefault[T any](p **T, v T) {
	if *p == nil {
		*p = &v
	}
}
