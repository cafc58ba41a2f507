package deployment

import (
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of the condition Progressing, and of Available.
const (
	reasonPaused      = "DeploymentPaused"
	reasonResumed     = "DeploymentResumed"
	reasonCreated     = "NewReplicaSetCreated"
	reasonFound       = "FoundNewReplicaSet"
	reasonUpdated     = "ReplicaSetUpdated"
	reasonComplete    = "NewReplicaSetAvailable"
	reasonTimedOut    = "ProgressDeadlineExceeded"
	reasonCreateError = "ReplicaSetCreateError"

	reasonEnough  = "MinimumReplicasAvailable"
	reasonTooFew  = "MinimumReplicasUnavailable"
	messageEnough = "Deployment has minimum availability."
	messageTooFew = "Deployment does not have minimum availability."
)

// statusOf is the status that follows from the replica sets, Progressing and ReplicaFailure left as they are.
func statusOf(d *appsv1.Deployment, newest *appsv1.ReplicaSet, all []*appsv1.ReplicaSet, now time.Time) appsv1.DeploymentStatus {
	have := sum(all, available)
	s := appsv1.DeploymentStatus{
		ObservedGeneration:  d.Generation,
		Replicas:            sum(all, actual),
		ReadyReplicas:       sum(all, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.ReadyReplicas }),
		AvailableReplicas:   have,
		UnavailableReplicas: max(0, sum(all, replicasOf)-have),
		TerminatingReplicas: terminating(all),
		CollisionCount:      d.Status.CollisionCount,
		Conditions:          slices.Clone(d.Status.Conditions),
	}
	if newest != nil {
		s.UpdatedReplicas = newest.Status.Replicas
	}
	if have >= least(d) {
		setCondition(&s, condition(appsv1.DeploymentAvailable, corev1.ConditionTrue, reasonEnough, messageEnough, now))
	} else {
		setCondition(&s, condition(appsv1.DeploymentAvailable, corev1.ConditionFalse, reasonTooFew, messageTooFew, now))
	}
	return s
}

// terminating adds up pods on their way out; nil when a replica set that was worked on does not tell. One that nobody worked on yet has none.
func terminating(all []*appsv1.ReplicaSet) *int32 {
	total := int32(0)
	for _, rs := range all {
		switch n := rs.Status.TerminatingReplicas; {
		case n != nil:
			total += *n
		case rs.Status.ObservedGeneration != 0:
			return nil
		}
	}
	return &total
}

// rolloutStatusOf is statusOf with what it says about the progress of the rollout (k/k progress.go: syncRolloutStatus).
func rolloutStatusOf(d *appsv1.Deployment, newest *appsv1.ReplicaSet, all []*appsv1.ReplicaSet, now time.Time) appsv1.DeploymentStatus {
	s := statusOf(d, newest, all, now)
	deadline := hasDeadline(d)
	if !deadline {
		removeCondition(&s, appsv1.DeploymentProgressing)
	}
	present := findCondition(d.Status.Conditions, appsv1.DeploymentProgressing)
	over := s.Replicas == s.UpdatedReplicas && present != nil && present.Reason == reasonComplete
	if deadline && !over {
		subject := fmt.Sprintf("Deployment %q", d.Name)
		if newest != nil {
			subject = fmt.Sprintf("ReplicaSet %q", newest.Name)
		}
		switch {
		case complete(d, s):
			setCondition(&s, condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonComplete, subject+" has successfully progressed.", now))
		case progressed(d.Status, s):
			c := condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reasonUpdated, subject+" is progressing.", now)
			if present != nil {
				if present.Status == corev1.ConditionTrue {
					c.LastTransitionTime = present.LastTransitionTime
				}
				removeCondition(&s, appsv1.DeploymentProgressing) // the deadline counts from the newest progress, even for the same reason
			}
			setCondition(&s, c)
		case timedOut(d, s, now):
			setCondition(&s, condition(appsv1.DeploymentProgressing, corev1.ConditionFalse, reasonTimedOut, subject+" has timed out progressing.", now))
		}
	}
	if failure := replicaFailure(newest, all); failure != nil {
		setCondition(&s, *failure)
	} else {
		removeCondition(&s, appsv1.DeploymentReplicaFailure)
	}
	return s
}

// complete reports that all pods are of the new template, available, and no others are left.
func complete(d *appsv1.Deployment, s appsv1.DeploymentStatus) bool {
	wanted := replicasWanted(d)
	return s.UpdatedReplicas == wanted && s.Replicas == wanted && s.AvailableReplicas == wanted && s.ObservedGeneration >= d.Generation
}

// progressed reports that something got better: more new pods, fewer old ones, more ready or available ones.
func progressed(old, now appsv1.DeploymentStatus) bool {
	return now.UpdatedReplicas > old.UpdatedReplicas || now.Replicas-now.UpdatedReplicas < old.Replicas-old.UpdatedReplicas ||
		now.ReadyReplicas > old.ReadyReplicas || now.AvailableReplicas > old.AvailableReplicas
}

// timedOut reports that the last progress is longer ago than the deadline allows.
func timedOut(d *appsv1.Deployment, s appsv1.DeploymentStatus, now time.Time) bool {
	c := findCondition(s.Conditions, appsv1.DeploymentProgressing)
	switch {
	case c == nil || c.Reason == reasonComplete:
		return false
	case c.Reason == reasonTimedOut:
		return true
	}
	return c.LastUpdateTime.Add(deadlineOf(d)).Before(now)
}

// untilDeadline is when a stuck rollout must be looked at again; 0: never.
func untilDeadline(d *appsv1.Deployment, s appsv1.DeploymentStatus, now time.Time) time.Duration {
	c := findCondition(d.Status.Conditions, appsv1.DeploymentProgressing)
	if !hasDeadline(d) || c == nil || complete(d, s) || c.Reason == reasonTimedOut || c.Reason == reasonComplete {
		return 0 // a rollout that was once complete never times out again
	}
	// a second more, since the condition's time is in whole seconds
	return max(0, c.LastUpdateTime.Add(deadlineOf(d)).Sub(now)) + time.Second
}

func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != math.MaxInt32
}

func deadlineOf(d *appsv1.Deployment) time.Duration {
	return time.Duration(*d.Spec.ProgressDeadlineSeconds) * time.Second
}

// replicaFailure passes on the failure of a replica set, the new one's first.
func replicaFailure(newest *appsv1.ReplicaSet, all []*appsv1.ReplicaSet) *appsv1.DeploymentCondition {
	sets := all
	if newest != nil {
		sets = append([]*appsv1.ReplicaSet{newest}, all...)
	}
	for _, rs := range sets {
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				return &appsv1.DeploymentCondition{Type: appsv1.DeploymentConditionType(c.Type), Status: c.Status, Reason: c.Reason, Message: c.Message,
					LastTransitionTime: c.LastTransitionTime, LastUpdateTime: c.LastTransitionTime}
			}
		}
	}
	return nil
}

func condition(t appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string, now time.Time) appsv1.DeploymentCondition {
	at := metav1.NewTime(now.Truncate(time.Second))
	return appsv1.DeploymentCondition{Type: t, Status: status, Reason: reason, Message: message, LastUpdateTime: at, LastTransitionTime: at}
}

func findCondition(all []appsv1.DeploymentCondition, t appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range all {
		if all[i].Type == t {
			return &all[i]
		}
	}
	return nil
}

// setCondition puts c at the end, in place of an older one of its type. One with the same status and reason stays untouched; with the same status it keeps when that began.
func setCondition(s *appsv1.DeploymentStatus, c appsv1.DeploymentCondition) {
	if old := findCondition(s.Conditions, c.Type); old != nil {
		if old.Status == c.Status && old.Reason == c.Reason {
			return
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	removeCondition(s, c.Type)
	s.Conditions = append(s.Conditions, c)
}

func removeCondition(s *appsv1.DeploymentStatus, t appsv1.DeploymentConditionType) {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c appsv1.DeploymentCondition) bool { return c.Type == t })
}
