package apps

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func controllerRevisionResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ControllerRevisions,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
