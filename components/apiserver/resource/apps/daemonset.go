package apps

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func daemonSetResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.DaemonSets,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *appsv1.DaemonSet) { o.Status = appsv1.DaemonSetStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *appsv1.DaemonSet, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
