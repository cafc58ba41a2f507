package autoscaling

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func horizontalPodAutoscalerResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.HorizontalPodAutoscalers,
		Name: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *autoscalingv2.HorizontalPodAutoscaler) {
			o.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old *autoscalingv2.HorizontalPodAutoscaler, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
