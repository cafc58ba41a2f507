package endpoint_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller"
	"example.com/kubeviz/engine/kinds"
)

// BenchmarkOneOfAThousandPodsChanges is what it costs the whole cluster that one pod of a Service of a thousand becomes unready or ready: its status, one slice of ten, and Endpoints of a thousand.
func BenchmarkOneOfAThousandPodsChanges(b *testing.B) {
	c := apitest.New(b)
	c.Create(apitest.Node("worker-1"))
	controller.Start(c.Process("master-1", "controller-manager", apitest.ControllerManager), controller.Config{})
	c.Run(3 * time.Second)
	for i := range 1000 {
		pod(c, fmt.Sprintf("p%04d", i), "worker-1", fmt.Sprintf("10.224.%d.%d", i/250, i%250+1), true)
	}
	c.Create(service())
	c.Run(10 * time.Second)
	before := c.Journal.Last()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		state(c, "p0500", "10.224.2.1", i%2 == 1)
		c.Run(100 * time.Millisecond)
	}
	b.StopTimer()
	b.ReportMetric(float64(len(c.LogSince(before, kinds.EndpointSlices)))/float64(b.N), "slices/op")
	b.ReportMetric(float64(len(c.LogSince(before, kinds.Endpoints)))/float64(b.N), "endpoints/op")
}
