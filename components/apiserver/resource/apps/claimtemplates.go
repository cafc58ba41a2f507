package apps

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
)

// validateSetTemplate checks the pods of a StatefulSet as its controller makes them: with names of their own, and with the volumes of the claim templates, which stand before those
// of the template that have the same names.
func validateSetTemplate(s *appsv1.StatefulSetSpec, rules setRules, spec *field.Path) field.ErrorList {
	sel, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err != nil {
		return field.ErrorList{field.Invalid(spec.Child("selector"), s.Selector, "")}
	}
	errs := mismatch(sel, &s.Template, spec)
	at := spec.Child("template")
	if rules.template {
		t := s.Template.DeepCopy()
		t.Spec.Subdomain, t.Spec.Hostname = "", ""
		t.Spec.Volumes = withClaims(s)
		errs = append(errs, pods.ValidateTemplate(t, at)...)
	}
	return append(errs, check.Labels(s.Template.Labels, at.Child("labels"))...)
}

func withClaims(s *appsv1.StatefulSetSpec) []corev1.Volume {
	var out []corev1.Volume
	named := func(name string) bool {
		return slices.ContainsFunc(out, func(v corev1.Volume) bool { return v.Name == name })
	}
	for i := range s.VolumeClaimTemplates {
		name := s.VolumeClaimTemplates[i].Name
		if !named(name) {
			out = append(out, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
	}
	claims := len(out)
	for _, v := range s.Template.Spec.Volumes {
		if !slices.ContainsFunc(out[:claims], func(c corev1.Volume) bool { return c.Name == v.Name }) {
			out = append(out, v)
		}
	}
	return out
}

// defaultClaim fills a claim template. Other than elsewhere within objects, its type is written out.
func defaultClaim(c *corev1.PersistentVolumeClaim) {
	c.APIVersion, c.Kind = "v1", "PersistentVolumeClaim"
	if c.Status.Phase == "" {
		c.Status.Phase = corev1.ClaimPending
	}
	check.SetDefault(&c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

func withoutType(list []corev1.PersistentVolumeClaim) []corev1.PersistentVolumeClaim {
	out := slices.Clone(list)
	for i := range out {
		out[i].TypeMeta = metav1.TypeMeta{}
	}
	return out
}

// validateClaim checks what a StatefulSet's pods claim, as k/k's ValidatePersistentVolumeClaimSpec does.
func validateClaim(s *corev1.PersistentVolumeClaimSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, check.LabelSelector(s.Selector, false, at.Child("selector"))...)
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}
	for _, m := range s.AccessModes {
		if !slices.Contains(modes, m) {
			errs = append(errs, field.NotSupported(at.Child("accessModes"), m, modes))
		}
	}
	if len(s.AccessModes) > 1 && slices.Contains(s.AccessModes, corev1.ReadWriteOncePod) {
		errs = append(errs, field.Forbidden(at.Child("accessModes"), "may not use ReadWriteOncePod with other access modes"))
	}
	size, has := s.Resources.Requests[corev1.ResourceStorage]
	switch at := at.Child("resources"); {
	case !has:
		errs = append(errs, field.Required(at.Key(string(corev1.ResourceStorage)), ""))
	default:
		errs = append(errs, check.Amount(corev1.ResourceStorage, size, at.Key(string(corev1.ResourceStorage)))...)
		if size.Sign() <= 0 {
			errs = append(errs, field.Invalid(at.Key(string(corev1.ResourceStorage)), size.String(), "must be greater than zero"))
		}
	}
	if s.StorageClassName != nil && *s.StorageClassName != "" {
		for _, e := range apivalidation.NameIsDNSSubdomain(*s.StorageClassName, false) {
			errs = append(errs, field.Invalid(at.Child("storageClassName"), *s.StorageClassName, e))
		}
	}
	volumeModes := []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
	if s.VolumeMode != nil && !slices.Contains(volumeModes, *s.VolumeMode) {
		errs = append(errs, field.NotSupported(at.Child("volumeMode"), *s.VolumeMode, volumeModes))
	}
	return errs
}

// fractionWarnings is about storage of parts of bytes.
func fractionWarnings(s *corev1.PersistentVolumeClaimSpec, at *field.Path) []string {
	var out []string
	for _, l := range []struct {
		name string
		list corev1.ResourceList
	}{{"requests", s.Resources.Requests}, {"limits", s.Resources.Limits}} {
		if q := l.list[corev1.ResourceStorage]; q.MilliValue()%1000 != 0 {
			out = append(out, fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", at.Child("resources", l.name).Key(string(corev1.ResourceStorage)), q.String()))
		}
	}
	return out
}
