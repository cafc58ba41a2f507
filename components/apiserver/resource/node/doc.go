// Package node describes the kinds of node.k8s.io/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package node

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{runtimeClassResource()}
}
