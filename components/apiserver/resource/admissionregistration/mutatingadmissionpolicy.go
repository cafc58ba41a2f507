package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func mutatingAdmissionPolicyResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.MutatingAdmissionPolicies,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(o *admissionregistrationv1.MutatingAdmissionPolicy) {
			check.SetDefault(&o.Spec.FailurePolicy, admissionregistrationv1.Fail)
			defaultMatch(o.Spec.MatchConstraints)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o *admissionregistrationv1.MutatingAdmissionPolicy) any { return o.Spec }),
		Validate:   resource.TypedCheck(validateMutatingPolicy),
	}
}
