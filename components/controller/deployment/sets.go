package deployment

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// hashLabel marks replica sets and pods with the hash of their template.
const hashLabel = appsv1.DefaultDeploymentUniqueLabelKey

// findNew gives the replica set that has d's template, the oldest if there are several; nil: none.
func findNew(d *appsv1.Deployment, sets []*appsv1.ReplicaSet) *appsv1.ReplicaSet {
	sorted := slices.Clone(sets)
	slices.SortStableFunc(sorted, olderFirst)
	for _, rs := range sorted {
		if sameTemplate(&rs.Spec.Template, &d.Spec.Template) {
			return rs
		}
	}
	return nil
}

// othersThan lists the sets but for newest.
func othersThan(newest *appsv1.ReplicaSet, sets []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	var old []*appsv1.ReplicaSet
	for _, rs := range sets {
		if newest == nil || rs.UID != newest.UID {
			old = append(old, rs)
		}
	}
	return old
}

// sameTemplate compares two templates but for the hash label.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	x, y := withoutHash(a), withoutHash(b)
	return equality.Semantic.DeepEqual(x, y)
}

func withoutHash(t *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	if _, ok := t.Labels[hashLabel]; !ok {
		return t
	}
	c := *t
	c.Labels = maps.Clone(t.Labels)
	delete(c.Labels, hashLabel)
	return &c
}

func replicasOf(rs *appsv1.ReplicaSet) int32 {
	if rs == nil || rs.Spec.Replicas == nil {
		return 0
	}
	return *rs.Spec.Replicas
}

// active keeps the sets that ask for pods.
func active(sets []*appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	var out []*appsv1.ReplicaSet
	for _, rs := range sets {
		if replicasOf(rs) > 0 {
			out = append(out, rs)
		}
	}
	return out
}

// with appends newest if there is one.
func with(sets []*appsv1.ReplicaSet, newest *appsv1.ReplicaSet) []*appsv1.ReplicaSet {
	out := slices.Clone(sets)
	if newest != nil {
		out = append(out, newest)
	}
	return out
}

// sum adds up a number over sets.
func sum(sets []*appsv1.ReplicaSet, of func(*appsv1.ReplicaSet) int32) int32 {
	total := int64(0)
	for _, rs := range sets {
		total += int64(of(rs))
	}
	return clamp(total)
}

func clamp(n int64) int32 { return int32(min(max(n, -1<<31), 1<<31-1)) }

func olderFirst(a, b *appsv1.ReplicaSet) int {
	if d := a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time); d != 0 {
		return d
	}
	return strings.Compare(a.Name, b.Name)
}

// bySize puts the larger first; among equals the newer, or the older.
func bySize(newerFirst bool) func(a, b *appsv1.ReplicaSet) int {
	return func(a, b *appsv1.ReplicaSet) int {
		if d := cmp.Compare(replicasOf(b), replicasOf(a)); d != 0 {
			return d
		}
		if newerFirst {
			return olderFirst(b, a)
		}
		return olderFirst(a, b)
	}
}

// oldPodsExist reports that pods of other sets than newest still exist, terminating ones included; finished ones do not count.
func oldPodsExist(newest *appsv1.ReplicaSet, old []*appsv1.ReplicaSet, podsOf func(types.UID) []*corev1.Pod) bool {
	for _, rs := range old {
		if rs.Status.Replicas > 0 {
			return true
		}
	}
	for _, rs := range old {
		for _, pod := range podsOf(rs.UID) {
			if pod.Status.Phase != corev1.PodFailed && pod.Status.Phase != corev1.PodSucceeded {
				return true
			}
		}
	}
	return false
}
