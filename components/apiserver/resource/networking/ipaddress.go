package networking

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func ipAddressResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.IPAddresses,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
