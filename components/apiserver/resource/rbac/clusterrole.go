package rbac

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func clusterRoleResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ClusterRoles,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
