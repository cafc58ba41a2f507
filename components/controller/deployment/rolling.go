package deployment

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// step sets one replica set to a size.
type step struct {
	set *appsv1.ReplicaSet
	to  int32
	why string
}

// available, actual: numbers of a replica set's status.
func available(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas }
func actual(rs *appsv1.ReplicaSet) int32    { return rs.Status.Replicas }

// newSize is the size the new replica set may have now: under Recreate all that is wanted, in a rolling update as much as fits under the surge limit beside the
// pods the sets ask for already (k/k deployment_util.go: NewRSNewReplicas).
func newSize(d *appsv1.Deployment, all []*appsv1.ReplicaSet, newest int32) int32 {
	wanted := replicasWanted(d)
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return wanted
	}
	room := most(d) - sum(all, replicasOf)
	if room <= 0 {
		return newest
	}
	return newest + min(room, wanted-newest)
}

// planNew is the step of the new replica set in a rolling update, if it needs one.
func planNew(d *appsv1.Deployment, newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) (step, bool) {
	wanted, present := replicasWanted(d), replicasOf(newest)
	if present == wanted {
		return step{}, false
	}
	if present > wanted {
		return step{newest, wanted, fmt.Sprintf("the Deployment wants only %d", wanted)}, true
	}
	to := newSize(d, with(old, newest), present)
	if to == present {
		return step{}, false
	}
	return step{newest, to, fmt.Sprintf("the Deployment wants %d, maxSurge allows %d pods in all", wanted, most(d))}, true
}

// planOld is the steps of the old replica sets in a rolling update: first their pods that are not available go, whose loss costs nothing, then as many available ones as
// may be missing. Oldest sets first. New pods that are not available yet are not counted on (k/k rolling.go: reconcileOldReplicaSets).
func planOld(d *appsv1.Deployment, newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) []step {
	shrinkable := active(old)
	if len(shrinkable) == 0 {
		return nil
	}
	all := with(old, newest)
	keep := least(d)
	notYet := replicasOf(newest) - newest.Status.AvailableReplicas
	spare := sum(all, replicasOf) - keep - notYet
	if spare <= 0 {
		return nil
	}
	slices.SortStableFunc(shrinkable, olderFirst)
	var steps []step
	left := map[*appsv1.ReplicaSet]int32{}
	for _, rs := range shrinkable {
		left[rs] = replicasOf(rs)
		if n := min(spare, left[rs]-rs.Status.AvailableReplicas); n > 0 {
			left[rs] -= n
			spare -= n
			steps = append(steps, step{rs, left[rs], fmt.Sprintf("%d of its pods %s not available and can go first", n, are(n))})
		}
	}
	have := sum(all, available)
	free := have - keep
	for _, rs := range shrinkable {
		if n := min(left[rs], free); n > 0 {
			left[rs] -= n
			free -= n
			steps = append(steps, step{rs, left[rs], fmt.Sprintf("%d pods are available, maxUnavailable asks for at least %d", have, keep)})
		}
	}
	return steps
}

func are(n int32) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
