package discovery

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func endpointSliceResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.EndpointSlices,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
