package authz

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"

	"example.com/kubeviz/engine/kinds"
)

// referred is a sort of object that a node reaches through its pods.
type referred uint8

const (
	secret referred = iota
	configMap
	serviceAccount
	claim
)

// object is one of them.
type object struct {
	what            referred
	namespace, name string
}

// Node lets a kubelet at its own objects and at what its pods refer to (k/k plugin/pkg/auth/authorizer/node). What it may do with them is refined by the admission plugin
// NodeRestriction.
//
// It counts, per object, how many references of pods lead there from each node: a pod that comes or goes costs its own references, a question one look-up. A pod that merely
// reports its status costs nothing.
type Node struct {
	rules []rbacv1.PolicyRule
	pods  func(namespace, name string) *corev1.Pod
	refs  map[object]map[string]int32
	// volumes by name, each with the claim it is bound to; secretsOf tells which volumes need a secret.
	volumes   map[string]object
	secretsOf map[object]map[string]int32
	attached  map[string]string // VolumeAttachment to node
}

// NewNode makes one that knows of no pod. Rules are what every node may, beside what is decided by name (the rules of the cluster role system:node); pods finds a pod in the same
// picture that Change tells of, nil when there is none.
func NewNode(rules []rbacv1.PolicyRule, pods func(namespace, name string) *corev1.Pod) *Node {
	n := &Node{rules: rules, pods: pods}
	n.Clear()
	return n
}

// Clear forgets everything.
func (n *Node) Clear() {
	n.refs, n.secretsOf = map[object]map[string]int32{}, map[object]map[string]int32{}
	n.volumes, n.attached = map[string]object{}, map[string]string{}
}

// Change takes in what became of a Pod, PersistentVolume or VolumeAttachment: now is nil when it is gone, before when it is new.
func (n *Node) Change(now, before kinds.Object) {
	switch of(now, before).(type) {
	case *corev1.Pod:
		is, _ := now.(*corev1.Pod)
		was, _ := before.(*corev1.Pod)
		// A pod's references do not change while it stays what and where it is, but for containers that are added for debugging.
		if is != nil && was != nil && is.Spec.NodeName == was.Spec.NodeName && is.UID == was.UID && len(is.Spec.EphemeralContainers) == len(was.Spec.EphemeralContainers) {
			return
		}
		n.count(was, -1)
		n.count(is, 1)
	case *corev1.PersistentVolume:
		if pv, ok := before.(*corev1.PersistentVolume); ok {
			n.forget(pv)
		}
		if pv, ok := now.(*corev1.PersistentVolume); ok && pv.Spec.ClaimRef != nil {
			n.volumes[pv.Name] = object{claim, pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name}
			volumeSecrets(pv, func(namespace, name string) { add(n.secretsOf, object{secret, namespace, name}, pv.Name, 1) })
		}
	case *storagev1.VolumeAttachment:
		if va, ok := before.(*storagev1.VolumeAttachment); ok {
			delete(n.attached, va.Name)
		}
		if va, ok := now.(*storagev1.VolumeAttachment); ok {
			n.attached[va.Name] = va.Spec.NodeName
		}
	}
}

func of(now, before kinds.Object) kinds.Object {
	if now != nil {
		return now
	}
	return before
}

func (n *Node) count(pod *corev1.Pod, by int32) {
	if pod == nil || pod.Spec.NodeName == "" {
		return
	}
	podRefs(pod, func(what referred, name string) {
		add(n.refs, object{what, pod.Namespace, name}, pod.Spec.NodeName, by)
	})
}

func (n *Node) forget(pv *corev1.PersistentVolume) {
	if _, ok := n.volumes[pv.Name]; !ok {
		return
	}
	delete(n.volumes, pv.Name)
	volumeSecrets(pv, func(namespace, name string) { add(n.secretsOf, object{secret, namespace, name}, pv.Name, -1) })
}

// add counts, and keeps no counter at 0.
func add(m map[object]map[string]int32, o object, to string, by int32) {
	counts := m[o]
	if counts == nil {
		counts = map[string]int32{}
		m[o] = counts
	}
	if counts[to] += by; counts[to] == 0 {
		if delete(counts, to); len(counts) == 0 {
			delete(m, o)
		}
	}
}

// reaches tells whether a pod of the node leads to the object.
func (n *Node) reaches(node string, o object) bool {
	if n.refs[o][node] > 0 {
		return true
	}
	if o.what == secret {
		for pv := range n.secretsOf[o] {
			if n.refs[n.volumes[pv]][node] > 0 {
				return true
			}
		}
	}
	return false
}

// leaseNamespace holds the heartbeats of nodes.
const leaseNamespace = corev1.NamespaceNodeLease

// Authorize implements Authorizer.
func (n *Node) Authorize(a *Attributes) (bool, string) {
	node, ok := NodeName(a.User)
	switch {
	case !ok:
		return false, ""
	case node == "":
		return false, fmt.Sprintf("unknown node for user %q", a.User.Name)
	case a.Path != "":
		return anyAllows(n.rules, a), ""
	}
	at := func(what referred) object { return object{what, a.Namespace, a.Name} }
	switch {
	case a.Group == "" && a.Resource == "secrets":
		return n.read(node, a, at(secret))
	case a.Group == "" && a.Resource == "configmaps":
		return n.read(node, a, at(configMap))
	case a.Group == "" && a.Resource == "persistentvolumeclaims":
		if a.Subresource == "status" {
			if a.Verb != "update" && a.Verb != "patch" {
				return false, "can only get/update/patch this type"
			}
			return n.related(node, a, n.reaches(node, at(claim)))
		}
		return n.get(node, a, n.reaches(node, at(claim)))
	case a.Group == "" && a.Resource == "persistentvolumes":
		bound, ok := n.volumes[a.Name]
		return n.get(node, a, ok && n.refs[bound][node] > 0)
	case a.Group == storagev1.GroupName && a.Resource == "volumeattachments":
		return n.get(node, a, a.Name != "" && n.attached[a.Name] == node)
	case a.Group == "" && a.Resource == "serviceaccounts":
		return n.account(node, a, at(serviceAccount))
	case a.Group == "coordination.k8s.io" && a.Resource == "leases":
		return lease(node, a)
	case a.Group == storagev1.GroupName && a.Resource == "csinodes":
		return csiNode(node, a)
	case a.Group == "" && a.Resource == "nodes":
		return ownNode(node, a)
	case a.Group == "" && a.Resource == "pods":
		return n.pod(node, a)
	}
	return anyAllows(n.rules, a), ""
}

// related allows one object that is named and that the node's pods lead to.
func (n *Node) related(node string, a *Attributes, reached bool) (bool, string) {
	switch {
	case a.Name == "":
		return false, "No Object name found"
	case !reached:
		return false, fmt.Sprintf("no relationship found between node '%s' and this object", node)
	}
	return true, ""
}

func (n *Node) get(node string, a *Attributes, reached bool) (bool, string) {
	switch {
	case a.Verb != "get":
		return false, "can only get individual resources of this type"
	case a.Subresource != "":
		return false, "cannot get subresource"
	}
	return n.related(node, a, reached)
}

func (n *Node) read(node string, a *Attributes, o object) (bool, string) {
	switch {
	case !reads(a.Verb):
		return false, "can only read resources of this type"
	case a.Subresource != "":
		return false, "cannot read subresource"
	case a.Namespace == "":
		return false, "can only read namespaced object of this type"
	}
	return n.related(node, a, n.reaches(node, o))
}

func reads(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

func (n *Node) account(node string, a *Attributes, o object) (bool, string) {
	switch {
	case a.Verb == "get" && a.Subresource == "":
		return n.read(node, a, o)
	case a.Verb != "create" || a.Name == "":
		return false, "can only create tokens for individual service accounts"
	case a.Subresource != "token":
		return false, "can only create token subresource of serviceaccount"
	}
	return n.related(node, a, n.reaches(node, o))
}

// manages are the verbs with which a node keeps an object of its own.
func manages(verb string) bool {
	return verb == "get" || verb == "create" || verb == "update" || verb == "patch" || verb == "delete"
}

func lease(node string, a *Attributes) (bool, string) {
	switch {
	case !manages(a.Verb):
		return false, "can only get, create, update, patch, or delete a node lease"
	case a.Namespace != leaseNamespace:
		return false, fmt.Sprintf("can only access leases in the %q system namespace", leaseNamespace)
	case a.Verb != "create" && a.Name != node: // the name of a creation is in the body; NodeRestriction looks at it
		return false, "can only access node lease with the same name as the requesting node"
	}
	return true, ""
}

func csiNode(node string, a *Attributes) (bool, string) {
	switch {
	case a.Subresource == "status":
		return false, "CSINode status access requires CSIVolumeHealth feature"
	case a.Subresource != "":
		return false, "cannot authorize CSINode subresources"
	case !manages(a.Verb):
		return false, "can only get, create, update, patch, or delete a CSINode"
	case a.Verb != "create" && a.Name != node:
		return false, "can only access CSINode with the same name as the requesting node"
	}
	return true, ""
}

func ownNode(node string, a *Attributes) (bool, string) {
	switch a.Subresource {
	case "":
		switch {
		case a.Verb == "create" || a.Verb == "update" || a.Verb == "patch":
			return true, "" // whose Node it is, NodeRestriction looks at
		case !reads(a.Verb):
			return false, ""
		case a.Name == node:
			return true, ""
		case a.Name == "":
			return false, fmt.Sprintf("node '%s' cannot read all nodes, only its own Node object", node)
		}
		return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", node, a.Name)
	case "status":
		return a.Verb == "update" || a.Verb == "patch", ""
	}
	return false, ""
}

func (n *Node) pod(node string, a *Attributes) (bool, string) {
	own := func() bool {
		pod := n.pods(a.Namespace, a.Name)
		return pod != nil && pod.Spec.NodeName == node
	}
	switch a.Subresource {
	case "":
		switch a.Verb {
		case "get":
			return n.related(node, a, own())
		case "list", "watch":
			if a.selects("spec.nodeName") == node {
				return true, ""
			}
			if a.Name != "" {
				return n.related(node, a, own())
			}
			return false, "can only list/watch pods with spec.nodeName field selector"
		case "create", "delete":
			return true, "" // mirror pods; NodeRestriction looks at which
		}
	case "status":
		return a.Verb == "update" || a.Verb == "patch", ""
	case "eviction":
		return a.Verb == "create", ""
	}
	return false, ""
}
