package controller_test

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkScaleUp brings one Deployment from nothing to many ready pods and reports the wall time a pod costs, API server and stand-ins included.
func BenchmarkScaleUp(b *testing.B) {
	for _, n := range []int32{100, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				c := startManager(b)
				startPods(c).readyAfter = time.Second
				c.Create(nginx(n, "nginx:1.27"))
				for range 100 {
					if c.Run(5 * time.Second); deployment(c).Status.AvailableReplicas == n {
						break
					}
				}
				if got := deployment(c).Status.AvailableReplicas; got != n {
					b.Fatalf("%d of %d pods are available after minutes", got, n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/pod")
		})
	}
}
