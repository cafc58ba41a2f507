package shift

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTimesMoveOutAndBackAndTheOriginalStays(t *testing.T) {
	at := metav1.Date(2026, 1, 1, 0, 0, 5, 0, time.UTC)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: at, ManagedFields: []metav1.ManagedFieldsEntry{{Time: &at}}},
		Status: corev1.PodStatus{StartTime: &at, Conditions: []corev1.PodCondition{{Type: "Ready", LastTransitionTime: at}}}}
	before := pod.DeepCopy()
	for _, d := range []time.Duration{time.Hour, -30 * time.Hour, 90*time.Second + 400*time.Millisecond} {
		c := By(d)
		out := c.Out(pod).(*corev1.Pod)
		if !apiequality.Semantic.DeepEqual(pod, before) {
			t.Fatalf("%v: the original was changed", d)
		}
		if want := at.Add(d.Round(time.Second)); !out.CreationTimestamp.Time.Equal(want) || !out.Status.StartTime.Time.Equal(want) || !out.ManagedFields[0].Time.Time.Equal(want) ||
			!out.Status.Conditions[0].LastTransitionTime.Time.Equal(want) || !out.Status.Conditions[0].LastProbeTime.IsZero() {
			t.Errorf("%v: %+v", d, out)
		}
		c.In(out)
		if !apiequality.Semantic.DeepEqual(out, before) {
			t.Errorf("%v: comes back as %+v", d, out)
		}
	}
}

func TestPatchesAreMovedWhereTheyNameTimes(t *testing.T) {
	c := By(time.Hour)
	for sent, want := range map[string]string{
		`{"status":{"startTime":"2026-01-01T01:00:00Z"}}`:                                                          `{"status":{"startTime":"2026-01-01T00:00:00Z"}}`,
		`[{"op":"replace","path":"/metadata/managedFields/0/time","value":"2026-01-01T01:00:00Z"}]`:                `[{"op":"replace","path":"/metadata/managedFields/0/time","value":"2026-01-01T00:00:00Z"}]`,
		`{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T01:00:00Z"}}}`:                `{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T01:00:00Z"}}}`,
		`{"metadata":{"annotations":{"endpoints.kubernetes.io/last-change-trigger-time":"2026-01-01T01:00:00Z"}}}`: `{"metadata":{"annotations":{"endpoints.kubernetes.io/last-change-trigger-time":"2026-01-01T00:00:00Z"}}}`,
		`{"status":{"startTime":null}, "x": [1e400]}`:                                                              `{"status":{"startTime":null}, "x": [1e400]}`,
		`{"status":`: `{"status":`,
	} {
		if got := string(c.Patch([]byte(sent), &corev1.Pod{})); got != want {
			t.Errorf("%s becomes %s, want %s", sent, got, want)
		}
	}
}

func TestTheTimeInAnAnnotationOfControllersMovesToo(t *testing.T) {
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		corev1.EndpointsLastChangeTriggerTime: "2026-01-01T00:00:05Z", "example.com/at": "2026-01-01T00:00:05Z", "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:05Z"}}}
	before := slice.DeepCopy()
	c := By(time.Hour)
	out := c.Out(slice).(*discoveryv1.EndpointSlice)
	if !apiequality.Semantic.DeepEqual(slice, before) {
		t.Fatal("the original was changed")
	}
	for key, want := range map[string]string{corev1.EndpointsLastChangeTriggerTime: "2026-01-01T01:00:05Z", "example.com/at": "2026-01-01T00:00:05Z", "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:05Z"} {
		if got := out.Annotations[key]; got != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if c.In(out); !apiequality.Semantic.DeepEqual(out, before) {
		t.Errorf("comes back as %v", out.Annotations)
	}
	slice.Annotations[corev1.EndpointsLastChangeTriggerTime] = "soon"
	if out := c.Out(slice).(*discoveryv1.EndpointSlice); out.Annotations[corev1.EndpointsLastChangeTriggerTime] != "soon" {
		t.Errorf("what is no time becomes %v", out.Annotations)
	}
}
