package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func validatingAdmissionPolicyResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.ValidatingAdmissionPolicies,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(o *admissionregistrationv1.ValidatingAdmissionPolicy) {
			check.SetDefault(&o.Spec.FailurePolicy, admissionregistrationv1.Fail)
			defaultMatch(o.Spec.MatchConstraints)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o *admissionregistrationv1.ValidatingAdmissionPolicy) any { return o.Spec }),
		PrepareCreate: resource.Typed(func(o *admissionregistrationv1.ValidatingAdmissionPolicy) {
			o.Status = admissionregistrationv1.ValidatingAdmissionPolicyStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old *admissionregistrationv1.ValidatingAdmissionPolicy, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(validateValidatingPolicy),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, _ *admissionregistrationv1.ValidatingAdmissionPolicy, sub string) field.ErrorList {
			if sub == "status" {
				return validatePolicyStatus(o)
			}
			return validateValidatingPolicy(o)
		}),
	}
}
