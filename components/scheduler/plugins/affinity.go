package plugins

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"example.com/kubeviz/components/scheduler/framework"
)

// NodeAffinity keeps pods to nodes that match their nodeSelector and required node affinity, and prefers nodes by their preferred terms.
type NodeAffinity struct{}

var (
	affinityUnmatched = framework.RefuseForGood(NameNodeAffinity, "node(s) didn't match Pod's node affinity/selector")
	affinityConflict  = framework.RefuseForGood(NameNodeAffinity, "pod affinity terms conflict")
)

func (NodeAffinity) Name() string { return NameNodeAffinity }

func (NodeAffinity) PreFilter(pod *framework.PodInfo, _ *framework.Cluster) framework.PreFilterResult {
	if !constrained(pod.Pod) {
		return framework.PreFilterResult{}
	}
	names := namedNodes(pod.Pod)
	if names != nil && len(names) == 0 {
		return framework.PreFilterResult{Refused: affinityConflict}
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod.Pod)
	return framework.PreFilterResult{Nodes: names, Filter: filterFunc(func(n *framework.NodeInfo) *framework.Status {
		if ok, _ := required.Match(n.Node); !ok {
			return affinityUnmatched
		}
		return nil
	})}
}

// Wakes on a node that matches and did not before.
func (NodeAffinity) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	if ch.Kind&(framework.NodeAdded|framework.NodeLabels) == 0 {
		return ch.Kind&framework.OwnSpec != 0 && ch.OldPod.Generation != ch.NewPod.Generation
	}
	required := nodeaffinity.GetRequiredNodeAffinity(pod.Pod)
	if ok, _ := required.Match(ch.NewNode); !ok {
		return false
	}
	if ch.OldNode == nil {
		return true
	}
	ok, _ := required.Match(ch.OldNode)
	return !ok
}

func (NodeAffinity) PreScore(pod *framework.PodInfo, _ *framework.Cluster, _ []*framework.NodeInfo) framework.Scorer {
	a := pod.Pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		return nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	if err != nil { // refused by validation; terms that cannot be read prefer nothing
		return nil
	}
	return affinityScorer{terms}
}

type affinityScorer struct {
	terms *nodeaffinity.PreferredSchedulingTerms
}

func (s affinityScorer) Score(n *framework.NodeInfo) int64 { return s.terms.Score(n.Node) }
func (affinityScorer) Normalize(scores []int64)            { framework.DefaultNormalize(scores, false) }

func requiredTerms(pod *corev1.Pod) *corev1.NodeSelector {
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// constrained reports that the pod does not take any node.
func constrained(pod *corev1.Pod) bool {
	return len(pod.Spec.NodeSelector) > 0 || requiredTerms(pod) != nil
}

// namedNodes are the nodes that the required terms name by metadata.name, as pods of DaemonSets do; nil when a term names none.
func namedNodes(pod *corev1.Pod) map[string]bool {
	required := requiredTerms(pod)
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		return nil
	}
	all := map[string]bool{}
	for _, term := range required.NodeSelectorTerms {
		var named map[string]bool
		for _, f := range term.MatchFields {
			if f.Key != metav1.ObjectNameField || f.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			these := map[string]bool{}
			for _, v := range f.Values {
				if named == nil || named[v] {
					these[v] = true
				}
			}
			named = these
		}
		if named == nil {
			return nil
		}
		for name := range named {
			all[name] = true
		}
	}
	return all
}
