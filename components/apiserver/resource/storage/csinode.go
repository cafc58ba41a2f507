package storage

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func csiNodeResource() *resource.Resource {
	at := field.NewPath("spec", "drivers")
	return &resource.Resource{
		Kind:          kinds.CSINodes,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o *storagev1.CSINode) { o.Status = storagev1.CSINodeStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old *storagev1.CSINode, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		Validate: resource.TypedCheck(func(o *storagev1.CSINode) field.ErrorList { return validateNodeDrivers(o.Spec.Drivers, at) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old *storagev1.CSINode, _ string) field.ErrorList {
			var errs field.ErrorList
			for i := range old.Spec.Drivers {
				for j := range o.Spec.Drivers {
					now, was := o.Spec.Drivers[j], old.Spec.Drivers[i]
					now.Allocatable, was.Allocatable = nil, nil // the one part of a driver that may change
					if now.Name == was.Name && !apiequality.Semantic.DeepEqual(now, was) {
						errs = append(errs, field.Invalid(at, check.GoForm(now), apivalidation.FieldImmutableErrorMsg))
					}
				}
			}
			return errs
		}),
	}
}

// nodeIDMax bounds the name by which a driver knows a node.
const nodeIDMax = 256

func validateNodeDrivers(list []storagev1.CSINodeDriver, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i, d := range list {
		at := at.Index(i)
		errs = append(errs, driverName(d.Name, at.Child("name"))...)
		errs = append(errs, check.Needed(d.NodeID, at.Child("nodeID"))...)
		if len(d.NodeID) > nodeIDMax {
			errs = append(errs, field.Invalid(at.Child("nodeID"), d.NodeID, fmt.Sprintf("must be %d characters or less", nodeIDMax)))
		}
		if d.Allocatable != nil && d.Allocatable.Count != nil {
			errs = append(errs, check.NonNegative(*d.Allocatable.Count, at.Child("allocatable", "count"))...)
		}
		if names[d.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), d.Name))
		}
		names[d.Name] = true
		keys := map[string]bool{}
		for _, k := range d.TopologyKeys { // what is wrong with a key is told of its driver
			errs = append(errs, check.Needed(k, at)...)
			if keys[k] {
				errs = append(errs, field.Duplicate(at, k))
			}
			keys[k] = true
			errs = append(errs, check.QualifiedName(k, at)...)
		}
	}
	return errs
}
