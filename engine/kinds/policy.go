package kinds

import policyv1 "k8s.io/api/policy/v1"

// The kinds of policy/v1.
var (
	PodDisruptionBudgets = &Kind{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Singular: "poddisruptionbudget", Short: []string{"pdb"}, Namespaced: true,
		Prefix: "/registry/poddisruptionbudgets/", Subresources: []Subresource{status}, New: func() Object { return &policyv1.PodDisruptionBudget{} }}
)
