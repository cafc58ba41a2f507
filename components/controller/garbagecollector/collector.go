// Package garbagecollector deletes objects whose owners are gone, and carries out foreground and orphaning deletions (k/k pkg/controller/garbagecollector; fidelity
// GC-1, API-20).
//
// A graph of owner references over all kinds but Events follows the informers. A change in it puts objects up for a look; a look asks the store whether object and
// owners really exist, so a picture that lags never costs an object. Kinds that CustomResourceDefinitions define are followed from the next round of discovery on, up to half a minute after
// they are served.
//
// Owns: the graph, deletion of dependents, the finalizers foregroundDeletion and orphan. Imports of ours: components/kubeapi and its record, components/reconcile,
// components/controller/informers, engine/kinds, engine/event, engine/sim. Goroutines: the loop. Time: simulated.
package garbagecollector

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubeapi/record"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Workers is how many objects are looked at at a time, and again how many orphanings run (--concurrent-gc-syncs).
const Workers = 20

// absentMax bounds what is remembered about owners that do not exist.
const absentMax = 500

// Controller is the garbage collector.
type Controller struct {
	pr       *kubeapi.Process
	in       *informers.Informers
	graph    *graph
	recorder *record.Recorder
	deleting *reconcile.Controller
	orphans  *reconcile.Controller
	absent   absentOwners
	// definitions are the CustomResourceDefinitions by name, monitors the informers of the kinds that they define.
	definitions btree.Map[kubeapi.Key, *apiextensionsv1.CustomResourceDefinition]
	monitors    map[schema.GroupResource]monitor
}

// discovery is how often the collector looks which kinds there are (k/k cmd/kube-controller-manager: startGarbageCollectorController).
const discovery = 30 * time.Second

// New makes the controller and registers its handlers; the informers must not have been started yet.
func New(pr *kubeapi.Process, in *informers.Informers) *Controller {
	c := &Controller{pr: pr, in: in, graph: newGraph(), recorder: record.New(pr, "garbage-collector-controller"), monitors: map[schema.GroupResource]monitor{}}
	c.deleting = reconcile.New(pr, "garbagecollector", reconcile.Func(c.attempt))
	c.orphans = reconcile.New(pr, "garbagecollector orphan", reconcile.Func(c.orphan))
	for _, k := range kinds.All() {
		if k.Stored() && k != kinds.Events {
			in.Handle(k, c.observer(k))
		}
	}
	in.Handle(kinds.CustomResourceDefinitions, func(ch kubeapi.Change[kinds.Object]) {
		if ch.Type == event.Deleted {
			c.definitions.Delete(ch.Key())
			return
		}
		c.definitions.Set(ch.Key(), ch.New.(*apiextensionsv1.CustomResourceDefinition))
	})
	return c
}

// Start runs the workers as soon as every kind has been listed, and discovery from then on.
func (c *Controller) Start() {
	c.pr.Go("garbagecollector discovery", func(p *sim.Proc) {
		c.in.WaitAllSynced(p)
		c.discover(p)
		for _, m := range c.monitors {
			m.WaitSynced(p)
		}
		c.deleting.Start(Workers)
		c.orphans.Start(Workers)
		for {
			p.Sleep(discovery)
			c.discover(p)
		}
	})
}

// monitor follows the objects of a defined kind.
type monitor struct {
	kind *kinds.Kind
	*kubeapi.Informer[kinds.Object]
}

// discover brings the kinds that are known and followed in line with the definitions.
func (c *Controller) discover(p *sim.Proc) {
	gone := maps.Clone(c.monitors)
	for _, k := range c.graph.mapper.define(c.definitions.Values()) {
		name := schema.GroupResource{Group: k.Group, Resource: k.Resource}
		if had, ok := c.monitors[name]; ok && kinds.Same(had.kind, k) {
			delete(gone, name)
			continue
		}
		m := monitor{k, c.in.Defined(k)}
		m.Handle(c.observer(k))
		m.Start()
		c.monitors[name] = m
	}
	for _, name := range slices.SortedFunc(maps.Keys(gone), func(a, b schema.GroupResource) int { return strings.Compare(a.String(), b.String()) }) { // equal runs end them alike
		gone[name].Stop()
		if c.monitors[name].kind == gone[name].kind {
			delete(c.monitors, name)
		}
	}
	c.enqueue(c.graph.known(), p.Cause)
}

// observer is the handler of objects of a kind.
func (c *Controller) observer(k *kinds.Kind) func(kubeapi.Change[kinds.Object]) {
	return func(ch kubeapi.Change[kinds.Object]) {
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
	}
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
