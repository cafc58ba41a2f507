package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func resourceQuotaResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.ResourceQuotas,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *corev1.ResourceQuota) { o.Status = corev1.ResourceQuotaStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *corev1.ResourceQuota, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
