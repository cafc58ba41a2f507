// Package policy describes the kinds of policy/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package policy

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{podDisruptionBudgetResource()}
}
