package kinds

import (
	"encoding/json"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// DefaultCPUUtilization is what an autoscaler aims at that names no metric, in percent of what its pods ask for.
const DefaultCPUUtilization = 80

// Annotations in which autoscaling/v1 keeps what it has no fields for.
const (
	metricsAnnotation            = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation     = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation         = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation           = "autoscaling.alpha.kubernetes.io/behavior"
	scaleDownToleranceAnnotation = "autoscaling.alpha.kubernetes.io/scale-down-tolerance"
	scaleUpToleranceAnnotation   = "autoscaling.alpha.kubernetes.io/scale-up-tolerance"
)

var faceAnnotations = []string{metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation, scaleDownToleranceAnnotation, scaleUpToleranceAnnotation}

// autoscalerFace shows HorizontalPodAutoscalers as autoscaling/v1 does.
var autoscalerFace = &Face{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler", New: func() Object { return &autoscalingv1.HorizontalPodAutoscaler{} },
	From: func(o Object) Object { return autoscalerShown(o.(*autoscalingv2.HorizontalPodAutoscaler)) },
	To:   func(o Object) Object { return autoscalerStored(o.(*autoscalingv1.HorizontalPodAutoscaler)) }}

// WithoutFaceAnnotations are annotations without those that a face of an autoscaler uses: they are never stored. The map is the same one when it has none.
func WithoutFaceAnnotations(m map[string]string) map[string]string {
	var out map[string]string
	for _, name := range faceAnnotations {
		if _, ok := m[name]; ok {
			if out == nil {
				out = maps.Clone(m)
			}
			delete(out, name)
		}
	}
	if out == nil {
		return m
	}
	return out
}

// cpuShare is the one sort of metric that v1 has a field for.
func cpuShare(m *autoscalingv2.MetricSpec) bool {
	return m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Target.AverageUtilization != nil
}

func autoscalerShown(stored *autoscalingv2.HorizontalPodAutoscaler) *autoscalingv1.HorizontalPodAutoscaler {
	in := stored.DeepCopy()
	out := &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: in.ObjectMeta}
	out.Spec.ScaleTargetRef = autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = in.Spec.MinReplicas, in.Spec.MaxReplicas
	out.Status = autoscalingv1.HorizontalPodAutoscalerStatus{ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
		CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas}

	var others []autoscalingv1.MetricSpec
	for i := range in.Spec.Metrics {
		m := &in.Spec.Metrics[i]
		if !cpuShare(m) {
			others = append(others, metricShown(m))
		} else if out.Spec.TargetCPUUtilizationPercentage == nil {
			out.Spec.TargetCPUUtilizationPercentage = m.Resource.Target.AverageUtilization
		}
	}
	var current []autoscalingv1.MetricStatus
	for i := range in.Status.CurrentMetrics {
		m := &in.Status.CurrentMetrics[i]
		current = append(current, metricStatusShown(m))
		if m.Type == autoscalingv2.ResourceMetricSourceType && m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = m.Resource.Current.AverageUtilization
		}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{Type: autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration})
	}
	out.Annotations = maps.Clone(WithoutFaceAnnotations(out.Annotations))
	keep := func(name string, there bool, v any) {
		raw, err := json.Marshal(v)
		if !there || err != nil { // values of these types always have a JSON form
			return
		}
		if out.Annotations == nil {
			out.Annotations = map[string]string{}
		}
		out.Annotations[name] = string(raw)
	}
	keep(metricsAnnotation, len(others) > 0, others)
	keep(currentMetricsAnnotation, len(current) > 0, current)
	keep(behaviorAnnotation, in.Spec.Behavior != nil, behaviorForm(in.Spec.Behavior))
	keep(conditionsAnnotation, len(conditions) > 0, conditions)
	return out
}

func autoscalerStored(shown *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
	in := shown.DeepCopy()
	out := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: in.ObjectMeta}
	out.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = in.Spec.MinReplicas, in.Spec.MaxReplicas
	out.Status = autoscalingv2.HorizontalPodAutoscalerStatus{ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
		CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas}
	if n := in.Status.CurrentCPUUtilizationPercentage; n != nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType,
			Resource: &autoscalingv2.ResourceMetricStatus{Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: n}}}}
	}
	// What an annotation holds that cannot be read counts as not there.
	var others []autoscalingv1.MetricSpec
	if read(in.Annotations, metricsAnnotation, &others) {
		for i := range others {
			out.Spec.Metrics = append(out.Spec.Metrics, metricStored(&others[i]))
		}
	}
	if n := in.Spec.TargetCPUUtilizationPercentage; n != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, cpuMetric(*n))
	}
	var behavior behaviorJSON
	if read(in.Annotations, behaviorAnnotation, &behavior) && behavior != (behaviorJSON{}) {
		out.Spec.Behavior = behavior.stored()
	}
	var current []autoscalingv1.MetricStatus
	if read(in.Annotations, currentMetricsAnnotation, &current) {
		out.Status.CurrentMetrics = make([]autoscalingv2.MetricStatus, 0, len(current))
		for i := range current {
			out.Status.CurrentMetrics = append(out.Status.CurrentMetrics, metricStatusStored(&current[i]))
		}
	}
	if len(out.Spec.Metrics) == 0 {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{cpuMetric(DefaultCPUUtilization)}
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	if read(in.Annotations, conditionsAnnotation, &conditions) {
		for _, c := range conditions {
			out.Status.Conditions = append(out.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type),
				Status: c.Status, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message, ObservedGeneration: c.ObservedGeneration})
		}
	}
	out.Annotations = WithoutFaceAnnotations(out.Annotations)
	return out
}

func cpuMetric(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &percent}}}
}

func read(annotations map[string]string, name string, into any) bool {
	raw, ok := annotations[name]
	return ok && json.Unmarshal([]byte(raw), into) == nil
}
