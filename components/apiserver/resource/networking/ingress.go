package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func ingressResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.Ingresses,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *networkingv1.Ingress) { o.Status = networkingv1.IngressStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *networkingv1.Ingress, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
