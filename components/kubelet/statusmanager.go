package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// setStatus keeps a pod's status and sends it if it differs from the last.
func (k *Kubelet) setStatus(w *pod, st corev1.PodStatus, cause event.Seq) {
	if w.statusSet && equality.Semantic.DeepEqual(w.status, st) {
		return
	}
	w.status, w.statusSet = st, true
	k.send(w, cause)
}

// send queues a pod's status; one process, alive only while there is work, sends them one after another (k/k pkg/kubelet/status/status_manager.go).
func (k *Kubelet) send(w *pod, cause event.Seq) {
	w.statusCause = max(w.statusCause, cause)
	if w.unsent {
		return
	}
	w.unsent = true
	k.unsent = append(k.unsent, w)
	if k.sending || k.pr.Group.Dead() {
		return
	}
	k.sending = true
	k.pr.Go("status manager", func(p *sim.Proc) {
		for len(k.unsent) > 0 {
			w := k.unsent[0]
			k.unsent = k.unsent[1:]
			w.unsent = false
			if now, ok := k.pods.Get(w.uid); !ok || now != w {
				continue
			}
			p.Cause = w.statusCause
			if err := k.sendStatus(p, w); err != nil {
				k.sendLater(w)
			}
		}
		k.sending = false
	})
}

// sendLater looks at a pod's status at the next full reconciliation, every 10 s from the kubelet's start.
func (k *Kubelet) sendLater(w *pod) {
	if w.later {
		return
	}
	w.later = true
	k.statusLater = append(k.statusLater, w)
	if k.statusTick != nil {
		return
	}
	since := k.pr.Loop.Now().Sub(k.started)
	k.statusTick = k.pr.Loop.After(statusSyncPeriod-since%statusSyncPeriod, func() {
		k.statusTick = nil
		again := k.statusLater
		k.statusLater = nil
		for _, w := range again {
			w.later = false
			if now, ok := k.pods.Get(w.uid); ok && now == w && !k.pr.Group.Dead() {
				k.send(w, w.statusCause)
			}
		}
	})
}

// reconcileStatus compares what the API reads with what is true, after somebody (perhaps this kubelet) changed the status there.
func (k *Kubelet) reconcileStatus(w *pod, cause event.Seq) {
	if !w.statusSet || w.unsent || w.later {
		return
	}
	if !equality.Semantic.DeepEqual(mergeStatus(w.spec.Status, w.status, w.spec.Generation), w.spec.Status) {
		w.statusCause = max(w.statusCause, cause)
		k.sendLater(w)
	}
}

// sendStatus patches the difference to what the API has now and, when a deleted pod has ended, deletes the object for good. nil: nothing is left to do.
func (k *Kubelet) sendStatus(p *sim.Proc, w *pod) error {
	if w.static && !k.mirrored(w) {
		return nil // there is nothing yet that could take it; it is sent when there is
	}
	got, err := kubeapi.Fetch[*corev1.Pod](p, k.client, kinds.Pods, w.spec.Namespace, w.spec.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.static && !mirrors(got, w.spec) || !w.static && got.UID != w.uid {
		return nil // the object of that name is another pod
	}
	if w.statusSet {
		if err := k.patchStatus(p, got, mergeStatus(got.Status, w.status, got.Generation)); err != nil {
			return kubeapi.IgnoreNotFound(err)
		}
	}
	if w.static || w.stopping != stopDeleted || !w.cleaned || got.DeletionTimestamp == nil {
		return nil
	}
	now := int64(0)
	err = kubeapi.Remove(p, k.client, kinds.Pods, w.spec.Namespace, w.spec.Name, &metav1.DeleteOptions{GracePeriodSeconds: &now,
		Preconditions: &metav1.Preconditions{UID: &w.uid}})
	if apierrors.IsConflict(err) {
		return nil
	}
	return kubeapi.IgnoreNotFound(err)
}

// patchStatus sends what differs, with the UID as a precondition. Only the status goes through the comparison: the rest of a pod is several times its size.
func (k *Kubelet) patchStatus(p *sim.Proc, got *corev1.Pod, st corev1.PodStatus) error {
	if equality.Semantic.DeepEqual(got.Status, st) {
		return nil
	}
	name := metav1.ObjectMeta{Namespace: got.Namespace, Name: got.Name}
	before, after := &corev1.Pod{ObjectMeta: name, Status: got.Status}, &corev1.Pod{ObjectMeta: name, Status: st}
	after.UID = got.UID
	_, err := kubeapi.PatchFrom(p, k.client, "status", before, after)
	return err
}

// mergeStatus puts the kubelet's status over the API's and keeps what others own there: conditions that are not the kubelet's, the QoS class, and a reason given
// to a condition that is False anyway.
func mergeStatus(api, own corev1.PodStatus, generation int64) corev1.PodStatus {
	out := own
	if out.QOSClass == "" {
		out.QOSClass = api.QOSClass
	}
	if out.NominatedNodeName == "" {
		out.NominatedNodeName = api.NominatedNodeName
	}
	if api.StartTime != nil { // a mirror's, from before this kubelet
		out.StartTime = api.StartTime
	}
	out.ObservedGeneration = generation
	out.Conditions = nil
	for _, c := range api.Conditions {
		if !owned(c.Type) {
			out.Conditions = append(out.Conditions, c)
		}
	}
	for _, c := range own.Conditions {
		for _, o := range api.Conditions {
			if o.Type == c.Type && o.Status == c.Status && !o.LastTransitionTime.IsZero() {
				c.LastTransitionTime = o.LastTransitionTime
			}
		}
		c.ObservedGeneration = generation
		out.Conditions = append(out.Conditions, c)
	}
	if len(api.Conditions) == len(out.Conditions) { // the order is the API's where the set is the same: no patch for an order alone
		sortLike(out.Conditions, api.Conditions)
	}
	return out
}

func owned(t corev1.PodConditionType) bool {
	switch t {
	case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled, corev1.PodResizePending, corev1.PodResizeInProgress:
		return true
	}
	return false
}

// sortLike orders conditions by their place in like, if both hold the same types.
func sortLike(conds, like []corev1.PodCondition) {
	for i := range like {
		for j := i; j < len(conds); j++ {
			if conds[j].Type == like[i].Type {
				conds[i], conds[j] = conds[j], conds[i]
				break
			}
		}
	}
}
