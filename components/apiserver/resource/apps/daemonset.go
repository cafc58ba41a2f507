package apps

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func daemonSetResource() *resource.Resource {
	type set = *appsv1.DaemonSet
	return &resource.Resource{
		Kind:    kinds.DaemonSets,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultDaemonSet),
		PrepareCreate: resource.Typed(func(o set) {
			o.Status = appsv1.DaemonSetStatus{}
			setTemplateGeneration(o, max(1, templateGeneration(o)))
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old set, sub string) {
			was := templateGeneration(old)
			if sub == "status" {
				o.Spec = old.Spec
				setTemplateGeneration(o, was)
				return
			}
			o.Status = old.Status
			if !apiequality.Semantic.DeepEqual(o.Spec.Template, old.Spec.Template) {
				was++
			}
			setTemplateGeneration(o, was)
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o set) field.ErrorList { return validateDaemonSet(&o.Spec, false, field.NewPath("spec")) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old set, sub string) field.ErrorList {
			if sub == "status" {
				return validateDaemonSetStatus(&o.Status, &old.Status, field.NewPath("status"))
			}
			at := field.NewPath("spec")
			errs := apivalidation.ValidateImmutableField(o.Spec.Selector, old.Spec.Selector, at.Child("selector"))
			return append(errs, validateDaemonSet(&o.Spec, metavalidation.LabelSelectorHasInvalidLabelValue(old.Spec.Selector), at)...)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o set) any { return o.Spec }),
	}
}

// templateGeneration counts the templates that a DaemonSet has had. Once a field, it lives on in an annotation that only the server writes.
func templateGeneration(o *appsv1.DaemonSet) int64 {
	n, _ := strconv.ParseInt(o.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	return n
}

func setTemplateGeneration(o *appsv1.DaemonSet, n int64) {
	a := maps.Clone(o.Annotations)
	if a == nil {
		a = map[string]string{}
	}
	a[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n, 10)
	o.Annotations = a
}

func defaultDaemonSet(o *appsv1.DaemonSet) {
	u := &o.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateDaemonSetStrategyType
	}
	if u.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		if u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateDaemonSet{}
		}
		check.SetDefault(&u.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		check.SetDefault(&u.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	check.SetDefault(&o.Spec.RevisionHistoryLimit, 10)
	pods.DefaultSpec(&o.Spec.Template.Spec)
}

func validateDaemonSet(s *appsv1.DaemonSetSpec, lax bool, at *field.Path) field.ErrorList {
	errs := check.LabelSelector(s.Selector, lax, at.Child("selector"))
	if sel, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !sel.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(at.Child("selector"), s.Selector, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, pods.ValidateTemplate(&s.Template, at.Child("template"))...)
	errs = append(errs, pods.ValidateAlways(&s.Template, "DaemonSet", at.Child("template"))...)
	errs = append(errs, check.Counts(at, check.N("minReadySeconds", s.MinReadySeconds))...)
	errs = append(errs, validateDaemonSetStrategy(&s.UpdateStrategy, at.Child("updateStrategy"))...)
	return append(errs, check.Counts(at, check.Opt("revisionHistoryLimit", s.RevisionHistoryLimit))...)
}

func validateDaemonSetStrategy(s *appsv1.DaemonSetUpdateStrategy, at *field.Path) field.ErrorList {
	switch s.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
		return validateRollingDaemonSet(s.RollingUpdate, at.Child("rollingUpdate"))
	}
	e := field.NotSupported(at, "", []string{string(appsv1.RollingUpdateDaemonSetStrategyType), string(appsv1.OnDeleteDaemonSetStrategyType)})
	e.BadValue = check.GoForm(s)
	return field.ErrorList{e}
}

func validateRollingDaemonSet(ru *appsv1.RollingUpdateDaemonSet, at *field.Path) field.ErrorList {
	unavailable, surge := *ru.MaxUnavailable, *ru.MaxSurge
	errs := check.IntOrPercent(unavailable, at.Child("maxUnavailable"))
	errs = append(errs, check.IntOrPercent(surge, at.Child("maxSurge"))...)
	errs = append(errs, check.NotOver100(unavailable, at.Child("maxUnavailable"))...)
	errs = append(errs, check.NotOver100(surge, at.Child("maxSurge"))...)
	switch down, up := check.ShareValue(unavailable) != 0, check.ShareValue(surge) != 0; {
	case down && up:
		errs = append(errs, field.Invalid(at.Child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"))
	case !down && !up:
		errs = append(errs, field.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetStatus(s, old *appsv1.DaemonSetStatus, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.N("currentNumberScheduled", s.CurrentNumberScheduled), check.N("numberMisscheduled", s.NumberMisscheduled),
		check.N("desiredNumberScheduled", s.DesiredNumberScheduled), check.N("numberReady", s.NumberReady), check.N("observedGeneration", s.ObservedGeneration),
		check.N("updatedNumberScheduled", s.UpdatedNumberScheduled), check.N("numberAvailable", s.NumberAvailable), check.N("numberUnavailable", s.NumberUnavailable),
		check.Opt("collisionCount", s.CollisionCount))
	return append(errs, check.NotDecremented(s.CollisionCount, old.CollisionCount, at.Child("collisionCount"))...)
}
