package storage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
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
	errs = append(errs, provisioner(c.Provisioner, field.NewPath("provisioner"))...)
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
	return append(errs, topologies(c.AllowedTopologies, field.NewPath("allowedTopologies"))...)
}

func lower(name string) string { return strings.ToLower(name) }

// provisioner checks the name of who makes volumes, which is looked at and shown in small letters.
func provisioner(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return check.QualifiedName(lower(name), at)
}

// topologies checks where volumes of a class may be: no term may say what another one says.
func topologies(terms []corev1.TopologySelectorTerm, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var before []map[string]sets.Set[string]
	for i, t := range terms {
		expressions := at.Index(i).Child("matchLabelExpressions")
		says := map[string]sets.Set[string]{}
		for j, r := range t.MatchLabelExpressions {
			at := expressions.Index(j)
			if len(r.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), ""))
			}
			values := sets.New[string]()
			for n, v := range r.Values {
				if values.Has(v) {
					errs = append(errs, field.Duplicate(at.Child("values").Index(n), v))
				}
				values.Insert(v)
			}
			errs = append(errs, check.LabelKey(r.Key, at.Child("key"))...)
			if _, twice := says[r.Key]; twice {
				errs = append(errs, field.Duplicate(at.Child("key"), r.Key))
			}
			says[r.Key] = values
		}
		// A term that says nothing counts as said before, as in the API server.
		if len(says) == 0 || slices.ContainsFunc(before, func(b map[string]sets.Set[string]) bool { return apiequality.Semantic.DeepEqual(b, says) }) {
			errs = append(errs, field.Duplicate(expressions, ""))
		}
		before = append(before, says)
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
	errs := check.Unchanged(c.Provisioner, old.Provisioner, field.NewPath("provisioner"))
	errs = append(errs, check.Unchanged(c.Parameters, old.Parameters, field.NewPath("parameters"))...)
	errs = append(errs, check.Unchanged(c.ReclaimPolicy, old.ReclaimPolicy, field.NewPath("reclaimPolicy"))...)
	return append(errs, check.Unchanged(c.VolumeBindingMode, old.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
}
