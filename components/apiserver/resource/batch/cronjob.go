package batch

import (
	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func cronJobResource() *resource.Resource {
	return &resource.Resource{
		Kind:          kinds.CronJobs,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *batchv1.CronJob) { o.Status = batchv1.CronJobStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *batchv1.CronJob, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
