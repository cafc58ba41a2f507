package scheduler

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler/framework"
	"example.com/kubeviz/engine/event"
)

// nodeChanged takes in what the API says of a node and wakes the pods it may help. Heartbeats wake nobody.
func (s *scheduler) nodeChanged(c kubeapi.Change[*corev1.Node]) {
	ch := framework.Change{OldNode: c.Old, NewNode: c.New}
	switch c.Type {
	case event.Added:
		s.cluster.SetNode(c.New)
		ch.Kind, ch.Why = framework.NodeAdded, "node "+c.New.Name+" is new"
	case event.Deleted:
		s.cluster.RemoveNode(c.Old.Name)
		ch.Kind, ch.Why = framework.NodeRemoved, "node "+c.Old.Name+" is gone"
	default:
		s.cluster.SetNode(c.New)
		ch.Kind, ch.Why = nodeDifference(c.Old, c.New)
	}
	if ch.Kind != 0 {
		s.queue.Move(&ch, c.Cause)
	}
}

// nodeDifference is what scheduling can tell two versions of a node apart by.
func nodeDifference(old, now *corev1.Node) (kind framework.ChangeKind, why string) {
	if !equality.Semantic.DeepEqual(old.Status.Allocatable, now.Status.Allocatable) {
		kind, why = kind|framework.NodeAllocatable, "allocatable"
	}
	if !equality.Semantic.DeepEqual(old.Labels, now.Labels) {
		kind, why = kind|framework.NodeLabels, "labels"
	}
	if old.Spec.Unschedulable != now.Spec.Unschedulable || !equality.Semantic.DeepEqual(old.Spec.Taints, now.Spec.Taints) {
		kind, why = kind|framework.NodeTaints, "taints"
	}
	return kind, fmt.Sprintf("%s of node %s changed", why, now.Name)
}

// podChanged takes in what the API says of a pod: one that has a node belongs into the picture, one without into the queue.
func (s *scheduler) podChanged(c kubeapi.Change[*corev1.Pod]) {
	if c.Type == event.Modified && c.Old.UID != c.New.UID { // deleted and made anew between two lists
		s.podGone(c.Old, c.Cause)
	}
	switch {
	case c.Type == event.Deleted:
		s.podGone(c.Old, c.Cause)
	case framework.Finished(c.New):
		s.podGone(c.New, c.Cause)
	case c.New.Spec.NodeName != "":
		s.podPlaced(c.New, c.Cause)
	case c.New.Spec.SchedulerName != s.name || s.cluster.Assumed(c.New):
	default:
		if node := c.New.Status.NominatedNodeName; node != "" && !s.leading { // the leader knows better than the API what it nominated
			s.algorithm.nominated.set(framework.NewPodInfo(c.New), node)
		}
		s.queue.Add(c.New, c.Cause)
	}
}

func (s *scheduler) podPlaced(pod *corev1.Pod, cause event.Seq) {
	s.queue.Delete(kubeapi.KeyOf(pod), cause, "it has a node: "+pod.Spec.NodeName)
	s.algorithm.nominated.remove(pod)
	before := s.cluster.SetPod(pod)
	where := fmt.Sprintf("pod %s/%s on node %s", pod.Namespace, pod.Name, pod.Spec.NodeName)
	if before == nil {
		s.queue.Move(&framework.Change{Kind: framework.PodPlaced, NewPod: pod, Why: where + " is new"}, cause)
		return
	}
	ch := framework.Change{OldPod: before.Pod, NewPod: pod, Why: where + " changed"}
	if !equality.Semantic.DeepEqual(before.Pod.Labels, pod.Labels) {
		ch.Kind |= framework.PodLabels
	}
	if before.Pod.Generation != pod.Generation && shrunk(before, framework.NewPodInfo(pod)) {
		ch.Kind |= framework.PodShrunk
	}
	if ch.Kind != 0 {
		s.queue.Move(&ch, cause)
	}
}

func shrunk(before, now *framework.PodInfo) bool {
	return now.Requests.MilliCPU < before.Requests.MilliCPU || now.Requests.Memory < before.Requests.Memory
}

func (s *scheduler) podGone(pod *corev1.Pod, cause event.Seq) {
	key := kubeapi.KeyOf(pod)
	s.queue.Delete(key, cause, "it is gone")
	s.algorithm.nominated.remove(pod)
	if before, ok := s.cluster.RemovePod(key); ok {
		s.queue.Move(&framework.Change{Kind: framework.PodGone, OldPod: before.Pod, Why: fmt.Sprintf("pod %s has left its node", key)}, cause)
	}
}
