package nodelifecycle

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/controller/podcondition"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// podChanged notices pods that arrive on a node known to be not ready. Pods that are there when it happens are the monitor's.
func (c *Controller) podChanged(ch kubeapi.Change[*corev1.Pod]) {
	if ch.Type == event.Deleted || ch.New.Spec.NodeName == "" {
		return
	}
	if ch.Type == event.Modified && ch.Old.Spec.NodeName == ch.New.Spec.NodeName {
		return
	}
	if c.lost(ch.New.Spec.NodeName) {
		c.pods.Add(ch.Key(), ch.Cause)
	}
}

// lost reports that the last pass found the node not ready.
func (c *Controller) lost(node string) bool {
	t := c.known[node]
	return t != nil && t.ready != "" && t.ready != corev1.ConditionTrue
}

func (c *Controller) podsOn(node string) []*corev1.Pod {
	return c.in.Pods.ByIndex(informers.ByNode, node)
}

// reconcilePod marks a pod that has arrived on a lost node.
func (c *Controller) reconcilePod(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	pod, ok := c.in.Pods.Get(key)
	if !ok || !c.lost(pod.Spec.NodeName) || !markable(pod) {
		return reconcile.Done, nil
	}
	ps.Decide("mark not ready: it is assigned to node %s, which is not ready", pod.Spec.NodeName)
	return reconcile.Done, c.markPods(ps.Proc, []*corev1.Pod{pod}, pod.Spec.NodeName)
}

// markable reports that a pod says it is ready. A pod without a Ready condition was never started and is left alone.
func markable(pod *corev1.Pod) bool {
	ready := podcondition.Get(pod, corev1.PodReady)
	return ready != nil && ready.Status != corev1.ConditionFalse
}

// markPods sets Ready=False on the pods of a node, one after the other, and tells each by an event. Nothing else of their status changes: the containers may run
// on, nobody knows.
func (c *Controller) markPods(p *sim.Proc, pods []*corev1.Pod, node string) error {
	var errs []error
	for _, pod := range pods {
		if !markable(pod) {
			continue
		}
		mine := pod.DeepCopy()
		ready := *podcondition.Get(mine, corev1.PodReady)
		ready.Status = corev1.ConditionFalse
		podcondition.Set(mine, ready, p.Now())
		if _, err := kubeapi.ReplaceStatus(p, c.proc.Client, mine); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			errs = append(errs, fmt.Errorf("mark pod %s not ready: %w", kubeapi.KeyOf(pod), err))
		}
		c.events.Event(p, pod, corev1.EventTypeWarning, "NodeNotReady", "Node is not ready")
	}
	err := errors.Join(errs...)
	c.failed(p, node, err)
	return err
}
