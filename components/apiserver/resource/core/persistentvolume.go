package core

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/volumes"
	"example.com/kubeviz/engine/kinds"
)

func persistentVolumeResource() *resource.Resource {
	type volume = *corev1.PersistentVolume
	return &resource.Resource{
		Kind:    kinds.PersistentVolumes,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultVolume),
		PrepareCreate: resource.Typed(func(o volume) {
			made := o.CreationTimestamp
			o.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &made}
		}),
		PrepareUpdate: resource.TypedUpdate(func(o, old volume, sub string) {
			if sub != "status" {
				o.Status = old.Status
				return
			}
			o.Spec = old.Spec
			if o.Status.Phase == old.Status.Phase && o.Status.LastPhaseTransitionTime == nil {
				o.Status.LastPhaseTransitionTime = old.Status.LastPhaseTransitionTime
			}
		}),
		Stamp: resource.TypedStamp(func(o, old volume, now metav1.Time) {
			if o.Status.Phase != old.Status.Phase && (o.Status.LastPhaseTransitionTime == nil || o.Status.LastPhaseTransitionTime.Equal(old.Status.LastPhaseTransitionTime)) {
				o.Status.LastPhaseTransitionTime = &now
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o volume) field.ErrorList { return append(validateVolume(o, false), mountOptions(o)...) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old volume, sub string) field.ErrorList {
			if sub == "status" {
				return nil
			}
			lax := old.Spec.NodeAffinity != nil && old.Spec.NodeAffinity.Required != nil && check.BadLabelValues(old.Spec.NodeAffinity.Required.NodeSelectorTerms)
			errs := append(validateVolume(o, lax), mountOptions(o)...)
			errs = append(errs, validateVolume(o, lax)...) // Kubernetes looks twice, and lists its causes twice
			return append(errs, validateVolumeChange(o, old)...)
		}),
		Warn: resource.TypedWarn(func(o, _ volume) []string { return volumeWarnings(o) }),
	}
}

func defaultVolume(o *corev1.PersistentVolume) {
	if o.Status.Phase == "" {
		o.Status.Phase = corev1.VolumePending
	}
	if o.Spec.PersistentVolumeReclaimPolicy == "" {
		o.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	check.SetDefault(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	defaultSources(&o.Spec.PersistentVolumeSource)
}

func validateVolume(o *corev1.PersistentVolume, lax bool) field.ErrorList {
	s, at := &o.Spec, field.NewPath("spec")
	errs := accessModes(s, at)
	errs = append(errs, validateCapacity(s.Capacity, at.Child("capacity"))...)
	reclaim := at.Child("persistentVolumeReclaimPolicy")
	if s.PersistentVolumeReclaimPolicy != "" {
		errs = append(errs, check.OneOf(reclaim, s.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)...)
	}
	if a := s.NodeAffinity; a != nil {
		if required := at.Child("nodeAffinity", "required"); a.Required != nil {
			errs = append(errs, check.NodeSelector(a.Required, lax, required)...)
		} else {
			errs = append(errs, field.Required(required, "must specify required node constraints"))
		}
	}
	errs = append(errs, volumes.OneSource(volumeSources(s, o.Name, at), at)...)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(reclaim, "may not be 'recycle' for a hostPath mount of '/'"))
	}
	if s.StorageClassName != "" {
		errs = append(errs, check.Texts(at.Child("storageClassName"), s.StorageClassName, apivalidation.NameIsDNSSubdomain(s.StorageClassName, false))...)
	}
	errs = append(errs, volumes.Mode(s.VolumeMode, at.Child("volumeMode"))...)
	return append(errs, attributesClass(s, at)...)
}

func accessModes(s *corev1.PersistentVolumeSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(at.Child("accessModes"), ""))
	}
	return append(errs, volumes.AccessModes(s.AccessModes, at.Child("accessModes"))...)
}

// InlineVolume checks a volume that a pod had in its own spec and that was translated for an attachment: a driver's, with nothing that only a volume of the cluster has.
func InlineVolume(s *corev1.PersistentVolumeSpec, at *field.Path) field.ErrorList {
	const inline = " in the context of inline volumes"
	var errs field.ErrorList
	forbid := func(set bool, name, text string) {
		if set {
			errs = append(errs, field.Forbidden(at.Child(name), text+inline))
		}
	}
	forbid(s.ClaimRef != nil, "claimRef", "may not be specified")
	forbid(len(s.Capacity) != 0, "capacity", "may not be specified")
	if s.CSI == nil {
		errs = append(errs, field.Required(at.Child("csi"), "has to be specified"+inline))
	}
	errs = append(errs, accessModes(s, at)...)
	forbid(s.PersistentVolumeReclaimPolicy != "" && s.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain, "persistentVolumeReclaimPolicy", "may only be Retain")
	forbid(s.NodeAffinity != nil, "nodeAffinity", "may not be specified")
	errs = append(errs, volumes.OneSource(volumeSources(s, "", at), at)...)
	if s.HostPath != nil && path.Clean(s.HostPath.Path) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(at.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	forbid(s.StorageClassName != "", "storageClassName", "may not be specified")
	forbid(s.VolumeMode != nil && *s.VolumeMode != corev1.PersistentVolumeFilesystem, "volumeMode", "may not specify volumeMode other than Filesystem")
	return errs
}

// attributesClass checks the class of attributes that a volume has now.
func attributesClass(s *corev1.PersistentVolumeSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if class := s.VolumeAttributesClassName; class != nil {
		if at := at.Child("volumeAttributesClassName"); *class == "" {
			errs = append(errs, field.Required(at, "an empty string is disallowed"))
		} else {
			errs = append(errs, check.Texts(at, *class, apivalidation.NameIsDNSSubdomain(*class, false))...)
		}
		if s.CSI == nil {
			errs = append(errs, field.Required(at.Child("csi"), "has to be specified when using volumeAttributesClassName"))
		}
	}
	return errs
}

func validateCapacity(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(list) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	if _, ok := list[corev1.ResourceStorage]; !ok || len(list) > 1 {
		errs = append(errs, field.NotSupported(at, list, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, n := range check.SortedNames(list) {
		errs = append(errs, check.BasicQuantity(list[n], at.Key(string(n)))...)
		errs = append(errs, check.PositiveQuantity(list[n], at.Key(string(n)))...)
	}
	return errs
}

// mountOptions refuses the old annotation for sources that cannot take options.
func mountOptions(o *corev1.PersistentVolume) field.ErrorList {
	s := &o.Spec
	takes := s.GCEPersistentDisk != nil || s.AWSElasticBlockStore != nil || s.Glusterfs != nil || s.NFS != nil || s.RBD != nil || s.Quobyte != nil || s.ISCSI != nil || s.Cinder != nil ||
		s.CephFS != nil || s.AzureFile != nil || s.VsphereVolume != nil || s.AzureDisk != nil || s.PhotonPersistentDisk != nil
	if _, has := o.Annotations[corev1.MountOptionAnnotation]; has && !takes {
		return field.ErrorList{field.Forbidden(field.NewPath("metadata").Child("annotations", corev1.MountOptionAnnotation), "may not specify mount options for this volume type")}
	}
	return nil
}

func validateVolumeChange(o, old *corev1.PersistentVolume) field.ErrorList {
	var errs field.ErrorList
	now, was := o.Spec.PersistentVolumeSource, old.Spec.PersistentVolumeSource
	if was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil && now.CSI != nil && now.CSI.ControllerExpandSecretRef != nil {
		now.CSI = now.CSI.DeepCopy() // the one thing that may be added
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !apiequality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"), "spec.persistentvolumesource is immutable after creation\n"+check.Diff(was, now)))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(o.Spec.VolumeMode, old.Spec.VolumeMode, field.NewPath("volumeMode"))...)
	if old.Spec.NodeAffinity != nil && !apiequality.Semantic.DeepEqual(newLabels(o.Spec.NodeAffinity), newLabels(old.Spec.NodeAffinity)) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), check.GoForm(o.Spec.NodeAffinity), apivalidation.FieldImmutableErrorMsg+", except for updating from beta label to GA"))
	}
	if old.Spec.VolumeAttributesClassName != nil && o.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

// gaLabels are the present names of labels that once were beta.
var gaLabels = map[string]string{
	corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	"beta.kubernetes.io/os": corev1.LabelOSStable, "beta.kubernetes.io/arch": corev1.LabelArchStable, corev1.LabelInstanceType: corev1.LabelInstanceTypeStable,
}

// newLabels is the affinity under the present names of labels.
func newLabels(a *corev1.VolumeNodeAffinity) *corev1.VolumeNodeAffinity {
	if a == nil || a.Required == nil {
		return a
	}
	a = a.DeepCopy()
	for i := range a.Required.NodeSelectorTerms {
		list := a.Required.NodeSelectorTerms[i].MatchExpressions
		for j := range list {
			if name, ok := gaLabels[list[j].Key]; ok {
				list[j].Key = name
			}
		}
	}
	return a
}

func volumeWarnings(o *corev1.PersistentVolume) []string {
	var out []string
	for _, a := range []struct{ key, text string }{
		{corev1.BetaStorageClassAnnotation, `deprecated since v1.8; use "storageClassName" attribute instead`},
		{corev1.MountOptionAnnotation, `deprecated since v1.31; use "mountOptions" attribute instead`},
	} {
		if _, has := o.Annotations[a.key]; has {
			out = append(out, "metadata.annotations["+a.key+"]: "+a.text)
		}
	}
	s := &o.Spec
	if s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		out = append(out, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if s.NodeAffinity != nil && s.NodeAffinity.Required != nil {
		terms := field.NewPath("spec", "nodeAffinity", "required", "nodeSelectorTerms")
		for i := range s.NodeAffinity.Required.NodeSelectorTerms {
			out = append(out, check.NodeSelectorTermWarnings(&s.NodeAffinity.Required.NodeSelectorTerms[i], false, terms.Index(i))...)
		}
	}
	for _, old := range []struct {
		set        bool
		name, text string
	}{
		{s.CephFS != nil, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{s.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{s.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{s.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{s.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{s.RBD != nil, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if old.set {
			out = append(out, "spec."+old.name+": "+old.text)
		}
	}
	return out
}
