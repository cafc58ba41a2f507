// Package discovery describes the kinds of discovery.k8s.io/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package discovery

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{endpointSliceResource()}
}
