package storage

import (
	"maps"

	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func volumeAttributesClassResource() *resource.Resource {
	type class = *storagev1.VolumeAttributesClass
	validate := func(c class) field.ErrorList {
		errs := append(provisioner(c.DriverName, field.NewPath("driverName")), parameters(c.Parameters, field.NewPath("parameters"))...)
		if len(c.Parameters) == 0 {
			errs = append(errs, field.Required(field.NewPath("parameters"), "must contain at least one key/value pair"))
		}
		return errs
	}
	return &resource.Resource{
		Kind:        kinds.VolumeAttributesClasses,
		Name:        apivalidation.NameIsDNSSubdomain,
		UpdateWhole: true,
		Validate:    resource.TypedCheck(validate),
		ValidateUpdate: resource.TypedCheckUpdate(func(c, old class, _ string) field.ErrorList {
			var errs field.ErrorList
			if c.DriverName != old.DriverName {
				errs = append(errs, field.Forbidden(field.NewPath("driverName"), "updates to driverName are forbidden."))
			}
			if !maps.Equal(c.Parameters, old.Parameters) {
				errs = append(errs, field.Forbidden(field.NewPath("parameters"), "updates to parameters are forbidden."))
			}
			return append(errs, validate(c)...)
		}),
	}
}
