package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func persistentVolumeResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.PersistentVolumes,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *corev1.PersistentVolume) { o.Status = corev1.PersistentVolumeStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *corev1.PersistentVolume, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
