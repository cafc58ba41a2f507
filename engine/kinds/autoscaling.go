package kinds

import autoscalingv2 "k8s.io/api/autoscaling/v2"

// The kinds of autoscaling/v2.
var (
	HorizontalPodAutoscalers = &Kind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers", Singular: "horizontalpodautoscaler", Short: []string{"hpa"}, Categories: []string{"all"}, Namespaced: true,
		Prefix: "/registry/horizontalpodautoscalers/", Subresources: []Subresource{status}, Faces: []*Face{autoscalerFace}, New: func() Object { return &autoscalingv2.HorizontalPodAutoscaler{} }}
)
