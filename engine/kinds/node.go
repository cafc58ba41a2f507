package kinds

import nodev1 "k8s.io/api/node/v1"

// The kinds of node.k8s.io/v1.
var (
	RuntimeClasses = &Kind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass", Resource: "runtimeclasses", Singular: "runtimeclass",
		Prefix: "/registry/runtimeclasses/", New: func() Object { return &nodev1.RuntimeClass{} }}
)
