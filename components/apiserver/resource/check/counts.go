package check

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Count is a number in an object that may not be negative; a nil Value was left out.
type Count struct {
	Name  string
	Value *int64
}

// N is a Count that is always there.
func N[T int32 | int64](name string, v T) Count {
	n := int64(v)
	return Count{name, &n}
}

// Opt is a Count that may be left out.
func Opt[T int32 | int64](name string, v *T) Count {
	if v == nil {
		return Count{Name: name}
	}
	return N(name, *v)
}

// Counts refuses negative numbers, in the order given.
func Counts(at *field.Path, counts ...Count) field.ErrorList {
	var errs field.ErrorList
	for _, c := range counts {
		if c.Value != nil {
			errs = append(errs, apivalidation.ValidateNonnegativeField(*c.Value, at.Child(c.Name))...)
		}
	}
	return errs
}

// AtMost refuses counts of a status that are above a total.
func AtMost(at *field.Path, total int32, text string, counts ...Count) field.ErrorList {
	var errs field.ErrorList
	for _, c := range counts {
		if c.Value != nil && *c.Value > int64(total) {
			errs = append(errs, field.Invalid(at.Child(c.Name), int32(*c.Value), text))
		}
	}
	return errs
}

// NotDecremented keeps a counter from going back.
func NotDecremented(now, old *int32, at *field.Path) field.ErrorList {
	if old == nil || (now != nil && *now >= *old) {
		return nil
	}
	value := int32(0)
	if now != nil {
		value = *now
	}
	return field.ErrorList{field.Invalid(at, value, "cannot be decremented")}
}

// IntOrPercent checks a number of pods or a percentage of them; the value is shown whole.
func IntOrPercent(v intstr.IntOrString, at *field.Path) field.ErrorList {
	if v.Type != intstr.String {
		return apivalidation.ValidateNonnegativeField(int64(v.IntVal), at)
	}
	var errs field.ErrorList
	for _, text := range validation.IsValidPercent(v.StrVal) {
		errs = append(errs, field.Invalid(at, v, text))
	}
	return errs
}

// NotOver100 refuses percentages above 100.
func NotOver100(v intstr.IntOrString, at *field.Path) field.ErrorList {
	if n, ok := Percent(v); ok && n > 100 {
		return field.ErrorList{field.Invalid(at, v, "must not be greater than 100%")}
	}
	return nil
}

// LabelSelector checks a selector; lax lets values pass that are no label values, for objects that had such before.
func LabelSelector(sel *metav1.LabelSelector, lax bool, at *field.Path) field.ErrorList {
	return metavalidation.ValidateLabelSelector(sel, metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: lax}, at)
}

// Each is one error about a value for each text.
func Each(at *field.Path, value string, texts []string) field.ErrorList {
	var errs field.ErrorList
	for _, text := range texts {
		errs = append(errs, field.Invalid(at, value, text))
	}
	return errs
}
