// Package podgc is the pod garbage collector (k/k pkg/controller/podgc; fidelity PodGC-1 … PodGC-4). Every 20 s it force-deletes pods that nobody else will:
//
//   - the oldest of more than 12,500 finished pods;
//   - terminating pods on a node that is not ready and carries the taint node.kubernetes.io/out-of-service;
//   - pods of a node that no longer exists, after 40 s of quarantine and a live look;
//   - terminating pods that were never assigned to a node.
//
// Handlers keep the few sets a round needs, so that its cost depends on what there is to collect and not on the number of pods.
//
// Owns: the DisruptionTarget condition with reason DeletionByPodGC. Imports of ours: components/kubeapi, controller/informers, controller/podcondition, engine/event,
// engine/kinds, engine/sim. Goroutines: the loop. Time: simulated.
package podgc

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/controller/podcondition"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Figures of the collector (k/k gc_controller.go; cmd/kube-controller-manager: --terminated-pod-gc-threshold).
const (
	Period              = 20 * time.Second
	Quarantine          = 40 * time.Second
	TerminatedThreshold = 12500
)

// Controller of one kube-controller-manager.
type Controller struct {
	proc *kubeapi.Process
	in   *informers.Informers
	// threshold is how many finished pods may lie around.
	threshold int

	finished    btree.Map[kubeapi.Key, event.Seq] // with the record of their last change
	terminating btree.Map[kubeapi.Key, event.Seq]
	assigned    btree.Map[string, int] // pods by node name
	removed     map[string]event.Seq   // deletions of nodes whose pods are not all gone
	quarantined map[string]time.Time   // until when, by node name
}

// New makes the controller and registers its handlers; informers are not running yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{proc: pr, in: in, threshold: TerminatedThreshold, removed: map[string]event.Seq{}, quarantined: map[string]time.Time{}}
	in.Pods.Handle(c.podChanged)
	in.Nodes.Handle(func(ch kubeapi.Change[*corev1.Node]) {
		if ch.Type == event.Deleted {
			c.removed[ch.Old.Name] = ch.Cause
		} else {
			delete(c.removed, ch.New.Name)
		}
	})
	return c
}

// Start runs the controller. The informers are synced and this program leads.
func (c *Controller) Start() {
	c.proc.Go("pod garbage collector", func(p *sim.Proc) {
		for {
			c.collect(p)
			p.Sleep(Period)
		}
	})
}

func (c *Controller) podChanged(ch kubeapi.Change[*corev1.Pod]) {
	key := ch.Key()
	if ch.Type != event.Added {
		c.count(ch.Old.Spec.NodeName, -1)
	}
	if ch.Type == event.Deleted {
		c.finished.Delete(key)
		c.terminating.Delete(key)
		return
	}
	c.count(ch.New.Spec.NodeName, +1)
	keep(&c.finished, key, finished(ch.New), ch.Cause)
	keep(&c.terminating, key, ch.New.DeletionTimestamp != nil, ch.Cause)
}

func keep(set *btree.Map[kubeapi.Key, event.Seq], key kubeapi.Key, in bool, cause event.Seq) {
	if in {
		set.Set(key, cause)
	} else {
		set.Delete(key)
	}
}

func (c *Controller) count(node string, by int) {
	if node == "" {
		return
	}
	n, _ := c.assigned.Get(node)
	if n += by; n <= 0 {
		c.assigned.Delete(node)
	} else {
		c.assigned.Set(node, n)
	}
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// collect is one round.
func (c *Controller) collect(p *sim.Proc) {
	for _, v := range c.surplus() {
		c.remove(p, v, nil)
	}
	for _, v := range c.stuck() {
		c.remove(p, v, nil)
	}
	for _, node := range c.missing(p) {
		for _, pod := range c.in.Pods.ByIndex(informers.ByNode, node) {
			cause, ok := c.removed[node]
			if !ok {
				cause = c.proc.Cause
			}
			c.remove(p, victim{pod: pod, cause: cause, why: fmt.Sprintf("node %s no longer exists", node)}, &corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists"})
		}
	}
	for _, v := range c.unscheduled() {
		c.remove(p, v, nil)
	}
	for node := range c.removed {
		if _, hasPods := c.assigned.Get(node); !hasPods {
			delete(c.removed, node)
		}
	}
}

// victim is a pod to remove, the record that led to it, and why.
type victim struct {
	pod   *corev1.Pod
	cause event.Seq
	why   string
}

// surplus lists finished pods above the threshold: evicted ones first, then the oldest.
func (c *Controller) surplus() []victim {
	extra := c.finished.Len() - c.threshold
	if extra <= 0 {
		return nil
	}
	all := c.victims(&c.finished, func(*corev1.Pod) string { return fmt.Sprintf("more than %d finished pods", c.threshold) })
	slices.SortFunc(all, func(a, b victim) int { return removalOrder(a.pod, b.pod) })
	return all[:min(extra, len(all))]
}

// stuck lists terminating pods of nodes that the operator declared out of service.
func (c *Controller) stuck() []victim {
	all := c.victims(&c.terminating, func(pod *corev1.Pod) string {
		node, ok := c.in.Nodes.Get(kubeapi.Key(pod.Spec.NodeName))
		if !ok || !outOfService(node) {
			return ""
		}
		return fmt.Sprintf("terminating on node %s, which is out of service", node.Name)
	})
	slices.SortFunc(all, func(a, b victim) int { return removalOrder(a.pod, b.pod) })
	return all
}

// unscheduled lists terminating pods that no kubelet will ever confirm.
func (c *Controller) unscheduled() []victim {
	return c.victims(&c.terminating, func(pod *corev1.Pod) string {
		if pod.Spec.NodeName != "" {
			return ""
		}
		return "terminating and never assigned to a node"
	})
}

// victims lists the pods of a set for which why has a reason, by key.
func (c *Controller) victims(set *btree.Map[kubeapi.Key, event.Seq], why func(*corev1.Pod) string) []victim {
	var out []victim
	set.Scan(func(key kubeapi.Key, cause event.Seq) bool {
		if pod, ok := c.in.Pods.Get(key); ok {
			if reason := why(pod); reason != "" {
				out = append(out, victim{pod: pod, cause: cause, why: reason})
			}
		}
		return true
	})
	return out
}

// missing lists nodes that have pods but no Node object: first seen so at least Quarantine ago, and confirmed by a live look now.
func (c *Controller) missing(p *sim.Proc) []string {
	now := p.Now()
	var ripe []string
	c.assigned.Scan(func(node string, _ int) bool {
		_, exists := c.in.Nodes.Get(kubeapi.Key(node))
		until, waits := c.quarantined[node]
		switch {
		case exists:
			delete(c.quarantined, node)
		case !waits:
			c.quarantined[node] = now.Add(Quarantine)
		case !now.Before(until):
			delete(c.quarantined, node)
			ripe = append(ripe, node)
		}
		return true
	})
	p.Cause = c.proc.Cause
	return slices.DeleteFunc(ripe, func(node string) bool {
		_, err := kubeapi.Fetch[*corev1.Node](p, c.proc.Client, kinds.Nodes, "", node)
		return !apierrors.IsNotFound(err) // it exists, or nobody knows: the next round begins anew
	})
}

func outOfService(node *corev1.Node) bool {
	for _, cond := range node.Status.Conditions {
		if cond.Type == corev1.NodeReady && cond.Status == corev1.ConditionTrue {
			return false
		}
	}
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// removalOrder puts pods evicted by a kubelet first, then older ones, then by name.
func removalOrder(a, b *corev1.Pod) int {
	if x, y := evicted(a), evicted(b); x != y {
		if x {
			return -1
		}
		return 1
	}
	if d := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); d != 0 {
		return d
	}
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
}

func evicted(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted"
}

// remove marks a pod Failed, unless it is finished, and deletes it without grace. Errors are journalled; the next round tries again.
func (c *Controller) remove(p *sim.Proc, v victim, why *corev1.PodCondition) {
	key := kubeapi.KeyOf(v.pod)
	p.Cause = v.cause
	p.Cause = c.proc.Emit(p, event.Reconciled{Controller: "pod-garbage-collector", Key: string(key), Decision: "force delete: " + v.why})
	if err := c.failAndDelete(p, v.pod, why); kubeapi.IgnoreNotFound(err) != nil {
		c.proc.Emit(p, event.Reconciled{Controller: "pod-garbage-collector", Key: string(key), Error: err.Error()})
	}
}

func (c *Controller) failAndDelete(p *sim.Proc, pod *corev1.Pod, why *corev1.PodCondition) error {
	if !finished(pod) {
		changed := pod.DeepCopy()
		changed.Status.Phase = corev1.PodFailed
		if why != nil {
			podcondition.Set(changed, *why, p.Now())
		}
		old := *pod
		old.UID = "" // the patch then names the pod it is meant for
		if _, err := kubeapi.PatchFrom(p, c.proc.Client, "status", &old, changed); err != nil {
			return fmt.Errorf("mark pod %s failed: %w", kubeapi.KeyOf(pod), err)
		}
	}
	if err := kubeapi.Remove(p, c.proc.Client, kinds.Pods, pod.Namespace, pod.Name, metav1.NewDeleteOptions(0)); err != nil {
		return fmt.Errorf("delete pod %s: %w", kubeapi.KeyOf(pod), err)
	}
	return nil
}
