package quota

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubeviz/engine/kinds"
)

var serviceNames = []corev1.ResourceName{"count/services", corev1.ResourceServices, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers}

func ofServices(n corev1.ResourceName) bool { return slices.Contains(serviceNames, n) }

// serviceUsage counts node ports by what the service wants, as they are given out later.
func serviceUsage(obj kinds.Object, _ time.Time) corev1.ResourceList {
	svc := obj.(*corev1.Service)
	out := corev1.ResourceList{"count/services": one(), corev1.ResourceServices: one(), corev1.ResourceServicesLoadBalancers: number(0), corev1.ResourceServicesNodePorts: number(0)}
	switch svc.Spec.Type {
	case corev1.ServiceTypeNodePort:
		out[corev1.ResourceServicesNodePorts] = number(len(svc.Spec.Ports))
	case corev1.ServiceTypeLoadBalancer:
		out[corev1.ResourceServicesLoadBalancers] = one()
		ports := len(svc.Spec.Ports)
		if give := svc.Spec.AllocateLoadBalancerNodePorts; give != nil && !*give {
			ports = 0
			for _, p := range svc.Spec.Ports {
				if p.NodePort != 0 {
					ports++
				}
			}
		}
		out[corev1.ResourceServicesNodePorts] = number(ports)
	}
	return out
}

func serviceFrees(obj, old kinds.Object, _ time.Time) bool {
	counted := func(s *corev1.Service) corev1.ServiceType {
		if s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer {
			return s.Spec.Type
		}
		return ""
	}
	return counted(obj.(*corev1.Service)) != counted(old.(*corev1.Service))
}

// Claims are measured as a whole and by their storage class: "gold.storageclass.storage.k8s.io/requests.storage".
const classSuffix = ".storageclass.storage.k8s.io/"

var claimNames = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}

func ofClaims(n corev1.ResourceName) bool {
	return n == "count/persistentvolumeclaims" || slices.Contains(claimNames, n) ||
		slices.ContainsFunc(claimNames, func(c corev1.ResourceName) bool { return strings.HasSuffix(string(n), classSuffix+string(c)) })
}

func claimUsage(obj kinds.Object, _ time.Time) corev1.ResourceList {
	claim := obj.(*corev1.PersistentVolumeClaim)
	out := corev1.ResourceList{"count/persistentvolumeclaims": one(), corev1.ResourcePersistentVolumeClaims: one()}
	class := corev1.ResourceName(classOf(claim))
	if class != "" {
		out[class+classSuffix+corev1.ResourcePersistentVolumeClaims] = one()
	}
	if size, ok := claim.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		size = whole(size)
		if given, ok := claim.Status.AllocatedResources[corev1.ResourceStorage]; ok && given.Cmp(size) > 0 { // an expansion that was taken back still holds what it got
			size = whole(given)
		}
		out[corev1.ResourceRequestsStorage] = size
		if class != "" {
			out[class+classSuffix+corev1.ResourceRequestsStorage] = size
		}
	}
	return out
}

// classOf is the storage class by its field or by the annotation that came before it.
func classOf(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	return ""
}

// whole rounds up to bytes.
func whole(q resource.Quantity) resource.Quantity {
	r := q.DeepCopy()
	r.RoundUp(0)
	return r
}

func claimInScope(s corev1.ScopedResourceSelectorRequirement, obj kinds.Object) bool {
	if s.ScopeName != corev1.ResourceQuotaScopeVolumeAttributesClass {
		return false
	}
	return selects(s, attributesClasses(obj.(*corev1.PersistentVolumeClaim))...)
}

// attributesClasses are the classes that a claim has, or is on the way to.
func attributesClasses(claim *corev1.PersistentVolumeClaim) (names []string) {
	for _, n := range []*string{claim.Spec.VolumeAttributesClassName, claim.Status.CurrentVolumeAttributesClassName} {
		if n != nil && *n != "" {
			names = append(names, *n)
		}
	}
	if m := claim.Status.ModifyVolumeStatus; m != nil && m.TargetVolumeAttributesClassName != "" {
		names = append(names, m.TargetVolumeAttributesClassName)
	}
	return names
}

func claimHandles(subresource string, obj, old kinds.Object) bool {
	return subresource == "" || subresource == "status" && claimFrees(obj, old, time.Time{})
}

func claimFrees(obj, old kinds.Object, _ time.Time) bool {
	is, was := obj.(*corev1.PersistentVolumeClaim), old.(*corev1.PersistentVolumeClaim)
	return !apiequality.Semantic.DeepEqual(is.Status.AllocatedResources, was.Status.AllocatedResources) || !slices.Equal(attributesClasses(is), attributesClasses(was))
}
