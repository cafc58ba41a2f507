package plugins

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/scheduler/framework"
)

// SchedulingGates holds back pods that carry gates. It is asked before a pod enters the queue.
type SchedulingGates struct{}

// GatedMessage is what the pod's condition says meanwhile (set by the API server when the pod is created).
const GatedMessage = "Scheduling is blocked due to non-empty scheduling gates"

func (SchedulingGates) Name() string { return NameSchedulingGates }

// Gated reports that the pod must wait for its gates.
func (SchedulingGates) Gated(pod *corev1.Pod) bool { return len(pod.Spec.SchedulingGates) > 0 }

// Wakes when the last gate is gone.
func (g SchedulingGates) Wakes(ch *framework.Change, _ *framework.PodInfo) bool {
	return ch.Kind&framework.OwnSpec != 0 && !g.Gated(ch.NewPod)
}

// NodeUnschedulable refuses cordoned nodes to pods that do not tolerate it.
type NodeUnschedulable struct{}

var cordoned = framework.RefuseForGood(NameNodeUnschedulable, "node(s) were unschedulable")

var cordonTaint = corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}

func (NodeUnschedulable) Name() string { return NameNodeUnschedulable }

func (NodeUnschedulable) PreFilter(pod *framework.PodInfo, _ *framework.Cluster) framework.PreFilterResult {
	if tolerated(pod.Pod.Spec.Tolerations, &cordonTaint) {
		return framework.PreFilterResult{}
	}
	return framework.PreFilterResult{Filter: filterFunc(func(n *framework.NodeInfo) *framework.Status {
		if n.Node.Spec.Unschedulable {
			return cordoned
		}
		return nil
	})}
}

// Wakes on a node that is new or no longer cordoned, and when the pod learned to tolerate cordons.
func (NodeUnschedulable) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	switch {
	case ch.Kind&(framework.NodeAdded|framework.NodeTaints) != 0:
		return !ch.NewNode.Spec.Unschedulable && (ch.OldNode == nil || ch.OldNode.Spec.Unschedulable)
	case ch.Kind&framework.OwnSpec != 0:
		return tolerated(ch.NewPod.Spec.Tolerations, &cordonTaint) && !tolerated(ch.OldPod.Spec.Tolerations, &cordonTaint)
	}
	return false
}

// NodeName keeps to the node that a pod names itself. Pods that reach the scheduler seldom do.
type NodeName struct{}

var otherName = framework.RefuseForGood(NameNodeName, "node(s) didn't match the requested node name")

func (NodeName) Name() string { return NameNodeName }

func (NodeName) PreFilter(pod *framework.PodInfo, _ *framework.Cluster) framework.PreFilterResult {
	want := pod.Pod.Spec.NodeName
	if want == "" {
		return framework.PreFilterResult{}
	}
	return framework.PreFilterResult{Filter: filterFunc(func(n *framework.NodeInfo) *framework.Status {
		if n.Name != want {
			return otherName
		}
		return nil
	})}
}

// Wakes when the node appears.
func (NodeName) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	return ch.Kind&framework.NodeAdded != 0 && ch.NewNode.Name == pod.Pod.Spec.NodeName
}

// NodePorts refuses nodes where another pod holds a host port that this one wants.
type NodePorts struct{}

var portsTaken = framework.Refuse(NameNodePorts, "node(s) didn't have free ports for the requested pod ports")

func (NodePorts) Name() string { return NameNodePorts }

func (NodePorts) PreFilter(pod *framework.PodInfo, _ *framework.Cluster) framework.PreFilterResult {
	if len(pod.Ports) == 0 {
		return framework.PreFilterResult{}
	}
	return framework.PreFilterResult{Filter: filterFunc(func(n *framework.NodeInfo) *framework.Status {
		for _, p := range n.Pods {
			if framework.PortsClash(pod.Ports, p.Ports) {
				return portsTaken
			}
		}
		return nil
	})}
}

// Wakes on a new node, and when a pod with such a port is gone.
func (NodePorts) Wakes(ch *framework.Change, pod *framework.PodInfo) bool {
	switch {
	case ch.Kind&framework.NodeAdded != 0:
		return true
	case ch.Kind&framework.PodGone != 0:
		return framework.PortsClash(pod.Ports, framework.NewPodInfo(ch.OldPod).Ports)
	}
	return false
}

// filterFunc is a function as a Filter.
type filterFunc func(*framework.NodeInfo) *framework.Status

func (f filterFunc) Filter(n *framework.NodeInfo) *framework.Status { return f(n) }

// PrioritySort orders the pods that wait: the higher priority first, then who waits longer.
type PrioritySort struct{}

func (PrioritySort) Name() string { return NamePrioritySort }

// Less reports that a goes before b.
func (PrioritySort) Less(a *framework.PodInfo, aSince time.Time, b *framework.PodInfo, bSince time.Time) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return aSince.Before(bSince)
}
