package admissionregistration

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func mutatingAdmissionPolicyResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.MutatingAdmissionPolicies,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
