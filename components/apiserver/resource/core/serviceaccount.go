package core

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func serviceAccountResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ServiceAccounts,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
