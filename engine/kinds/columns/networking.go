package columns

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var sliceDocs = discoveryv1.EndpointSlice{}.SwaggerDoc()

var endpointSlices = []Column{
	name,
	text("AddressType", sliceDocs["addressType"], func(s *discoveryv1.EndpointSlice) string { return string(s.AddressType) }),
	text("Ports", sliceDocs["ports"], func(s *discoveryv1.EndpointSlice) string {
		var list []string
		for _, p := range s.Ports {
			switch {
			case p.Port != nil:
				list = append(list, strconv.Itoa(int(*p.Port)))
			default:
				list = append(list, deref(p.Name, "*"))
			}
		}
		return few(list, ",", "<unset>")
	}),
	text("Endpoints", sliceDocs["endpoints"], func(s *discoveryv1.EndpointSlice) string {
		var list []string
		for i := range s.Endpoints {
			list = append(list, s.Endpoints[i].Addresses...)
		}
		return few(list, ",", "<unset>")
	}),
	age,
}

var ingresses = []Column{
	name,
	text("Class", "The name of the IngressClass resource that should be used for additional configuration", func(i *networkingv1.Ingress) string { return deref(i.Spec.IngressClassName, "<none>") }),
	text("Hosts", "Hosts that incoming requests are matched against before the ingress rule", hosts),
	text("Address", "Address is a list containing ingress points for the load-balancer", func(i *networkingv1.Ingress) string {
		var points []string
		for _, in := range i.Status.LoadBalancer.Ingress {
			points = append(points, orElse(in.IP, in.Hostname))
		}
		return strings.Join(entries(points), ",")
	}),
	text("Ports", "Ports of TLS configurations that open", func(i *networkingv1.Ingress) string {
		if len(i.Spec.TLS) > 0 {
			return "80, 443"
		}
		return "80"
	}),
	age,
}

// hosts shows three; once there are three, every further rule counts for one more, whether it names a host or not, as do earlier rules without one.
func hosts(i *networkingv1.Ingress) string {
	const most = 3
	var list []string
	more := false
	for _, r := range i.Spec.Rules {
		if more = len(list) == most; more {
			break
		}
		if r.Host != "" {
			list = append(list, r.Host)
		}
	}
	switch {
	case len(list) == 0:
		return "*"
	case more:
		return fmt.Sprintf("%s + %d more...", strings.Join(list, ","), len(i.Spec.Rules)-most)
	}
	return strings.Join(list, ",")
}

var ingressClasses = []Column{
	named(text("Name", docs["name"], func(c *networkingv1.IngressClass) string {
		if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			return c.Name + defaultMark
		}
		return c.Name
	})),
	text("Controller", "Controller that is responsible for handling this class", func(c *networkingv1.IngressClass) string { return c.Spec.Controller }),
	text("Parameters", "A reference to a resource with additional parameters", func(c *networkingv1.IngressClass) string {
		p := c.Spec.Parameters
		if p == nil {
			return "<none>"
		}
		kind := p.Kind
		if p.APIGroup != nil {
			kind += "." + *p.APIGroup
		}
		return kind + "/" + p.Name
	}),
	age,
}

// defaultMark follows the name of the class that objects get which name none.
const defaultMark = " (default)"

var networkPolicies = []Column{
	name,
	text("Pod-Selector", networkingv1.NetworkPolicySpec{}.SwaggerDoc()["podSelector"], func(p *networkingv1.NetworkPolicy) string { return metav1.FormatLabelSelector(&p.Spec.PodSelector) }),
	age,
}

// ipAddresses have no column of their age. The real server sends that cell nevertheless, without a column; clients leave it out, and so does this.
var ipAddresses = []Column{
	name,
	text("ParentRef", networkingv1.IPAddressSpec{}.SwaggerDoc()["parentRef"], func(a *networkingv1.IPAddress) string {
		p := a.Spec.ParentRef
		if p == nil {
			return "<none>"
		}
		parts := []string{strings.ToLower(schema.GroupResource{Group: p.Group, Resource: p.Resource}.String()), p.Namespace, p.Name}
		return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
	}),
}

var serviceCIDRs = []Column{
	name,
	text("CIDRs", networkingv1.ServiceCIDRSpec{}.SwaggerDoc()["cidrs"], func(c *networkingv1.ServiceCIDR) string { return strings.Join(c.Spec.CIDRs, ",") }),
	age,
}

var leases = []Column{
	name,
	text("Holder", coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"], func(l *coordinationv1.Lease) string { return deref(l.Spec.HolderIdentity, "") }),
	age,
}
