package apiserver

import (
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/kinds"
)

// podTopologyLabels lets a pod that comes with a node know its zone and region: the node's labels become its own (k/k plugin/pkg/admission/podtopologylabels). Pods that the scheduler binds get
// them as they are bound.
func podTopologyLabels(a *attributes) error {
	pod, ok := a.obj.(*corev1.Pod)
	if !ok || !a.creates() {
		return nil
	}
	a.server.labelByNode(pod, pod.Spec.NodeName)
	return nil
}

// labelByNode copies a node's zone and region to a pod, over what the pod says.
func (s *Server) labelByNode(pod *corev1.Pod, name string) {
	if name == "" {
		return
	}
	node := s.cache.held(kinds.Nodes, "", name)
	if node == nil {
		return
	}
	for _, label := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, ok := node.GetLabels()[label]; ok {
			if pod.Labels == nil {
				pod.Labels = map[string]string{}
			}
			pod.Labels[label] = v
		}
	}
}
