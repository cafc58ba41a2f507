package kinds

import networkingv1 "k8s.io/api/networking/v1"

// The kinds of networking.k8s.io/v1.
var (
	IngressClasses = &Kind{Group: "networking.k8s.io", Version: "v1", Kind: "IngressClass", Resource: "ingressclasses", Singular: "ingressclass",
		Prefix: "/registry/ingressclasses/", New: func() Object { return &networkingv1.IngressClass{} }}
	Ingresses = &Kind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Resource: "ingresses", Singular: "ingress", Short: []string{"ing"}, Namespaced: true,
		Prefix: "/registry/ingress/", Subresources: []Subresource{status}, New: func() Object { return &networkingv1.Ingress{} }}
	IPAddresses = &Kind{Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress", Resource: "ipaddresses", Singular: "ipaddress", Short: []string{"ip"},
		Prefix: "/registry/ipaddresses/", New: func() Object { return &networkingv1.IPAddress{} }}
	NetworkPolicies = &Kind{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy", Resource: "networkpolicies", Singular: "networkpolicy", Short: []string{"netpol"}, Namespaced: true,
		Prefix: "/registry/networkpolicies/", New: func() Object { return &networkingv1.NetworkPolicy{} }}
	ServiceCIDRs = &Kind{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR", Resource: "servicecidrs", Singular: "servicecidr",
		Prefix: "/registry/servicecidrs/", Subresources: []Subresource{status}, New: func() Object { return &networkingv1.ServiceCIDR{} }}
)
