package deployment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func conditionsOf(s appsv1.DeploymentStatus) string {
	var out []string
	for _, c := range s.Conditions {
		out = append(out, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, "; ")
}

func TestRolloutProgressConditions(t *testing.T) {
	deadline := int32(600)
	progressing := func(reason string, since time.Duration) []appsv1.DeploymentCondition {
		return []appsv1.DeploymentCondition{
			condition(appsv1.DeploymentAvailable, corev1.ConditionTrue, reasonEnough, messageEnough, epoch),
			condition(appsv1.DeploymentProgressing, corev1.ConditionTrue, reason, "", epoch.Add(-since))}
	}
	for _, c := range []struct {
		name   string
		before appsv1.DeploymentStatus
		newest *appsv1.ReplicaSet
		want   string
	}{
		{"a further pod available is progress", appsv1.DeploymentStatus{UpdatedReplicas: 3, Replicas: 3, AvailableReplicas: 2, Conditions: progressing(reasonUpdated, time.Minute)},
			set("new", 0, 3, 3), `Progressing=True NewReplicaSetAvailable: ReplicaSet "new" has successfully progressed.`},
		{"more new pods are progress", appsv1.DeploymentStatus{UpdatedReplicas: 1, Replicas: 3, AvailableReplicas: 2, Conditions: progressing(reasonCreated, time.Minute)},
			set("new", 0, 3, 2), `Progressing=True ReplicaSetUpdated: ReplicaSet "new" is progressing.`},
		{"no news within the deadline leaves the condition", appsv1.DeploymentStatus{UpdatedReplicas: 3, Replicas: 3, AvailableReplicas: 2, Conditions: progressing(reasonUpdated, 599*time.Second)},
			set("new", 0, 3, 2), `Progressing=True ReplicaSetUpdated: `},
		{"no news beyond the deadline is a failure", appsv1.DeploymentStatus{UpdatedReplicas: 3, Replicas: 3, AvailableReplicas: 2, Conditions: progressing(reasonUpdated, 601*time.Second)},
			set("new", 0, 3, 2), `Progressing=False ProgressDeadlineExceeded: ReplicaSet "new" has timed out progressing.`},
		{"a rollout once complete never times out", appsv1.DeploymentStatus{UpdatedReplicas: 3, Replicas: 3, AvailableReplicas: 3, Conditions: progressing(reasonComplete, time.Hour)},
			set("new", 0, 3, 1), `Progressing=True NewReplicaSetAvailable: `},
	} {
		d := rollingDeployment(3, "1", "1")
		d.Spec.ProgressDeadlineSeconds, d.Status = &deadline, c.before
		got := conditionsOf(rolloutStatusOf(d, c.newest, []*appsv1.ReplicaSet{c.newest}, epoch))
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAvailableComparesWithWhatMayBeMissing(t *testing.T) {
	for available, want := range map[int32]string{3: reasonEnough, 2: reasonEnough, 1: reasonTooFew} {
		d := rollingDeployment(3, "1", "1")
		rs := set("new", 0, 3, available)
		if got := statusOf(d, rs, []*appsv1.ReplicaSet{rs}, epoch).Conditions[0].Reason; got != want {
			t.Errorf("%d of 3 available, one may be missing: %s, want %s", available, got, want)
		}
	}
}

func TestTerminatingIsUnknownOnlyWhenASetThatWasSeenDoesNotTell(t *testing.T) {
	two := int32(2)
	seen, fresh, silent := set("a", 0, 1, 1), set("b", 0, 1, 1), set("c", 0, 1, 1)
	seen.Status.TerminatingReplicas, seen.Status.ObservedGeneration = &two, 1
	silent.Status.ObservedGeneration = 1
	if n := terminating([]*appsv1.ReplicaSet{seen, fresh}); n == nil || *n != 2 {
		t.Errorf("got %v, want 2", n)
	}
	if n := terminating([]*appsv1.ReplicaSet{seen, silent}); n != nil {
		t.Errorf("got %d, want unknown", *n)
	}
}

func TestReplicaFailureIsPassedOn(t *testing.T) {
	d := rollingDeployment(3, "1", "1")
	rs := set("new", 0, 3, 0)
	rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "quota"}}
	if got := conditionsOf(rolloutStatusOf(d, rs, []*appsv1.ReplicaSet{rs}, epoch)); !strings.Contains(got, "ReplicaFailure=True FailedCreate: quota") {
		t.Error(got)
	}
}
