// Package kinds is the table of Kubernetes kinds that the model knows: Go type, resource name, scope, key in the store. One row per kind; everything that must
// treat kinds alike (API server, clients, journal files, screen) reads this table.
//
// The types come from k8s.io/api. Imports nothing of ours. Goroutines: the table is immutable after init. Time: none.
package kinds

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Object is any Kubernetes object with metadata. Objects that came out of a cache, a watch or a record are shared: DeepCopyObject before changing one.
type Object interface {
	runtime.Object
	metav1.Object
}

// Kind is one row of the table. Compare by pointer.
type Kind struct {
	Group, Version, Kind string
	// Resource is the plural in URLs ("pods"); Singular and Short are what users may type.
	Resource, Singular string
	Short              []string
	Namespaced         bool
	// Prefix of keys in the store, without namespace: "/registry/pods/" (fidelity STO-21; nodes live under minions).
	Prefix string
	// Subresources that can be written ("status", "binding", "scale").
	Subresources []string
	// New makes an empty object.
	New func() Object
}

// The kinds, one variable each.
var (
	Namespaces = &Kind{Version: "v1", Kind: "Namespace", Resource: "namespaces", Singular: "namespace", Short: []string{"ns"},
		Prefix: "/registry/namespaces/", Subresources: []string{"status", "finalize"}, New: func() Object { return &corev1.Namespace{} }}
	Nodes = &Kind{Version: "v1", Kind: "Node", Resource: "nodes", Singular: "node", Short: []string{"no"},
		Prefix: "/registry/minions/", Subresources: []string{"status"}, New: func() Object { return &corev1.Node{} }}
	Pods = &Kind{Version: "v1", Kind: "Pod", Resource: "pods", Singular: "pod", Short: []string{"po"}, Namespaced: true,
		Prefix: "/registry/pods/", Subresources: []string{"status", "binding"}, New: func() Object { return &corev1.Pod{} }}
	Events = &Kind{Version: "v1", Kind: "Event", Resource: "events", Singular: "event", Short: []string{"ev"}, Namespaced: true,
		Prefix: "/registry/events/", New: func() Object { return &corev1.Event{} }}
	Leases = &Kind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Singular: "lease", Namespaced: true,
		Prefix: "/registry/leases/", New: func() Object { return &coordinationv1.Lease{} }}
	Deployments = &Kind{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Singular: "deployment", Short: []string{"deploy"}, Namespaced: true,
		Prefix: "/registry/deployments/", Subresources: []string{"status", "scale"}, New: func() Object { return &appsv1.Deployment{} }}
	ReplicaSets = &Kind{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets", Singular: "replicaset", Short: []string{"rs"}, Namespaced: true,
		Prefix: "/registry/replicasets/", Subresources: []string{"status", "scale"}, New: func() Object { return &appsv1.ReplicaSet{} }}
)

var (
	all    = []*Kind{Namespaces, Nodes, Pods, Events, Leases, Deployments, ReplicaSets}
	byName = index()
	scheme = makeScheme()
)

// All lists the kinds in the table's order.
func All() []*Kind { return slices.Clone(all) }

// Scheme knows the Go types of all kinds. Read only.
func Scheme() *runtime.Scheme { return scheme }

// Named finds a kind by what a user may type: plural, singular, kind or short name, in any case, optionally with ".group".
func Named(name string) (*Kind, bool) {
	k, ok := byName[strings.ToLower(name)]
	return k, ok
}

// Of finds the row of an object by its Go type.
func Of(obj runtime.Object) (*Kind, error) {
	gvks, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		return nil, fmt.Errorf("kind of %T: %w", obj, err)
	}
	return ForGVK(gvks[0])
}

// MustOf is Of for objects whose type is fixed in the code.
func MustOf(obj runtime.Object) *Kind {
	k, err := Of(obj)
	if err != nil {
		panic(err)
	}
	return k
}

// ForGVK finds a row by group, version and kind.
func ForGVK(gvk schema.GroupVersionKind) (*Kind, error) {
	for _, k := range all {
		if k.GVK() == gvk {
			return k, nil
		}
	}
	return nil, fmt.Errorf("no kind %q is known here", gvk)
}

// ForKey finds the kind a store key belongs to.
func ForKey(key string) (*Kind, bool) {
	for _, k := range all {
		if strings.HasPrefix(key, k.Prefix) {
			return k, true
		}
	}
	return nil, false
}

// GVK is the kind's group, version and kind.
func (k *Kind) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

// GR is the kind's group and resource, as errors name it.
func (k *Kind) GR() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// APIVersion is the value of apiVersion in manifests.
func (k *Kind) APIVersion() string { return k.GVK().GroupVersion().String() }

// Key is the store key of an object; namespace is ignored for kinds without one. An empty name gives the prefix of the namespace.
func (k *Kind) Key(namespace, name string) string {
	if !k.Namespaced {
		return k.Prefix + name
	}
	if namespace == "" {
		return k.Prefix
	}
	return k.Prefix + namespace + "/" + name
}

// String is the resource with its group: "deployments.apps".
func (k *Kind) String() string { return k.GR().String() }

func index() map[string]*Kind {
	m := map[string]*Kind{}
	for _, k := range all {
		for _, n := range append([]string{k.Resource, k.Singular, strings.ToLower(k.Kind), k.GR().String()}, k.Short...) {
			m[n] = k
		}
	}
	return m
}

func makeScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(appsv1.AddToScheme(s))
	utilruntime.Must(coordinationv1.AddToScheme(s))
	return s
}

// ObjectRef names an object of a kind. Key in text is "namespace/name", or the name alone.
type ObjectRef struct {
	Resource  string // plural with group, as Kind.String gives it
	Namespace string `json:",omitempty"`
	Name      string
	UID       string `json:",omitempty"`
}

// RefOf names obj.
func RefOf(obj Object) ObjectRef {
	return ObjectRef{Resource: MustOf(obj).String(), Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: string(obj.GetUID())}
}

func (r ObjectRef) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}
