package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func validatingAdmissionPolicyBindingResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.ValidatingAdmissionPolicyBindings,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Default:        resource.Typed(func(o *admissionregistrationv1.ValidatingAdmissionPolicyBinding) { defaultMatch(o.Spec.MatchResources) }),
		Generation:     true,
		Spec:           resource.TypedSpec(func(o *admissionregistrationv1.ValidatingAdmissionPolicyBinding) any { return o.Spec }),
		Validate: resource.TypedCheck(func(o *admissionregistrationv1.ValidatingAdmissionPolicyBinding) field.ErrorList {
			at := field.NewPath("spec")
			return append(validateBinding(o.Spec.PolicyName, o.Spec.ParamRef, o.Spec.MatchResources, at), validateActions(o.Spec.ValidationActions, at.Child("validationActions"))...)
		}),
	}
}
