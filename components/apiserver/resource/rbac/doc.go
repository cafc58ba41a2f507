// Package rbac describes the kinds of rbac.authorization.k8s.io/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package rbac

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{clusterRoleBindingResource(), clusterRoleResource(), roleBindingResource(), roleResource()}
}
