package garbagecollector

import (
	"slices"
	"strings"

	"github.com/tidwall/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/kinds"
)

// identity names an object as owner references do. The zero kind stands for one that this cluster does not have.
type identity struct {
	kind      *kinds.Kind
	namespace string
	name      string
	uid       types.UID
}

// node is an object in the graph.
type node struct {
	identity
	owners []metav1.OwnerReference
	// dependents by UID, nil while there are none: most nodes are leaves.
	dependents *btree.Map[types.UID, *node]
	// virtual: known only from the references of dependents, not seen by an informer.
	virtual            bool
	beingDeleted       bool
	deletingDependents bool // it waits for its dependents to go (foreground)
}

// each calls fn for each dependent by UID. fn must not change the graph.
func (n *node) each(fn func(*node)) {
	if n.dependents != nil {
		n.dependents.Scan(func(_ types.UID, d *node) bool { fn(d); return true })
	}
}

// blocking lists the dependents that keep n from going in the foreground.
func (n *node) blocking() []*node {
	var out []*node
	n.each(func(d *node) {
		if slices.ContainsFunc(d.owners, func(r metav1.OwnerReference) bool { return r.UID == n.uid && blocks(r) }) {
			out = append(out, d)
		}
	})
	return out
}

func blocks(r metav1.OwnerReference) bool {
	return r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
}

// graph is who owns whom. Its methods return the nodes that are to be looked at because of a change.
type graph struct {
	nodes  map[types.UID]*node
	mapper mapper
}

func newGraph() *graph { return &graph{nodes: map[types.UID]*node{}, mapper: newMapper()} }

// work is what a change of the graph asks for.
type work struct {
	// attempt: perhaps to be deleted.
	attempt []*node
	// orphan: dependents are to be released.
	orphan []*node
	// misplaced: dependents whose owner is seen to live in another namespace, with the reference's UID.
	misplaced []misplaced
}

type misplaced struct {
	dependent *node
	owner     types.UID
}

// observe takes in an object as an informer has it now; had is its state before, nil for one that is new here.
func (g *graph) observe(k *kinds.Kind, had, obj kinds.Object) work {
	var w work
	n := g.nodes[obj.GetUID()]
	seen := identity{k, obj.GetNamespace(), obj.GetName(), obj.GetUID()}
	if n == nil {
		n = &node{identity: seen, owners: obj.GetOwnerReferences()}
		g.nodes[n.uid] = n
		g.attach(n, n.owners, &w)
	} else {
		if n.virtual {
			n.virtual = false
			if n.identity != seen {
				n.identity = seen
				n.each(func(d *node) {
					if !g.matches(d, seen) {
						if seen.namespace != "" && d.namespace != seen.namespace {
							w.misplaced = append(w.misplaced, misplaced{d, seen.uid})
						}
						w.attempt = append(w.attempt, d)
					}
				})
			}
		}
		g.reown(n, obj.GetOwnerReferences(), &w)
	}
	n.beingDeleted = n.beingDeleted || obj.GetDeletionTimestamp() != nil
	if starts(had, obj, metav1.FinalizerOrphanDependents) {
		w.orphan = append(w.orphan, n)
	} else if starts(had, obj, metav1.FinalizerDeleteDependents) {
		n.deletingDependents = true
		n.each(func(d *node) { w.attempt = append(w.attempt, d) })
		w.attempt = append(w.attempt, n)
	}
	return w
}

// starts reports that obj begins to be deleted with that finalizer.
func starts(had, obj kinds.Object, finalizer string) bool {
	is := func(o kinds.Object) bool {
		return o != nil && o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), finalizer)
	}
	return is(obj) && !is(had)
}

// reown follows a change of owner references.
func (g *graph) reown(n *node, owners []metav1.OwnerReference, w *work) {
	before := n.owners
	n.owners = owners
	find := func(in []metav1.OwnerReference, uid types.UID) *metav1.OwnerReference {
		for i := range in {
			if in[i].UID == uid {
				return &in[i]
			}
		}
		return nil
	}
	for _, old := range before {
		now := find(owners, old.UID)
		if owner := g.nodes[old.UID]; owner != nil && blocks(old) && (now == nil || !blocks(*now)) {
			w.attempt = append(w.attempt, owner)
		}
		if now == nil {
			g.detach(n, old.UID)
		}
	}
	var added []metav1.OwnerReference
	for _, r := range owners {
		if find(before, r.UID) == nil {
			added = append(added, r)
		}
	}
	g.attach(n, added, w)
}

// attach adds n to the dependents of owners; one that is not known becomes a virtual node, and is looked up. A reference that does not fit the owner as it is known
// makes n be looked at.
func (g *graph) attach(n *node, owners []metav1.OwnerReference, w *work) {
	doubtful := false
	for _, r := range owners {
		owner, known := g.nodes[r.UID]
		if !known {
			owner = &node{identity: g.identityOf(r, n.namespace), virtual: true}
			g.nodes[r.UID] = owner
			w.attempt = append(w.attempt, owner)
		}
		if owner.dependents == nil {
			owner.dependents = &btree.Map[types.UID, *node]{}
		}
		owner.dependents.Set(n.uid, n)
		if !known || doubtful {
			continue
		}
		switch namespaced := owner.namespace != ""; {
		case namespaced && owner.namespace != n.namespace:
			if !owner.virtual {
				w.misplaced = append(w.misplaced, misplaced{n, r.UID})
			}
			doubtful = true
		case !g.refersTo(r, owner.identity), !namespaced && owner.namespace != n.namespace && owner.virtual:
			doubtful = true
		}
	}
	if doubtful {
		w.attempt = append(w.attempt, n)
	}
}

func (g *graph) detach(n *node, owner types.UID) {
	if o := g.nodes[owner]; o != nil && o.dependents != nil {
		o.dependents.Delete(n.uid)
	}
}

// forget takes out an object that is gone: its dependents, and owners that wait for it, are looked at.
func (g *graph) forget(uid types.UID) (work, bool) {
	var w work
	n := g.nodes[uid]
	if n == nil {
		return w, false
	}
	delete(g.nodes, uid)
	for _, r := range n.owners {
		g.detach(n, r.UID)
	}
	n.each(func(d *node) { w.attempt = append(w.attempt, d) })
	for _, r := range n.owners {
		if owner := g.nodes[r.UID]; owner != nil && owner.deletingDependents {
			w.attempt = append(w.attempt, owner)
		}
	}
	return w, n.dependents != nil && n.dependents.Len() > 0
}

// absent takes in that the store has no object of that identity. A node that was observed under another name or kind stays. The dependents that meant this identity
// are looked at; a virtual node that others know under another name takes that name. again is such a node: it is to be looked up, after a while.
func (g *graph) absent(id identity) (w work, again *node) {
	n := g.nodes[id.uid]
	switch {
	case n == nil:
		return w, nil
	case n.virtual:
		var other *identity
		n.each(func(d *node) {
			for _, r := range d.owners {
				if alt := g.identityOf(r, d.namespace); r.UID == id.uid && !same(alt, id) && other == nil {
					other = &alt
				}
			}
		})
		if other == nil {
			w, _ = g.forget(id.uid)
			return w, nil
		}
		n.each(func(d *node) {
			if g.matches(d, id) {
				w.attempt = append(w.attempt, d)
			}
		})
		if same(n.identity, id) {
			n.identity = *other
			again = n
		}
		return w, again
	case n.identity != id:
		n.each(func(d *node) {
			if g.matches(d, id) {
				w.attempt = append(w.attempt, d)
			}
		})
		return w, nil
	}
	w, _ = g.forget(id.uid)
	return w, nil
}

// identityOf is what a reference of a dependent in that namespace means.
func (g *graph) identityOf(r metav1.OwnerReference, namespace string) identity {
	k := g.mapper.kindOf(r)
	if k != nil && !k.Namespaced {
		namespace = ""
	}
	return identity{k, namespace, r.Name, r.UID}
}

func same(a, b identity) bool {
	return a.kind == b.kind && a.namespace == b.namespace && a.name == b.name
}

func (g *graph) refersTo(r metav1.OwnerReference, id identity) bool {
	return r.UID == id.uid && r.Name == id.name && g.mapper.kindOf(r) == id.kind
}

// matches reports that d refers to id, as it is named, from a namespace that may.
func (g *graph) matches(d *node, id identity) bool {
	if id.namespace != "" && d.namespace != id.namespace {
		return false
	}
	return slices.ContainsFunc(d.owners, func(r metav1.OwnerReference) bool { return g.refersTo(r, id) })
}

// known takes in that the mapper has learned kinds: what was referred to by them, and could not be looked up, is.
func (g *graph) known() (w work) {
	for _, n := range g.nodes {
		if n.kind != nil || !n.virtual {
			continue
		}
		n.each(func(d *node) {
			for _, r := range d.owners {
				if id := g.identityOf(r, d.namespace); r.UID == n.uid && id.kind != nil && n.kind == nil {
					n.identity = id
					w.attempt = append(w.attempt, n)
				}
			}
		})
	}
	slices.SortFunc(w.attempt, func(a, b *node) int { return strings.Compare(string(a.uid), string(b.uid)) })
	return w
}
