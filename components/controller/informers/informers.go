// Package informers holds the shared informers of kube-controller-manager: one per kind, whatever number of controllers reads it, with the indexes they need.
//
// Controllers take an Informers, register their handlers before Start and read from it afterwards; they never list or watch by themselves.
//
// Owns: Informers, the names of its indexes. Imports of ours: components/kubeapi, engine/kinds, engine/sim. Goroutines: the loop. Time: simulated.
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
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
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
	Pods        *kubeapi.Informer[*corev1.Pod]
	Nodes       *kubeapi.Informer[*corev1.Node]
	ReplicaSets *kubeapi.Informer[*appsv1.ReplicaSet]
	Deployments *kubeapi.Informer[*appsv1.Deployment]
	Leases      *kubeapi.Informer[*coordinationv1.Lease]
	Namespaces  *kubeapi.Informer[*corev1.Namespace]
	// ServiceAccounts are those named "default", RootCAs the ConfigMaps named "kube-root-ca.crt": what every namespace is given. Nobody here reads others.
	ServiceAccounts *kubeapi.Informer[*corev1.ServiceAccount]
	RootCAs         *kubeapi.Informer[*corev1.ConfigMap]
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
}

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
		ServiceAccounts: kubeapi.NewInformer[*corev1.ServiceAccount](pr, kinds.ServiceAccounts, named(DefaultServiceAccount)),
		RootCAs:         kubeapi.NewInformer[*corev1.ConfigMap](pr, kinds.ConfigMaps, named(RootCAConfigMap)),
		ClusterRoles:    kubeapi.NewInformer[*rbacv1.ClusterRole](pr, kinds.ClusterRoles, kubeapi.InformerOptions{}),
		ResourceQuotas:  kubeapi.NewInformer[*corev1.ResourceQuota](pr, kinds.ResourceQuotas, kubeapi.InformerOptions{}),
		Claims:          kubeapi.NewInformer[*corev1.PersistentVolumeClaim](pr, kinds.PersistentVolumeClaims, kubeapi.InformerOptions{}),
		Volumes:         kubeapi.NewInformer[*corev1.PersistentVolume](pr, kinds.PersistentVolumes, kubeapi.InformerOptions{}),
		Budgets:         kubeapi.NewInformer[*policyv1.PodDisruptionBudget](pr, kinds.PodDisruptionBudgets, kubeapi.InformerOptions{}),
		Services:        kubeapi.NewInformer[*corev1.Service](pr, kinds.Services, kubeapi.InformerOptions{}),
		EndpointSlices:  kubeapi.NewInformer[*discoveryv1.EndpointSlice](pr, kinds.EndpointSlices, kubeapi.InformerOptions{}),
		Endpoints:       kubeapi.NewInformer[*corev1.Endpoints](pr, kinds.Endpoints, kubeapi.InformerOptions{}),

		CertificateRequests: kubeapi.NewInformer[*certificatesv1.CertificateSigningRequest](pr, kinds.CertificateSigningRequests, kubeapi.InformerOptions{}),
	}
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

func named(name string) kubeapi.InformerOptions {
	return kubeapi.InformerOptions{Fields: fields.OneTermEqualSelector("metadata.name", name)}
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
	in.Namespaces.Start()
	in.ServiceAccounts.Start()
	in.RootCAs.Start()
	in.ClusterRoles.Start()
	in.ResourceQuotas.Start()
	in.Claims.Start()
	in.Volumes.Start()
	in.Budgets.Start()
	in.Services.Start()
	in.EndpointSlices.Start()
	in.Endpoints.Start()
	in.CertificateRequests.Start()
	in.Nodes.Start()
	in.Leases.Start()
	in.Deployments.Start()
	in.ReplicaSets.Start()
	in.Pods.Start()
}

// WaitSynced parks p until every first list is in.
func (in *Informers) WaitSynced(p *sim.Proc) {
	in.Namespaces.WaitSynced(p)
	in.ServiceAccounts.WaitSynced(p)
	in.RootCAs.WaitSynced(p)
	in.ClusterRoles.WaitSynced(p)
	in.ResourceQuotas.WaitSynced(p)
	in.Claims.WaitSynced(p)
	in.Volumes.WaitSynced(p)
	in.Budgets.WaitSynced(p)
	in.Services.WaitSynced(p)
	in.EndpointSlices.WaitSynced(p)
	in.Endpoints.WaitSynced(p)
	in.CertificateRequests.WaitSynced(p)
	in.Nodes.WaitSynced(p)
	in.Leases.WaitSynced(p)
	in.Deployments.WaitSynced(p)
	in.ReplicaSets.WaitSynced(p)
	in.Pods.WaitSynced(p)
}

// PodsOf lists the pods that owner controls, by name.
func (in *Informers) PodsOf(owner types.UID) []*corev1.Pod {
	return in.Pods.ByIndex(ByOwner, string(owner))
}

// ReplicaSetsOf lists the replica sets that owner controls, by name.
func (in *Informers) ReplicaSetsOf(owner types.UID) []*appsv1.ReplicaSet {
	return in.ReplicaSets.ByIndex(ByOwner, string(owner))
}
