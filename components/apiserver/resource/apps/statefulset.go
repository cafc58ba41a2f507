package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func statefulSetResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.StatefulSets,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *appsv1.StatefulSet) { o.Status = appsv1.StatefulSetStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *appsv1.StatefulSet, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
