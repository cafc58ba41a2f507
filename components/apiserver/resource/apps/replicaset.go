package apps

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func replicaSetResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ReplicaSets,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(rs *appsv1.ReplicaSet) {
			check.SetDefault(&rs.Spec.Replicas, 1)
			pods.DefaultSpec(&rs.Spec.Template.Spec)
		}),
		PrepareCreate: resource.Typed(func(rs *appsv1.ReplicaSet) { rs.Status = appsv1.ReplicaSetStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(rs, old *appsv1.ReplicaSet, sub string) {
			if sub == "status" {
				rs.Spec = old.Spec
			} else {
				rs.Status = old.Status
			}
		}),
		Validate: resource.TypedCheck(func(rs *appsv1.ReplicaSet) field.ErrorList {
			s, at := &rs.Spec, field.NewPath("spec")
			errs := apivalidation.ValidateNonnegativeField(int64(*s.Replicas), at.Child("replicas"))
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(s.MinReadySeconds), at.Child("minReadySeconds"))...)
			errs = append(errs, check.Selector(s.Selector, s.Template.Labels, at)...)
			return append(errs, pods.ValidateTemplate(&s.Template, at.Child("template"))...)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(rs, old *appsv1.ReplicaSet, _ string) field.ErrorList {
			return apivalidation.ValidateImmutableField(rs.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(rs *appsv1.ReplicaSet) any { return rs.Spec }),
		Fields: map[string]func(kinds.Object) string{
			"status.replicas": resource.TypedValue(func(rs *appsv1.ReplicaSet) string { return strconv.Itoa(int(rs.Status.Replicas)) }),
		},
	}
}
