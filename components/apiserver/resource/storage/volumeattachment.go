package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func volumeAttachmentResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.VolumeAttachments,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *storagev1.VolumeAttachment) { o.Status = storagev1.VolumeAttachmentStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *storagev1.VolumeAttachment, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
