package kinds

import discoveryv1 "k8s.io/api/discovery/v1"

// The kinds of discovery.k8s.io/v1.
var (
	EndpointSlices = &Kind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices", Singular: "endpointslice", Namespaced: true,
		Prefix: "/registry/endpointslices/", New: func() Object { return &discoveryv1.EndpointSlice{} }}
)
