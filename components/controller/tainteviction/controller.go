// Package tainteviction is the taint eviction controller (k/k pkg/controller/tainteviction; fidelity NODE-6, NODE-7): it deletes pods from nodes that carry NoExecute
// taints, each after the time its tolerations give it.
//
// The time counts from when the controller takes notice of the taint, not from the taint's timeAdded, so a new leader starts it anew. A plan is cancelled when the
// taint goes, when new tolerations allow the pod to stay, or when the pod goes by itself; a deletion that was issued is not undone. The deletion is the ordinary
// graceful one.
//
// Owns: the plans (one timer a pod), the DisruptionTarget condition with reason DeletionByTaintManager. Imports of ours: components/kubeapi, kubeapi/record, reconcile,
// controller/informers, controller/podcondition, engine/event, engine/kinds, engine/sim, engine/clock.
//
// Goroutines: the loop. Time: simulated.
package tainteviction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
)

// Controller of one kube-controller-manager.
type Controller struct {
	proc   *kubeapi.Process
	in     *informers.Informers
	events *record.Recorder

	nodes *reconcile.Controller // nodes whose NoExecute taints changed
	pods  *reconcile.Controller // pods that came to a tainted node, changed there, or went

	tainted map[string][]corev1.Taint // NoExecute taints by node, as far as handled
	plans   map[kubeapi.Key]*plan
	waiting *btree.BTreeG[*plan] // those of plans that are still to come, by time
	firing  btree.Map[kubeapi.Key, event.QueueItem]
	report  *kubeapi.QueueReporter

	planned, evicted int64
	// Failed counts evictions given up after their tries; the pod stays until something changes.
	Failed int
}

// New makes the controller and registers its handlers; informers are not running yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{proc: pr, in: in, tainted: map[string][]corev1.Taint{}, plans: map[kubeapi.Key]*plan{},
		waiting: btree.NewBTreeGOptions(sooner, btree.Options{NoLocks: true})}
	c.report = kubeapi.NewQueueReporter(pr, c.state)
	c.events = record.New(pr, "taint-eviction-controller")
	c.nodes = reconcile.New(pr, "noexec_taint_node", reconcile.Func(c.reconcileNode))
	c.pods = reconcile.New(pr, "noexec_taint_pod", reconcile.Func(c.reconcilePod))
	in.Nodes.Handle(c.nodeChanged)
	in.Pods.Handle(c.podChanged)
	return c
}

// Start runs the controller. The informers are synced and this program leads. One worker a queue is enough: planning asks nobody, and with one there is no race
// between a node and its pods.
func (c *Controller) Start() {
	c.nodes.Start(1)
	c.pods.Start(1)
	c.report.Changed()
}

func (c *Controller) nodeChanged(ch kubeapi.Change[*corev1.Node]) {
	var before, after []corev1.Taint
	switch ch.Type {
	case event.Modified:
		before, after = ch.Old.Spec.Taints, ch.New.Spec.Taints
	case event.Added:
		after = ch.New.Spec.Taints
	case event.Deleted:
		before = ch.Old.Spec.Taints
	}
	if !sameTaints(noExecute(before), noExecute(after)) {
		c.nodes.Add(ch.Key(), ch.Cause)
	}
}

func sameTaints(a, b []corev1.Taint) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.Taint) bool {
		return x.Key == y.Key && x.Value == y.Value && x.TimeAdded.Equal(y.TimeAdded)
	})
}

// podChanged takes notice of pods only where that can matter: their node is tainted or they have a plan. A node tainted later looks at all its pods.
func (c *Controller) podChanged(ch kubeapi.Change[*corev1.Pod]) {
	key := ch.Key()
	_, planned := c.plans[key]
	switch ch.Type {
	case event.Deleted:
		if planned {
			c.pods.Add(key, ch.Cause)
		}
		return
	case event.Modified:
		if ch.Old.Spec.NodeName == ch.New.Spec.NodeName && sameTolerations(ch.Old.Spec.Tolerations, ch.New.Spec.Tolerations) {
			return
		}
	}
	if _, tainted := c.tainted[ch.New.Spec.NodeName]; tainted || planned {
		c.pods.Add(key, ch.Cause)
	}
}

func sameTolerations(a, b []corev1.Toleration) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.Toleration) bool {
		sx, sy := x.TolerationSeconds, y.TolerationSeconds
		return x.MatchToleration(&y) && (sx == nil) == (sy == nil) && (sx == nil || *sx == *sy)
	})
}

// reconcileNode plans or cancels for all pods of a node.
func (c *Controller) reconcileNode(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	name := string(key)
	node, ok := c.in.Nodes.Get(key)
	if !ok {
		delete(c.tainted, name) // its pods are the pod garbage collector's
		return reconcile.Done, nil
	}
	taints := noExecute(node.Spec.Taints)
	if len(taints) == 0 {
		delete(c.tainted, name)
	} else {
		c.tainted[name] = taints
	}
	for _, pod := range c.in.Pods.ByIndex(informers.ByNode, name) {
		c.consider(ps, pod, taints)
	}
	return reconcile.Done, nil
}

// reconcilePod plans or cancels for one pod.
func (c *Controller) reconcilePod(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	pod, ok := c.in.Pods.Get(key)
	if !ok {
		c.cancel(ps.Proc, key)
		return reconcile.Done, nil
	}
	if taints, ok := c.tainted[pod.Spec.NodeName]; ok && pod.Spec.NodeName != "" {
		c.consider(ps, pod, taints)
	}
	return reconcile.Done, nil
}

// consider makes a pod's plan fit the taints of its node.
func (c *Controller) consider(ps *reconcile.Pass, pod *corev1.Pod, taints []corev1.Taint) {
	key := kubeapi.KeyOf(pod)
	if len(taints) == 0 {
		c.cancel(ps.Proc, key)
		return
	}
	switch s := allowed(taints, pod.Spec.Tolerations); {
	case s.untolerated:
		c.cancel(ps.Proc, key)
		c.arm(ps.Proc, pod, 0, "does not tolerate "+names(taints))
	case s.forever:
		c.cancel(ps.Proc, key)
	case c.plans[key] == nil:
		c.arm(ps.Proc, pod, s.limit, fmt.Sprintf("tolerates %s for %v", names(taints), s.limit))
	default:
		// The first plan stays, also when these taints would give the pod less time: Kubernetes compares the plans' beginnings only.
	}
}

// names of taints, as people write them.
func names(taints []corev1.Taint) string {
	out := make([]string, len(taints))
	for i := range taints {
		out[i] = taints[i].ToString()
	}
	return strings.Join(out, ", ")
}
