package core

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func podTemplateResource() *resource.Resource {
	type template = *corev1.PodTemplate
	return &resource.Resource{
		Kind:       kinds.PodTemplates,
		Name:       apivalidation.NameIsDNSSubdomain,
		Default:    resource.Typed(func(t template) { pods.DefaultSpec(&t.Template.Spec) }),
		Validate:   resource.TypedCheck(func(t template) field.ErrorList { return pods.ValidateTemplate(&t.Template, field.NewPath("template")) }),
		Generation: true,
		Spec:       resource.TypedSpec(func(t template) any { return t.Template }),
		Warn: resource.TypedWarn(func(t, old template) []string {
			if old != nil && old.Generation == t.Generation {
				return nil
			}
			return pods.TemplateWarnings(&t.Template, field.NewPath("template"))
		}),
	}
}
