package columns

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var podDisruptionBudgets = []Column{
	name,
	text("Min Available", "The minimum number of pods that must be available.", func(b *policyv1.PodDisruptionBudget) string { return orNotApplicable(b.Spec.MinAvailable) }),
	text("Max Unavailable", "The maximum number of pods that may be unavailable.", func(b *policyv1.PodDisruptionBudget) string { return orNotApplicable(b.Spec.MaxUnavailable) }),
	number("Allowed Disruptions", "Calculated number of pods that may be disrupted at this time.", func(b *policyv1.PodDisruptionBudget) int32 { return b.Status.DisruptionsAllowed }),
	age,
}

func orNotApplicable(v *intstr.IntOrString) string {
	if v == nil {
		return "N/A"
	}
	return v.String()
}

var scalerDocs = autoscalingv2.HorizontalPodAutoscalerSpec{}.SwaggerDoc()

var horizontalPodAutoscalers = []Column{
	name,
	text("Reference", scalerDocs["scaleTargetRef"], func(h *autoscalingv2.HorizontalPodAutoscaler) string {
		return h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name
	}),
	text("Targets", scalerDocs["metrics"], targets),
	text("MinPods", scalerDocs["minReplicas"], func(h *autoscalingv2.HorizontalPodAutoscaler) string {
		if h.Spec.MinReplicas == nil {
			return "<unset>"
		}
		return fmt.Sprint(*h.Spec.MinReplicas)
	}),
	asString(number("MaxPods", scalerDocs["maxReplicas"], func(h *autoscalingv2.HorizontalPodAutoscaler) int32 { return h.Spec.MaxReplicas })),
	asString(number("Replicas", autoscalingv2.HorizontalPodAutoscalerStatus{}.SwaggerDoc()["currentReplicas"], func(h *autoscalingv2.HorizontalPodAutoscaler) int32 { return h.Status.CurrentReplicas })),
	age,
}

// targets shows the first two metrics: what is, and what is wanted. The n-th status is of the n-th metric.
func targets(h *autoscalingv2.HorizontalPodAutoscaler) string {
	const most = 2
	n := len(h.Spec.Metrics)
	if n == 0 {
		return "<none>"
	}
	var list []string
	for i := range h.Spec.Metrics[:min(n, most)] {
		now := &autoscalingv2.MetricStatus{}
		if i < len(h.Status.CurrentMetrics) {
			now = &h.Status.CurrentMetrics[i]
		}
		list = append(list, metric(&h.Spec.Metrics[i], now))
	}
	if n > most {
		return fmt.Sprintf("%s + %d more...", strings.Join(list, ", "), n-most)
	}
	return strings.Join(list, ", ")
}

func metric(want *autoscalingv2.MetricSpec, now *autoscalingv2.MetricStatus) string {
	switch {
	case want.Type == autoscalingv2.ExternalMetricSourceType && want.External != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.External != nil {
			current = &now.External.Current
		}
		return valueOrAverage(&want.External.Target, current)
	case want.Type == autoscalingv2.ObjectMetricSourceType && want.Object != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.Object != nil {
			current = &now.Object.Current
		}
		return valueOrAverage(&want.Object.Target, current)
	case want.Type == autoscalingv2.PodsMetricSourceType && want.Pods != nil:
		current := "<unknown>"
		if now.Pods != nil {
			current = quantity(now.Pods.Current.AverageValue)
		}
		return current + "/" + quantity(want.Pods.Target.AverageValue)
	case want.Type == autoscalingv2.ResourceMetricSourceType && want.Resource != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.Resource != nil {
			current = &now.Resource.Current
		}
		return usage(want.Resource.Name, &want.Resource.Target, current)
	case want.Type == autoscalingv2.ContainerResourceMetricSourceType && want.ContainerResource != nil:
		var current *autoscalingv2.MetricValueStatus
		if now.ContainerResource != nil {
			current = &now.ContainerResource.Current
		}
		return usage(want.ContainerResource.Name, &want.ContainerResource.Target, current)
	}
	return "<unknown type>"
}

// valueOrAverage is of a metric that is one number, or that number shared among the pods.
func valueOrAverage(target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := "<unknown>"
	if target.AverageValue != nil {
		if now != nil && now.AverageValue != nil {
			current = now.AverageValue.String()
		}
		return current + "/" + target.AverageValue.String() + " (avg)"
	}
	if now != nil {
		current = quantity(now.Value)
	}
	return current + "/" + quantity(target.Value)
}

// usage is of cpu or memory: an amount, or a share of what the pods request.
func usage(name corev1.ResourceName, target *autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := "<unknown>"
	if target.AverageValue != nil {
		if now != nil {
			current = quantity(now.AverageValue)
		}
		return fmt.Sprintf("%s: %s/%s", name, current, target.AverageValue.String())
	}
	if now != nil && now.AverageUtilization != nil {
		current = fmt.Sprintf("%d%%", *now.AverageUtilization)
	}
	goal := "<auto>"
	if target.AverageUtilization != nil {
		goal = fmt.Sprintf("%d%%", *target.AverageUtilization)
	}
	return fmt.Sprintf("%s: %s/%s", name, current, goal)
}

// quantity writes one that may be missing as its type's own method does.
func quantity(q *resource.Quantity) string { return q.String() }
