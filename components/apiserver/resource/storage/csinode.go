package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func csiNodeResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.CSINodes,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *storagev1.CSINode) { o.Status = storagev1.CSINodeStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *storagev1.CSINode, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
