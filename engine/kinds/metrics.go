package kinds

import metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

// What machines and pods use at present, as metrics-server tells it. It is measured and never stored.
var (
	NodeMetrics = &Kind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "NodeMetrics", Resource: "nodes", Verbs: onlyRead, New: func() Object { return &metricsv1beta1.NodeMetrics{} }}
	PodMetrics  = &Kind{Group: "metrics.k8s.io", Version: "v1beta1", Kind: "PodMetrics", Resource: "pods", Namespaced: true, Verbs: onlyRead,
		New: func() Object { return &metricsv1beta1.PodMetrics{} }}
)

var onlyRead = []string{"get", "list"}
