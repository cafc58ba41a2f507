// Package kinds is the table of Kubernetes kinds that the model knows: Go type, resource name, scope, key in the store. One row per kind; everything that must
// treat kinds alike (API server, clients, journal files, screen) reads this table.
//
// The types come from k8s.io/api. Imports nothing of ours. Goroutines: the table is immutable after init. Time: none.
package kinds

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// Object is any Kubernetes object with metadata. Objects that came out of a cache, a watch or a record are shared: DeepCopyObject before changing one.
type Object interface {
	runtime.Object
	metav1.Object
}

// Kind is one row of the table. Compare by pointer, but those that may be defined by CustomResourceDefinitions by Same.
type Kind struct {
	Group, Version, Kind string
	// Resource is the plural in URLs ("pods"); Singular and Short are what users may type.
	Resource, Singular string
	Short              []string
	Namespaced         bool
	// Prefix of keys in the store, without namespace: "/registry/pods/" (fidelity STO-21; nodes live under minions). Empty: objects are never stored (Virtual).
	Prefix string
	// Categories are the words that stand for several kinds ("all").
	Categories []string
	// NoCollectionDelete: objects are deleted one by one only.
	NoCollectionDelete bool
	// Subresources by name, sorted.
	Subresources []Subresource
	// Verbs of a kind that is never stored; nil: all, as every kind has that is.
	Verbs []string
	// Deprecated is what the server warns of with every answer about the kind; empty: nothing.
	Deprecated string
	// Faces are other versions or groups under which the same objects are served.
	Faces []*Face
	// Custom is set in rows of kinds that CustomResourceDefinitions define.
	Custom *CustomVersion
	// New makes an empty object.
	New func() Object
}

var (
	// all begins with what people look at most; screens list kinds in this order.
	all = []*Kind{Namespaces, Nodes, Pods, Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs, Services, Endpoints, EndpointSlices, Ingresses, IngressClasses,
		NetworkPolicies, ConfigMaps, Secrets, ServiceAccounts, PersistentVolumeClaims, PersistentVolumes, StorageClasses, HorizontalPodAutoscalers, PodDisruptionBudgets,
		ReplicationControllers, PodTemplates, ControllerRevisions, ResourceQuotas, LimitRanges, PriorityClasses, Events, Leases, Roles, RoleBindings, ClusterRoles, ClusterRoleBindings,
		CertificateSigningRequests, CustomResourceDefinitions, ValidatingAdmissionPolicies, ValidatingAdmissionPolicyBindings, MutatingAdmissionPolicies,
		MutatingAdmissionPolicyBindings, ValidatingWebhookConfigurations, MutatingWebhookConfigurations, RuntimeClasses, VolumeAttachments, VolumeAttributesClasses, CSIDrivers,
		CSINodes, CSIStorageCapacities, IPAddresses, ServiceCIDRs}
	byName   = index()
	byGVK    = indexGVK()
	byPrefix = indexPrefix()
	scheme   = makeScheme()
)

// Face is another group and version of a kind. Objects are stored as the kind itself; a face converts both ways without loss of what both know.
type Face struct {
	Group, Version, Kind string
	New                  func() Object
	// From makes the face's object out of the stored kind's, To the other way. Both make new objects.
	From, To func(Object) Object
	// Fields are what field selectors may name in this face, beside the name and the namespace: its names for fields of the kind. nil: those of the kind itself.
	Fields map[string]string
}

// GVK is the face's group, version and kind.
func (f *Face) GVK() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: f.Group, Version: f.Version, Kind: f.Kind}
}

// All lists the kinds in the table's order.
func All() []*Kind { return slices.Clone(all) }

// Scheme knows the Go types of all kinds. Read only.
func Scheme() *runtime.Scheme { return scheme }

// Named finds a kind by what a user may type: plural, singular, kind or short name, in any case, optionally with ".group".
func Named(name string) (*Kind, bool) {
	k, ok := byName[strings.ToLower(name)]
	return k, ok
}

// Of finds the row of an object by its Go type; an object of a defined kind knows its own.
func Of(obj runtime.Object) (*Kind, error) {
	if c, ok := obj.(*Custom); ok {
		if c.kind == nil {
			return nil, fmt.Errorf("%s %q is of no known kind", c.GroupVersionKind(), c.Name)
		}
		return c.kind, nil
	}
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
	if k, ok := byGVK[gvk]; ok {
		return k, nil
	}
	return nil, fmt.Errorf("no kind %q is known here", gvk)
}

// ForKey finds the kind a store key belongs to.
func ForKey(key string) (*Kind, bool) {
	rest, ok := strings.CutPrefix(key, registry)
	if !ok {
		return nil, false
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		return nil, false
	}
	if k, ok := byPrefix[rest[:end]]; ok {
		return k, true
	}
	more := strings.IndexByte(rest[end+1:], '/')
	if more < 0 {
		return nil, false
	}
	k, ok := byPrefix[rest[:end+1+more]]
	return k, ok
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

func indexGVK() map[schema.GroupVersionKind]*Kind {
	m := map[schema.GroupVersionKind]*Kind{}
	for _, k := range slices.Concat(all, virtual) {
		m[k.GVK()] = k
	}
	return m
}

// registry is where all objects live in the store.
const registry = "/registry/"

func indexPrefix() map[string]*Kind {
	m := map[string]*Kind{}
	for _, k := range all {
		m[strings.TrimSuffix(strings.TrimPrefix(k.Prefix, registry), "/")] = k
	}
	return m
}

func makeScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionregistrationv1.AddToScheme, appsv1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme, coordinationv1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme, apiextensionsv1.AddToScheme, metricsv1beta1.AddToScheme} {
		utilruntime.Must(add(s))
	}
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
