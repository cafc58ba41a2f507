// Package core describes the kinds of v1 but for pods, which have a package of their own to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package core

import (
	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/pods"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{configMapResource(), endpointsResource(), eventResource(), limitRangeResource(), namespaceResource(), nodeResource(), persistentVolumeClaimResource(), persistentVolumeResource(), pods.Resource(), podTemplateResource(), replicationControllerResource(), resourceQuotaResource(), secretResource(), serviceAccountResource(), serviceResource()}
}
