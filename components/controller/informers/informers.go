// Package informers holds the shared informers of kube-controller-manager: one per kind, whatever number of controllers reads it, with the indexes they need.
//
// Controllers take an Informers, register their handlers before Start and read from it afterwards; they never list or watch by themselves. Kinds of which a controller reads the content have a
// field; who follows objects of whatever kind asks for them by Handle, and by Defined for those that appear while the program runs.
//
// Owns: Informers, the names of its indexes. Imports of ours: components/kubeapi, engine/event, engine/kinds, engine/sim. Goroutines: the loop. Time: simulated.
package informers

//lint:file-ignore SA1019 Endpoints are kept for old clients all the same

import (
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Indexes. The value of ByOwner is the UID of the controlling owner, or Orphan(namespace) for objects that have none.
const (
	// ByNode lists pods by spec.nodeName ("" for pods not scheduled yet).
	ByNode = "node"
	// ByOwner lists pods and replica sets by the UID of their controller.
	ByOwner = "owner"
	// ByNamespace lists by namespace.
	ByNamespace = "namespace"
	// ByService lists endpoint slices by the key of the Service that they belong to.
	ByService = "service"
)

// Informers are the local pictures, one per kind. Indexes: Pods ByNode, ByOwner, ByNamespace; ReplicaSets ByOwner, ByNamespace; Deployments, ResourceQuotas, Budgets and Services
// ByNamespace; EndpointSlices ByService.
type Informers struct {
	Pods            *kubeapi.Informer[*corev1.Pod]
	Nodes           *kubeapi.Informer[*corev1.Node]
	ReplicaSets     *kubeapi.Informer[*appsv1.ReplicaSet]
	Deployments     *kubeapi.Informer[*appsv1.Deployment]
	Leases          *kubeapi.Informer[*coordinationv1.Lease]
	Namespaces      *kubeapi.Informer[*corev1.Namespace]
	ServiceAccounts *kubeapi.Informer[*corev1.ServiceAccount]
	ConfigMaps      *kubeapi.Informer[*corev1.ConfigMap]
	ClusterRoles    *kubeapi.Informer[*rbacv1.ClusterRole]
	ResourceQuotas  *kubeapi.Informer[*corev1.ResourceQuota]
	Claims          *kubeapi.Informer[*corev1.PersistentVolumeClaim]
	Volumes         *kubeapi.Informer[*corev1.PersistentVolume]
	Budgets         *kubeapi.Informer[*policyv1.PodDisruptionBudget]
	Services        *kubeapi.Informer[*corev1.Service]
	EndpointSlices  *kubeapi.Informer[*discoveryv1.EndpointSlice]
	Endpoints       *kubeapi.Informer[*corev1.Endpoints]
	// CertificateRequests are what somebody may have approved.
	CertificateRequests *kubeapi.Informer[*certificatesv1.CertificateSigningRequest]

	proc *kubeapi.Process
	// typed are the fields above, in the order in which they start; others those of kinds without a field that somebody handles.
	typed, others []informer
	byKind        map[*kinds.Kind]handle
}

// informer is a kubeapi.Informer of whatever type.
type informer interface {
	Start()
	WaitSynced(p *sim.Proc)
}

// handle registers a handler that takes objects of whatever kind.
type handle func(fn func(kubeapi.Change[kinds.Object]))

// What every namespace is given.
const (
	DefaultServiceAccount = "default"
	RootCAConfigMap       = "kube-root-ca.crt"
)

// New makes the informers of a program. Nothing is read before Start.
func New(pr *kubeapi.Process) *Informers {
	in := &Informers{
		Pods:            kubeapi.NewInformer[*corev1.Pod](pr, kinds.Pods, kubeapi.InformerOptions{}),
		Nodes:           kubeapi.NewInformer[*corev1.Node](pr, kinds.Nodes, kubeapi.InformerOptions{}),
		ReplicaSets:     kubeapi.NewInformer[*appsv1.ReplicaSet](pr, kinds.ReplicaSets, kubeapi.InformerOptions{}),
		Deployments:     kubeapi.NewInformer[*appsv1.Deployment](pr, kinds.Deployments, kubeapi.InformerOptions{}),
		Leases:          kubeapi.NewInformer[*coordinationv1.Lease](pr, kinds.Leases, kubeapi.InformerOptions{}),
		Namespaces:      kubeapi.NewInformer[*corev1.Namespace](pr, kinds.Namespaces, kubeapi.InformerOptions{}),
		ServiceAccounts: kubeapi.NewInformer[*corev1.ServiceAccount](pr, kinds.ServiceAccounts, kubeapi.InformerOptions{}),
		ConfigMaps:      kubeapi.NewInformer[*corev1.ConfigMap](pr, kinds.ConfigMaps, kubeapi.InformerOptions{}),
		ClusterRoles:    kubeapi.NewInformer[*rbacv1.ClusterRole](pr, kinds.ClusterRoles, kubeapi.InformerOptions{}),
		ResourceQuotas:  kubeapi.NewInformer[*corev1.ResourceQuota](pr, kinds.ResourceQuotas, kubeapi.InformerOptions{}),
		Claims:          kubeapi.NewInformer[*corev1.PersistentVolumeClaim](pr, kinds.PersistentVolumeClaims, kubeapi.InformerOptions{}),
		Volumes:         kubeapi.NewInformer[*corev1.PersistentVolume](pr, kinds.PersistentVolumes, kubeapi.InformerOptions{}),
		Budgets:         kubeapi.NewInformer[*policyv1.PodDisruptionBudget](pr, kinds.PodDisruptionBudgets, kubeapi.InformerOptions{}),
		Services:        kubeapi.NewInformer[*corev1.Service](pr, kinds.Services, kubeapi.InformerOptions{}),
		EndpointSlices:  kubeapi.NewInformer[*discoveryv1.EndpointSlice](pr, kinds.EndpointSlices, kubeapi.InformerOptions{}),
		Endpoints:       kubeapi.NewInformer[*corev1.Endpoints](pr, kinds.Endpoints, kubeapi.InformerOptions{}),

		CertificateRequests: kubeapi.NewInformer[*certificatesv1.CertificateSigningRequest](pr, kinds.CertificateSigningRequests, kubeapi.InformerOptions{}),

		proc: pr, byKind: map[*kinds.Kind]handle{},
	}
	share(in, kinds.Namespaces, in.Namespaces)
	share(in, kinds.ServiceAccounts, in.ServiceAccounts)
	share(in, kinds.ConfigMaps, in.ConfigMaps)
	share(in, kinds.ClusterRoles, in.ClusterRoles)
	share(in, kinds.ResourceQuotas, in.ResourceQuotas)
	share(in, kinds.PersistentVolumeClaims, in.Claims)
	share(in, kinds.PersistentVolumes, in.Volumes)
	share(in, kinds.PodDisruptionBudgets, in.Budgets)
	share(in, kinds.Services, in.Services)
	share(in, kinds.EndpointSlices, in.EndpointSlices)
	share(in, kinds.Endpoints, in.Endpoints)
	share(in, kinds.CertificateSigningRequests, in.CertificateRequests)
	share(in, kinds.Nodes, in.Nodes)
	share(in, kinds.Leases, in.Leases)
	share(in, kinds.Deployments, in.Deployments)
	share(in, kinds.ReplicaSets, in.ReplicaSets)
	share(in, kinds.Pods, in.Pods)
	in.Pods.Index(ByNode, func(p *corev1.Pod) []string { return []string{p.Spec.NodeName} })
	in.Pods.Index(ByOwner, func(p *corev1.Pod) []string { return []string{owner(p)} })
	in.Pods.Index(ByNamespace, func(p *corev1.Pod) []string { return []string{p.Namespace} })
	in.ReplicaSets.Index(ByOwner, func(rs *appsv1.ReplicaSet) []string { return []string{owner(rs)} })
	in.ReplicaSets.Index(ByNamespace, func(rs *appsv1.ReplicaSet) []string { return []string{rs.Namespace} })
	in.Deployments.Index(ByNamespace, func(d *appsv1.Deployment) []string { return []string{d.Namespace} })
	in.Budgets.Index(ByNamespace, func(b *policyv1.PodDisruptionBudget) []string { return []string{b.Namespace} })
	in.Services.Index(ByNamespace, func(s *corev1.Service) []string { return []string{s.Namespace} })
	in.EndpointSlices.Index(ByService, func(s *discoveryv1.EndpointSlice) []string {
		return []string{string(kubeapi.MakeKey(s.Namespace, s.Labels[discoveryv1.LabelServiceName]))}
	})
	in.ResourceQuotas.Index(ByNamespace, func(q *corev1.ResourceQuota) []string { return []string{q.Namespace} })
	return in
}

// share makes a typed informer one of those that Start starts and Handle finds.
func share[T kinds.Object](in *Informers, k *kinds.Kind, i *kubeapi.Informer[T]) {
	in.typed = append(in.typed, i)
	in.byKind[k] = func(fn func(kubeapi.Change[kinds.Object])) {
		i.Handle(func(ch kubeapi.Change[T]) {
			c := kubeapi.Change[kinds.Object]{Type: ch.Type, Cause: ch.Cause}
			if ch.Type != event.Added {
				c.Old = ch.Old
			}
			if ch.Type != event.Deleted {
				c.New = ch.New
			}
			fn(c)
		})
	}
}

// Handle adds a handler for a kind, whether others read it or not. Before Start.
func (in *Informers) Handle(k *kinds.Kind, fn func(kubeapi.Change[kinds.Object])) {
	if in.byKind[k] == nil {
		i := kubeapi.NewInformer[kinds.Object](in.proc, k, kubeapi.InformerOptions{})
		in.others, in.byKind[k] = append(in.others, i), i.Handle
	}
	in.byKind[k](fn)
}

// Defined makes an informer of a kind that a CustomResourceDefinition defines. It is the caller's: to handle, to start, and to stop when the kind is served no longer.
func (in *Informers) Defined(k *kinds.Kind) *kubeapi.Informer[kinds.Object] {
	return kubeapi.NewInformer[kinds.Object](in.proc, k, kubeapi.InformerOptions{})
}

// Orphan is the ByOwner value of objects in a namespace that no controller owns.
func Orphan(namespace string) string { return "orphan/" + namespace }

func owner(o metav1.Object) string {
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return string(ref.UID)
	}
	return Orphan(o.GetNamespace())
}

// Start runs all informers. Handlers and further indexes come before.
func (in *Informers) Start() {
	for _, i := range in.typed {
		i.Start()
	}
	for _, i := range in.others {
		i.Start()
	}
}

// WaitSynced parks p until the first list of every kind that has a field is in.
func (in *Informers) WaitSynced(p *sim.Proc) { wait(p, in.typed) }

// WaitAllSynced parks p until the first list of every kind is in.
func (in *Informers) WaitAllSynced(p *sim.Proc) {
	wait(p, in.typed)
	wait(p, in.others)
}

func wait(p *sim.Proc, all []informer) {
	for _, i := range all {
		i.WaitSynced(p)
	}
}

// PodsOf lists the pods that owner controls, by name.
func (in *Informers) PodsOf(owner types.UID) []*corev1.Pod {
	return in.Pods.ByIndex(ByOwner, string(owner))
}

// ReplicaSetsOf lists the replica sets that owner controls, by name.
func (in *Informers) ReplicaSetsOf(owner types.UID) []*appsv1.ReplicaSet {
	return in.ReplicaSets.ByIndex(ByOwner, string(owner))
}
