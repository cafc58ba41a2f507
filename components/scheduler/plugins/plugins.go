// Package plugins holds the scheduler's plugins, named and ordered as in Kubernetes (k/k pkg/scheduler/apis/config/v1/default_plugins.go). Each is a plain value;
// none records anything or knows of the queue.
//
// Missing of the default set: DynamicResources, NodeDeclaredFeatures and the four volume plugins (the model has no volumes).
//
// Owns: the plugins and Default. Imports of ours: components/scheduler/framework. Goroutines: the loop. Time: none.
package plugins

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/scheduler/framework"
)

// Names of the plugins.
const (
	NameSchedulingGates    = "SchedulingGates"
	NamePrioritySort       = "PrioritySort"
	NameNodeUnschedulable  = "NodeUnschedulable"
	NameNodeName           = "NodeName"
	NameTaintToleration    = "TaintToleration"
	NameNodeAffinity       = "NodeAffinity"
	NameNodePorts          = "NodePorts"
	NameNodeResourcesFit   = "NodeResourcesFit"
	NameBalancedAllocation = "NodeResourcesBalancedAllocation"
	NamePodTopologySpread  = "PodTopologySpread"
	NameImageLocality      = "ImageLocality"
	NameInterPodAffinity   = "InterPodAffinity"
	NameDefaultBinder      = "DefaultBinder"
)

// Weighted is a score plugin and what its scores are multiplied with.
type Weighted struct {
	framework.ScorePlugin
	Weight int64
}

// Set is the plugins of a scheduler, in order.
type Set struct {
	Gates   SchedulingGates
	Filters []framework.FilterPlugin
	Scores  []Weighted
	Wakers  []framework.Waker
}

// Default is the set of an unconfigured kube-scheduler, as far as the model has it. owner gives the selector of the ReplicaSet that a pod belongs to, nil when
// it belongs to none; namespaces gives the labels of a namespace.
func Default(owner func(*corev1.Pod) labels.Selector, namespaces framework.NamespaceLabels) Set {
	spread, affinity := PodTopologySpread{Owner: owner}, InterPodAffinity{Namespaces: namespaces}
	return Set{
		Filters: []framework.FilterPlugin{NodeUnschedulable{}, NodeName{}, TaintToleration{}, NodeAffinity{}, NodePorts{}, NodeResourcesFit{}, spread, affinity},
		Scores: []Weighted{{TaintToleration{}, 3}, {NodeAffinity{}, 2}, {NodeResourcesFit{}, 1}, {spread, 2}, {affinity, 2},
			{BalancedAllocation{}, 1}, {ImageLocality{}, 1}},
		Wakers: []framework.Waker{SchedulingGates{}, NodeUnschedulable{}, NodeName{}, TaintToleration{}, NodeAffinity{}, NodePorts{}, NodeResourcesFit{}, spread, affinity},
	}
}
