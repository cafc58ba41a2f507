// Package autoscaling describes the kinds of autoscaling/v2 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package autoscaling

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{horizontalPodAutoscalerResource()}
}
