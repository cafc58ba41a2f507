// Package framework holds the words that scheduler plugins speak: pods and nodes with their sums (PodInfo, NodeInfo, Cluster), what a plugin answers (Status), the
// extension points (FilterPlugin, ScorePlugin, Waker) and the changes that may wake a pod (Change).
//
// Plugins are plain values. For each pod a plugin hands out a Filter or a Scorer that holds what it worked out for that pod; the cycle asks it node by node and
// records the answers, so plugins know nothing of recording.
//
// Owns: the types above. Imports of ours: components/kubeapi (keys). Goroutines: the loop; nothing here parks. Time: none.
//
// Source: doc: Scheduling Framework; k/k pkg/scheduler/framework/interface.go, pkg/scheduler/backend/cache.
package framework

import (
	corev1 "k8s.io/api/core/v1"
)

// MaxScore is the highest score of a plugin before its weight.
const MaxScore int64 = 100

// Code says how a plugin refused.
type Code uint8

const (
	// Unschedulable: it could fit if other pods went.
	Unschedulable Code = iota + 1
	// UnschedulableAndUnresolvable: removing pods cannot help.
	UnschedulableAndUnresolvable
)

// Status is a refusal; nil means yes. Immutable and shared.
type Status struct {
	Code    Code
	Plugin  string
	Reasons []string
}

// Refuse makes a status for a reason that removing pods may resolve.
func Refuse(plugin string, reasons ...string) *Status {
	return &Status{Code: Unschedulable, Plugin: plugin, Reasons: reasons}
}

// RefuseForGood makes a status for a reason that removing pods cannot resolve.
func RefuseForGood(plugin string, reasons ...string) *Status {
	return &Status{Code: UnschedulableAndUnresolvable, Plugin: plugin, Reasons: reasons}
}

// FilterPlugin refuses nodes.
type FilterPlugin interface {
	Name() string
	// PreFilter looks at the pod once. A nil Filter means that the plugin has nothing to say about this pod.
	PreFilter(pod *PodInfo, c *Cluster) PreFilterResult
}

// PreFilterResult is what a plugin makes of a pod before it sees nodes.
type PreFilterResult struct {
	// Filter answers for each node; nil: all nodes are fine.
	Filter Filter
	// Nodes, if not nil, are the only nodes worth looking at; all others are refused by this plugin.
	Nodes map[string]bool
	// Refused, if not nil, ends the cycle; its reason replaces the list of reasons per node.
	Refused *Status
}

// Filter answers for one pod.
type Filter interface {
	// Filter refuses a node, or answers nil.
	Filter(n *NodeInfo) *Status
}

// Adjuster is a Filter whose answer depends on pods of other nodes; a dry run of preemption tells it what it changed. Adjust works on a copy.
type Adjuster interface {
	Filter
	Copy() Adjuster
	// Adjust says that p was put on (by 1) or taken off (by -1) n.
	Adjust(p *PodInfo, n *NodeInfo, by int)
}

// ScorePlugin ranks the nodes that passed all filters.
type ScorePlugin interface {
	Name() string
	// PreScore looks at pod and nodes once. nil means no opinion: all nodes get 0.
	PreScore(pod *PodInfo, c *Cluster, feasible []*NodeInfo) Scorer
}

// Scorer ranks nodes for one pod.
type Scorer interface {
	Score(n *NodeInfo) int64
	// Normalize brings the scores of all nodes (in the order of feasible) into 0 … MaxScore.
	Normalize(scores []int64)
}

// Waker tells which changes may make a pod fit that the plugin refused (queueing hints).
type Waker interface {
	Name() string
	Wakes(ch *Change, pod *PodInfo) bool
}

// ChangeKind says what happened to the cluster.
type ChangeKind uint16

const (
	NodeAdded ChangeKind = 1 << iota
	NodeRemoved
	NodeAllocatable // allocatable grew or shrank
	NodeLabels
	NodeTaints // taints or spec.unschedulable
	PodPlaced  // a pod is on a node now
	PodLabels  // of a pod on a node
	PodShrunk  // a pod on a node asks for less, or finished, or is about to stop
	PodGone    // a pod left its node: deleted or finished
	// OwnSpec: the waiting pod itself changed in something that scheduling looks at.
	OwnSpec
)

// Change is something that happened to the cluster. Heartbeats and other changes that no plugin looks at never become one.
type Change struct {
	Kind ChangeKind
	// Old and New version of the node, for kinds of nodes; nil where there is none.
	OldNode, NewNode *corev1.Node
	// Old and New version of the pod that changed, for kinds of pods.
	OldPod, NewPod *corev1.Pod
	// Why is a phrase for people: "node w2 has new labels".
	Why string
}

// DefaultNormalize scales scores so that the highest becomes MaxScore; reverse turns them around afterwards, so that the highest becomes 0
// (k/k pkg/scheduler/framework/plugins/helper/normalize_score.go).
func DefaultNormalize(scores []int64, reverse bool) {
	var top int64
	for _, s := range scores {
		top = max(top, s)
	}
	for i, s := range scores {
		switch {
		case top == 0 && reverse:
			scores[i] = MaxScore
		case top == 0:
		case reverse:
			scores[i] = MaxScore - MaxScore*s/top
		default:
			scores[i] = MaxScore * s / top
		}
	}
}
