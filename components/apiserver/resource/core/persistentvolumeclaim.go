package core

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/volumes"
	"example.com/kubeviz/engine/kinds"
)

func persistentVolumeClaimResource() *resource.Resource {
	type claim = *corev1.PersistentVolumeClaim
	spec := field.NewPath("spec")
	return &resource.Resource{
		Kind: kinds.PersistentVolumeClaims,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(o claim) {
			volumes.DefaultClaim(&o.Spec)
			if o.Status.Phase == "" {
				o.Status.Phase = corev1.ClaimPending
			}
		}),
		PrepareCreate: resource.Typed(func(o claim) {
			o.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
			settleDataSources(&o.Spec, nil)
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old claim, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
				return
			}
			o.Status = old.Status
			settleDataSources(&o.Spec, &old.Spec)
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o claim) field.ErrorList { return volumes.Claim(&o.Spec, spec, volumes.ClaimOptions{}) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old claim, sub string) field.ErrorList {
			if sub == "status" {
				return validateClaimStatus(o)
			}
			errs := volumes.Claim(&o.Spec, spec, claimOptions(&old.Spec))
			return append(errs, validateClaimChange(o, old)...)
		}),
		Warn: resource.TypedWarn(func(o, _ claim) []string {
			var out []string
			if _, has := o.Annotations[corev1.BetaStorageClassAnnotation]; has {
				out = append(out, "metadata.annotations["+corev1.BetaStorageClassAnnotation+`]: deprecated since v1.8; use "storageClassName" attribute instead`)
			}
			return append(out, volumes.ClaimWarnings(&o.Spec, spec)...)
		}),
	}
}

// settleDataSources keeps the old and the new field for where the data come from alike. The old one alone can name claims and snapshots only; anything else there is dropped, as ever.
func settleDataSources(s, old *corev1.PersistentVolumeClaimSpec) {
	// Sources in other namespaces are of a feature that is not on.
	if ref := s.DataSourceRef; ref != nil && ref.Namespace != nil && *ref.Namespace != "" && (old == nil || old.DataSourceRef == nil) {
		s.DataSourceRef = nil
	}
	inUse := old != nil && (old.DataSource != nil || old.DataSourceRef != nil)
	if d := s.DataSource; d != nil && !inUse && s.DataSourceRef == nil {
		group := ""
		if d.APIGroup != nil {
			group = *d.APIGroup
		}
		if !(d.Kind == "PersistentVolumeClaim" && group == "" || d.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io") {
			s.DataSource = nil
		}
	}
	switch d, ref := s.DataSource, s.DataSourceRef; {
	case d != nil && ref == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: d.APIGroup, Kind: d.Kind, Name: d.Name}
	case d == nil && ref != nil && (ref.Namespace == nil || *ref.Namespace == ""):
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

// claimOptions let an old claim keep what is refused in new ones.
func claimOptions(old *corev1.PersistentVolumeClaimSpec) volumes.ClaimOptions {
	bad := func(g *string) bool { return g != nil && *g != "" && len(validation.IsDNS1123Subdomain(*g)) > 0 }
	o := volumes.ClaimOptions{AnyGroup: old.DataSource != nil && bad(old.DataSource.APIGroup) || old.DataSourceRef != nil && bad(old.DataSourceRef.APIGroup)}
	if old.Selector != nil {
		for _, e := range old.Selector.MatchExpressions {
			for _, v := range e.Values {
				o.AnySelectorValue = o.AnySelectorValue || len(validation.IsValidLabelValue(v)) > 0
			}
		}
	}
	return o
}

// validateClaimChange refuses every change of a claim but that it is bound, grows, or gets another class of attributes.
func validateClaimChange(o, old *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	now, was := o.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName // the controller binds once
	}
	annotation, had := old.Annotations[corev1.BetaStorageClassAnnotation]
	present, has := o.Annotations[corev1.BetaStorageClassAnnotation]
	named := was.StorageClassName == nil && now.StorageClassName != nil && (!had || *now.StorageClassName == annotation) // a class that was not given yet
	if had && named && (!has || present == annotation) {
		now.StorageClassName = nil
	} else {
		errs = append(errs, immutableAnnotation(present, annotation, corev1.BetaStorageClassAnnotation)...)
		if named {
			now.StorageClassName = was.StorageClassName
		}
	}
	if o.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = was.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	spec := field.NewPath("spec")
	if !apiequality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(spec, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"+check.Diff(*was, *now)))
	}
	size, before := o.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	if have := old.Status.Capacity[corev1.ResourceStorage]; size.Cmp(before) < 0 && size.Cmp(have) <= 0 {
		errs = append(errs, field.Forbidden(spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(o.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if old.Status.CurrentVolumeAttributesClassName != nil && !apiequality.Semantic.DeepEqual(o.Spec.VolumeAttributesClassName, old.Spec.VolumeAttributesClassName) {
		switch class := o.Spec.VolumeAttributesClassName; {
		case class == nil:
			errs = append(errs, field.Forbidden(spec.Child("volumeAttributesClassName"), "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"))
		case *class == "":
			errs = append(errs, field.Forbidden(spec.Child("volumeAttributesClassName"), "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"))
		}
	}
	return errs
}

func immutableAnnotation(now, old, name string) field.ErrorList {
	if now == old {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata").Child("annotations").Key(name), now, apivalidation.FieldImmutableErrorMsg)}
}

// resizeStates, sorted as errors list them.
var resizeStates = []corev1.ClaimResourceStatus{corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimControllerResizeInProgress,
	corev1.PersistentVolumeClaimNodeResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizePending}

func validateClaimStatus(o *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	status := field.NewPath("status")
	for _, n := range check.SortedNames(o.Status.Capacity) {
		errs = append(errs, check.BasicQuantity(o.Status.Capacity[n], status.Child("capacity").Key(string(n)))...)
	}
	for n, state := range o.Status.AllocatedResourceStatuses {
		at := status.Child("allocatedResourceStatuses")
		errs = append(errs, claimResource(n, at)...)
		if bad := check.OneOf(at, state, resizeStates...); len(bad) > 0 {
			bad[0].BadValue = n // of the two the real server shows the name
			errs = append(errs, bad...)
		}
	}
	for _, n := range check.SortedNames(o.Status.AllocatedResources) {
		at, q := status.Child("allocatedResources"), o.Status.AllocatedResources[n]
		bad := claimResource(n, at)
		if len(bad) == 0 {
			bad = check.BasicQuantity(q, at.Key(string(n)))
		}
		if len(bad) == 0 {
			bad = check.Quantity(corev1.ResourceStorage, q, at.Key(string(n)))
		}
		errs = append(errs, bad...)
	}
	return errs
}

// claimResource checks the name of a resource of a claim: storage, or one of somebody else's.
func claimResource(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if errs := check.QualifiedName(string(name), at); len(errs) > 0 {
		return errs
	}
	if check.Native(name) && name != corev1.ResourceStorage {
		return field.ErrorList{check.NotSupported(at, name, []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return nil
}
