package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func mutatingAdmissionPolicyBindingResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.MutatingAdmissionPolicyBindings,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Default:        resource.Typed(func(o *admissionregistrationv1.MutatingAdmissionPolicyBinding) { defaultMatch(o.Spec.MatchResources) }),
		Generation:     true,
		Spec:           resource.TypedSpec(func(o *admissionregistrationv1.MutatingAdmissionPolicyBinding) any { return o.Spec }),
		Validate: resource.TypedCheck(func(o *admissionregistrationv1.MutatingAdmissionPolicyBinding) field.ErrorList {
			return validateBinding(o.Spec.PolicyName, o.Spec.ParamRef, o.Spec.MatchResources, field.NewPath("spec"))
		}),
	}
}
