package discovery

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// Limits of an EndpointSlice.
const (
	addressesMax = 100
	portsMax     = 20000
	endpointsMax = 1000
	hintsMax     = 8 // of either kind
)

func endpointSliceResource() *resource.Resource {
	type slice = *discoveryv1.EndpointSlice
	return &resource.Resource{
		Kind: kinds.EndpointSlices,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(o slice) {
			for i := range o.Ports {
				check.SetDefault(&o.Ports[i].Name, "")
				check.SetDefault(&o.Ports[i].Protocol, corev1.ProtocolTCP)
			}
		}),
		PrepareCreate: resource.Typed(func(o slice) { dropTopology(o, nil) }),
		PrepareUpdate: resource.TypedUpdate(func(o, old slice, _ string) { dropTopology(o, old) }),
		UpdateWhole:   true,
		Validate:      resource.TypedCheck(func(o slice) field.ErrorList { return validateSlice(o, nil) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, old slice, _ string) field.ErrorList {
			return validateSlice(o, old)
		}),
		Generation: true,
		// All but the metadata; labels count, since they say whose endpoints these are.
		Spec: resource.TypedSpec(func(o slice) any { return []any{o.Labels, o.AddressType, o.Endpoints, o.Ports} }),
		Warn: resource.TypedWarn(func(o, old slice) []string {
			var out []string
			if old == nil && o.AddressType == discoveryv1.AddressTypeFQDN {
				out = append(out, "spec.addressType: FQDN endpoints are deprecated")
			}
			if by := o.Labels[discoveryv1.LabelManagedBy]; by == "endpointslice-controller.k8s.io" || by == "endpointslicemirroring-controller.k8s.io" {
				return out // they put right what they take over
			}
			for i, e := range o.Endpoints {
				for k, a := range e.Addresses {
					if netutils.ParseIPSloppy(a) != nil {
						out = append(out, validation.GetWarningsForIP(field.NewPath("endpoints").Index(i).Child("addresses").Index(k), a)...)
					}
				}
			}
			return out
		}),
	}
}

// dropTopology takes away what v1 does not let anybody write, but for the name of a node that stood there before.
func dropTopology(o, old *discoveryv1.EndpointSlice) {
	if old != nil && apiequality.Semantic.DeepEqual(old.Endpoints, o.Endpoints) {
		return
	}
	for i := range o.Endpoints {
		e := &o.Endpoints[i]
		node, ok := e.DeprecatedTopology[corev1.LabelHostname]
		if e.NodeName == nil && ok && old != nil && len(apivalidation.NameIsDNSSubdomain(node, false)) == 0 &&
			slices.ContainsFunc(old.Endpoints, func(b discoveryv1.Endpoint) bool { return b.DeprecatedTopology[corev1.LabelHostname] == node }) {
			e.NodeName = &node
		}
		e.DeprecatedTopology = nil
	}
}

// sliceCheck gathers what is wrong. Some rules the API server reads off its types; what they find stands after all else.
type sliceCheck struct{ errs, last field.ErrorList }

func validateSlice(o, old *discoveryv1.EndpointSlice) field.ErrorList {
	c := &sliceCheck{}
	at := field.NewPath("addressType")
	types := []discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
	switch {
	case o.AddressType == "":
		c.last = append(c.last, field.Required(at, ""))
		if old != nil && old.AddressType != "" {
			c.last = append(c.last, field.Invalid(at, nil, "field is immutable"))
		}
	case old != nil && o.AddressType != old.AddressType:
		c.last = append(c.last, field.Invalid(at, nil, "field is immutable"))
		if !slices.Contains(types, o.AddressType) {
			c.errs = append(c.errs, field.NotSupported(at, o.AddressType, types))
		}
	case !slices.Contains(types, o.AddressType):
		c.last = append(c.last, field.NotSupported(at, o.AddressType, types))
	}
	c.errs = append(c.errs, validatePorts(o.Ports, field.NewPath("ports"))...)
	if old == nil || !apiequality.Semantic.DeepEqual(old.Endpoints, o.Endpoints) {
		c.endpoints(o.Endpoints, o.AddressType, field.NewPath("endpoints"))
	}
	return append(c.errs, c.last...)
}

func validatePorts(list []discoveryv1.EndpointPort, at *field.Path) field.ErrorList {
	if len(list) > portsMax {
		return field.ErrorList{field.TooMany(at, len(list), portsMax)}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	protocols := []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}
	for i, p := range list {
		at := at.Index(i)
		if *p.Name != "" {
			errs = append(errs, check.DNSLabel(*p.Name, at.Child("name"))...)
		}
		if seen[*p.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
		}
		seen[*p.Name] = true
		if !slices.Contains(protocols, *p.Protocol) {
			errs = append(errs, field.NotSupported(at.Child("protocol"), *p.Protocol, protocols))
		}
		if a := p.AppProtocol; a != nil {
			errs = append(errs, check.Each(at.Child("appProtocol"), *a, validation.IsQualifiedName(*a))...)
		}
	}
	return errs
}

func (c *sliceCheck) endpoints(list []discoveryv1.Endpoint, t discoveryv1.AddressType, at *field.Path) {
	if len(list) > endpointsMax {
		c.errs = append(c.errs, field.TooMany(at, len(list), endpointsMax))
		return
	}
	for i := range list {
		e, at := &list[i], at.Index(i)
		switch n := len(e.Addresses); {
		case n == 0:
			c.last = append(c.last, field.Required(at.Child("addresses"), ""))
		case n > addressesMax:
			c.last = append(c.last, field.TooMany(at.Child("addresses"), n, addressesMax))
		}
		for k, a := range e.Addresses {
			c.errs = append(c.errs, validateAddress(a, t, at.Child("addresses"), k)...)
		}
		if n := e.NodeName; n != nil {
			c.errs = append(c.errs, check.Each(at.Child("nodeName"), *n, apivalidation.NameIsDNSSubdomain(*n, false))...)
		}
		if e.Hostname != nil {
			c.errs = append(c.errs, check.DNSLabel(*e.Hostname, at.Child("hostname"))...)
		}
		if e.Hints != nil {
			c.errs = append(c.errs, validateHints(e.Hints, at.Child("hints"))...)
		}
	}
}

func validateAddress(a string, t discoveryv1.AddressType, list *field.Path, i int) field.ErrorList {
	at := list.Index(i)
	switch t {
	case discoveryv1.AddressTypeIPv4:
		if errs := validation.IsValidIPForLegacyField(at, a, true, nil); len(errs) > 0 {
			return errs
		}
		if !netutils.IsIPv4String(a) {
			return append(field.ErrorList{field.Invalid(list, a, "must be an IPv4 address")}, endpointIP(a, at)...)
		}
		return endpointIP(a, at)
	case discoveryv1.AddressTypeIPv6:
		if errs := validation.IsValidIP(at, a); len(errs) > 0 {
			return errs
		}
		if !netutils.IsIPv6String(a) {
			return append(field.ErrorList{field.Invalid(list, a, "must be an IPv6 address")}, endpointIP(a, at)...)
		}
		return endpointIP(a, at)
	case discoveryv1.AddressTypeFQDN:
		return validation.IsFullyQualifiedDomainName(at, a)
	}
	return nil
}

// endpointIP refuses addresses that would mean another machine, or none, to whoever sends there.
func endpointIP(a string, at *field.Path) field.ErrorList {
	ip := netutils.ParseIPSloppy(a)
	var errs field.ErrorList
	for _, r := range []struct {
		is   bool
		text string
	}{{ip.IsUnspecified(), fmt.Sprintf("may not be unspecified (%v)", a)}, {ip.IsLoopback(), "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		{ip.IsLinkLocalUnicast(), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"},
		{ip.IsLinkLocalMulticast(), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"}} {
		if r.is {
			errs = append(errs, field.Invalid(at, a, r.text))
		}
	}
	return errs
}

func validateHints(h *discoveryv1.EndpointHints, at *field.Path) field.ErrorList {
	zones := make([]string, len(h.ForZones))
	for i, z := range h.ForZones {
		zones[i] = z.Name
	}
	errs, full := names(zones, validation.IsValidLabelValue, at.Child("forZones"))
	if full {
		return errs
	}
	nodes := make([]string, len(h.ForNodes))
	for i, n := range h.ForNodes {
		nodes[i] = n.Name
	}
	more, _ := names(nodes, func(v string) []string { return apivalidation.NameIsDNSSubdomain(v, false) }, at.Child("forNodes"))
	return append(errs, more...)
}

// names checks names that are to differ; full reports that there are too many to look at.
func names(list []string, wrong func(string) []string, at *field.Path) (errs field.ErrorList, full bool) {
	if len(list) > hintsMax {
		return field.ErrorList{field.TooMany(at, len(list), hintsMax)}, true
	}
	for i, v := range list {
		at := at.Index(i).Child("name")
		if slices.Contains(list[:i], v) {
			errs = append(errs, field.Duplicate(at, v))
		}
		errs = append(errs, check.Each(at, v, wrong(v))...)
	}
	return errs, false
}
