package pods

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// ValidateTemplate checks a pod template as such; what kind of pods a controller can do with is its own affair.
func ValidateTemplate(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := check.Labels(t.Labels, at.Child("labels")) // sic: without metadata, here and below
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
	errs = append(errs, validateAnnotations(t.Annotations, &t.Spec, at.Child("annotations"))...)
	errs = append(errs, validateSpec(&t.Spec, nil, lenient{}, at.Child("spec"))...)
	errs = append(errs, profilesMatch(t.Annotations, &t.Spec, at.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return errs
}

// ValidateAlways checks that the pods of a template are restarted for ever and have no deadline, since the controller, named by its kind, replaces none that ends in good order.
func ValidateAlways(t *corev1.PodTemplateSpec, kind string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, check.NotSupported(at.Child("spec", "restartPolicy"), t.Spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}
