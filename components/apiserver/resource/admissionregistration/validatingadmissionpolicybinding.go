package admissionregistration

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func validatingAdmissionPolicyBindingResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ValidatingAdmissionPolicyBindings,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
