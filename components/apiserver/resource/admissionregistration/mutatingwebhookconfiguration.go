package admissionregistration

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func mutatingWebhookConfigurationResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.MutatingWebhookConfigurations,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Default:        resource.Typed(defaultMutatingWebhooks),
		Generation:     true,
		Warn:           warn(noWebhooks),
		Spec:           resource.TypedSpec(func(o *admissionregistrationv1.MutatingWebhookConfiguration) any { return o.Webhooks }),
		UpdateWhole:    true,
		Validate: resource.TypedCheck(func(o *admissionregistrationv1.MutatingWebhookConfiguration) field.ErrorList {
			return validateHooks(mutatingHooks(o), allowed{})
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old *admissionregistrationv1.MutatingWebhookConfiguration, _ string) field.ErrorList {
			return validateHooks(mutatingHooks(o), allowedFor(mutatingHooks(old)))
		}),
	}
}
