// Package nodelifecycle is the node lifecycle controller (k/k pkg/controller/nodelifecycle; fidelity NODE-1 … NODE-13): it notices nodes that fall silent, says so
// in their conditions and on their pods, and taints them. Deleting pods of tainted nodes is the taint eviction controller's work.
//
// Four parts, as in Kubernetes:
//   - the monitor looks at all nodes every 5 s (monitor.go). Whether a node is silent, and the state of its zone, are pure functions (health.go, zone.go);
//   - NoSchedule taints mirror a node's conditions, at once, by a queue of nodes (taints.go);
//   - NoExecute taints wait in one rate-limited queue per zone (taintqueue.go, tainter.go);
//   - pods that arrive on a node that is not ready are marked not ready, by a queue of pods (pods.go).
//
// All clocks start when the controller does: a new leader gives every node a fresh grace period and takes NoExecute taints off nodes it meets for the first time;
// they come back in the same pass for those that still deserve them (NODE-11).
//
// A node whose kubelet itself reports Ready=False is tainted, but its pods are not marked: Kubernetes 1.37 does that only when it writes Unknown over a True (k/k
// issue 125618).
//
// Owns: the Ready=Unknown judgement and the taints node.kubernetes.io/{unreachable,not-ready,…-pressure,network-unavailable,unschedulable}. Imports of ours:
// components/kubeapi, kubeapi/record, reconcile, controller/informers, controller/podcondition, engine/event, engine/kinds, engine/sim.
//
// Goroutines: the loop. Time: simulated; heartbeats are timed by the controller's own clock from when it saw them change.
package nodelifecycle

import (
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
)

// workers is how many nodes are worked on at a time where that needs the API (k/k scheduler.UpdateWorkerSize), podWorkers the same for arriving pods.
const (
	workers    = 8
	podWorkers = 4
)

// queueName is what the queue of nodes, and decisions on nodes, are called (k/k workqueue name).
const queueName = "node_lifecycle_controller"

// Controller of one kube-controller-manager.
type Controller struct {
	proc   *kubeapi.Process
	in     *informers.Informers
	events *record.Recorder

	nodes *reconcile.Controller // NoSchedule taints, by node
	pods  *reconcile.Controller // arriving pods, by pod

	known             map[string]*tracked  // by node name
	changes           map[string]event.Seq // last change of each node that the informer saw
	zones             map[string]ZoneState
	taints            map[string]*taintQueue // by zone
	tick              sim.Cond               // a taint queue changed
	report            *kubeapi.QueueReporter // of the taint queues
	tainted, retained int64                  // by the taint queues: served, put back

	// staleLease is a lease whose live version the informer has not seen yet: until then no silence is believed.
	staleLease kubeapi.Key
	staleUntil string
}

// tracked is a node the controller has met.
type tracked struct {
	health
	node *corev1.Node // as last seen
	// judged is the view last journalled, and judgement its record: the cause of what follows from it.
	judged    corev1.ConditionStatus
	judgement event.Seq
	// retryPods: marking its pods failed in an earlier pass.
	retryPods bool
}

// New makes the controller and registers its handlers; informers are not running yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{proc: pr, in: in, known: map[string]*tracked{}, changes: map[string]event.Seq{},
		zones: map[string]ZoneState{}, taints: map[string]*taintQueue{}}
	c.events = record.New(pr, "node-controller")
	c.report = kubeapi.NewQueueReporter(pr, c.taintState)
	c.nodes = reconcile.New(pr, queueName, reconcile.Func(c.reconcileNode))
	c.pods = reconcile.New(pr, queueName+"_pods", reconcile.Func(c.reconcilePod))
	in.Nodes.Handle(c.nodeChanged)
	in.Pods.Handle(c.podChanged)
	return c
}

// Start runs the controller. The informers are synced and this program leads.
func (c *Controller) Start() {
	c.nodes.Start(workers)
	c.pods.Start(podWorkers)
	c.report.Changed()
	c.proc.Go("node monitor", c.monitor)
	c.proc.Go("node tainter", c.tainter)
}

func (c *Controller) nodeChanged(ch kubeapi.Change[*corev1.Node]) {
	c.changes[string(ch.Key())] = ch.Cause
	if ch.Type == event.Deleted {
		if t := c.known[ch.Old.Name]; t != nil {
			t.retryPods = false
		}
		return
	}
	if add, remove := scheduling(ch.New); len(add)+len(remove) > 0 {
		c.nodes.Add(ch.Key(), ch.Cause)
	}
}

// reconcileNode makes a node's NoSchedule taints mirror its conditions.
func (c *Controller) reconcileNode(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	node, ok := c.in.Nodes.Get(key)
	if !ok {
		return reconcile.Done, nil
	}
	add, remove := scheduling(node)
	if len(add)+len(remove) == 0 {
		return reconcile.Done, nil
	}
	ps.Decide("%s so that the scheduler sees what the node's conditions say", describe(add, remove))
	return reconcile.Done, c.swapTaints(ps.Proc, node.Name, add, remove)
}

// lease of a node, nil when there is none.
func (c *Controller) lease(node string) *coordinationv1.Lease {
	l, _ := c.in.Leases.Get(leaseKey(node))
	return l
}

func leaseKey(node string) kubeapi.Key { return kubeapi.MakeKey(corev1.NamespaceNodeLease, node) }

// describe says what is done to taints: "taint a:NoSchedule, b:NoSchedule; untaint c:NoSchedule".
func describe(add, remove []corev1.Taint) string {
	var parts []string
	if len(add) > 0 {
		parts = append(parts, "taint "+taintNames(add))
	}
	if len(remove) > 0 {
		parts = append(parts, "untaint "+taintNames(remove))
	}
	return strings.Join(parts, "; ")
}

func taintNames(taints []corev1.Taint) string {
	names := make([]string, len(taints))
	for i := range taints {
		names[i] = taints[i].ToString()
	}
	return strings.Join(names, ", ")
}
