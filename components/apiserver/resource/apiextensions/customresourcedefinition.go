package apiextensions

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func customResourceDefinitionResource() *resource.Resource {
	return &resource.Resource{
		Kind:           kinds.CustomResourceDefinitions,
		FreeFinalizers: true,
		Name:           apivalidation.NameIsDNSSubdomain,
		Versioned:      true,
		Generation:     true,
		Finalizer:      apiextensionsv1.CustomResourceCleanupFinalizer,
		Spec:           resource.TypedSpec(func(o *apiextensionsv1.CustomResourceDefinition) any { return o.Spec }),
		Default:        resource.Typed(setDefaults),
		PrepareCreate: resource.Typed(func(o *apiextensionsv1.CustomResourceDefinition) {
			o.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
			keepStored(o)
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old *apiextensionsv1.CustomResourceDefinition, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = *old.Status.DeepCopy()
				keepStored(o)
			}
		}),
		MarkDeleted: resource.Typed(func(o *apiextensionsv1.CustomResourceDefinition) {
			now := metav1.Time{}
			if o.DeletionTimestamp != nil {
				now = *o.DeletionTimestamp
			}
			Set(o, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionPending", "CustomResourceDefinition marked for deletion; CustomResource deletion will be initiated soon", now)
		}),
		UpdateWhole:    true,
		Validate:       resource.TypedCheck(func(o *apiextensionsv1.CustomResourceDefinition) field.ErrorList { return validate(o, nil) }),
		ValidateUpdate: resource.TypedCheckUpdate(validateUpdate),
	}
}

// setDefaults is what apiextensions/v1 and its registry fill in.
func setDefaults(o *apiextensionsv1.CustomResourceDefinition) {
	n := &o.Spec.Names
	if n.Singular == "" {
		n.Singular = strings.ToLower(n.Kind)
	}
	if n.ListKind == "" && n.Kind != "" {
		n.ListKind = n.Kind + "List"
	}
	if o.Spec.Conversion == nil {
		o.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	}
	if c := o.Spec.Conversion; c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.Service != nil && c.Webhook.ClientConfig.Service.Port == nil {
		port := int32(443)
		c.Webhook.ClientConfig.Service.Port = &port
	}
}

// keepStored notes the versions in which objects may be stored.
func keepStored(o *apiextensionsv1.CustomResourceDefinition) {
	for _, v := range o.Spec.Versions {
		if !v.Storage {
			continue
		}
		for _, have := range o.Status.StoredVersions {
			if have == v.Name {
				return
			}
		}
		o.Status.StoredVersions = append(o.Status.StoredVersions, v.Name)
		return
	}
}
