package rbac

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func roleBindingResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.RoleBindings,
		Name: check.PathSegment,
		Default: resource.Typed(func(b *rbacv1.RoleBinding) {
			defaultBinding(&b.RoleRef, b.Subjects)
		}),
		Validate: resource.TypedCheck(func(b *rbacv1.RoleBinding) field.ErrorList {
			return append(roleRef(&b.RoleRef, []string{"Role", "ClusterRole"}), subjects(b.Subjects, true)...)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(b, old *rbacv1.RoleBinding, _ string) field.ErrorList {
			return sameRole(b.RoleRef, old.RoleRef)
		}),
	}
}

// defaultBinding fills in the API groups of what a binding names (k/k pkg/apis/rbac/v1/defaults.go).
func defaultBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	if ref.APIGroup == "" {
		ref.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		if s := &subjects[i]; s.APIGroup == "" && (s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind) {
			s.APIGroup = rbacv1.GroupName
		}
	}
}

func roleRef(ref *rbacv1.RoleRef, kinds []string) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("roleRef")
	if ref.APIGroup != rbacv1.GroupName {
		errs = append(errs, check.NotSupported(at.Child("apiGroup"), ref.APIGroup, []string{rbacv1.GroupName}))
	}
	known := false
	for _, k := range kinds {
		known = known || ref.Kind == k
	}
	if !known {
		errs = append(errs, check.NotSupported(at.Child("kind"), ref.Kind, kinds))
	}
	if ref.Name == "" {
		return append(errs, field.Required(at.Child("name"), ""))
	}
	for _, text := range check.PathSegment(ref.Name, false) {
		errs = append(errs, field.Invalid(at.Child("name"), ref.Name, text))
	}
	return errs
}

// subjects checks whom a binding names. A binding of the whole cluster has no namespace that a service account could be in without saying so.
func subjects(list []rbacv1.Subject, namespaced bool) field.ErrorList {
	var errs, missing field.ErrorList // what is missing the API server reads off its types, after all else
	for i := range list {
		s, at := &list[i], field.NewPath("subjects").Index(i)
		if s.Name == "" {
			missing = append(missing, field.Required(at.Child("name"), ""))
		}
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			if s.Name != "" {
				for _, text := range apivalidation.ValidateServiceAccountName(s.Name, false) {
					errs = append(errs, field.Invalid(at.Child("name"), s.Name, text))
				}
			}
			if s.APIGroup != "" {
				errs = append(errs, check.NotSupported(at.Child("apiGroup"), s.APIGroup, []string{""}))
			}
			if !namespaced && s.Namespace == "" {
				errs = append(errs, field.Required(at.Child("namespace"), ""))
			}
		case rbacv1.UserKind, rbacv1.GroupKind:
			if s.APIGroup != rbacv1.GroupName {
				errs = append(errs, check.NotSupported(at.Child("apiGroup"), s.APIGroup, []string{rbacv1.GroupName}))
			}
		default:
			errs = append(errs, check.NotSupported(at.Child("kind"), s.Kind, []string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}))
		}
	}
	return append(errs, missing...)
}

func sameRole(now, old rbacv1.RoleRef) field.ErrorList {
	if now == old {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), check.GoForm(now), apivalidation.FieldImmutableErrorMsg)}
}
