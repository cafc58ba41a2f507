package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func roleResource() *resource.Resource {
	return &resource.Resource{
		Kind:     kinds.Roles,
		Name:     check.PathSegment,
		Validate: resource.TypedCheck(func(r *rbacv1.Role) field.ErrorList { return rules(r.Rules, true) }),
	}
}

// rules checks the rules of a role (k/k pkg/apis/rbac/validation). Those of a role in a namespace cannot be about paths.
func rules(list []rbacv1.PolicyRule, namespaced bool) field.ErrorList {
	var errs, missing field.ErrorList // what is missing the API server reads off its types, after all else
	for i := range list {
		r, at := &list[i], field.NewPath("rules").Index(i)
		if len(r.Verbs) == 0 {
			missing = append(missing, field.Required(at.Child("verbs"), ""))
		}
		if len(r.NonResourceURLs) > 0 {
			urls := at.Child("nonResourceURLs")
			if namespaced {
				errs = append(errs, field.Invalid(urls, r.NonResourceURLs, "namespaced rules cannot apply to non-resource URLs"))
			}
			if len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0 {
				errs = append(errs, field.Invalid(urls, r.NonResourceURLs, "rules cannot apply to both regular resources and non-resource URLs"))
			}
			continue
		}
		if len(r.APIGroups) == 0 {
			errs = append(errs, field.Required(at.Child("apiGroups"), "resource rules must supply at least one api group"))
		}
		if len(r.Resources) == 0 {
			errs = append(errs, field.Required(at.Child("resources"), "resource rules must supply at least one resource"))
		}
	}
	return append(errs, missing...)
}
