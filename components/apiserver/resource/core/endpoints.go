package core

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func endpointsResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.Endpoints,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
