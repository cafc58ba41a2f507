package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func jobResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.Jobs,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *batchv1.Job) { o.Status = batchv1.JobStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *batchv1.Job, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
