package garbagecollector

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/reconcile"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// unseenRetry is when an owner that exists but no informer has shown is looked at again.
const unseenRetry = 100 * time.Millisecond

// verdict on an object's owners, asked live.
type verdict struct {
	solid, dangling, waiting []metav1.OwnerReference
}

// attempt looks at one object and deletes it if nothing owns it any more (k/k garbagecollector.go: attemptToDeleteItem).
func (c *Controller) attempt(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	n := c.graph.nodes[uidOf(key)]
	if n == nil || keyOf(n) != key {
		return reconcile.Done, nil // gone, or known under another name by now
	}
	if n.beingDeleted && !n.deletingDependents {
		return reconcile.Done, nil // its dependents follow when it is gone
	}
	if n.kind == nil {
		return reconcile.Done, fmt.Errorf("no kind of this cluster is meant by the references to owner %s", n.name)
	}
	id := n.identity
	latest, err := live(ps, id)
	switch {
	case apierrors.IsNotFound(err), err == nil && latest.GetUID() != id.uid:
		c.notThere(ps, id)
		return reconcile.Done, nil
	case err != nil:
		return reconcile.Done, err
	}
	if n.deletingDependents {
		return reconcile.Done, c.foreground(ps, n)
	}
	if len(latest.GetOwnerReferences()) > 0 {
		if err := c.collect(ps, n, latest); err != nil {
			return reconcile.Done, err
		}
	}
	if n.virtual {
		return reconcile.Result{After: unseenRetry, Why: "known from its dependents only: asked for again"}, nil // it may be gone again before an informer shows it, and would then stay in the graph for ever
	}
	return reconcile.Done, nil
}

// collect decides on an object that names owners.
func (c *Controller) collect(ps *reconcile.Pass, n *node, latest kinds.Object) error {
	v, err := c.classify(ps, n, latest.GetOwnerReferences())
	if err != nil {
		return err
	}
	switch {
	case len(v.solid) > 0:
		gone := append(slices.Clone(v.dangling), v.waiting...)
		if len(gone) == 0 {
			return nil
		}
		ps.Decide("take %s out of the owners of %s: %s still owns it", ownerNames(gone), describe(n.identity), ownerNames(v.solid))
		return dropOwners(ps.Proc, ps.Client, n.identity, gone)
	case len(v.waiting) > 0 && n.dependents != nil && n.dependents.Len() > 0:
		if err := c.breakCycle(ps, n, latest); err != nil {
			return err
		}
		ps.Decide("delete %s in the foreground: %s waits for it, and it has dependents itself", describe(n.identity), ownerNames(v.waiting))
		return c.remove(ps, n.identity, latest, metav1.DeletePropagationForeground)
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case slices.Contains(latest.GetFinalizers(), metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	case slices.Contains(latest.GetFinalizers(), metav1.FinalizerDeleteDependents):
		policy = metav1.DeletePropagationForeground
	}
	if len(v.waiting) > 0 {
		ps.Decide("delete %s: %s waits for it to go", describe(n.identity), ownerNames(v.waiting))
	} else {
		ps.Decide("delete %s: its owner %s does not exist any more", describe(n.identity), ownerNames(v.dangling))
	}
	return c.remove(ps, n.identity, latest, policy)
}

// classify asks the store about each owner: solid exists, waiting exists but is going in the foreground, dangling does not exist.
func (c *Controller) classify(ps *reconcile.Pass, n *node, refs []metav1.OwnerReference) (v verdict, err error) {
	for _, r := range refs {
		id := c.graph.identityOf(r, n.namespace)
		if c.absent.has(id) {
			v.dangling = append(v.dangling, r)
			continue
		}
		switch {
		case id.kind == nil:
			return v, fmt.Errorf("owner %s %s of %s: no such kind in version %q", r.Kind, r.Name, describe(n.identity), r.APIVersion)
		case id.kind.Namespaced && n.namespace == "":
			return verdict{solid: refs}, nil // a cluster-wide object cannot belong to a namespace; Kubernetes leaves it alone
		}
		owner, err := live(ps, id)
		switch {
		case apierrors.IsNotFound(err), err == nil && owner.GetUID() != r.UID:
			c.absent.add(id)
			v.dangling = append(v.dangling, r)
		case err != nil:
			return v, err
		case owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerDeleteDependents):
			v.waiting = append(v.waiting, r)
		default:
			v.solid = append(v.solid, r)
		}
	}
	return v, nil
}

// breakCycle makes n's references non-blocking when one of its dependents waits in the foreground too: they could wait for each other for ever.
func (c *Controller) breakCycle(ps *reconcile.Pass, n *node, latest kinds.Object) error {
	cycle := false
	n.each(func(d *node) { cycle = cycle || d.deletingDependents })
	if !cycle {
		return nil
	}
	var refs []any
	no := false
	for _, r := range latest.GetOwnerReferences() {
		if blocks(r) {
			r.BlockOwnerDeletion = &no
			refs = append(refs, r)
		}
	}
	ps.Decide("let nothing wait for %s: one of its dependents waits for its own dependents, which could be a circle", describe(n.identity))
	return patchOwners(ps.Proc, ps.Client, n.identity, refs, func(r *metav1.OwnerReference) bool {
		if blocks(*r) {
			r.BlockOwnerDeletion = &no
		}
		return true
	})
}

// foreground goes on with an object that waits for its dependents: it may go when none blocks it any more.
func (c *Controller) foreground(ps *reconcile.Pass, n *node) error {
	waiting := n.blocking()
	if len(waiting) == 0 {
		return c.removeFinalizer(ps, n.identity, metav1.FinalizerDeleteDependents, "nothing that blocks its deletion is left")
	}
	for _, d := range waiting {
		if !d.deletingDependents {
			c.deleting.Add(keyOf(d), ps.Proc.Cause)
		}
	}
	return nil
}

// remove deletes the object as it was read. If it changed since, but not its owners, it is deleted all the same.
func (c *Controller) remove(ps *reconcile.Pass, id identity, latest kinds.Object, policy metav1.DeletionPropagation) error {
	version := latest.GetResourceVersion()
	options := &metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &id.uid, ResourceVersion: &version}}
	err := kubeapi.Remove(ps.Proc, ps.Client, id.kind, id.namespace, id.name, options)
	if apierrors.IsConflict(err) {
		now, readErr := live(ps, id)
		switch {
		case apierrors.IsNotFound(readErr):
			return nil
		case readErr != nil:
			return readErr
		}
		if now.GetUID() == id.uid && now.GetResourceVersion() != version && equality.Semantic.DeepEqual(now.GetOwnerReferences(), latest.GetOwnerReferences()) {
			options.Preconditions.ResourceVersion = nil
			err = kubeapi.Remove(ps.Proc, ps.Client, id.kind, id.namespace, id.name, options)
		}
	}
	if apierrors.IsNotFound(err) {
		c.notThere(ps, id)
		return nil
	}
	return err
}

// notThere takes in that the store does not have the object.
func (c *Controller) notThere(ps *reconcile.Pass, id identity) {
	w, again := c.graph.absent(id)
	c.absent.add(id)
	c.enqueue(w, ps.Proc.Cause)
	if again != nil {
		c.deleting.Queue().AddRateLimited(keyOf(again), ps.Proc.Cause, "an owner of that name is not what its dependents mean: looked at again")
	}
}

// orphan releases all dependents of an owner and lets it go.
func (c *Controller) orphan(ps *reconcile.Pass, key kubeapi.Key) (reconcile.Result, error) {
	n := c.graph.nodes[uidOf(key)]
	if n == nil {
		return reconcile.Done, nil
	}
	var dependents []identity
	n.each(func(d *node) { dependents = append(dependents, d.identity) })
	if len(dependents) > 0 {
		ps.Decide("release %d dependents of %s: it is deleted with cascade orphan", len(dependents), describe(n.identity))
	}
	ref := []metav1.OwnerReference{{UID: n.uid}}
	var done sim.Queue[error]
	for _, id := range dependents {
		ps.Proc.Go("release dependent", func(p *sim.Proc) { done.Put(dropOwners(p, ps.Client, id, ref)) })
	}
	var failed error
	for range dependents {
		if err, _ := done.Get(ps.Proc); kubeapi.IgnoreNotFound(err) != nil && failed == nil {
			failed = err
		}
	}
	if failed != nil {
		return reconcile.Done, fmt.Errorf("release dependents of %s: %w", describe(n.identity), failed)
	}
	return reconcile.Done, c.removeFinalizer(ps, n.identity, metav1.FinalizerOrphanDependents, "all its dependents are released")
}

// finalizerTries bounds attempts against conflicts (cg util/retry: DefaultBackoff).
const finalizerTries = 4

// removeFinalizer takes one finalizer off, on the newest version of the object.
func (c *Controller) removeFinalizer(ps *reconcile.Pass, id identity, finalizer, why string) error {
	for try := 1; ; try++ {
		obj, err := live(ps, id)
		if err != nil {
			return kubeapi.IgnoreNotFound(err)
		}
		rest := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == finalizer })
		if obj.GetUID() != id.uid || len(rest) == len(obj.GetFinalizers()) {
			return nil
		}
		if try == 1 {
			ps.Decide("take finalizer %s off %s: %s", finalizer, describe(id), why)
		}
		err = send(ps.Proc, ps.Client, id, types.MergePatchType, map[string]any{"metadata": map[string]any{"resourceVersion": obj.GetResourceVersion(), "finalizers": rest}})
		if !apierrors.IsConflict(err) || try >= finalizerTries {
			return kubeapi.IgnoreNotFound(err)
		}
	}
}

// live reads the object from the store.
func live(ps *reconcile.Pass, id identity) (kinds.Object, error) {
	return kubeapi.Fetch[kinds.Object](ps.Proc, ps.Client, id.kind, id.namespace, id.name)
}

// dropOwners takes references out of an object, on the condition that it is the one meant.
func dropOwners(p *sim.Proc, client *kubeapi.Client, id identity, gone []metav1.OwnerReference) error {
	var refs []any
	for _, r := range gone {
		refs = append(refs, map[string]any{"$patch": "delete", "uid": r.UID})
	}
	return patchOwners(p, client, id, refs, func(r *metav1.OwnerReference) bool {
		return !slices.ContainsFunc(gone, func(g metav1.OwnerReference) bool { return g.UID == r.UID })
	})
}

// patchOwners changes owner references by a strategic merge patch. Kinds that know no such patch are given the whole list, of the object as it is now: keep may change a reference, and tells
// whether it stays.
func patchOwners(p *sim.Proc, client *kubeapi.Client, id identity, refs []any, keep func(*metav1.OwnerReference) bool) error {
	err := send(p, client, id, types.StrategicMergePatchType, map[string]any{"metadata": map[string]any{"uid": id.uid, "ownerReferences": refs}})
	if !apierrors.IsUnsupportedMediaType(err) {
		return err
	}
	obj, err := kubeapi.Fetch[kinds.Object](p, client, id.kind, id.namespace, id.name)
	if err != nil {
		return err
	}
	left := []metav1.OwnerReference{}
	for _, r := range obj.GetOwnerReferences() {
		if keep(&r) {
			left = append(left, r)
		}
	}
	return send(p, client, id, types.MergePatchType, map[string]any{"metadata": map[string]any{"uid": id.uid, "resourceVersion": obj.GetResourceVersion(), "ownerReferences": left}})
}

func send(p *sim.Proc, client *kubeapi.Client, id identity, kind types.PatchType, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode patch of %s: %w", describe(id), err)
	}
	_, err = client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: id.kind, Namespace: id.namespace, Name: id.name, PatchType: kind, Patch: data})
	return err
}

func describe(id identity) string { return id.kind.Singular + " " + id.name }

func ownerNames(refs []metav1.OwnerReference) string {
	text := ""
	for i, r := range refs {
		if i > 0 {
			text += ", "
		}
		text += r.Kind + " " + r.Name
	}
	return text
}
