// Package garbagecollector deletes objects whose owners are gone, and carries out foreground and orphaning deletions (k/k pkg/controller/garbagecollector; fidelity
// GC-1, API-20).
//
// A graph of owner references over all kinds but Events follows the informers. A change in it puts objects up for a look; a look asks the store whether object and
// owners really exist, so a picture that lags never costs an object.
//
// Owns: the graph, deletion of dependents, the finalizers foregroundDeletion and orphan. Imports of ours: components/kubeapi and its record, components/reconcile,
// components/controller/informers, engine/kinds, engine/event, engine/sim. Goroutines: the loop. Time: simulated.
package garbagecollector

import (
	"fmt"
	"strings"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Workers is how many objects are looked at at a time, and again how many orphanings run (--concurrent-gc-syncs).
const Workers = 20

// absentMax bounds what is remembered about owners that do not exist.
const absentMax = 500

// Controller is the garbage collector.
type Controller struct {
	graph    *graph
	recorder *record.Recorder
	deleting *reconcile.Controller
	orphans  *reconcile.Controller
	absent   absentOwners
}

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{graph: newGraph(), recorder: record.New(pr, "garbage-collector-controller")}
	c.deleting = reconcile.New(pr, "garbagecollector", reconcile.Func(c.attempt))
	c.orphans = reconcile.New(pr, "garbagecollector orphan", reconcile.Func(c.orphan))
	follow(c, kinds.Namespaces, in.Namespaces)
	follow(c, kinds.Nodes, in.Nodes)
	follow(c, kinds.Leases, in.Leases)
	follow(c, kinds.Deployments, in.Deployments)
	follow(c, kinds.ReplicaSets, in.ReplicaSets)
	follow(c, kinds.Pods, in.Pods)
	return c
}

// Start runs the workers. The informers are to be synced by then.
func (c *Controller) Start() {
	c.deleting.Start(Workers)
	c.orphans.Start(Workers)
}

func follow[T kinds.Object](c *Controller, k *kinds.Kind, in *kubeapi.Informer[T]) {
	in.Handle(func(ch kubeapi.Change[T]) {
		switch {
		case ch.Type == event.Deleted:
			c.gone(k, ch.Old, ch.Cause)
		case ch.Type == event.Modified && ch.Old.GetUID() != ch.New.GetUID():
			c.gone(k, ch.Old, ch.Cause) // deleted and made anew while the watch was away
			c.enqueue(c.graph.observe(k, nil, ch.New), ch.Cause)
		case ch.Type == event.Modified:
			c.enqueue(c.graph.observe(k, ch.Old, ch.New), ch.Cause)
		default:
			c.enqueue(c.graph.observe(k, nil, ch.New), ch.Cause)
		}
	})
}

func (c *Controller) gone(k *kinds.Kind, obj kinds.Object, cause event.Seq) {
	w, owned := c.graph.forget(obj.GetUID())
	if owned {
		c.absent.add(identity{k, obj.GetNamespace(), obj.GetName(), obj.GetUID()})
	}
	c.enqueue(w, cause)
}

func (c *Controller) enqueue(w work, cause event.Seq) {
	for _, m := range w.misplaced {
		c.reportMisplaced(m, cause)
	}
	for _, n := range w.attempt {
		c.deleting.Add(keyOf(n), cause)
	}
	for _, n := range w.orphan {
		c.orphans.Add(keyOf(n), cause)
	}
}

// reportMisplaced warns that an object names an owner of another namespace.
func (c *Controller) reportMisplaced(m misplaced, cause event.Seq) {
	for _, r := range m.dependent.owners {
		if r.UID != m.owner || m.dependent.kind == nil {
			continue
		}
		d := m.dependent
		owner := fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", r.APIVersion, r.Kind, d.namespace, r.Name, r.UID)
		c.recorder.EventFor(cause, corev1.ObjectReference{Kind: d.kind.Kind, APIVersion: d.kind.APIVersion(), Namespace: d.namespace, Name: d.name, UID: d.uid},
			corev1.EventTypeWarning, "OwnerRefInvalidNamespace", fmt.Sprintf("ownerRef %s does not exist in namespace %q", owner, d.namespace))
		return
	}
}

// keyOf is a work queue's key: readable, and with the UID, since an object of the same name is another one.
func keyOf(n *node) kubeapi.Key {
	kind := "?"
	if n.kind != nil {
		kind = n.kind.Kind
	}
	return kubeapi.Key(fmt.Sprintf("%s %s %s", kind, kubeapi.MakeKey(n.namespace, n.name), n.uid))
}

func uidOf(key kubeapi.Key) types.UID {
	return types.UID(key[strings.LastIndexByte(string(key), ' ')+1:])
}

// absentOwners remembers the owners found not to exist last.
type absentOwners struct {
	known btree.Set[string]
	order []string // oldest first
}

func absentName(id identity) string {
	kind := ""
	if id.kind != nil {
		kind = id.kind.String()
	}
	return kind + "\x00" + id.namespace + "\x00" + id.name + "\x00" + string(id.uid)
}

func (a *absentOwners) add(id identity) {
	name := absentName(id)
	if a.known.Contains(name) {
		return
	}
	a.known.Insert(name)
	a.order = append(a.order, name)
	if len(a.order) > absentMax {
		a.known.Delete(a.order[0])
		a.order = a.order[1:]
	}
}

func (a *absentOwners) has(id identity) bool { return a.known.Contains(absentName(id)) }
