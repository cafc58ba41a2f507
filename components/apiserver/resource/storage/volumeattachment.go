package storage

import (
	"math"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/core"
	"example.com/kubeviz/engine/kinds"
)

func volumeAttachmentResource() *resource.Resource {
	type attachment = *storagev1.VolumeAttachment
	return &resource.Resource{
		Kind:          kinds.VolumeAttachments,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o attachment) { o.Status = storagev1.VolumeAttachmentStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old attachment, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
				o.Labels, o.Annotations, o.Finalizers, o.OwnerReferences = old.Labels, old.Annotations, old.Finalizers, old.OwnerReferences
			} else {
				o.Status = old.Status
			}
		}),
		Validate: resource.TypedCheck(func(o attachment) field.ErrorList {
			return append(validateAttachment(&o.Spec, field.NewPath("spec")), validateAttached(&o.Status, field.NewPath("status"))...)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old attachment, _ string) field.ErrorList {
			return check.Unchanged(o.Spec, old.Spec, field.NewPath("spec"))
		}),
	}
}

func validateAttachment(s *storagev1.VolumeAttachmentSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	const one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	source := at.Child("source")
	switch name := s.Source.PersistentVolumeName; {
	case name == nil && s.Source.InlineVolumeSpec == nil:
		errs = append(errs, field.Required(source, one))
	case name != nil && s.Source.InlineVolumeSpec != nil:
		errs = append(errs, field.Forbidden(source, one))
	case name != nil && *name == "":
		errs = append(errs, field.Required(source.Child("persistentVolumeName"), "must specify non empty persistentVolumeName"))
	case name == nil:
		errs = append(errs, core.InlineVolume(s.Source.InlineVolumeSpec, source.Child("inlineVolumeSpec"))...)
	}
	errs = append(errs, check.Each(at.Child("nodeName"), s.NodeName, apivalidation.NameIsDNSSubdomain(s.NodeName, false))...)
	if name := s.Source.PersistentVolumeName; name != nil {
		errs = append(errs, check.Each(source.Child("persistentVolumeName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))...)
	}
	return append(errs, attacher(s.Attacher, at.Child("attacher"))...)
}

// attacher checks the name of a driver. This rule the API server reads off its types, so it stands after all others and has words of its own.
func attacher(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	if len(name) > driverNameMax {
		errs = append(errs, field.TooLongCharacters(at, name, driverNameMax))
	}
	//lint:ignore SA1019 the API server checks this name so
	return append(errs, check.Each(at, name, content.IsDNS1123SubdomainCaseless(name))...)
}

// Bounds of what an attacher tells, in bytes. What is too long of a message is told with the bound of the metadata, as Kubernetes does it.
const (
	attachedMax = 256 * 1024
	messageMax  = 1024
)

func validateAttached(s *storagev1.VolumeAttachmentStatus, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for k, v := range s.AttachmentMetadata {
		size += len(k) + len(v)
	}
	if size > attachedMax {
		errs = append(errs, field.TooLong(at.Child("attachmentMetadata"), "", attachedMax))
	}
	for _, e := range []struct {
		name string
		was  *storagev1.VolumeError
	}{{"attachError", s.AttachError}, {"detachError", s.DetachError}} {
		if e.was == nil {
			continue
		}
		at := at.Child(e.name)
		if len(e.was.Message) > messageMax {
			errs = append(errs, field.TooLong(at.Child("message"), "", attachedMax))
		}
		if code := e.was.ErrorCode; code != nil && *code < 0 {
			errs = append(errs, field.Invalid(at.Child("errorCode"), *code, validation.InclusiveRangeError(0, math.MaxInt32)))
		}
	}
	return errs
}
