package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func csiDriverResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.CSIDrivers,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(d *storagev1.CSIDriver) {
			check.SetDefault(&d.Spec.AttachRequired, true)
			check.SetDefault(&d.Spec.PodInfoOnMount, false)
			check.SetDefault(&d.Spec.StorageCapacity, false)
			check.SetDefault(&d.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
			check.SetDefault(&d.Spec.RequiresRepublish, false)
			check.SetDefault(&d.Spec.SELinuxMount, false)
			if len(d.Spec.VolumeLifecycleModes) == 0 {
				d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
			}
		}),
	}
}
