package columns

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"example.com/kubeviz/engine/kinds"
)

// usageColumns are those of metrics-server: what is used, under the names of the resources, and over which time it was measured.
var usageColumns = []Column{name, used(corev1.ResourceCPU), used(corev1.ResourceMemory),
	of("Window", "string", "", func(o kinds.Object, _ time.Time) any {
		_, window := usageOf(o)
		return window.Duration.String()
	}, func(o kinds.Object) Rank {
		_, window := usageOf(o)
		return Rank{Number: window.Seconds()}
	}).formatted("duration")}

func used(r corev1.ResourceName) Column {
	return of(string(r), "string", "", func(o kinds.Object, _ time.Time) any {
		usage, _ := usageOf(o)
		q := usage[r]
		return q.String()
	}, func(o kinds.Object) Rank {
		usage, _ := usageOf(o)
		q := usage[r]
		return Rank{Number: q.AsApproximateFloat64()}
	}).formatted("quantity")
}

// usageOf is what an object uses, a pod by all its containers together.
func usageOf(o kinds.Object) (corev1.ResourceList, metav1.Duration) {
	switch o := o.(type) {
	case *metricsv1beta1.NodeMetrics:
		return o.Usage, o.Window
	case *metricsv1beta1.PodMetrics:
		sum := corev1.ResourceList{}
		for _, c := range o.Containers {
			for r, q := range c.Usage {
				total, ok := sum[r]
				if !ok {
					total = resource.Quantity{Format: q.Format}
				}
				total.Add(q)
				sum[r] = total
			}
		}
		return sum, o.Window
	}
	return nil, metav1.Duration{}
}

func (c Column) formatted(format string) Column { c.Format = format; return c }
