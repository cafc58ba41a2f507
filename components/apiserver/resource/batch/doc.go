// Package batch describes the kinds of batch/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package batch

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{cronJobResource(), jobResource()}
}
