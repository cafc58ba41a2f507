package node

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func runtimeClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.RuntimeClasses,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
