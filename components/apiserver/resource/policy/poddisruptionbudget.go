package policy

import (
	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func podDisruptionBudgetResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.PodDisruptionBudgets,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *policyv1.PodDisruptionBudget) { o.Status = policyv1.PodDisruptionBudgetStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *policyv1.PodDisruptionBudget, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
