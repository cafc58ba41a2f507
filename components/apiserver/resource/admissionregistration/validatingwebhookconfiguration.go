package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func validatingWebhookConfigurationResource() *resource.Resource {
	return &resource.Resource{
		Kind:       kinds.ValidatingWebhookConfigurations,
		Name:       apivalidation.NameIsDNSSubdomain,
		Default:    resource.Typed(defaultValidatingWebhooks),
		Generation: true,
		Warn:       warn(noWebhooks),
		Spec:       resource.TypedSpec(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) any { return o.Webhooks }),
	}
}
