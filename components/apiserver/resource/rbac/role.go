package rbac

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func roleResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.Roles,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
