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
	type set = *appsv1.ReplicaSet
	return &resource.Resource{
		Kind: kinds.ReplicaSets,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(rs set) {
			check.SetDefault(&rs.Spec.Replicas, 1)
			pods.DefaultSpec(&rs.Spec.Template.Spec)
		}),
		PrepareCreate: resource.Typed(func(rs set) { rs.Status = appsv1.ReplicaSetStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(rs, old set, sub string) {
			if sub == "status" {
				rs.Spec = old.Spec
			} else {
				rs.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(rs set) field.ErrorList { return validateReplicaSet(&rs.Spec, field.NewPath("spec")) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(rs, old set, sub string) field.ErrorList {
			if sub == "status" {
				return validateReplicaSetStatus(&rs.Status, field.NewPath("status"))
			}
			errs := validateReplicaSet(&rs.Spec, field.NewPath("spec"))
			return append(errs, apivalidation.ValidateImmutableField(rs.Spec.Selector, old.Spec.Selector, field.NewPath("spec", "selector"))...)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(rs set) any { return rs.Spec }),
		Fields: map[string]func(kinds.Object) string{
			"status.replicas": resource.TypedValue(func(rs set) string { return strconv.Itoa(int(rs.Status.Replicas)) }),
		},
		Warn: resource.TypedWarn(func(rs, old set) []string {
			if old != nil {
				return nil
			}
			return nameWarnings(rs.Name)
		}),
	}
}

func validateReplicaSet(s *appsv1.ReplicaSetSpec, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.Opt("replicas", s.Replicas), check.N("minReadySeconds", s.MinReadySeconds))
	return append(errs, validateSelected(s.Selector, &s.Template, at)...)
}

func validateReplicaSetStatus(s *appsv1.ReplicaSetStatus, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.N("replicas", s.Replicas), check.N("fullyLabeledReplicas", s.FullyLabeledReplicas), check.N("readyReplicas", s.ReadyReplicas),
		check.N("availableReplicas", s.AvailableReplicas), check.N("observedGeneration", s.ObservedGeneration), check.Opt("terminatingReplicas", s.TerminatingReplicas))
	errs = append(errs, check.AtMost(at, s.Replicas, aboveReplicas, check.N("fullyLabeledReplicas", s.FullyLabeledReplicas), check.N("readyReplicas", s.ReadyReplicas),
		check.N("availableReplicas", s.AvailableReplicas))...)
	return append(errs, check.AtMost(at, s.ReadyReplicas, "cannot be greater than readyReplicas", check.N("availableReplicas", s.AvailableReplicas))...)
}
