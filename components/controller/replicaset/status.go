package replicaset

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/kinds"
)

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// statusOf is the status that fits what was seen at the beginning of the pass: pods just created are counted when they come back through the informer.
func statusOf(rs *appsv1.ReplicaSet, active, terminating []*corev1.Pod, manageErr error, now time.Time) appsv1.ReplicaSetStatus {
	status := *rs.Status.DeepCopy()
	status.ObservedGeneration = rs.Generation
	status.Replicas, status.FullyLabeledReplicas, status.ReadyReplicas, status.AvailableReplicas = int32(len(active)), 0, 0, 0
	template := labels.SelectorFromValidatedSet(rs.Spec.Template.Labels)
	for _, pod := range active {
		if template.Matches(labels.Set(pod.Labels)) {
			status.FullyLabeledReplicas++
		}
		if ready(pod) {
			status.ReadyReplicas++
			if untilAvailable(pod, rs.Spec.MinReadySeconds, now) <= 0 {
				status.AvailableReplicas++
			}
		}
	}
	leaving := int32(len(terminating))
	status.TerminatingReplicas = &leaving
	status.Conditions = failureCondition(status.Conditions, len(active)-int(*rs.Spec.Replicas), manageErr, now)
	return status
}

// failureCondition adds ReplicaFailure when creating or deleting failed (an older one stays as it is) and takes it away when it worked. diff is pods too many.
func failureCondition(conditions []appsv1.ReplicaSetCondition, diff int, manageErr error, now time.Time) []appsv1.ReplicaSetCondition {
	isFailure := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	had := slices.ContainsFunc(conditions, isFailure)
	switch {
	case manageErr != nil && !had:
		reason := ""
		if diff < 0 {
			reason = "FailedCreate"
		} else if diff > 0 {
			reason = "FailedDelete"
		}
		return append(conditions, appsv1.ReplicaSetCondition{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)), Reason: reason, Message: manageErr.Error()})
	case manageErr == nil && had:
		return slices.DeleteFunc(conditions, isFailure)
	}
	return conditions
}

// untilAvailable is how long a ready pod has yet to stay ready to count as available; zero or less when it does.
func untilAvailable(pod *corev1.Pod, minReady int32, now time.Time) time.Duration {
	if minReady == 0 {
		return 0
	}
	return readySince(pod).Add(seconds(minReady)).Sub(now)
}

// nextAvailable is when the next ready pod will become available.
func nextAvailable(active []*corev1.Pod, minReady int32, now time.Time) time.Duration {
	next := seconds(minReady)
	for _, pod := range active {
		if left := untilAvailable(pod, minReady, now); ready(pod) && left > 0 {
			next = min(next, left)
		}
	}
	return next
}

// updateStatus writes status if it says something new. A failed write is tried once more on the newest version of the object. It returns rs as stored.
func (c *Controller) updateStatus(ps *reconcile.Pass, rs *appsv1.ReplicaSet, status appsv1.ReplicaSetStatus) (*appsv1.ReplicaSet, error) {
	if equality.Semantic.DeepEqual(rs.Status, status) {
		return rs, nil
	}
	ps.Decide("report on %s: %s", rs.Name, changes(rs.Status, status))
	const retries = 1
	for try, present := 0, rs; ; try++ {
		next := present.DeepCopy()
		next.Status = *status.DeepCopy()
		updated, err := kubeapi.ReplaceStatus(ps.Proc, ps.Client, next)
		if err == nil || try >= retries {
			return updated, err
		}
		if present, err = kubeapi.Fetch[*appsv1.ReplicaSet](ps.Proc, ps.Client, kinds.ReplicaSets, rs.Namespace, rs.Name); err != nil {
			return nil, err
		}
	}
}

// changes tells in words what is new in a status.
func changes(old, now appsv1.ReplicaSetStatus) string {
	text := fmt.Sprintf("%d pods, %d ready, %d available", now.Replicas, now.ReadyReplicas, now.AvailableReplicas)
	if now.TerminatingReplicas != nil && *now.TerminatingReplicas > 0 {
		text += fmt.Sprintf(", %d terminating", *now.TerminatingReplicas)
	}
	if old.ObservedGeneration != now.ObservedGeneration {
		text += fmt.Sprintf("; specification %d is seen", now.ObservedGeneration)
	}
	return text
}
