package coordination

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func leaseResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.Leases,
		FreeFinalizers: true,
		Versioned:      true, // two candidates must never both win
		Name:           apivalidation.NameIsDNSSubdomain,
		// Coordinated leader election is not served: its fields are dropped unless they are there.
		PrepareCreate: resource.Typed(func(l *coordinationv1.Lease) { l.Spec.Strategy, l.Spec.PreferredHolder = nil, nil }),
		PrepareUpdate: resource.TypedUpdate(func(l, old *coordinationv1.Lease, _ string) {
			if old.Spec.Strategy == nil {
				l.Spec.Strategy = nil
			}
			if old.Spec.PreferredHolder == nil {
				l.Spec.PreferredHolder = nil
			}
		}),
		Validate: resource.TypedCheck(func(l *coordinationv1.Lease) field.ErrorList {
			var errs field.ErrorList
			spec := field.NewPath("spec")
			if d := l.Spec.LeaseDurationSeconds; d != nil && *d <= 0 {
				errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
			}
			if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
				errs = append(errs, field.Invalid(spec.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
			}
			return errs
		}),
		Fields: map[string]func(kinds.Object) string{},
	}
}
