package kinds

import (
	"reflect"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAFaceGivesBackWhatItWasGiven(t *testing.T) {
	at := metav1.NewTime(time.Unix(1e9, 0))
	amount, share, window := resource.MustParse("5"), int32(60), int32(30)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "h", Annotations: map[string]string{"a": "b"}}}
	hpa.Spec.MaxReplicas = 4
	hpa.Spec.Metrics = []autoscalingv2.MetricSpec{
		{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "m"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &amount}}},
		{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: "e"},
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.ValueMetricType, Value: &amount}}},
		cpuMetric(share)}
	hpa.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: &window,
		Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: 15}}}}
	hpa.Status.Conditions = []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue, Reason: "r"}}
	event := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p"}, Reason: "Started", Message: "m", Type: "Normal",
		Source: corev1.EventSource{Component: "kubelet"}, FirstTimestamp: at, LastTimestamp: at, Count: 3, Series: &corev1.EventSeries{Count: 2}, ReportingController: "c"}
	for _, obj := range []Object{hpa, event, &corev1.Event{}} {
		face := MustOf(obj).Faces[0]
		before := obj.DeepCopyObject()
		shown := face.From(obj)
		if got := face.To(shown); !reflect.DeepEqual(got, obj) || !reflect.DeepEqual(obj, before) {
			t.Errorf("%s: got\n%+v\nwant\n%+v\nshown as\n%+v", face.GVK(), got, obj, shown)
		}
	}
}
