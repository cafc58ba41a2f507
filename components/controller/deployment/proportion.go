package deployment

import (
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// planScale is the steps that bring the replica sets to another number of pods outside of a rollout's own steps (k/k sync.go: scale). A single set with pods takes all; a
// complete new set takes all and the others none; else, in the middle of a rolling update, each set grows or shrinks by its share. Steps may keep a set's size: its
// annotations are brought up to date all the same.
func planScale(d *appsv1.Deployment, newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) []step {
	wanted := replicasWanted(d)
	if only := activeOrLatest(newest, old); only != nil {
		if replicasOf(only) == wanted {
			return nil
		}
		return []step{{only, wanted, fmt.Sprintf("the Deployment wants %d", wanted)}}
	}
	var steps []step
	if saturated(d, newest) {
		for _, rs := range active(old) {
			steps = append(steps, step{rs, 0, fmt.Sprintf("%s has all %d pods that are wanted", newest.Name, wanted)})
		}
		return steps
	}
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return nil
	}
	return planProportional(d, active(with(old, newest)))
}

// planProportional shares out the pods that are to come or go. Largest sets come first; what rounding leaves goes to the first.
func planProportional(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) []step {
	allowed := int32(0)
	if replicasWanted(d) > 0 {
		allowed = most(d)
	}
	toAdd := allowed - sum(sets, replicasOf)
	switch {
	case toAdd > 0:
		slices.SortStableFunc(sets, bySize(true))
	case toAdd < 0:
		slices.SortStableFunc(sets, bySize(false))
	}
	steps := make([]step, len(sets))
	added := int32(0)
	for i, rs := range sets {
		share := shareOf(d, rs, toAdd, added)
		added += share
		steps[i] = step{rs, replicasOf(rs) + share, fmt.Sprintf("its share when %d sets come from %d pods to %d", len(sets), sum(sets, replicasOf), allowed)}
	}
	if len(steps) > 0 && toAdd != 0 {
		steps[0].to = max(0, steps[0].to+toAdd-added)
	}
	return steps
}

// shareOf is how many pods rs gets of toAdd, of which added are given away already; both may be negative.
func shareOf(d *appsv1.Deployment, rs *appsv1.ReplicaSet, toAdd, added int32) int32 {
	if replicasOf(rs) == 0 || toAdd == 0 || toAdd == added {
		return 0
	}
	rest := toAdd - added
	if toAdd > 0 {
		return min(fractionOf(d, rs), rest)
	}
	return max(fractionOf(d, rs), rest)
}

// fractionOf is by how much rs changes when it keeps its part of the whole. The whole before is what was noted on the set when it was last scaled, or what the
// Deployment last reported.
func fractionOf(d *appsv1.Deployment, rs *appsv1.ReplicaSet) int32 {
	if replicasWanted(d) == 0 {
		return -replicasOf(rs)
	}
	before, ok := numberIn(rs, maxReplicasAnnotation)
	if !ok || before == 0 {
		if before = d.Status.Replicas; before == 0 {
			return 0
		}
	}
	size := float64(int64(replicasOf(rs))*int64(most(d))) / float64(before)
	return clamp(int64(math.Floor(size+0.5))) - replicasOf(rs)
}

// activeOrLatest is the only set with pods, or the newest when none has any; nil when several have.
func activeOrLatest(newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet) *appsv1.ReplicaSet {
	running := active(with(old, newest))
	switch {
	case len(running) == 1:
		return running[0]
	case len(running) > 1:
		return nil
	case newest != nil:
		return newest
	case len(old) == 0:
		return nil
	}
	return slices.MaxFunc(old, olderFirst)
}

// saturated reports that the new set has all the pods wanted and all are available.
func saturated(d *appsv1.Deployment, rs *appsv1.ReplicaSet) bool {
	if rs == nil {
		return false
	}
	desired, ok := numberIn(rs, desiredReplicasAnnotation)
	wanted := replicasWanted(d)
	return ok && replicasOf(rs) == wanted && desired == wanted && rs.Status.AvailableReplicas == wanted
}
