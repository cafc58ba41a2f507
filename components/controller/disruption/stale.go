package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/controller/podcondition"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/kinds"
)

// staleAfter is how long a pod may be about to go before it is taken to stay (stalePodDisruptionTimeout).
const staleAfter = 2 * time.Minute

// stale takes back the condition DisruptionTarget of a pod that was to be deleted and was not: whoever meant to has failed, or changed his mind.
type stale struct{ c *Controller }

// mark has a pod looked at when its condition grows stale.
func (s stale) mark(ch kubeapi.Change[*corev1.Pod]) {
	if ch.New != nil && targeted(ch.New) {
		s.c.stale.AddAfter(ch.Key(), staleAfter, ch.Cause, "if the pod is still there then, it is no target any more")
	}
}

// targeted reports a pod that is to be deleted by somebody other than its kubelet, which may take as long as it likes.
func targeted(pod *corev1.Pod) bool {
	c := podcondition.Get(pod, corev1.DisruptionTarget)
	return c != nil && c.Status == corev1.ConditionTrue && c.Reason != corev1.PodReasonTerminationByKubelet && pod.DeletionTimestamp == nil && !kinds.PodEnded(pod)
}

// Reconcile looks at one pod.
func (s stale) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	pod, ok := s.c.in.Pods.Get(key)
	if !ok || !targeted(pod) {
		return reconcile.Done, nil
	}
	since := podcondition.Get(pod, corev1.DisruptionTarget).LastTransitionTime
	if left := staleAfter - ps.Now().Sub(since.Time); left > 0 {
		return reconcile.Result{After: left, Why: "if the pod is still there then, it is no target any more"}, nil
	}
	next := pod.DeepCopy()
	podcondition.Set(next, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse}, ps.Now())
	ps.Decide("pod %s is no target of a disruption any more: it was to go %v ago and has stayed", pod.Name, staleAfter)
	if _, err := kubeapi.ReplaceStatus(ps.Proc, ps.Client, next); kubeapi.IgnoreNotFound(err) != nil {
		return reconcile.Done, fmt.Errorf("status of pod %s: %w", key, err)
	}
	return reconcile.Done, nil
}
