package replicaset

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deletionCost is the annotation by which a user says what a pod's deletion costs; lower goes first.
const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

// choose picks the n pods to delete.
func (c *Controller) choose(rs *appsv1.ReplicaSet, active []*corev1.Pod, n int, now time.Time) []*corev1.Pod {
	if n >= len(active) {
		return active // no need to rank when all go
	}
	return rank(active, c.crowding(rs), now)[:n]
}

// crowding counts active pods per node over all replica sets that share rs's owner: during a rollout old and new revision count together.
func (c *Controller) crowding(rs *appsv1.ReplicaSet) map[string]int {
	related := []*appsv1.ReplicaSet{rs}
	if ref := metav1.GetControllerOfNoCopy(rs); ref != nil {
		related = c.in.ReplicaSetsOf(ref.UID)
	}
	onNode := map[string]int{}
	for _, r := range related {
		for _, pod := range c.in.PodsOf(r.UID) {
			if !finished(pod) && pod.DeletionTimestamp == nil {
				onNode[pod.Spec.NodeName]++
			}
		}
	}
	return onNode
}

// rank orders pods, first to be deleted first (k/k controller_utils.go: ActivePodsWithRanks; fidelity RS-2). Ties within a power of two of age fall by UID, which is
// random but the same each time.
func rank(pods []*corev1.Pod, onNode map[string]int, now time.Time) []*corev1.Pod {
	out := slices.Clone(pods)
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		if d := unassignedFirst(a, b); d != 0 {
			return d
		}
		if d := cmp.Compare(phaseOrder(a), phaseOrder(b)); d != 0 {
			return d
		}
		if d := falseFirst(ready(a), ready(b)); d != 0 {
			return d
		}
		if d := cmp.Compare(costOf(a), costOf(b)); d != 0 {
			return d
		}
		if d := cmp.Compare(onNode[b.Spec.NodeName], onNode[a.Spec.NodeName]); d != 0 {
			return d
		}
		if ready(a) && ready(b) {
			if d, decided := youngerFirst(readySince(a), readySince(b), a, b, now); decided {
				return d
			}
		}
		if d := moreRestartsFirst(a, b); d != 0 {
			return d
		}
		d, _ := youngerFirst(a.CreationTimestamp.Time, b.CreationTimestamp.Time, a, b, now)
		return d
	})
	return out
}

func unassignedFirst(a, b *corev1.Pod) int {
	return falseFirst(a.Spec.NodeName != "", b.Spec.NodeName != "")
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func phaseOrder(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodPending:
		return 0
	case corev1.PodUnknown:
		return 1
	}
	return 2
}

// costOf is the deletion cost; what is no number counts as 0.
func costOf(pod *corev1.Pod) int32 {
	text := pod.Annotations[deletionCost]
	if strings.HasPrefix(text, "+") || len(text) > 1 && strings.HasPrefix(text, "0") {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// youngerFirst compares ages by power of two; decided is false when the instants are equal.
func youngerFirst(a, b time.Time, pa, pb *corev1.Pod, now time.Time) (order int, decided bool) {
	if a.Equal(b) {
		return 0, false
	}
	if a.IsZero() || b.IsZero() {
		return falseFirst(!a.IsZero(), !b.IsZero()), true
	}
	if d := cmp.Compare(ageBucket(now.Sub(a)), ageBucket(now.Sub(b))); d != 0 {
		return d, true
	}
	return cmp.Compare(pa.UID, pb.UID), true
}

func ageBucket(age time.Duration) int64 {
	if age <= 0 {
		return -1
	}
	return int64(math.Log2(float64(age)))
}

func moreRestartsFirst(a, b *corev1.Pod) int {
	regularA, sidecarA := restarts(a)
	regularB, sidecarB := restarts(b)
	if d := cmp.Compare(regularB, regularA); d != 0 {
		return d
	}
	return cmp.Compare(sidecarB, sidecarA)
}

// restarts is the highest restart count among containers, and among restartable init containers.
func restarts(pod *corev1.Pod) (regular, sidecar int32) {
	for _, s := range pod.Status.ContainerStatuses {
		regular = max(regular, s.RestartCount)
	}
	always := map[string]bool{}
	for _, c := range pod.Spec.InitContainers {
		always[c.Name] = c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	}
	for _, s := range pod.Status.InitContainerStatuses {
		if always[s.Name] {
			sidecar = max(sidecar, s.RestartCount)
		}
	}
	return regular, sidecar
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c
		}
	}
	return nil
}

func ready(pod *corev1.Pod) bool {
	c := readyCondition(pod)
	return c != nil && c.Status == corev1.ConditionTrue
}

func readySince(pod *corev1.Pod) time.Time {
	if c := readyCondition(pod); c != nil && c.Status == corev1.ConditionTrue {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}
