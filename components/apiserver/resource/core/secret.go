package core

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func secretResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.Secrets,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
