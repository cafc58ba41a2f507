package scheduling

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func priorityClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.PriorityClasses,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
