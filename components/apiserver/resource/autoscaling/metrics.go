package autoscaling

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

var sourceTypes = []autoscalingv2.MetricSourceType{autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType, autoscalingv2.ObjectMetricSourceType,
	autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType}

func validateMetrics(s *autoscalingv2.HorizontalPodAutoscalerSpec, described refRules, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	outside := false // a metric that there is without any pod
	for i := range s.Metrics {
		m := &s.Metrics[i]
		errs = append(errs, validateMetric(m, described, at.Index(i))...)
		outside = outside || m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	}
	if s.MinReplicas != nil && *s.MinReplicas == 0 && !outside {
		errs = append(errs, field.Forbidden(at, "must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	return errs
}

// source is one of the kinds of metrics in a MetricSpec.
type source struct {
	name  string
	of    autoscalingv2.MetricSourceType
	there bool
	check func(at *field.Path) field.ErrorList
}

func sources(m *autoscalingv2.MetricSpec, described refRules) []source {
	return []source{
		{"object", autoscalingv2.ObjectMetricSourceType, m.Object != nil, func(at *field.Path) field.ErrorList { return validateObjectMetric(m.Object, described, at) }},
		{"external", autoscalingv2.ExternalMetricSourceType, m.External != nil, func(at *field.Path) field.ErrorList { return validateExternalMetric(m.External, at) }},
		{"pods", autoscalingv2.PodsMetricSourceType, m.Pods != nil, func(at *field.Path) field.ErrorList { return validatePodsMetric(m.Pods, at) }},
		{"resource", autoscalingv2.ResourceMetricSourceType, m.Resource != nil, func(at *field.Path) field.ErrorList {
			return append(named(string(m.Resource.Name), at), validateUsage(m.Resource.Target, at.Child("target"))...)
		}},
		{"containerResource", autoscalingv2.ContainerResourceMetricSourceType, m.ContainerResource != nil, func(at *field.Path) field.ErrorList {
			return validateContainerMetric(m.ContainerResource, at)
		}},
	}
}

func validateMetric(m *autoscalingv2.MetricSpec, described refRules, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := slices.Contains(sourceTypes, m.Type)
	if m.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "must specify a metric source type"))
	}
	if !known {
		errs = append(errs, field.NotSupported(at.Child("type"), m.Type, sourceTypes))
	}
	list := sources(m, described)
	var there []source
	for _, s := range list {
		if s.there {
			if there = append(there, s); len(there) == 1 {
				errs = append(errs, s.check(at.Child(s.name))...)
			}
		}
	}
	for _, s := range list {
		if s.of == m.Type && !s.there {
			errs = append(errs, field.Required(at.Child(s.name), "must populate information for the given metric source"))
		}
	}
	if !known { // said twice, as the API server does
		errs = append(errs, field.NotSupported(at.Child("type"), m.Type, sourceTypes))
	}
	if len(there) != 1 {
		for _, s := range there {
			if s.of != m.Type {
				errs = append(errs, field.Forbidden(at.Child(s.name), "must populate the given metric source only"))
			}
		}
	}
	return errs
}

func named(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at.Child("name"), "must specify a resource name")}
	}
	return nil
}

func validateObjectMetric(m *autoscalingv2.ObjectMetricSource, described refRules, at *field.Path) field.ErrorList {
	errs := validateReference(m.DescribedObject, described, at.Child("describedObject"))
	errs = append(errs, pathSegment(m.Metric.Name, "must specify a metric name", at.Child("metric", "name"))...)
	errs = append(errs, validateTarget(m.Target, at.Child("target"))...)
	if m.Target.Value == nil && m.Target.AverageValue == nil {
		errs = append(errs, field.Required(at.Child("target", "averageValue"), "must set either a target value or averageValue"))
	}
	return errs
}

func validateExternalMetric(m *autoscalingv2.ExternalMetricSource, at *field.Path) field.ErrorList {
	errs := pathSegment(m.Metric.Name, "must specify a metric name", at.Child("metric", "name"))
	errs = append(errs, validateTarget(m.Target, at.Child("target"))...)
	if m.Target.Value == nil && m.Target.AverageValue == nil {
		errs = append(errs, field.Required(at.Child("target", "averageValue"), "must set either a target value for metric or a per-pod target"))
	}
	if m.Target.Value != nil && m.Target.AverageValue != nil {
		errs = append(errs, field.Forbidden(at.Child("target", "value"), "may not set both a target value for metric and a per-pod target"))
	}
	return errs
}

func validatePodsMetric(m *autoscalingv2.PodsMetricSource, at *field.Path) field.ErrorList {
	errs := pathSegment(m.Metric.Name, "must specify a metric name", at.Child("metric", "name"))
	errs = append(errs, validateTarget(m.Target, at.Child("target"))...)
	if m.Target.AverageValue == nil {
		errs = append(errs, field.Required(at.Child("target", "averageValue"), "must specify a positive target averageValue"))
	}
	return errs
}

func validateContainerMetric(m *autoscalingv2.ContainerResourceMetricSource, at *field.Path) field.ErrorList {
	errs := named(string(m.Name), at)
	if m.Name != "" {
		errs = append(errs, check.ContainerResource(m.Name, at.Child("name"))...)
	}
	if m.Container == "" {
		errs = append(errs, field.Required(at.Child("container"), "must specify a container"))
	} else {
		errs = append(errs, check.DNSLabel(m.Container, at.Child("container"))...)
	}
	return append(errs, validateUsage(m.Target, at.Child("target"))...)
}

// validateUsage checks the target of a use of resources: in shares of what was asked for, or in amounts.
func validateUsage(t autoscalingv2.MetricTarget, at *field.Path) field.ErrorList {
	errs := validateTarget(t, at)
	if t.AverageUtilization == nil && t.AverageValue == nil {
		errs = append(errs, field.Required(at.Child("averageUtilization"), "must set either a target raw value or a target utilization"))
	}
	if t.AverageUtilization != nil && t.AverageValue != nil {
		errs = append(errs, field.Forbidden(at.Child("averageValue"), "may not set both a target raw value and a target utilization"))
	}
	return errs
}

func validateTarget(t autoscalingv2.MetricTarget, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Type == "" {
		errs = append(errs, field.Required(at.Child("type"), "must specify a metric target type"))
	}
	if !slices.Contains([]autoscalingv2.MetricTargetType{autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType}, t.Type) {
		errs = append(errs, field.Invalid(at.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue"))
	}
	if t.Value != nil && t.Value.Sign() != 1 {
		errs = append(errs, field.Invalid(at.Child("value"), t.Value, "must be positive"))
	}
	if t.AverageValue != nil && t.AverageValue.Sign() != 1 {
		errs = append(errs, field.Invalid(at.Child("averageValue"), t.AverageValue, "must be positive"))
	}
	if t.AverageUtilization != nil && *t.AverageUtilization < 1 {
		errs = append(errs, field.Invalid(at.Child("averageUtilization"), t.AverageUtilization, "must be greater than 0"))
	}
	return errs
}
