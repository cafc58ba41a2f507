package kinds

import schedulingv1 "k8s.io/api/scheduling/v1"

// The kinds of scheduling.k8s.io/v1.
var (
	PriorityClasses = &Kind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass", Resource: "priorityclasses", Singular: "priorityclass", Short: []string{"pc"},
		Prefix: "/registry/priorityclasses/", New: func() Object { return &schedulingv1.PriorityClass{} }}
)
