package core

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apires "k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func limitRangeResource() *resource.Resource {
	return &resource.Resource{
		Kind:     kinds.LimitRanges,
		Name:     apivalidation.NameIsDNSSubdomain,
		Default:  resource.Typed(defaultLimitRange),
		Validate: resource.TypedCheck(validateLimitRange),
	}
}

// defaultLimitRange fills the defaults for containers: the limit from the maximum, the request from the limit, or from the minimum.
func defaultLimitRange(l *corev1.LimitRange) {
	for i := range l.Spec.Limits {
		item := &l.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		takeMissing(&item.Default, item.Max)
		takeMissing(&item.DefaultRequest, item.Default)
		takeMissing(&item.DefaultRequest, item.Min)
	}
}

func takeMissing(into *corev1.ResourceList, from corev1.ResourceList) {
	for name, q := range from {
		if _, ok := (*into)[name]; ok {
			continue
		}
		if *into == nil {
			*into = corev1.ResourceList{}
		}
		(*into)[name] = q.DeepCopy()
	}
}

var limitTypes = []corev1.LimitType{corev1.LimitTypePod, corev1.LimitTypeContainer, corev1.LimitTypePersistentVolumeClaim}

func validateLimitRange(l *corev1.LimitRange) field.ErrorList {
	var errs field.ErrorList
	seen := map[corev1.LimitType]bool{}
	for i := range l.Spec.Limits {
		item, at := &l.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		bad := check.Texts(at.Child("type"), item.Type, validation.IsQualifiedName(string(item.Type)))
		if len(bad) == 0 && !strings.Contains(string(item.Type), "/") && !slices.Contains(limitTypes, item.Type) {
			bad = append(bad, field.Invalid(at.Child("type"), item.Type, "must be a standard limit type or fully qualified"))
		}
		errs = append(errs, bad...)
		if seen[item.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), item.Type))
		}
		seen[item.Type] = true
		errs = append(errs, validateLimits(item, at)...)
	}
	return errs
}

func validateLimits(item *corev1.LimitRangeItem, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	all := corev1.ResourceList{} // of which every bound that is set is compared with the others
	names := func(list corev1.ResourceList, child string) {
		for _, n := range check.SortedNames(list) {
			all[n] = list[n]
			name := check.ResourceName
			if item.Type == corev1.LimitTypePod || item.Type == corev1.LimitTypeContainer {
				name = check.ContainerResource
			}
			errs = append(errs, name(n, at.Child(child).Key(string(n)))...)
		}
	}
	names(item.Max, "max")
	names(item.Min, "min")
	b := bounds{min: item.Min, max: item.Max, ratio: item.MaxLimitRequestRatio}
	if item.Type == corev1.LimitTypePod {
		for _, l := range []struct {
			list  corev1.ResourceList
			child string
		}{{item.Default, "default"}, {item.DefaultRequest, "defaultRequest"}} {
			if len(l.list) > 0 {
				errs = append(errs, field.Forbidden(at.Child(l.child), "may not be specified when `type` is 'Pod'"))
			}
		}
	} else {
		names(item.Default, "default")
		names(item.DefaultRequest, "defaultRequest")
		b.limit, b.request = item.Default, item.DefaultRequest
	}
	if item.Type == corev1.LimitTypePersistentVolumeClaim {
		_, min := item.Min[corev1.ResourceStorage]
		_, max := item.Max[corev1.ResourceStorage]
		if !min && !max {
			errs = append(errs, field.Required(at.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	names(item.MaxLimitRequestRatio, "maxLimitRequestRatio")
	for _, n := range check.SortedNames(all) {
		errs = append(errs, b.check(n, at)...)
	}
	return errs
}

// bounds of one item of a LimitRange.
type bounds struct{ min, max, limit, request, ratio corev1.ResourceList }

// check compares the bounds of one resource.
func (b *bounds) check(name corev1.ResourceName, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	key := func(child string) *field.Path { return at.Child(child).Key(string(name)) }
	// order says that the one list's value may not be above the other's; shown is what the error shows, at child.
	order := func(low, high corev1.ResourceList, child string, shown corev1.ResourceList, format string) {
		l, ok := low[name]
		h, okHigh := high[name]
		if ok && okHigh && l.Cmp(h) > 0 {
			errs = append(errs, field.Invalid(key(child), shown[name], fmt.Sprintf(format, l.String(), h.String())))
		}
	}
	order(b.min, b.max, "min", b.min, "min value %s is greater than max value %s")
	order(b.min, b.request, "defaultRequest", b.request, "min value %s is greater than default request value %s")
	order(b.request, b.max, "defaultRequest", b.request, "default request value %s is greater than max value %s")
	order(b.request, b.limit, "defaultRequest", b.request, "default request value %s is greater than default limit value %s")
	order(b.min, b.limit, "default", b.min, "min value %s is greater than default value %s")
	order(b.limit, b.max, "default", b.max, "default value %s is greater than max value %s")
	errs = append(errs, b.checkRatio(name, key("maxLimitRequestRatio"))...)
	limit, ok := b.limit[name]
	request, okRequest := b.request[name]
	if !check.Overcommit(name) && ok && okRequest && limit.Cmp(request) != 0 {
		errs = append(errs, field.Invalid(key("defaultRequest"), request, fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", limit.String(), request.String(), name)))
	}
	return errs
}

func (b *bounds) checkRatio(name corev1.ResourceName, at *field.Path) field.ErrorList {
	ratio, ok := b.ratio[name]
	if !ok {
		return nil
	}
	var errs field.ErrorList
	if ratio.Cmp(*apires.NewQuantity(1, apires.DecimalSI)) < 0 {
		errs = append(errs, field.Invalid(at, ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	min, okMin := b.min[name]
	max, okMax := b.max[name]
	if !okMin || !okMax {
		return errs
	}
	// Thousandths where they can be counted, as the real server does: the text shows the quotient.
	r, low, high := float64(ratio.Value()), min.Value(), max.Value()
	if ratio.Value() < apires.MaxMilliValue && low < apires.MaxMilliValue && high < apires.MaxMilliValue {
		r, low, high = float64(ratio.MilliValue())/1000, min.MilliValue(), max.MilliValue()
	}
	if most := float64(high) / float64(low); r > most {
		errs = append(errs, field.Invalid(at, ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), most)))
	}
	return errs
}
