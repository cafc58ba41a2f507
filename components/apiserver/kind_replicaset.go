package apiserver

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/engine/kinds"
)

func replicaSetResource() *Resource {
	return &Resource{
		Kind: kinds.ReplicaSets,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: typed(func(rs *appsv1.ReplicaSet) {
			setDefault(&rs.Spec.Replicas, 1)
			defaultPodSpec(&rs.Spec.Template.Spec)
		}),
		PrepareCreate: typed(func(rs *appsv1.ReplicaSet) { rs.Status = appsv1.ReplicaSetStatus{} }),
		PrepareUpdate: typedUpdate(func(rs, old *appsv1.ReplicaSet, sub string) {
			if sub == "status" {
				rs.Spec = old.Spec
			} else {
				rs.Status = old.Status
			}
		}),
		Validate: typedCheck(func(rs *appsv1.ReplicaSet) field.ErrorList {
			s, at := &rs.Spec, field.NewPath("spec")
			errs := apivalidation.ValidateNonnegativeField(int64(*s.Replicas), at.Child("replicas"))
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(s.MinReadySeconds), at.Child("minReadySeconds"))...)
			errs = append(errs, validateSelector(s.Selector, s.Template.Labels, at)...)
			return append(errs, validateTemplate(&s.Template, at.Child("template"))...)
		}),
		ValidateUpdate: typedCheckUpdate(func(rs, old *appsv1.ReplicaSet, _ string) field.ErrorList {
			return apivalidation.ValidateImmutableField(rs.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))
		}),
		Generation: true,
		Spec:       typedSpec(func(rs *appsv1.ReplicaSet) any { return rs.Spec }),
		Fields: map[string]func(kinds.Object) string{
			"status.replicas": typedValue(func(rs *appsv1.ReplicaSet) string { return strconv.Itoa(int(rs.Status.Replicas)) }),
		},
	}
}
