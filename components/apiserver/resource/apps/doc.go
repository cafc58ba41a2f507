// Package apps describes the kinds of apps/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package apps

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{controllerRevisionResource(), daemonSetResource(), deploymentResource(), replicaSetResource(), statefulSetResource()}
}
