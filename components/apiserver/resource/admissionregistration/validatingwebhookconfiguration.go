package admissionregistration

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func validatingWebhookConfigurationResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.ValidatingWebhookConfigurations,
		Name: apivalidation.NameIsDNSSubdomain,
	}
}
