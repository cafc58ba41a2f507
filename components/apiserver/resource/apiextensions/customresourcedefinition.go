package apiextensions

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func customResourceDefinitionResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.CustomResourceDefinitions,
		Name: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *apiextensionsv1.CustomResourceDefinition) {
			o.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old *apiextensionsv1.CustomResourceDefinition, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
	}
}
