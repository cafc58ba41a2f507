package networking

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// controllerLengthMax bounds the name of the controller of an IngressClass.
const controllerLengthMax = 250

func ingressClassResource() *resource.Resource {
	type class = *networkingv1.IngressClass
	at := field.NewPath("spec")
	return &resource.Resource{
		Kind: kinds.IngressClasses,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(o class) {
			if p := o.Spec.Parameters; p != nil {
				check.SetDefault(&p.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o class) field.ErrorList { return validateClass(&o.Spec, at) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old class, _ string) field.ErrorList {
			errs := apivalidation.ValidateImmutableField(o.Spec.Controller, old.Spec.Controller, at.Child("controller"))
			return append(errs, validateClass(&o.Spec, at)...)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o class) any { return o.Spec }),
	}
}

func validateClass(s *networkingv1.IngressClassSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Controller) > controllerLengthMax {
		errs = append(errs, field.TooLong(at.Child("controller"), "", controllerLengthMax))
	}
	errs = append(errs, validation.IsDomainPrefixedPath(at.Child("controller"), s.Controller)...)
	p := s.Parameters
	if p == nil {
		return errs
	}
	at = at.Child("parameters")
	errs = append(errs, validateGroup(p.APIGroup, at.Child("apiGroup"))...)
	errs = append(errs, check.Each(at.Child("kind"), p.Kind, segment(p.Kind))...)
	errs = append(errs, check.Each(at.Child("name"), p.Name, segment(p.Name))...)
	errs = append(errs, validateScope(p, at)...)
	// What is missing stands last: these rules are of those that the API server reads off its types, after all others.
	if p.Kind == "" {
		errs = append(errs, field.Required(at.Child("kind"), ""))
	}
	if p.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	return errs
}

// segment is what is wrong with a name that stands in paths of URLs, if there is one.
func segment(v string) []string {
	if v == "" {
		return nil
	}
	return content.IsPathSegmentName(v)
}

func validateScope(p *networkingv1.IngressClassParametersReference, at *field.Path) field.ErrorList {
	scopes := []string{networkingv1.IngressClassParametersReferenceScopeCluster, networkingv1.IngressClassParametersReferenceScopeNamespace}
	ns := at.Child("namespace")
	switch {
	case p.Scope == nil:
		return field.ErrorList{field.Required(at.Child("scope"), "")}
	case !slices.Contains(scopes, *p.Scope):
		return field.ErrorList{field.NotSupported(at.Child("scope"), *p.Scope, scopes)}
	case *p.Scope == scopes[0] && p.Namespace != nil:
		return field.ErrorList{field.Forbidden(ns, "`parameters.scope` is set to 'Cluster'")}
	case *p.Scope == scopes[1] && p.Namespace == nil:
		return field.ErrorList{field.Required(ns, "`parameters.scope` is set to 'Namespace'")}
	case *p.Scope == scopes[1]:
		return check.Each(ns, *p.Namespace, apivalidation.ValidateNamespaceName(*p.Namespace, false))
	}
	return nil
}
