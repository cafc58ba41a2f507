package pods

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// ValidateTemplate checks the pods a controller makes. They must be restarted for ever, since the controller replaces none that ends in good order.
func ValidateTemplate(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := check.Labels(t.Labels, at.Child("metadata", "labels"))
	errs = append(errs, ValidateSpec(&t.Spec, at.Child("spec"))...)
	if p := t.Spec.RestartPolicy; p != corev1.RestartPolicyAlways && (p == corev1.RestartPolicyNever || p == corev1.RestartPolicyOnFailure) {
		errs = append(errs, check.NotSupported(at.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "must not be specified"))
	}
	return errs
}
