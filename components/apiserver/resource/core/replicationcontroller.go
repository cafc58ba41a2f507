package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func replicationControllerResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.ReplicationControllers,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *corev1.ReplicationController) { o.Status = corev1.ReplicationControllerStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *corev1.ReplicationController, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
