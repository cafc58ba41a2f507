// Package podcondition changes the conditions of a Pod the way every Kubernetes component does (k/k pkg/api/v1/pod: UpdatePodCondition): the transition time moves
// only when the status does, and a condition that would stay as it is counts as no change.
//
// Owns: Set. Imports nothing of ours. Goroutines: any, on objects the caller owns. Time: given by the caller.
package podcondition

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set puts c into the status of pod, which the caller owns, and reports whether that changed anything. Its observed generation becomes the pod's generation;
// LastTransitionTime is set here, in whole seconds as the API stores it.
func Set(pod *corev1.Pod, c corev1.PodCondition, now time.Time) bool {
	stamp := metav1.NewTime(now)
	c.LastTransitionTime = stamp.Rfc3339Copy()
	c.ObservedGeneration = pod.Generation
	for i := range pod.Status.Conditions {
		old := &pod.Status.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		if old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message {
			return false
		}
		*old = c
		return true
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
	return true
}

// Get finds a condition of pod; nil when there is none. Read only.
func Get(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == t {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
