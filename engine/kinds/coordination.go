package kinds

import coordinationv1 "k8s.io/api/coordination/v1"

// The kinds of coordination.k8s.io/v1.
var (
	Leases = &Kind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Singular: "lease", Namespaced: true,
		Prefix: "/registry/leases/", New: func() Object { return &coordinationv1.Lease{} }}
)
