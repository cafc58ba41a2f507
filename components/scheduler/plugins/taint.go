package plugins

import (
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// TaintToleration refuses nodes with NoSchedule or NoExecute taints that the pod does not tolerate, and prefers nodes with fewer PreferNoSchedule taints it does
// not tolerate.
type TaintToleration struct{}

var tainted = framework.RefuseForGood(NameTaintToleration, "node(s) had untolerated taint(s)")

func (TaintToleration) Name() string { return NameTaintToleration }

func (TaintToleration) PreFilter(pod *framework.PodInfo, _ *framework.Cluster) framework.PreFilterResult {
	tolerations := pod.Pod.Spec.Tolerations
	return framework.PreFilterResult{Filter: filterFunc(func(n *framework.NodeInfo) *framework.Status {
		if len(n.Node.Spec.Taints) > 0 && !toleratesNode(tolerations, n.Node) {
			return tainted
		}
		return nil
	})}
}

// Wakes on a node whose taints the pod tolerates and did not before, and on a pod that tolerates more.
func (TaintToleration) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	tolerations := pod.Pod.Spec.Tolerations
	switch {
	case ch.Kind&(framework.NodeAdded|framework.NodeTaints) != 0:
		return toleratesNode(tolerations, ch.NewNode) && (ch.OldNode == nil || !toleratesNode(tolerations, ch.OldNode))
	case ch.Kind&framework.OwnSpec != 0:
		return len(ch.NewPod.Spec.Tolerations) != len(ch.OldPod.Spec.Tolerations)
	}
	return false
}

func (TaintToleration) PreScore(pod *framework.PodInfo, _ *framework.Cluster, _ []*framework.NodeInfo) framework.Scorer {
	var soft []corev1.Toleration
	for _, t := range pod.Pod.Spec.Tolerations {
		if t.Effect == "" || t.Effect == corev1.TaintEffectPreferNoSchedule {
			soft = append(soft, t)
		}
	}
	return taintScorer{soft}
}

type taintScorer struct{ tolerations []corev1.Toleration }

// Score counts the taints that the pod would rather avoid.
func (s taintScorer) Score(n *framework.NodeInfo) int64 {
	var count int64
	taints := n.Node.Spec.Taints
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule && !tolerated(s.tolerations, &taints[i]) {
			count++
		}
	}
	return count
}

func (taintScorer) Normalize(scores []int64) { framework.DefaultNormalize(scores, true) }

// toleratesNode reports that no taint of the node keeps the pod away.
func toleratesNode(tolerations []corev1.Toleration, node *corev1.Node) bool {
	taints := node.Spec.Taints
	for i := range taints {
		hard := taints[i].Effect == corev1.TaintEffectNoSchedule || taints[i].Effect == corev1.TaintEffectNoExecute
		if hard && !tolerated(tolerations, &taints[i]) {
			return false
		}
	}
	return true
}

// tolerated reports that one of the tolerations covers the taint. The comparison operators Lt and Gt are behind a feature gate that is off.
func tolerated(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	for i := range tolerations {
		if tolerations[i].ToleratesTaint(logr.Logger{}, taint, false) {
			return true
		}
	}
	return false
}
