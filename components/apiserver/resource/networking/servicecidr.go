package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func serviceCIDRResource() *resource.Resource {
	type cidr = *networkingv1.ServiceCIDR
	at := field.NewPath("spec", "cidrs")
	return &resource.Resource{
		Kind:          kinds.ServiceCIDRs,
		Name:          apivalidation.NameIsDNSSubdomain,
		PrepareCreate: resource.Typed(func(o cidr) { o.Status = networkingv1.ServiceCIDRStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old cidr, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(&o.ObjectMeta, &old.ObjectMeta)
				return
			}
			o.Status = old.Status
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o cidr) field.ErrorList { return validateCIDRs(&o.Spec, at) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old cidr, sub string) field.ErrorList {
			if sub == "status" {
				return nil
			}
			return validateCIDRChange(&o.Spec, &old.Spec, at)
		}),
	}
}

func validateCIDRs(s *networkingv1.ServiceCIDRSpec, at *field.Path) field.ErrorList {
	switch n := len(s.CIDRs); {
	case n == 0:
		return field.ErrorList{field.Required(at, "at least one CIDR required")}
	case n > 2:
		return field.ErrorList{field.Invalid(at, check.GoForm(s), "may only hold up to 2 values")}
	}
	var errs field.ErrorList
	for i, c := range s.CIDRs {
		errs = append(errs, validation.IsValidCIDR(at.Index(i), c)...)
	}
	if len(s.CIDRs) == 2 {
		a, b := netutils.IPFamilyOfCIDRString(s.CIDRs[0]), netutils.IPFamilyOfCIDRString(s.CIDRs[1])
		if a == b && a != netutils.IPFamilyUnknown {
			errs = append(errs, field.Invalid(at, s.CIDRs, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"))
		}
	}
	return errs
}

// validateCIDRChange lets a range be joined by one of the other family, and nothing else.
func validateCIDRChange(s, old *networkingv1.ServiceCIDRSpec, at *field.Path) field.ErrorList {
	joined := len(old.CIDRs) == 1 && len(s.CIDRs) == 2
	if len(s.CIDRs) != len(old.CIDRs) && !joined {
		return field.ErrorList{field.Invalid(at, s.CIDRs, apivalidation.FieldImmutableErrorMsg)}
	}
	var errs field.ErrorList
	for i, c := range old.CIDRs {
		if c != s.CIDRs[i] {
			errs = append(errs, field.Invalid(at.Index(i), s.CIDRs[i], apivalidation.FieldImmutableErrorMsg))
		}
	}
	if joined {
		errs = append(errs, validateCIDRs(s, at)...)
	}
	return errs
}
