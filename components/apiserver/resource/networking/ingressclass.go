package networking

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func ingressClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.IngressClasses,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
