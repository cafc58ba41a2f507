// Package storage describes the kinds of storage.k8s.io/v1 to the API server, one file per kind.
//
// Pure functions; no goroutine, no time.
package storage

import (
	"example.com/kubeviz/components/apiserver/resource"
)

// Resources lists them.
func Resources() []*resource.Resource {
	return []*resource.Resource{csiDriverResource(), csiNodeResource(), csiStorageCapacityResource(), storageClassResource(), volumeAttachmentResource(), volumeAttributesClassResource()}
}
