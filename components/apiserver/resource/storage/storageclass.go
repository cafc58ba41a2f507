package storage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func storageClassResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.StorageClasses,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(c *storagev1.StorageClass) {
			check.SetDefault(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
			check.SetDefault(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
		}),
		Validate:       resource.TypedCheck(validateStorageClass),
		ValidateUpdate: resource.TypedCheckUpdate(validateStorageClassUpdate),
	}
}

func validateStorageClass(c *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("provisioner")
	if c.Provisioner == "" {
		errs = append(errs, field.Required(at, ""))
	} else {
		for _, text := range validation.IsQualifiedName(strings.ToLower(c.Provisioner)) {
			errs = append(errs, field.Invalid(at, strings.ToLower(c.Provisioner), text))
		}
	}
	errs = append(errs, parameters(c.Parameters, field.NewPath("parameters"))...)
	policies := []corev1.PersistentVolumeReclaimPolicy{corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain}
	if p := c.ReclaimPolicy; p != nil && *p != "" && !slices.Contains(policies, *p) {
		errs = append(errs, field.NotSupported(field.NewPath("reclaimPolicy"), *p, policies))
	}
	modes := []storagev1.VolumeBindingMode{storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer}
	switch m := c.VolumeBindingMode; {
	case m == nil:
		errs = append(errs, field.Required(field.NewPath("volumeBindingMode"), ""))
	case !slices.Contains(modes, *m):
		errs = append(errs, field.NotSupported(field.NewPath("volumeBindingMode"), *m, modes))
	}
	return errs
}

// parameters are handed to the provisioner as they are; only their size is bounded.
func parameters(m map[string]string, at *field.Path) field.ErrorList {
	const most, size = 512, 256 * 1024
	if len(m) > most {
		return field.ErrorList{field.TooLong(at, "", most)}
	}
	var errs field.ErrorList
	total := 0
	for k, v := range m {
		if k == "" {
			errs = append(errs, field.Invalid(at, k, "field can not be empty."))
		}
		total += len(k) + len(v)
	}
	if total > size {
		errs = append(errs, field.TooLong(at, "", size))
	}
	return errs
}

func validateStorageClassUpdate(c, old *storagev1.StorageClass, _ string) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(c.Parameters, old.Parameters, field.NewPath("parameters"))
	errs = append(errs, apivalidation.ValidateImmutableField(c.Provisioner, old.Provisioner, field.NewPath("provisioner"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(c.ReclaimPolicy, old.ReclaimPolicy, field.NewPath("reclaimPolicy"))...)
	return append(errs, apivalidation.ValidateImmutableField(c.VolumeBindingMode, old.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
}
