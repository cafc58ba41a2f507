package autoscaling

import (
	"errors"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func horizontalPodAutoscalerResource() *resource.Resource {
	type hpa = *autoscalingv2.HorizontalPodAutoscaler
	return &resource.Resource{
		Kind:    kinds.HorizontalPodAutoscalers,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultAutoscaler),
		PrepareCreate: resource.Typed(func(o hpa) {
			o.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old hpa, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o hpa) field.ErrorList { return validateAutoscaler(&o.Spec, nil, field.NewPath("spec")) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old hpa, sub string) field.ErrorList {
			if sub == "status" {
				return validateAutoscalerStatus(&o.Status, field.NewPath("status"))
			}
			return validateAutoscaler(&o.Spec, &old.Spec, field.NewPath("spec"))
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o hpa) any { return o.Spec }),
	}
}

func validateAutoscalerStatus(s *autoscalingv2.HorizontalPodAutoscalerStatus, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, c := range s.Conditions {
		errs = append(errs, check.Counts(at.Child("conditions").Index(i), check.Opt("observedGeneration", c.ObservedGeneration))...)
	}
	return append(errs, check.Counts(at, check.N("currentReplicas", s.CurrentReplicas), check.N("desiredReplicas", s.DesiredReplicas))...)
}

// refRules are what a reference to an object may lack.
type refRules struct{ emptyGroup, anyVersion bool }

// validateAutoscaler checks a spec; old is what there was before, nil for a creation.
func validateAutoscaler(s, old *autoscalingv2.HorizontalPodAutoscalerSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.MinReplicas != nil && s.MaxReplicas < *s.MinReplicas {
		errs = append(errs, field.Invalid(at.Child("maxReplicas"), s.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	target, described := refRules{}, refRules{emptyGroup: true}
	switch ref := s.ScaleTargetRef; {
	case old != nil && old.ScaleTargetRef.APIVersion == ref.APIVersion && old.ScaleTargetRef.Kind == ref.Kind:
		target.anyVersion = true
	case ref.Kind == "ReplicationController":
		target.emptyGroup = true
	}
	if old != nil {
		described.anyVersion = slices.ContainsFunc(old.Metrics, func(m autoscalingv2.MetricSpec) bool {
			return m.Type == autoscalingv2.ObjectMetricSourceType && m.Object != nil && versionError(m.Object.DescribedObject, described) != nil
		})
	}
	errs = append(errs, validateReference(s.ScaleTargetRef, target, at.Child("scaleTargetRef"))...)
	errs = append(errs, validateMetrics(s, described, at.Child("metrics"))...)
	if b := s.Behavior; b != nil {
		errs = append(errs, validateRules(b.ScaleUp, at.Child("behavior", "scaleUp"))...)
		errs = append(errs, validateRules(b.ScaleDown, at.Child("behavior", "scaleDown"))...)
	}
	// The bounds themselves stand last: they are of those rules that the API server reads off its types, after all others.
	if s.MinReplicas != nil {
		errs = append(errs, check.Counts(at, check.N("minReplicas", *s.MinReplicas))...)
	}
	switch max := at.Child("maxReplicas"); {
	case s.MaxReplicas == 0:
		errs = append(errs, field.Required(max, ""))
	case s.MaxReplicas < 0:
		errs = append(errs, field.Invalid(max, s.MaxReplicas, "must be greater than or equal to 1"))
	}
	return errs
}

func versionError(ref autoscalingv2.CrossVersionObjectReference, rules refRules) error {
	if rules.anyVersion {
		return nil
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err == nil && gv.Group == "" && !rules.emptyGroup {
		err = errors.New("apiVersion must specify API group")
	}
	return err
}

func validateReference(ref autoscalingv2.CrossVersionObjectReference, rules refRules, at *field.Path) field.ErrorList {
	errs := pathSegment(ref.Kind, "", at.Child("kind"))
	errs = append(errs, pathSegment(ref.Name, "", at.Child("name"))...)
	if err := versionError(ref, rules); err != nil {
		errs = append(errs, field.Invalid(at.Child("apiVersion"), ref.APIVersion, err.Error()))
	}
	return errs
}

// pathSegment checks a name that must be there and that stands in paths of URLs.
func pathSegment(v, missing string, at *field.Path) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(at, missing)}
	}
	return check.Each(at, v, content.IsPathSegmentName(v))
}

// Limits of how an autoscaler behaves, in seconds.
const (
	periodSecondsMax        = 1800
	stabilizationSecondsMax = 3600
)

func validateRules(r *autoscalingv2.HPAScalingRules, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	var errs field.ErrorList
	if w := r.StabilizationWindowSeconds; w != nil && *w < 0 {
		errs = append(errs, field.Invalid(at.Child("stabilizationWindowSeconds"), w, "must be greater than or equal to zero"))
	} else if w != nil && *w > stabilizationSecondsMax {
		errs = append(errs, field.Invalid(at.Child("stabilizationWindowSeconds"), w, fmt.Sprintf("must be less than or equal to %d", stabilizationSecondsMax)))
	}
	selects := []autoscalingv2.ScalingPolicySelect{autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect}
	if r.SelectPolicy != nil && !slices.Contains(selects, *r.SelectPolicy) {
		errs = append(errs, field.NotSupported(at.Child("selectPolicy"), *r.SelectPolicy, selects))
	}
	list := at.Child("policies")
	if len(r.Policies) == 0 {
		errs = append(errs, field.Required(list, "must specify at least one Policy"))
	}
	types := []autoscalingv2.HPAScalingPolicyType{autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy}
	for i, p := range r.Policies {
		at := list.Index(i)
		if !slices.Contains(types, p.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), p.Type, types))
		}
		if p.Value <= 0 {
			errs = append(errs, field.Invalid(at.Child("value"), p.Value, "must be greater than zero"))
		}
		if p.PeriodSeconds <= 0 {
			errs = append(errs, field.Invalid(at.Child("periodSeconds"), p.PeriodSeconds, "must be greater than zero"))
		}
		if p.PeriodSeconds > periodSecondsMax {
			errs = append(errs, field.Invalid(at.Child("periodSeconds"), p.PeriodSeconds, fmt.Sprintf("must be less than or equal to %d", periodSecondsMax)))
		}
	}
	if t := r.Tolerance; t != nil && t.Sign() < 0 {
		errs = append(errs, field.Invalid(at.Child("tolerance"), t.String(), "must be greater than or equal to 0"))
	}
	return errs
}

func defaultAutoscaler(o *autoscalingv2.HorizontalPodAutoscaler) {
	s := &o.Spec
	o.Annotations = kinds.WithoutFaceAnnotations(o.Annotations)
	check.SetDefault(&s.MinReplicas, 1)
	if len(s.Metrics) == 0 {
		s.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(kinds.DefaultCPUUtilization))}}}}
	}
	if b := s.Behavior; b != nil {
		// Both directions are filled as soon as one is given. Only the window of scaling down stays open: the controller has a flag for it.
		all := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}
		b.ScaleUp = defaultRules(b.ScaleUp, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15}, all)
		check.SetDefault(&b.ScaleUp.StabilizationWindowSeconds, 0)
		b.ScaleDown = defaultRules(b.ScaleDown, all)
	}
}

func defaultRules(r *autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
	if r == nil {
		r = &autoscalingv2.HPAScalingRules{}
	}
	check.SetDefault(&r.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if r.Policies == nil {
		r.Policies = policies
	}
	return r
}
