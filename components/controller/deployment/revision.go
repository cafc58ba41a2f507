package deployment

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Annotations of replica sets; the first also of Deployments.
const (
	revisionAnnotation        = "deployment.kubernetes.io/revision"
	historyAnnotation         = "deployment.kubernetes.io/revision-history"
	desiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas"
	maxReplicasAnnotation     = "deployment.kubernetes.io/max-replicas"
	rollbackAnnotation        = "deprecated.deployment.rollback.to"
)

// historyMax bounds the revision-history annotation, in characters.
const historyMax = 2000

// ownAnnotations of a Deployment are not copied to its replica sets.
var ownAnnotations = []string{corev1.LastAppliedConfigAnnotation, revisionAnnotation, historyAnnotation, desiredReplicasAnnotation, maxReplicasAnnotation, rollbackAnnotation}

// revisionOf is the revision of a replica set; 0 when it has none that can be read.
func revisionOf(rs *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(rs.Annotations[revisionAnnotation], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func maxRevision(sets []*appsv1.ReplicaSet) int64 {
	highest := int64(0)
	for _, rs := range sets {
		highest = max(highest, revisionOf(rs))
	}
	return highest
}

// numberIn reads a number from an annotation.
func numberIn(rs *appsv1.ReplicaSet, annotation string) (int32, bool) {
	n, err := strconv.ParseInt(rs.Annotations[annotation], 10, 32)
	return int32(n), err == nil
}

// annotate sets one annotation and reports that it changed.
func annotate(rs *appsv1.ReplicaSet, key, value string) bool {
	if old, ok := rs.Annotations[key]; ok && old == value {
		return false
	}
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	rs.Annotations[key] = value
	return true
}

// annotateSizes notes on rs what the Deployment wants and may have, which tells scaling from rolling later.
func annotateSizes(rs *appsv1.ReplicaSet, d *appsv1.Deployment) bool {
	a := annotate(rs, desiredReplicasAnnotation, strconv.Itoa(int(replicasWanted(d))))
	b := annotate(rs, maxReplicasAnnotation, strconv.Itoa(int(most(d))))
	return a || b
}

// annotateRevision copies d's annotations to the new replica set and raises its revision. A set that had a lower revision is rolled back to: the old number goes
// into its history (k/k deployment_util.go: SetNewReplicaSetAnnotations). It reports a change.
func annotateRevision(rs *appsv1.ReplicaSet, d *appsv1.Deployment, revision int64) bool {
	changed := false
	for k, v := range d.Annotations {
		if !slices.Contains(ownAnnotations, k) && annotate(rs, k, v) {
			changed = true
		}
	}
	text, had := rs.Annotations[revisionAnnotation]
	old, err := strconv.ParseInt(text, 10, 64)
	if err != nil && text != "" {
		return false // somebody wrote nonsense there; Kubernetes keeps its hands off
	}
	if old >= revision {
		return changed
	}
	annotate(rs, revisionAnnotation, strconv.FormatInt(revision, 10))
	if had {
		annotate(rs, historyAnnotation, prolong(rs.Annotations[historyAnnotation], text))
	}
	return true
}

// prolong appends a revision to a history and drops the oldest ones beyond the limit.
func prolong(history, revision string) string {
	if history == "" {
		return revision
	}
	all := append(strings.Split(history, ","), revision)
	for len(strings.Join(all, ",")) > historyMax && len(all) > 1 {
		all = all[1:]
	}
	return strings.Join(all, ",")
}

// planCleanup lists the old replica sets to delete: beyond the history limit, lowest revision first. Sets with pods, or whose last change was not worked off yet, stay.
func planCleanup(d *appsv1.Deployment, old []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	limit := d.Spec.RevisionHistoryLimit
	if limit == nil || *limit == 1<<31-1 {
		return nil
	}
	alive := slices.DeleteFunc(slices.Clone(old), func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp != nil })
	excess := len(alive) - int(*limit)
	if excess <= 0 {
		return nil
	}
	slices.SortStableFunc(alive, func(a, b *appsv1.ReplicaSet) int {
		if d := cmp.Compare(revisionOf(a), revisionOf(b)); d != 0 {
			return d
		}
		return olderFirst(a, b)
	})
	return slices.DeleteFunc(alive[:excess], func(rs *appsv1.ReplicaSet) bool {
		return rs.Status.Replicas != 0 || replicasOf(rs) != 0 || rs.Generation > rs.Status.ObservedGeneration
	})
}
