package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func csiDriverResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.CSIDrivers,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(d *storagev1.CSIDriver) {
			check.SetDefault(&d.Spec.AttachRequired, true)
			check.SetDefault(&d.Spec.PodInfoOnMount, false)
			check.SetDefault(&d.Spec.StorageCapacity, false)
			check.SetDefault(&d.Spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
			check.SetDefault(&d.Spec.RequiresRepublish, false)
			check.SetDefault(&d.Spec.SELinuxMount, false)
			if len(d.Spec.VolumeLifecycleModes) == 0 {
				d.Spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
			}
		}),
		Validate: resource.TypedCheck(func(d *storagev1.CSIDriver) field.ErrorList { return validateDriver(&d.Spec, field.NewPath("spec")) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(d, old *storagev1.CSIDriver, _ string) field.ErrorList {
			at := field.NewPath("spec")
			errs := apivalidation.ValidateImmutableField(d.Spec.AttachRequired, old.Spec.AttachRequired, at.Child("attachedRequired")) // sic
			return append(errs, apivalidation.ValidateImmutableField(d.Spec.VolumeLifecycleModes, old.Spec.VolumeLifecycleModes, at.Child("volumeLifecycleModes"))...)
		}),
	}
}

// Bounds of what a driver asks for, in seconds.
const (
	tokenLeast    = 10 * 60
	tokenMost     = 1 << 32
	limitsOfNodes = 10
)

func validateDriver(s *storagev1.CSIDriverSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.FSGroupPolicy != nil {
		errs = append(errs, check.OneOf(at.Child("fsGroupPolicy"), *s.FSGroupPolicy, storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)...)
	}
	audiences := map[string]bool{}
	for i, t := range s.TokenRequests {
		at := at.Child("tokenRequests").Index(i)
		if audiences[t.Audience] {
			errs = append(errs, field.Duplicate(at.Child("audience"), t.Audience))
			continue
		}
		audiences[t.Audience] = true
		switch seconds := t.ExpirationSeconds; {
		case seconds == nil:
		case *seconds < tokenLeast:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *seconds, "may not specify a duration less than 10 minutes"))
		case *seconds > tokenMost:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *seconds, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	for _, m := range s.VolumeLifecycleModes {
		errs = append(errs, check.OneOf(at.Child("volumeLifecycleModes"), m, storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	if p := s.NodeAllocatableUpdatePeriodSeconds; p != nil && *p < limitsOfNodes {
		errs = append(errs, field.Invalid(at.Child("nodeAllocatableUpdatePeriodSeconds"), *p, "must be greater than or equal to 10 seconds"))
	}
	return errs
}

// driverNameMax bounds the names of drivers where they are referred to.
const driverNameMax = 63

// driverName checks a reference to a driver. Capitals are let through, as they were at first.
func driverName(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > driverNameMax {
		errs = append(errs, field.TooLong(at, name, driverNameMax))
	}
	return append(errs, check.Each(at, name, apivalidation.NameIsDNSSubdomain(lower(name), false))...)
}
