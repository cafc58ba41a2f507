package volumes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

// AccessModes checks how a volume may be used.
func AccessModes(list []corev1.PersistentVolumeAccessMode, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	once, other := false, false
	for _, m := range list {
		errs = append(errs, check.OneOf(at, m, accessModes...)...)
		if m == corev1.ReadWriteOncePod {
			once = true
		} else if slices.Contains(accessModes, m) {
			other = true
		}
	}
	if once && other {
		errs = append(errs, field.Forbidden(at, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// Mode checks whether a volume is a file system or a device.
func Mode(m *corev1.PersistentVolumeMode, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	return check.OneOf(at, *m, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
}

// DefaultClaim fills what claims may leave out.
func DefaultClaim(s *corev1.PersistentVolumeClaimSpec) {
	check.SetDefault(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
}

// ClaimOptions are what old objects may keep.
type ClaimOptions struct {
	// AnyGroup lets the source of data be of a group with a bad name.
	AnyGroup bool
	// AnySelectorValue lets values of the selector be no label values.
	AnySelectorValue bool
}

// Claim checks what a claim asks for.
func Claim(s *corev1.PersistentVolumeClaimSpec, at *field.Path, o ClaimOptions) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), "at least 1 access mode is required"))
	}
	if s.Selector != nil {
		errs = append(errs, metavalidation.ValidateLabelSelector(s.Selector, metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: o.AnySelectorValue}, at.Child("selector"))...)
	}
	errs = append(errs, AccessModes(s.AccessModes, at.Child("accessModes"))...)
	size := at.Child("resources").Key(string(corev1.ResourceStorage))
	if q, ok := s.Resources.Requests[corev1.ResourceStorage]; !ok {
		errs = append(errs, field.Required(size, ""))
	} else if bad := check.PositiveQuantity(q, size); len(bad) > 0 {
		errs = append(errs, bad...)
	} else {
		errs = append(errs, check.Quantity(corev1.ResourceStorage, q, size)...)
	}
	if s.StorageClassName != nil && *s.StorageClassName != "" {
		errs = append(errs, check.Texts(at.Child("storageClassName"), *s.StorageClassName, apivalidation.NameIsDNSSubdomain(*s.StorageClassName, false))...)
	}
	errs = append(errs, Mode(s.VolumeMode, at.Child("volumeMode"))...)
	errs = append(errs, claimSources(s, at, o)...)
	if s.VolumeAttributesClassName != nil && *s.VolumeAttributesClassName != "" {
		errs = append(errs, check.Texts(at.Child("volumeAttributesClassName"), *s.VolumeAttributesClassName, apivalidation.NameIsDNSSubdomain(*s.VolumeAttributesClassName, false))...)
	}
	return errs
}

func claimSources(s *corev1.PersistentVolumeClaimSpec, at *field.Path, o ClaimOptions) field.ErrorList {
	var errs field.ErrorList
	if d := s.DataSource; d != nil {
		errs = append(errs, dataSource(d.APIGroup, d.Kind, d.Name, at.Child("dataSource"), o)...)
	}
	ref := s.DataSourceRef
	if ref == nil {
		return errs
	}
	errs = append(errs, dataSource(ref.APIGroup, ref.Kind, ref.Name, at.Child("dataSourceRef"), o)...)
	elsewhere := ref.Namespace != nil && *ref.Namespace != ""
	if elsewhere {
		errs = append(errs, check.Texts(at.Child("dataSourceRef", "namespace"), *ref.Namespace, apivalidation.ValidateNamespaceName(*ref.Namespace, false))...)
	}
	if d := s.DataSource; d != nil {
		switch {
		case elsewhere:
			errs = append(errs, field.Invalid(at, at.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified"))
		case group(d.APIGroup) != group(ref.APIGroup) || (d.APIGroup == nil) != (ref.APIGroup == nil) || d.Kind != ref.Kind || d.Name != ref.Name:
			errs = append(errs, field.Invalid(at, at.Child("dataSource"), "must match dataSourceRef"))
		}
	}
	return errs
}

func group(g *string) string {
	if g == nil {
		return ""
	}
	return *g
}

func dataSource(apiGroup *string, kind, name string, at *field.Path, o ClaimOptions) field.ErrorList {
	errs := need(at, needed{"name", name}, needed{"kind", kind})
	g := group(apiGroup)
	if g == "" && kind != "PersistentVolumeClaim" {
		errs = append(errs, field.Invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	if g != "" && !o.AnyGroup {
		errs = append(errs, check.Texts(at.Child("apiGroup"), g, validation.IsDNS1123Subdomain(g))...)
	}
	return errs
}

// ClaimWarnings tells of sizes that are no whole bytes.
func ClaimWarnings(s *corev1.PersistentVolumeClaimSpec, at *field.Path) []string {
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
