package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func validatingWebhookConfigurationResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.ValidatingWebhookConfigurations,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Default:        resource.Typed(defaultValidatingWebhooks),
		Generation:     true,
		Warn:           warn(noWebhooks),
		Spec:           resource.TypedSpec(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) any { return o.Webhooks }),
		UpdateWhole:    true,
		Validate: resource.TypedCheck(func(o *admissionregistrationv1.ValidatingWebhookConfiguration) field.ErrorList {
			return validateHooks(validatingHooks(o), allowed{})
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old *admissionregistrationv1.ValidatingWebhookConfiguration, _ string) field.ErrorList {
			return validateHooks(validatingHooks(o), allowedFor(validatingHooks(old)))
		}),
	}
}
