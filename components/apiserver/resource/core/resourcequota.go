package core

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func resourceQuotaResource() *resource.Resource {
	type quota = *corev1.ResourceQuota
	spec, status := field.NewPath("spec"), field.NewPath("status")
	return &resource.Resource{
		Kind:          kinds.ResourceQuotas,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o quota) { o.Status = corev1.ResourceQuotaStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old quota, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o quota) field.ErrorList { return validateQuota(&o.Spec, spec) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old quota, sub string) field.ErrorList {
			if sub == "status" {
				return append(quotaAmounts(o.Status.Hard, status.Child("hard")), quotaAmounts(o.Status.Used, status.Child("used"))...)
			}
			errs := validateQuota(&o.Spec, spec)
			if !sets.New(o.Spec.Scopes...).Equal(sets.New(old.Spec.Scopes...)) {
				errs = append(errs, field.Invalid(spec.Child("scopes"), o.Spec.Scopes, apivalidation.FieldImmutableErrorMsg))
			}
			return errs
		}),
		Warn: resource.TypedWarn(quotaWarnings),
	}
}

func quotaAmounts(list corev1.ResourceList, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, n := range check.SortedNames(list) {
		errs = append(errs, check.QuotaResource(n, at.Key(string(n)))...)
		errs = append(errs, check.Quantity(n, list[n], at.Key(string(n)))...)
	}
	return errs
}

// What each scope can be applied to (k/k pkg/apis/core/helper).
var (
	quotaPods    = []corev1.ResourceName{corev1.ResourcePods}
	quotaCompute = []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU,
		corev1.ResourceRequestsMemory}
	quotaClaims = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}
	quotaScopes = map[corev1.ResourceQuotaScope][]corev1.ResourceName{
		corev1.ResourceQuotaScopeTerminating: quotaCompute, corev1.ResourceQuotaScopeNotTerminating: quotaCompute, corev1.ResourceQuotaScopeBestEffort: quotaPods,
		corev1.ResourceQuotaScopeNotBestEffort: quotaCompute, corev1.ResourceQuotaScopePriorityClass: quotaCompute,
		corev1.ResourceQuotaScopeCrossNamespacePodAffinity: quotaCompute, corev1.ResourceQuotaScopeVolumeAttributesClass: quotaClaims,
	}
)

func validateQuota(s *corev1.ResourceQuotaSpec, at *field.Path) field.ErrorList {
	errs := quotaAmounts(s.Hard, at.Child("hard"))
	if len(s.Scopes) > 0 {
		scopes := at.Child("scopes")
		for _, scope := range s.Scopes {
			if _, ok := quotaScopes[scope]; !ok {
				errs = append(errs, field.Invalid(scopes, s.Scopes, "unsupported scope"))
			}
			errs = append(errs, scopeFits(s, scope, s.Scopes, scopes)...)
		}
		errs = append(errs, scopeConflicts(s, s.Scopes, scopes)...)
	}
	if s.ScopeSelector != nil {
		errs = append(errs, validateScopeSelector(s, at.Child("scopeSelector", "matchExpressions"))...)
	}
	return errs
}

// scopeFits refuses a scope for resources that know no such thing.
func scopeFits(s *corev1.ResourceQuotaSpec, scope corev1.ResourceQuotaScope, shown any, at *field.Path) field.ErrorList {
	fits, ok := quotaScopes[scope]
	if !ok {
		return nil
	}
	var errs field.ErrorList
	for _, n := range check.SortedNames(s.Hard) {
		if check.StandardQuota(n) && !slices.Contains(fits, n) {
			errs = append(errs, field.Invalid(at, shown, "unsupported scope applied to resource"))
		}
	}
	return errs
}

func scopeConflicts(s *corev1.ResourceQuotaSpec, scopes []corev1.ResourceQuotaScope, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, pair := range [][2]corev1.ResourceQuotaScope{{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating}} {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			errs = append(errs, field.Invalid(at, s.Scopes, "conflicting scopes"))
		}
	}
	return errs
}

func validateScopeSelector(s *corev1.ResourceQuotaSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	var scopes []corev1.ResourceQuotaScope
	for _, r := range s.ScopeSelector.MatchExpressions {
		if _, ok := quotaScopes[r.ScopeName]; !ok {
			errs = append(errs, field.Invalid(at.Child("scopeName"), r.ScopeName, "unsupported scope"))
		}
		errs = append(errs, scopeFits(s, r.ScopeName, check.GoForm(s.ScopeSelector), at)...)
		switch r.ScopeName {
		case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
			corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
			if r.Operator != corev1.ScopeSelectorOpExists {
				errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "+
					"ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
			}
		}
		switch r.Operator {
		case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
			if len(r.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
			}
		case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
			if len(r.Values) != 0 {
				errs = append(errs, field.Invalid(at.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
			}
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		}
		scopes = append(scopes, r.ScopeName)
	}
	return append(errs, scopeConflicts(s, scopes, at)...)
}

// quotaWarnings tells of requests above limits, at creation.
func quotaWarnings(o, old *corev1.ResourceQuota) []string {
	if old != nil {
		return nil
	}
	var out []string
	for _, n := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage} {
		name := "requests." + n
		request, ok := o.Spec.Hard[name]
		if !ok && (n == corev1.ResourceCPU || n == corev1.ResourceMemory) {
			name = n
			request, ok = o.Spec.Hard[name]
		}
		limit, okLimit := o.Spec.Hard["limits."+n]
		if ok && okLimit && request.Cmp(limit) > 0 {
			out = append(out, fmt.Sprintf("ResourceQuota %s (%s) should be less than limits.%s (%s)", name, request.String(), n, limit.String()))
		}
	}
	return out
}
