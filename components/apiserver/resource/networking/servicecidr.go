package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func serviceCIDRResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.ServiceCIDRs,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *networkingv1.ServiceCIDR) { o.Status = networkingv1.ServiceCIDRStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *networkingv1.ServiceCIDR, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
