package storage

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func volumeAttributesClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.VolumeAttributesClasses,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
