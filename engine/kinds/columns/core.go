package columns

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/engine/kinds"
)

var nodeDocs, machineDocs = corev1.NodeStatus{}.SwaggerDoc(), corev1.NodeSystemInfo{}.SwaggerDoc()

var nodes = []Column{
	name,
	text("Status", "The status of the node", kinds.NodeStatus),
	text("Roles", "The roles of the node", kinds.NodeRoles),
	age,
	text("Version", machineDocs["kubeletVersion"], func(n *corev1.Node) string { return n.Status.NodeInfo.KubeletVersion }),
	wide(text("Internal-IP", nodeDocs["addresses"], func(n *corev1.Node) string { return nodeAddress(n, corev1.NodeInternalIP) })),
	wide(text("External-IP", nodeDocs["addresses"], func(n *corev1.Node) string { return nodeAddress(n, corev1.NodeExternalIP) })),
	wide(text("OS-Image", machineDocs["osImage"], func(n *corev1.Node) string { return orElse(n.Status.NodeInfo.OSImage, "<unknown>") })),
	wide(text("Kernel-Version", machineDocs["kernelVersion"], func(n *corev1.Node) string {
		kernel := orElse(n.Status.NodeInfo.KernelVersion, "<unknown>")
		if arch := n.Status.NodeInfo.Architecture; arch != "" {
			kernel += " (" + arch + ")"
		}
		return kernel
	})),
	wide(text("Container-Runtime", machineDocs["containerRuntimeVersion"], func(n *corev1.Node) string { return orElse(n.Status.NodeInfo.ContainerRuntimeVersion, "<unknown>") })),
}

func nodeAddress(n *corev1.Node, t corev1.NodeAddressType) string {
	for _, a := range n.Status.Addresses {
		if a.Type == t {
			return a.Address
		}
	}
	return "<none>"
}

var namespaces = []Column{name, text("Status", "The status of the namespace", func(n *corev1.Namespace) string { return string(n.Status.Phase) }), age}

var configMaps = []Column{
	name,
	asString(number("Data", corev1.ConfigMap{}.SwaggerDoc()["data"], func(c *corev1.ConfigMap) int { return len(c.Data) + len(c.BinaryData) })),
	age,
}

var secrets = []Column{
	name,
	text("Type", corev1.Secret{}.SwaggerDoc()["type"], func(s *corev1.Secret) string { return string(s.Type) }),
	asString(number("Data", corev1.Secret{}.SwaggerDoc()["data"], func(s *corev1.Secret) int { return len(s.Data) })),
	age,
}

// serviceAccounts had a column of secrets until tokens stopped being kept in them.
var serviceAccounts = []Column{name, age}

var controllerSpecDocs, controllerStatusDocs = corev1.ReplicationControllerSpec{}.SwaggerDoc(), corev1.ReplicationControllerStatus{}.SwaggerDoc()

var replicationControllers = slices.Concat([]Column{
	name,
	number("Desired", controllerSpecDocs["replicas"], func(r *corev1.ReplicationController) int { return kinds.Desired(r.Spec.Replicas) }),
	number("Current", controllerStatusDocs["replicas"], func(r *corev1.ReplicationController) int32 { return r.Status.Replicas }),
	number("Ready", controllerStatusDocs["readyReplicas"], func(r *corev1.ReplicationController) int32 { return r.Status.ReadyReplicas }),
	age,
}, containers(func(r *corev1.ReplicationController) []corev1.Container {
	if r.Spec.Template == nil {
		return nil
	}
	return r.Spec.Template.Spec.Containers
}), []Column{wide(text("Selector", controllerSpecDocs["selector"], func(r *corev1.ReplicationController) string { return labels.FormatLabels(r.Spec.Selector) }))})

var serviceDocs = corev1.ServiceSpec{}.SwaggerDoc()

var services = []Column{
	name,
	text("Type", serviceDocs["type"], func(s *corev1.Service) string { return string(s.Spec.Type) }),
	text("Cluster-IP", serviceDocs["clusterIP"], func(s *corev1.Service) string {
		if len(s.Spec.ClusterIPs) > 0 {
			return s.Spec.ClusterIPs[0]
		}
		return orElse(s.Spec.ClusterIP, "<none>") // the API server fills in clusterIPs; objects that did not come through it may have one address only
	}),
	text("External-IP", serviceDocs["externalIPs"], externalIP),
	text("Port(s)", serviceDocs["ports"], servicePorts),
	age,
	wide(text("Selector", serviceDocs["selector"], func(s *corev1.Service) string { return labels.FormatLabels(s.Spec.Selector) })),
}

func externalIP(s *corev1.Service) string {
	switch s.Spec.Type {
	case corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort:
		return orElse(strings.Join(s.Spec.ExternalIPs, ","), "<none>")
	case corev1.ServiceTypeLoadBalancer:
		var points []string
		for _, in := range s.Status.LoadBalancer.Ingress {
			points = append(points, orElse(in.IP, in.Hostname))
		}
		return orElse(strings.Join(append(entries(points), s.Spec.ExternalIPs...), ","), "<pending>")
	case corev1.ServiceTypeExternalName:
		return s.Spec.ExternalName
	}
	return "<unknown>"
}

// entries are the addresses of a load balancer, sorted, each once, without those that have none yet.
func entries(points []string) []string {
	slices.Sort(points)
	return slices.DeleteFunc(slices.Compact(points), func(p string) bool { return p == "" })
}

func servicePorts(s *corev1.Service) string {
	pieces := make([]string, len(s.Spec.Ports))
	for i, p := range s.Spec.Ports {
		pieces[i] = strconv.Itoa(int(p.Port))
		if p.NodePort > 0 {
			pieces[i] += ":" + strconv.Itoa(int(p.NodePort))
		}
		pieces[i] += "/" + string(p.Protocol)
	}
	return orElse(strings.Join(pieces, ","), "<none>")
}

//lint:ignore SA1019 served all the same, and asked for
var endpoints = []Column{name, text("Endpoints", corev1.Endpoints{}.SwaggerDoc()["subsets"], endpointAddresses), age}

// endpointAddresses are the ready addresses with each of their ports; a headless service may have none.
//
//lint:ignore SA1019 served all the same, and asked for
func endpointAddresses(e *corev1.Endpoints) string {
	if len(e.Subsets) == 0 {
		return "<none>"
	}
	var list []string
	for i := range e.Subsets {
		s := &e.Subsets[i]
		if len(s.Ports) == 0 {
			for j := range s.Addresses {
				list = append(list, s.Addresses[j].IP)
			}
		}
		for _, p := range s.Ports {
			for j := range s.Addresses {
				list = append(list, net.JoinHostPort(s.Addresses[j].IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	return few(list, ",", "")
}

var resourceQuotas = []Column{
	name,
	text("Request", "Request represents a minimum amount of cpu/memory that a container may consume.", func(q *corev1.ResourceQuota) string { return quota(q, false) }),
	text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.", func(q *corev1.ResourceQuota) string { return quota(q, true) }),
	age,
}

// quota is used and hard of what begins with "limits.", or of all else.
func quota(q *corev1.ResourceQuota, limits bool) string {
	var list []string
	for r, hard := range q.Status.Hard {
		if strings.HasPrefix(string(r), "limits.") == limits {
			used := q.Status.Used[r]
			list = append(list, fmt.Sprintf("%s: %s/%s", r, used.String(), hard.String()))
		}
	}
	slices.SortFunc(list, func(a, b string) int { // by the resource: "pods" stands before "pods.x", though ':' sorts after '.'
		return strings.Compare(a[:strings.Index(a, ": ")], b[:strings.Index(b, ": ")])
	})
	return strings.Join(list, ", ")
}

var volumeDocs, claimDocs = corev1.PersistentVolumeSpec{}.SwaggerDoc(), corev1.PersistentVolumeClaimSpec{}.SwaggerDoc()

var persistentVolumes = []Column{
	name,
	text("Capacity", volumeDocs["capacity"], func(v *corev1.PersistentVolume) string { return v.Spec.Capacity.Storage().String() }),
	text("Access Modes", volumeDocs["accessModes"], func(v *corev1.PersistentVolume) string { return accessModes(v.Spec.AccessModes) }),
	text("Reclaim Policy", volumeDocs["persistentVolumeReclaimPolicy"], func(v *corev1.PersistentVolume) string { return string(v.Spec.PersistentVolumeReclaimPolicy) }),
	text("Status", corev1.PersistentVolumeStatus{}.SwaggerDoc()["phase"], func(v *corev1.PersistentVolume) string { return phase(v, string(v.Status.Phase)) }),
	text("Claim", volumeDocs["claimRef"], func(v *corev1.PersistentVolume) string {
		if v.Spec.ClaimRef == nil {
			return ""
		}
		return v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name
	}),
	text("StorageClass", "StorageClass of the pv", func(v *corev1.PersistentVolume) string { return classOf(v, v.Spec.StorageClassName) }),
	text("VolumeAttributesClass", "VolumeAttributesClass of the pv", func(v *corev1.PersistentVolume) string { return deref(v.Spec.VolumeAttributesClassName, "<unset>") }),
	text("Reason", corev1.PersistentVolumeStatus{}.SwaggerDoc()["reason"], func(v *corev1.PersistentVolume) string { return v.Status.Reason }),
	age,
	wide(text("VolumeMode", volumeDocs["volumeMode"], func(v *corev1.PersistentVolume) string { return string(deref(v.Spec.VolumeMode, "<unset>")) })),
}

var persistentVolumeClaims = []Column{
	name,
	text("Status", corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()["phase"], func(c *corev1.PersistentVolumeClaim) string { return phase(c, string(c.Status.Phase)) }),
	text("Volume", claimDocs["volumeName"], func(c *corev1.PersistentVolumeClaim) string { return c.Spec.VolumeName }),
	text("Capacity", corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()["capacity"], func(c *corev1.PersistentVolumeClaim) string {
		if c.Spec.VolumeName == "" {
			return ""
		}
		return c.Status.Capacity.Storage().String()
	}),
	text("Access Modes", corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()["accessModes"], func(c *corev1.PersistentVolumeClaim) string {
		if c.Spec.VolumeName == "" {
			return ""
		}
		return accessModes(c.Status.AccessModes)
	}),
	text("StorageClass", "StorageClass of the pvc", func(c *corev1.PersistentVolumeClaim) string { return classOf(c, deref(c.Spec.StorageClassName, "")) }),
	text("VolumeAttributesClass", "VolumeAttributesClass of the pvc", func(c *corev1.PersistentVolumeClaim) string {
		return deref(c.Spec.VolumeAttributesClassName, "<unset>")
	}),
	age,
	wide(text("VolumeMode", claimDocs["volumeMode"], func(c *corev1.PersistentVolumeClaim) string { return string(deref(c.Spec.VolumeMode, "<unset>")) })),
}

func phase(o kinds.Object, p string) string {
	if o.GetDeletionTimestamp() != nil {
		return "Terminating"
	}
	return p
}

// classOf prefers the annotation that classes had before there was a field.
func classOf(o kinds.Object, field string) string {
	if class, ok := o.GetAnnotations()[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return field
}

func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var list []string
	for _, m := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{{corev1.ReadWriteOnce, "RWO"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteMany, "RWX"}, {corev1.ReadWriteOncePod, "RWOP"}} {
		if slices.Contains(modes, m.mode) {
			list = append(list, m.short)
		}
	}
	return strings.Join(list, ",")
}

var componentStatuses = []Column{
	name,
	text("Status", "Status of the component conditions", func(c *corev1.ComponentStatus) string { return healthOf(c).status }),
	text("Message", "Message of the component conditions", func(c *corev1.ComponentStatus) string { return healthOf(c).message }),
	text("Error", "Error of the component conditions", func(c *corev1.ComponentStatus) string { return healthOf(c).err }),
}

type componentHealth struct{ status, message, err string }

// healthOf is what a component's condition says.
func healthOf(c *corev1.ComponentStatus) componentHealth {
	h := componentHealth{status: "Unknown"}
	for i := range c.Conditions {
		cond := &c.Conditions[i]
		if cond.Type != corev1.ComponentHealthy {
			continue
		}
		h = componentHealth{"Unhealthy", cond.Message, cond.Error}
		if cond.Status == corev1.ConditionTrue {
			h.status = "Healthy"
		}
	}
	return h
}
