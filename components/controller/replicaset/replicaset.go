// Package replicaset keeps as many pods as a ReplicaSet asks for (k/k pkg/controller/replicaset; fidelity RS-1 … RS-4).
//
// Owns: the pods of replica sets and the status of replica sets. Imports of ours: components/kubeapi and its record, components/reconcile,
// components/controller/informers, components/controller/claim, engine/kinds, engine/event, engine/sim. Goroutines: the loop. Time: simulated.
package replicaset

import (
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/controller/claim"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many replica sets are worked on at a time (--concurrent-replicaset-syncs).
const Workers = 5

// Controller is the replicaset controller.
type Controller struct {
	in       *informers.Informers
	recorder *record.Recorder
	expected *reconcile.Expectations
	*reconcile.Controller
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{in: in, recorder: record.New(pr, "replicaset-controller"), expected: reconcile.NewExpectations()}
	c.Controller = reconcile.New(pr, "replicaset", c)
	in.ReplicaSets.Handle(c.replicaSetChanged)
	in.Pods.Handle(c.podChanged)
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() { c.Controller.Start(Workers) }

func (c *Controller) replicaSetChanged(ch kubeapi.Change[*appsv1.ReplicaSet]) {
	recreated := ch.Type == event.Modified && ch.Old.UID != ch.New.UID
	if ch.Type == event.Deleted || recreated {
		c.expected.Forget(ch.Key())
	}
	c.Add(ch.Key(), ch.Cause)
}

func (c *Controller) podChanged(ch kubeapi.Change[*corev1.Pod]) {
	switch {
	case ch.Type == event.Deleted:
		c.podGoes(ch.Old, ch.Cause)
	case ch.New.DeletionTimestamp != nil:
		// a pod that is terminating counts as gone: it is replaced at once
		c.podGoes(ch.New, ch.Cause)
		if ch.Type == event.Modified && !maps.Equal(ch.Old.Labels, ch.New.Labels) {
			c.podGoes(ch.Old, ch.Cause)
		}
	case ch.Type == event.Added:
		if ref := metav1.GetControllerOfNoCopy(ch.New); ref != nil {
			if rs := c.resolve(ch.New.Namespace, ref); rs != nil {
				c.expected.Created(kubeapi.KeyOf(rs))
				c.Add(kubeapi.KeyOf(rs), ch.Cause)
			}
			return
		}
		c.wakeMatching(ch.New, ch.Cause)
	default:
		c.podModified(ch)
	}
}

func (c *Controller) podModified(ch kubeapi.Change[*corev1.Pod]) {
	was, is := metav1.GetControllerOfNoCopy(ch.Old), metav1.GetControllerOfNoCopy(ch.New)
	moved := (was == nil) != (is == nil) || was != nil && was.UID != is.UID
	if moved && was != nil {
		if rs := c.resolve(ch.Old.Namespace, was); rs != nil {
			c.Add(kubeapi.KeyOf(rs), ch.Cause)
		}
	}
	if is == nil {
		if moved || !maps.Equal(ch.Old.Labels, ch.New.Labels) {
			c.wakeMatching(ch.New, ch.Cause)
		}
		return
	}
	rs := c.resolve(ch.New.Namespace, is)
	if rs == nil {
		return
	}
	c.Add(kubeapi.KeyOf(rs), ch.Cause)
	if rs.Spec.MinReadySeconds > 0 && !ready(ch.Old) && ready(ch.New) {
		c.AddAfter(kubeapi.KeyOf(rs), seconds(rs.Spec.MinReadySeconds)+time.Second, ch.Cause, "pod "+ch.New.Name+" has been ready for minReadySeconds then")
	}
}

// podGoes tells the pod's replica set that it is, or counts as, deleted.
func (c *Controller) podGoes(pod *corev1.Pod, cause event.Seq) {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return
	}
	if rs := c.resolve(pod.Namespace, ref); rs != nil {
		c.expected.Deleted(kubeapi.KeyOf(rs), kubeapi.KeyOf(pod))
		c.Add(kubeapi.KeyOf(rs), cause)
	}
}

// wakeMatching lets replica sets that could adopt an orphan look at it.
func (c *Controller) wakeMatching(pod *corev1.Pod, cause event.Seq) {
	if len(pod.Labels) == 0 {
		return
	}
	for _, rs := range c.in.ReplicaSets.ByIndex(informers.ByNamespace, pod.Namespace) {
		selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
		if err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels)) {
			c.Add(kubeapi.KeyOf(rs), cause)
		}
	}
}

// resolve finds the replica set a reference means, by name and UID.
func (c *Controller) resolve(namespace string, ref *metav1.OwnerReference) *appsv1.ReplicaSet {
	if ref.Kind != kinds.ReplicaSets.Kind {
		return nil
	}
	rs, ok := c.in.ReplicaSets.Get(kubeapi.MakeKey(namespace, ref.Name))
	if !ok || rs.UID != ref.UID {
		return nil
	}
	return rs
}

// Reconcile makes the pods of one replica set as many as it asks for and reports on them in its status.
func (c *Controller) Reconcile(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	rs, ok := c.in.ReplicaSets.Get(key)
	if !ok {
		c.expected.Forget(key)
		return reconcile.Done, nil
	}
	settled := c.expected.Satisfied(key, ps.Now())
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return reconcile.Done, nil // the API server lets no such selector in; nothing here could mend it
	}
	active, terminating, err := c.pods(ps, rs, selector)
	if err != nil {
		return reconcile.Done, fmt.Errorf("claim pods of %s: %w", key, err)
	}
	var manageErr error
	if settled && rs.DeletionTimestamp == nil {
		manageErr = c.manage(ps, key, rs, active)
	}
	status := statusOf(rs, active, terminating, manageErr, ps.Now())
	updated, err := c.updateStatus(ps, rs, status)
	if err != nil {
		return reconcile.Done, fmt.Errorf("update status of %s: %w", key, err)
	}
	if manageErr != nil {
		return reconcile.Done, manageErr
	}
	if updated.Spec.MinReadySeconds > 0 && updated.Status.ReadyReplicas != updated.Status.AvailableReplicas {
		return reconcile.Result{After: nextAvailable(active, updated.Spec.MinReadySeconds, ps.Now()), Why: "the next ready pod becomes available then (minReadySeconds)"}, nil
	}
	return reconcile.Done, nil
}

// pods lists what the replica set owns: pods that count, and pods on their way out. Finished ones are neither.
func (c *Controller) pods(ps *reconcile.Pass, rs *appsv1.ReplicaSet, selector labels.Selector) (active, terminating []*corev1.Pod, err error) {
	candidates := append(c.in.PodsOf(rs.UID), c.in.Pods.ByIndex(informers.ByOwner, informers.Orphan(rs.Namespace))...)
	for _, pod := range candidates {
		switch {
		case finished(pod):
		case pod.DeletionTimestamp != nil:
			terminating = append(terminating, pod)
		default:
			active = append(active, pod)
		}
	}
	if active, err = claim.Objects(ps, rs, selector, active); err != nil {
		return nil, nil, err
	}
	terminating, err = claim.Objects(ps, rs, selector, terminating)
	return active, terminating, err
}
