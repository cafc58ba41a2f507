package apps

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func statefulSetResource() *resource.Resource {
	type set = *appsv1.StatefulSet
	return &resource.Resource{
		Kind:          kinds.StatefulSets,
		Name:          apivalidation.NameIsDNSLabel,
		Default:       resource.Typed(defaultStatefulSet),
		PrepareCreate: resource.Typed(func(o set) { o.Status = appsv1.StatefulSetStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old set, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate: resource.TypedCheck(func(o set) field.ErrorList {
			return validateStatefulSet(&o.Spec, setRules{serviceName: true, claims: true, template: true}, field.NewPath("spec"))
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old set, sub string) field.ErrorList {
			if sub == "status" {
				return validateStatefulSetStatus(&o.Status, &old.Status, field.NewPath("status"))
			}
			return validateStatefulSetUpdate(&o.Spec, &old.Spec, field.NewPath("spec"))
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o set) any { return o.Spec }),
		Warn: resource.TypedWarn(func(o, _ set) []string {
			var out []string
			for i := range o.Spec.VolumeClaimTemplates {
				out = append(out, fractionWarnings(&o.Spec.VolumeClaimTemplates[i].Spec, field.NewPath("spec", "volumeClaimTemplates").Index(i))...)
			}
			if n := o.Spec.RevisionHistoryLimit; n != nil && *n < 0 {
				out = append(out, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
			}
			return out
		}),
	}
}

func defaultStatefulSet(o *appsv1.StatefulSet) {
	s := &o.Spec
	if s.PodManagementPolicy == "" {
		s.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	if u := &s.UpdateStrategy; u.Type == "" {
		u.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	if u := &s.UpdateStrategy; u.Type == appsv1.RollingUpdateStatefulSetStrategyType && u.RollingUpdate != nil {
		check.SetDefault(&u.RollingUpdate.Partition, 0)
		check.SetDefault(&u.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
	}
	if s.PersistentVolumeClaimRetentionPolicy == nil {
		s.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	for _, p := range []*appsv1.PersistentVolumeClaimRetentionPolicyType{&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, &s.PersistentVolumeClaimRetentionPolicy.WhenScaled} {
		if *p == "" {
			*p = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
		}
	}
	check.SetDefault(&s.Replicas, 1)
	check.SetDefault(&s.RevisionHistoryLimit, 10)
	for i := range s.VolumeClaimTemplates {
		defaultClaim(&s.VolumeClaimTemplates[i])
	}
	pods.DefaultSpec(&s.Template.Spec)
}

// setRules are the parts of a StatefulSet that are looked at. What an update cannot change, and what was wrong before, it may keep.
type setRules struct{ serviceName, claims, template bool }

func validateStatefulSetUpdate(s, old *appsv1.StatefulSetSpec, at *field.Path) field.ErrorList {
	rules := setRules{template: true}
	if len(validateStatefulSet(old, rules, nil)) > 0 {
		rules.template = false
	}
	errs := validateStatefulSet(s, rules, at)
	errs = append(errs, apivalidation.ValidateImmutableField(s.Selector, old.Selector, at.Child("selector"))...)
	for _, e := range apivalidation.ValidateImmutableField(s.VolumeClaimTemplates, old.VolumeClaimTemplates, at.Child("volumeClaimTemplates")) {
		e.BadValue = check.GoForm(withoutType(s.VolumeClaimTemplates))
		errs = append(errs, e)
	}
	errs = append(errs, apivalidation.ValidateImmutableField(s.ServiceName, old.ServiceName, at.Child("serviceName"))...)
	return append(errs, apivalidation.ValidateImmutableField(s.PodManagementPolicy, old.PodManagementPolicy, at.Child("podManagementPolicy"))...)
}

func validateStatefulSet(s *appsv1.StatefulSetSpec, rules setRules, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if p := s.PodManagementPolicy; p != appsv1.OrderedReadyPodManagement && p != appsv1.ParallelPodManagement {
		errs = append(errs, field.Invalid(at.Child("podManagementPolicy"), p, "must be 'OrderedReady' or 'Parallel'"))
	}
	errs = append(errs, validateSetStrategy(&s.UpdateStrategy, at.Child("updateStrategy"))...)
	if p := s.PersistentVolumeClaimRetentionPolicy; p != nil {
		errs = append(errs, validateRetention(p.WhenDeleted, at.Child("persistentVolumeClaimRetentionPolicy", "whenDeleted"))...)
		errs = append(errs, validateRetention(p.WhenScaled, at.Child("persistentVolumeClaimRetentionPolicy", "whenScaled"))...)
	}
	if rules.claims {
		for i := range s.VolumeClaimTemplates {
			errs = append(errs, validateClaim(&s.VolumeClaimTemplates[i].Spec, at.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
		}
	}
	errs = append(errs, check.Counts(at, check.Opt("replicas", s.Replicas), check.N("minReadySeconds", s.MinReadySeconds))...)
	if s.Ordinals != nil {
		errs = append(errs, check.Counts(at, check.N("ordinals.start", s.Ordinals.Start))...)
	}
	if rules.serviceName && s.ServiceName != "" {
		errs = append(errs, check.DNSLabel(s.ServiceName, at.Child("serviceName"))...)
	}
	errs = append(errs, requireSelector(s.Selector, "statefulset", at)...)
	errs = append(errs, validateSetTemplate(s, rules, at)...)
	if p := s.Template.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("template", "spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if s.Template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("template", "spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in StatefulSet is not Supported"))
	}
	return errs
}

func validateSetStrategy(s *appsv1.StatefulSetUpdateStrategy, at *field.Path) field.ErrorList {
	ru := s.RollingUpdate
	switch s.Type {
	case appsv1.OnDeleteStatefulSetStrategyType:
		if ru != nil {
			return field.ErrorList{field.Invalid(at.Child("rollingUpdate"), check.GoForm(ru), "only allowed for updateStrategy 'RollingUpdate'")}
		}
		return nil
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if ru == nil {
			return nil
		}
		at = at.Child("rollingUpdate")
		errs := check.Counts(at, check.Opt("partition", ru.Partition))
		if ru.MaxUnavailable != nil {
			at := at.Child("maxUnavailable")
			errs = append(errs, check.IntOrPercent(*ru.MaxUnavailable, at)...)
			if check.ShareValue(*ru.MaxUnavailable) == 0 {
				errs = append(errs, field.Invalid(at, *ru.MaxUnavailable, "cannot be 0"))
			}
			errs = append(errs, check.NotOver100(*ru.MaxUnavailable, at)...)
		}
		return errs
	}
	return field.ErrorList{field.Invalid(at, check.GoForm(s), "must be 'RollingUpdate' or 'OnDelete'")}
}

func validateRetention(p appsv1.PersistentVolumeClaimRetentionPolicyType, at *field.Path) field.ErrorList {
	allowed := []appsv1.PersistentVolumeClaimRetentionPolicyType{appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
	if !slices.Contains(allowed, p) {
		return field.ErrorList{field.NotSupported(at, p, allowed)}
	}
	return nil
}

func validateStatefulSetStatus(s, old *appsv1.StatefulSetStatus, at *field.Path) field.ErrorList {
	ready, current, updated, available := check.N("readyReplicas", s.ReadyReplicas), check.N("currentReplicas", s.CurrentReplicas), check.N("updatedReplicas", s.UpdatedReplicas),
		check.N("availableReplicas", s.AvailableReplicas)
	errs := check.Counts(at, check.N("replicas", s.Replicas), ready, current, updated, available, check.N("observedGeneration", s.ObservedGeneration), check.Opt("collisionCount", s.CollisionCount))
	errs = append(errs, check.AtMost(at, s.Replicas, aboveReplicas, ready, current, updated, available)...)
	errs = append(errs, check.AtMost(at, s.ReadyReplicas, "cannot be greater than status.readyReplicas", available)...)
	return append(errs, check.NotDecremented(s.CollisionCount, old.CollisionCount, at.Child("collisionCount"))...)
}
