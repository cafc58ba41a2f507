package networking

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func networkPolicyResource() *resource.Resource {
	type policy = *networkingv1.NetworkPolicy
	at := field.NewPath("spec")
	return &resource.Resource{
		Kind:    kinds.NetworkPolicies,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultNetworkPolicy),
		// Other than elsewhere, lists that are empty and lists that are not there count as different.
		PrepareUpdate: resource.TypedUpdate(func(o, old policy, _ string) {
			if !reflect.DeepEqual(o.Spec, old.Spec) {
				o.Generation = old.Generation + 1
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o policy) field.ErrorList { return (&policyCheck{}).spec(&o.Spec, at) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old policy, _ string) field.ErrorList {
			c := &policyCheck{lax: len(check.LabelSelector(&old.Spec.PodSelector, false, nil)) > 0}
			eachBlock(&old.Spec, nil, func(b *networkingv1.IPBlock, _ *field.Path) { c.before = append(append(c.before, b.CIDR), b.Except...) })
			return c.spec(&o.Spec, at)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o policy) any { return o.Spec }),
		Warn: resource.TypedWarn(func(o, _ policy) []string {
			var out []string
			eachBlock(&o.Spec, at, func(b *networkingv1.IPBlock, at *field.Path) {
				out = append(out, validation.GetWarningsForCIDR(at.Child("cidr"), b.CIDR)...)
				for i, e := range b.Except {
					out = append(out, validation.GetWarningsForCIDR(at.Child("except").Index(i), e)...)
				}
			})
			return out
		}),
	}
}

func defaultNetworkPolicy(o *networkingv1.NetworkPolicy) {
	ports := func(list []networkingv1.NetworkPolicyPort) {
		for i := range list {
			check.SetDefault(&list[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for i := range o.Spec.Ingress {
		ports(o.Spec.Ingress[i].Ports)
	}
	for i := range o.Spec.Egress {
		ports(o.Spec.Egress[i].Ports)
	}
	if len(o.Spec.PolicyTypes) == 0 {
		o.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(o.Spec.Egress) > 0 {
			o.Spec.PolicyTypes = append(o.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
}

// eachBlock visits the blocks of addresses of a policy.
func eachBlock(s *networkingv1.NetworkPolicySpec, at *field.Path, fn func(*networkingv1.IPBlock, *field.Path)) {
	visit := func(list []networkingv1.NetworkPolicyPeer, at *field.Path) {
		for i := range list {
			if b := list[i].IPBlock; b != nil {
				fn(b, at.Index(i).Child("ipBlock"))
			}
		}
	}
	for i := range s.Ingress {
		visit(s.Ingress[i].From, at.Child("ingress").Index(i).Child("from"))
	}
	for i := range s.Egress {
		visit(s.Egress[i].To, at.Child("egress").Index(i).Child("to"))
	}
}

// policyCheck checks a policy, letting pass what was wrong in it before.
type policyCheck struct {
	lax     bool
	before  []string        // blocks of addresses
	missing field.ErrorList // of the rules that the API server reads off its types, after all others
}

func (c *policyCheck) spec(s *networkingv1.NetworkPolicySpec, at *field.Path) field.ErrorList {
	errs := check.LabelSelector(&s.PodSelector, c.lax, at.Child("podSelector"))
	for i, r := range s.Ingress {
		at := at.Child("ingress").Index(i)
		errs = append(errs, validatePolicyPorts(r.Ports, at.Child("ports"))...)
		errs = append(errs, c.peers(r.From, at.Child("from"))...)
	}
	for i, r := range s.Egress {
		at := at.Child("egress").Index(i)
		errs = append(errs, validatePolicyPorts(r.Ports, at.Child("ports"))...)
		errs = append(errs, c.peers(r.To, at.Child("to"))...)
	}
	types := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	if len(s.PolicyTypes) > len(types) {
		errs = append(errs, field.Invalid(at.Child("policyTypes"), s.PolicyTypes, "may not specify more than two policyTypes"))
		return append(errs, c.missing...)
	}
	for i, t := range s.PolicyTypes {
		if !slices.Contains(types, t) {
			errs = append(errs, field.NotSupported(at.Child("policyTypes").Index(i), t, types))
		}
	}
	return append(errs, c.missing...)
}

func (c *policyCheck) peers(list []networkingv1.NetworkPolicyPeer, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, p := range list {
		at := at.Index(i)
		n := 0
		if p.PodSelector != nil {
			n++
			errs = append(errs, check.LabelSelector(p.PodSelector, c.lax, at.Child("podSelector"))...)
		}
		if p.NamespaceSelector != nil {
			n++
			errs = append(errs, check.LabelSelector(p.NamespaceSelector, c.lax, at.Child("namespaceSelector"))...)
		}
		if p.IPBlock != nil {
			n++
			errs = append(errs, c.block(p.IPBlock, at.Child("ipBlock"))...)
		}
		switch {
		case n == 0:
			errs = append(errs, field.Required(at, "must specify a peer"))
		case n > 1 && p.IPBlock != nil:
			errs = append(errs, field.Forbidden(at, "may not specify both ipBlock and another peer"))
		}
	}
	return errs
}

func (c *policyCheck) block(b *networkingv1.IPBlock, at *field.Path) field.ErrorList {
	if b.CIDR == "" {
		c.missing = append(c.missing, field.Required(at.Child("cidr"), ""))
		return nil
	}
	errs := validation.IsValidCIDRForLegacyField(at.Child("cidr"), b.CIDR, true, c.before)
	_, whole, err := netutils.ParseCIDRSloppy(b.CIDR)
	if err != nil {
		return errs
	}
	for i, text := range b.Except {
		at := at.Child("except").Index(i)
		errs = append(errs, validation.IsValidCIDRForLegacyField(at, text, true, c.before)...)
		_, part, err := netutils.ParseCIDRSloppy(text)
		if err != nil {
			continue
		}
		wholeBits, _ := whole.Mask.Size()
		partBits, _ := part.Mask.Size()
		if !whole.Contains(part.IP) || wholeBits >= partBits {
			errs = append(errs, field.Invalid(at, text, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}

func validatePolicyPorts(list []networkingv1.NetworkPolicyPort, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	protocols := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
	for i, p := range list {
		at := at.Index(i)
		if p.Protocol != nil && !slices.Contains(protocols, *p.Protocol) {
			errs = append(errs, field.NotSupported(at.Child("protocol"), *p.Protocol, protocols))
		}
		number := func(name string, n int32) {
			for _, text := range validation.IsValidPortNum(int(n)) {
				errs = append(errs, field.Invalid(at.Child(name), n, text))
			}
		}
		end := func(text string) { errs = append(errs, field.Invalid(at.Child("endPort"), *p.EndPort, text)) }
		switch {
		case p.Port == nil:
			if p.EndPort != nil {
				end("may not be specified when `port` is not specified")
			}
		case p.Port.Type == intstr.Int:
			number("port", p.Port.IntVal)
			if p.EndPort != nil {
				if *p.EndPort < p.Port.IntVal {
					end("must be greater than or equal to `port`")
				}
				number("endPort", *p.EndPort)
			}
		default:
			if p.EndPort != nil {
				end("may not be specified when `port` is non-numeric")
			}
			errs = append(errs, check.Each(at.Child("port"), p.Port.StrVal, validation.IsValidPortName(p.Port.StrVal))...)
		}
	}
	return errs
}
