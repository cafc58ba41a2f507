package podcondition

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	t0 := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	ready := func(s corev1.ConditionStatus, reason string) corev1.PodCondition {
		return corev1.PodCondition{Type: corev1.PodReady, Status: s, Reason: reason}
	}
	for _, step := range []struct {
		what    string
		at      time.Duration
		set     corev1.PodCondition
		changed bool
		since   time.Duration
	}{
		{"a new condition", 500 * time.Millisecond, ready("True", ""), true, 0},
		{"the same again", 10 * time.Second, ready("True", ""), false, 0},
		{"another reason", 20 * time.Second, ready("True", "x"), true, 0},
		{"another status", 30 * time.Second, ready("False", "x"), true, 30 * time.Second},
	} {
		if got := Set(pod, step.set, t0.Add(step.at)); got != step.changed {
			t.Errorf("%s: changed %v", step.what, got)
		}
		c := Get(pod, corev1.PodReady)
		if len(pod.Status.Conditions) != 1 || !c.LastTransitionTime.Time.Equal(t0.Add(step.since)) || c.ObservedGeneration != 3 {
			t.Errorf("%s: %+v", step.what, pod.Status.Conditions)
		}
	}
}
