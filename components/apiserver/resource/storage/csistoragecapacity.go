package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func csiStorageCapacityResource() *resource.Resource {
	type capacity = *storagev1.CSIStorageCapacity
	validate := func(c capacity, lax bool) field.ErrorList {
		errs := check.LabelSelector(c.NodeTopology, lax, field.NewPath("nodeTopology"))
		errs = append(errs, check.Each(field.NewPath("storageClassName"), c.StorageClassName, apivalidation.NameIsDNSSubdomain(c.StorageClassName, false))...)
		if c.Capacity != nil && c.Capacity.Sign() < 0 {
			errs = append(errs, field.Invalid(field.NewPath("capacity"), c.Capacity.String(), "must be greater than or equal to 0"))
		}
		return errs
	}
	return &resource.Resource{
		Kind:        kinds.CSIStorageCapacities,
		Name:        apivalidation.NameIsDNSSubdomain,
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(c capacity) field.ErrorList { return validate(c, false) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(c, old capacity, _ string) field.ErrorList {
			errs := validate(c, len(check.LabelSelector(old.NodeTopology, false, nil)) > 0)
			if !apiequality.Semantic.DeepEqual(c.NodeTopology, old.NodeTopology) {
				errs = append(errs, field.Invalid(field.NewPath("nodeTopology"), c.NodeTopology, apivalidation.FieldImmutableErrorMsg))
			}
			if c.StorageClassName != old.StorageClassName {
				errs = append(errs, field.Invalid(field.NewPath("storageClassName"), c.StorageClassName, apivalidation.FieldImmutableErrorMsg))
			}
			return errs
		}),
	}
}
