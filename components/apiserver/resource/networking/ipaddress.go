package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func ipAddressResource() *resource.Resource {
	type address = *networkingv1.IPAddress
	at := field.NewPath("spec", "parentRef")
	return &resource.Resource{
		Kind:        kinds.IPAddresses,
		Name:        isAddress,
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o address) field.ErrorList { return validateParent(o.Spec.ParentRef, at) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old address, _ string) field.ErrorList {
			errs := validateParent(o.Spec.ParentRef, at)
			if !apiequality.Semantic.DeepEqual(o.Spec.ParentRef, old.Spec.ParentRef) {
				errs = append(errs, field.Invalid(at, nil, "field is immutable"))
			}
			return errs
		}),
		Fields: map[string]func(kinds.Object) string{},
	}
}

// isAddress: the name of an IPAddress is the address, in its one canonical form.
func isAddress(name string, _ bool) []string {
	var out []string
	for _, e := range validation.IsValidIP(&field.Path{}, name) {
		out = append(out, e.Detail)
	}
	return out
}

func validateParent(p *networkingv1.ParentReference, at *field.Path) field.ErrorList {
	if p == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs, missing field.ErrorList // what is missing the API server reads off its types, after all else
	if p.Group != "" {                // the core group has no name
		errs = append(errs, validateGroup(&p.Group, at.Child("group"))...)
	}
	for _, f := range []struct {
		name, value string
		needed      bool
	}{{"resource", p.Resource, true}, {"name", p.Name, true}, {"namespace", p.Namespace, false}} {
		if f.value == "" && f.needed {
			missing = append(missing, field.Required(at.Child(f.name), ""))
		}
		errs = append(errs, check.Each(at.Child(f.name), f.value, segment(f.value))...)
	}
	return append(errs, missing...)
}
