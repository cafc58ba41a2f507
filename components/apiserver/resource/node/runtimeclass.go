package node

import (
	nodev1 "k8s.io/api/node/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func runtimeClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.RuntimeClasses,
		Name: apivalidation.NameIsDNSSubdomain,
		Validate: resource.TypedCheck(func(c *nodev1.RuntimeClass) field.ErrorList {
			at := field.NewPath("handler")
			if c.Handler == "" {
				return field.ErrorList{field.Required(at, "")}
			}
			return check.DNSLabel(c.Handler, at)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(c, old *nodev1.RuntimeClass, _ string) field.ErrorList {
			return apivalidation.ValidateImmutableField(c.Handler, old.Handler, field.NewPath("handler"))
		}),
	}
}
