// Package apiextensions describes the kinds of apiextensions.k8s.io/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package apiextensions

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{customResourceDefinitionResource()}
}
