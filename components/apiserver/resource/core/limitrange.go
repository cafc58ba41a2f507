package core

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func limitRangeResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.LimitRanges,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
