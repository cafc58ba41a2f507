package framework

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// NodeInfo is a node with the sums over the pods on it, kept up to date one pod at a time.
type NodeInfo struct {
	// Node is nil while pods are known to be on a node that itself is not known (any more).
	Node *corev1.Node
	Name string
	// Index is the node's slot in counts kept beside it (Counts); stable while it exists.
	Index int
	// Zone is the label topology.kubernetes.io/zone with the region before it; nodes are visited zone by zone in turn.
	Zone string

	Allocatable Resource
	AllowedPods int64

	Pods []*PodInfo
	// Requested is the sum of requests; the Scoring sums count missing requests as NewPodInfo does.
	Requested                      Resource
	ScoringMilliCPU, ScoringMemory int64

	images map[string]int64
}

// NewNodeInfo is a node without pods.
func NewNodeInfo(name string, index int) *NodeInfo { return &NodeInfo{Name: name, Index: index} }

// SetNode takes in a new version of the node itself.
func (n *NodeInfo) SetNode(node *corev1.Node) {
	n.Node = node
	n.images = imagesOf(node)
	n.Allocatable, n.AllowedPods, n.Zone = Resource{}, 0, ""
	if node == nil {
		return
	}
	n.Allocatable = Capacity(node.Status.Allocatable)
	pods := node.Status.Allocatable[corev1.ResourcePods]
	n.AllowedPods = bounded(pods, capacityMax)
	n.Zone = node.Labels[corev1.LabelTopologyRegion] + ":" + node.Labels[corev1.LabelTopologyZone]
}

// AddPod puts a pod on the node.
func (n *NodeInfo) AddPod(p *PodInfo) {
	n.Pods = append(n.Pods, p)
	n.sum(p, 1)
}

// RemovePod takes the pod with p's UID off the node; false when it was not there.
func (n *NodeInfo) RemovePod(p *PodInfo) bool {
	for i, q := range n.Pods {
		if q.Pod.UID == p.Pod.UID && q.Key == p.Key {
			n.Pods = slices.Delete(n.Pods, i, i+1)
			n.sum(q, -1)
			return true
		}
	}
	return false
}

func (n *NodeInfo) sum(p *PodInfo, sign int64) {
	n.Requested.change(&p.Requests, sign)
	n.ScoringMilliCPU += sign * p.ScoringMilliCPU
	n.ScoringMemory += sign * p.ScoringMemory
}

// Clone is a copy to try things on; pods and node are shared.
func (n *NodeInfo) Clone() *NodeInfo {
	c := *n
	c.Pods = slices.Clone(n.Pods)
	c.Requested = n.Requested.clone()
	return &c
}
