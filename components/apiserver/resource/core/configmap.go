package core

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func configMapResource() *resource.Resource {
	type configMap = *corev1.ConfigMap
	return &resource.Resource{
		Kind:        kinds.ConfigMaps,
		Name:        apivalidation.NameIsDNSSubdomain,
		UpdateWhole: true,
		Validate:    resource.TypedCheck(validateConfigMap),
		ValidateUpdate: resource.TypedCheckUpdate(func(c, old configMap, _ string) field.ErrorList {
			var errs field.ErrorList
			if sealed(old.Immutable) {
				errs = append(errs, stillSealed(c.Immutable)...)
				errs = append(errs, unchanged(c.Data, old.Data, "data")...)
				errs = append(errs, unchanged(c.BinaryData, old.BinaryData, "binaryData")...)
			}
			return append(errs, validateConfigMap(c)...)
		}),
	}
}

// sizeMax is what the data of a ConfigMap or Secret may have in all, in bytes.
const sizeMax = 1 << 20

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for _, k := range slices.Sorted(maps.Keys(c.Data)) {
		at := field.NewPath("data").Key(k)
		errs = append(errs, check.Texts(at, k, validation.IsConfigMapKey(k))...)
		if _, twice := c.BinaryData[k]; twice {
			errs = append(errs, field.Invalid(at, k, "duplicate of key present in binaryData"))
		}
		size += len(c.Data[k])
	}
	for _, k := range slices.Sorted(maps.Keys(c.BinaryData)) {
		errs = append(errs, check.Texts(field.NewPath("binaryData").Key(k), k, validation.IsConfigMapKey(k))...)
		size += len(c.BinaryData[k])
	}
	if size > sizeMax {
		errs = append(errs, field.TooLong(field.NewPath(""), "", sizeMax))
	}
	return errs
}

// sealed reports an object whose data may never change again.
func sealed(immutable *bool) bool { return immutable != nil && *immutable }

const sealedText = "field is immutable when `immutable` is set"

func stillSealed(immutable *bool) field.ErrorList {
	if sealed(immutable) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("immutable"), sealedText)}
}

func unchanged[V any](now, old map[string]V, name string) field.ErrorList {
	if apiequality.Semantic.DeepEqual(now, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath(name), sealedText)}
}
