package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/apiserver/resource/certificates"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// nodeRestriction keeps a kubelet to its own node and the pods on it (k/k plugin/pkg/admission/noderestriction). It comes after authorization, which has let the kubelet in for its sort of request
// already; the parts of pods and accounts that are actions have theirs in admitEviction and admitToken.
func nodeRestriction(a *attributes) error {
	node, ok := authz.NodeName(a.rq.user)
	if !ok {
		return nil
	}
	if node == "" {
		return a.forbid("could not determine node from user %q", a.rq.user.Name)
	}
	switch a.rq.Kind {
	case kinds.Nodes:
		return restrictNode(a, node)
	case kinds.Pods:
		return restrictPods(a, node)
	case kinds.PersistentVolumeClaims:
		return restrictClaim(a, node)
	case kinds.Leases:
		if a.rq.Namespace != corev1.NamespaceNodeLease {
			return a.forbid("can only access leases in the %q system namespace", corev1.NamespaceNodeLease)
		}
		if a.name() != node {
			return a.forbid("can only access node lease with the same name as the requesting node")
		}
	case kinds.CSINodes:
		if a.name() != node {
			return a.forbid("can only access CSINode with the same name as the requesting node")
		}
	case kinds.CertificateSigningRequests:
		return restrictCertificate(a, node)
	}
	return nil
}

// nodeDeletion is nodeRestriction for deletions.
func nodeDeletion(a *attributes) error {
	if a.obj != nil {
		return nil
	}
	return nodeRestriction(a)
}

// name of the object that is meant.
func (a *attributes) name() string {
	if a.obj != nil {
		return a.obj.GetName()
	}
	return a.rq.Name
}

// operation is what admission calls the request.
func (a *attributes) operation() string {
	switch {
	case a.rq.Verb == kubeapi.Delete || a.rq.Verb == kubeapi.DeleteCollection:
		return "DELETE"
	case a.old == nil:
		return "CREATE"
	}
	return "UPDATE"
}

func restrictNode(a *attributes, node string) error {
	if name := a.name(); name != node {
		return a.forbid("node %q is not allowed to modify node %q", node, name)
	}
	obj, ok := a.obj.(*corev1.Node)
	if !ok {
		return nil
	}
	old, ok := a.old.(*corev1.Node)
	if !ok {
		//lint:ignore SA1019 what is no longer used is refused all the same
		if obj.Spec.ConfigSource != nil {
			return a.forbid("node %q is not allowed to create pods with a non-nil configSource", node)
		}
		if bad := slices.DeleteFunc(forbiddenLabels(obj.Labels, nil), byInstaller); len(bad) > 0 {
			return a.forbid("node %q is not allowed to set the following labels: %s", node, strings.Join(bad, ", "))
		}
		return nil
	}
	//lint:ignore SA1019 what is no longer used is refused all the same
	if obj.Spec.ConfigSource != nil && !apiequality.Semantic.DeepEqual(obj.Spec.ConfigSource, old.Spec.ConfigSource) {
		return a.forbid("node %q is not allowed to update configSource to a new non-nil configSource", node)
	}
	if !apiequality.Semantic.DeepEqual(obj.Spec.Taints, old.Spec.Taints) {
		return a.forbid("node %q is not allowed to modify taints", node)
	}
	if !apiequality.Semantic.DeepEqual(obj.OwnerReferences, old.OwnerReferences) {
		return a.forbid("node %q is not allowed to modify ownerReferences", node)
	}
	if bad := forbiddenLabels(obj.Labels, old.Labels); len(bad) > 0 {
		return a.forbid("is not allowed to modify labels: %s", strings.Join(bad, ", "))
	}
	return nil
}

// kubeletLabels are those of Kubernetes' own that a kubelet may set; kubeletLabelDomains those in which it may set all (k8s.io/kubelet/pkg/apis).
var (
	kubeletLabels = []string{corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelInstanceType,
		corev1.LabelInstanceTypeStable, corev1.LabelOSStable, corev1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch"}
	kubeletLabelDomains = []string{corev1.LabelNamespaceSuffixKubelet, corev1.LabelNamespaceSuffixNode}
)

// byInstaller is the label that the installer gives to machines of the control plane. Nothing stands for kubeadm here, so their kubelets bring it along when they register; they may not change it.
func byInstaller(label string) bool { return label == "node-role.kubernetes.io/control-plane" }

// forbiddenLabels lists the labels that differ and are not a kubelet's to set, sorted.
func forbiddenLabels(now, before map[string]string) []string {
	var bad []string
	for _, pair := range [][2]map[string]string{{now, before}, {before, now}} {
		for label, v := range pair[0] {
			if w, ok := pair[1][label]; (!ok || v != w) && forbiddenLabel(label) && !slices.Contains(bad, label) {
				bad = append(bad, label)
			}
		}
	}
	slices.Sort(bad)
	return bad
}

func forbiddenLabel(label string) bool {
	domain, _, ok := strings.Cut(label, "/")
	if !ok {
		return false
	}
	within := func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) }
	switch {
	case within(corev1.LabelNamespaceNodeRestriction):
		return true
	case !within("kubernetes.io") && !within("k8s.io"), slices.Contains(kubeletLabels, label), slices.ContainsFunc(kubeletLabelDomains, within):
		return false
	}
	return true
}

func restrictPods(a *attributes, node string) error {
	switch operation := a.operation(); {
	case operation == "DELETE":
		if pod := a.old.(*corev1.Pod); pod.Spec.NodeName != node {
			return a.forbid("node %q can only delete pods with spec.nodeName set to itself", node)
		}
	case operation == "CREATE":
		return restrictMirror(a, a.obj.(*corev1.Pod), node)
	case a.rq.Subresource == "status":
		pod, old := a.obj.(*corev1.Pod), a.old.(*corev1.Pod)
		switch {
		case old.Spec.NodeName != node:
			return a.forbid("node %q can only update pod status for pods with spec.nodeName set to itself", node)
		case !labels.Equals(old.Labels, pod.Labels):
			return a.forbid("node %q cannot update labels through pod status", node)
		case !apiequality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, pod.Status.ResourceClaimStatuses):
			return a.forbid("node %q cannot update resource claim statues", node)
		case !apiequality.Semantic.DeepEqual(old.Status.ExtendedResourceClaimStatus, pod.Status.ExtendedResourceClaimStatus):
			return a.forbid("node %q cannot update extended resource claim status", node)
		}
	case a.rq.Subresource == "":
		return a.forbid("unexpected operation %q, node %q can only create and delete mirror pods", operation, node)
	default:
		return a.forbid("unexpected pod subresource %q, only 'status' and 'eviction' are allowed", a.rq.Subresource)
	}
	return nil
}

// restrictMirror lets a kubelet show its static pods, and nothing else: a mirror belongs to the node and needs nothing of the API.
func restrictMirror(a *attributes, pod *corev1.Pod, node string) error {
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; !mirror {
		return a.forbid("pod does not have %q annotation, node %q can only create mirror pods", corev1.MirrorPodAnnotationKey, node)
	}
	if pod.Spec.NodeName != node {
		return a.forbid("node %q can only create pods with spec.nodeName set to itself", node)
	}
	if len(pod.OwnerReferences) > 1 {
		return a.forbid("node %q can only create pods with a single owner reference set to itself", node)
	}
	if len(pod.OwnerReferences) == 0 {
		return a.forbid("node %q can only create pods with an owner reference set to itself", node)
	}
	switch o := pod.OwnerReferences[0]; {
	case o.APIVersion != "v1" || o.Kind != "Node" || o.Name != node:
		return a.forbid("node %q can only create pods with an owner reference set to itself", node)
	case o.Controller == nil || !*o.Controller:
		return a.forbid("node %q can only create pods with a controller owner reference set to itself", node)
	case o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion:
		return a.forbid("node %q must not set blockOwnerDeletion on an owner reference", node)
	default:
		own, found, err := fetched[*corev1.Node](a, kinds.Nodes, "", node)
		switch {
		case err != nil:
			return a.forbid("error looking up node %s to verify uid: %v", node, err)
		case !found:
			return notListed("node", node)
		case o.UID != own.UID:
			return a.forbid("node %s UID mismatch: expected %s got %s", node, o.UID, own.UID)
		}
	}
	if what := apiReference(pod); what != "" {
		return a.forbid("node %q can not create pods that reference %s", node, what)
	}
	return nil
}

// notListed is the answer of a plugin that does not find something among what it watches: it names the kind in the singular, as listers do.
func notListed(kind, name string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Details: &metav1.StatusDetails{Name: name, Kind: kind}, Message: fmt.Sprintf("%s %q not found", kind, name)}}
}

// apiReference names what a pod needs of the API; empty: nothing (k/k pkg/api/pod: HasAPIObjectReference).
func apiReference(pod *corev1.Pod) string {
	switch {
	case pod.Spec.ServiceAccountName != "":
		return "serviceaccounts"
	case len(secretsOf(pod)) > 0:
		return "secrets"
	case readsConfigMaps(pod):
		return "configmaps"
	case len(pod.Spec.ResourceClaims) > 0:
		return "resourceclaims"
	}
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.CSI != nil:
			return "csidrivers (via CSI volumes)"
		case v.Glusterfs != nil:
			return "endpoints (via glusterFS volumes)"
		case v.PersistentVolumeClaim != nil:
			return "persistentvolumeclaims"
		case v.Ephemeral != nil:
			return "persistentvolumeclaims (via ephemeral volumes)"
		case v.Projected != nil:
			for _, s := range v.Projected.Sources {
				switch {
				case s.ServiceAccountToken != nil:
					return "serviceaccounts (via projected volumes)"
				case s.ClusterTrustBundle != nil:
					return "clustertrustbundles"
				case s.PodCertificate != nil:
					return "podcertificates"
				}
			}
		}
	}
	return ""
}

// readsConfigMaps reports that a pod needs a ConfigMap.
func readsConfigMaps(pod *corev1.Pod) bool {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if slices.ContainsFunc(containers[i].EnvFrom, func(f corev1.EnvFromSource) bool { return f.ConfigMapRef != nil }) ||
				slices.ContainsFunc(containers[i].Env, func(e corev1.EnvVar) bool { return e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.ConfigMap != nil || v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool { return s.ConfigMap != nil })
	})
}

// restrictClaim lets a kubelet say how large the volume of a claim has become.
func restrictClaim(a *attributes, node string) error {
	if a.rq.Subresource != "status" {
		return a.forbid("may only update PVC status")
	}
	was, is := a.old.(*corev1.PersistentVolumeClaim).DeepCopy(), a.obj.(*corev1.PersistentVolumeClaim).DeepCopy()
	for _, c := range []*corev1.PersistentVolumeClaim{was, is} {
		c.ResourceVersion, c.ManagedFields = "", nil
		c.Status.Capacity, c.Status.Conditions, c.Status.AllocatedResources, c.Status.AllocatedResourceStatuses = nil, nil, nil, nil
	}
	if apiequality.Semantic.DeepEqual(was, is) {
		return nil
	}
	return a.forbid("node %q is not allowed to update fields other than status.quantity and status.conditions: %v", node, check.Diff(was, is))
}

// restrictCertificate lets a kubelet ask for certificates in its own name alone.
func restrictCertificate(a *attributes, node string) error {
	csr, ok := a.obj.(*certificatesv1.CertificateSigningRequest)
	if !ok || !a.creates() || csr.Spec.SignerName != certificatesv1.KubeletServingSignerName && csr.Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName {
		return nil
	}
	asked, err := certificates.Parse(csr.Spec.Request)
	if err != nil {
		return a.forbid("unable to parse csr: %w", err)
	}
	if asked.Subject.CommonName != "system:node:"+node {
		return a.forbid("can only create a node CSR with CN=system:node:%s", node)
	}
	return nil
}

// admitEviction is nodeRestriction for evictions.
func (s *Server) admitEviction(rq *request, pod *corev1.Pod) error {
	if node, ok := authz.NodeName(rq.user); ok && pod.Spec.NodeName != node {
		return apierrors.NewForbidden(kinds.Pods.GR(), rq.Name, fmt.Errorf("node %s can only evict pods with spec.nodeName set to itself", node))
	}
	return nil
}

// admitToken is nodeRestriction for tokens: a node gets them for its own pods alone, and for those whom these pods talk to.
func (s *Server) admitToken(rq *request, tr *authenticationv1.TokenRequest, audiences []string) error {
	node, ok := authz.NodeName(rq.user)
	if !ok {
		return nil
	}
	refuse := func(format string, args ...any) error {
		return apierrors.NewForbidden(kinds.ServiceAccounts.GR(), rq.Name, fmt.Errorf(format, args...))
	}
	ref := tr.Spec.BoundObjectRef
	switch {
	case ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "":
		return refuse("node requested token not bound to a pod")
	case ref.UID == "":
		return refuse("node requested token with a pod binding without a uid")
	}
	pod, _ := s.cache.held(kinds.Pods, rq.Namespace, ref.Name).(*corev1.Pod)
	switch {
	case pod == nil:
		return notListed("pod", ref.Name)
	case ref.UID != pod.UID:
		return refuse("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != node:
		return refuse("node requested token bound to a pod scheduled on a different node")
	case len(audiences) > 1:
		return refuse("node may only request 0 or 1 audiences")
	}
	audience := ""
	if len(audiences) == 1 {
		audience = audiences[0]
	}
	if s.talksTo(pod, audience) {
		return nil
	}
	asks := rq.attributes()
	asks.Verb, asks.Group, asks.Resource, asks.Subresource, asks.Namespace, asks.Name = "request-serviceaccounts-token-audience", "", audience, "", rq.Namespace, rq.Name
	if ok, _ := s.access.chain.Authorize(asks); ok {
		return nil
	}
	return refuse("%s is not authorized to request tokens for audience %q", rq.user.Name, audience)
}

// talksTo reports that a volume of a pod holds a token for an audience, or is of a driver that asks for one.
func (s *Server) talksTo(pod *corev1.Pod, audience string) bool {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(p corev1.VolumeProjection) bool {
			return p.ServiceAccountToken != nil && p.ServiceAccountToken.Audience == audience
		}) {
			return true
		}
		if driver := s.driverOf(pod, v); driver != "" && s.driverAsks(driver, audience) {
			return true
		}
	}
	return false
}

// driverOf is the CSI driver of a pod's volume; empty: it has none, or none is known yet.
func (s *Server) driverOf(pod *corev1.Pod, v *corev1.Volume) string {
	claim := ""
	switch {
	case v.CSI != nil:
		return v.CSI.Driver
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		claim = pod.Name + "-" + v.Name
	case v.PersistentVolumeClaim != nil:
		claim = v.PersistentVolumeClaim.ClaimName
	}
	c, _ := s.cache.held(kinds.PersistentVolumeClaims, pod.Namespace, claim).(*corev1.PersistentVolumeClaim)
	if c == nil {
		return ""
	}
	volume, _ := s.cache.held(kinds.PersistentVolumes, "", c.Spec.VolumeName).(*corev1.PersistentVolume)
	if volume == nil || volume.Spec.CSI == nil {
		return ""
	}
	return volume.Spec.CSI.Driver
}

// driverAsks reports that kubelets get a driver tokens for an audience.
func (s *Server) driverAsks(driver, audience string) bool {
	d, _ := s.cache.held(kinds.CSIDrivers, "", driver).(*storagev1.CSIDriver)
	return d != nil && slices.ContainsFunc(d.Spec.TokenRequests, func(r storagev1.TokenRequest) bool { return r.Audience == audience })
}
