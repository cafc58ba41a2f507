package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/scheduler"
	"example.com/kubeviz/components/scheduler/internal/fixture"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// BenchmarkPodsThroughTheAPI schedules pods on 1,000 nodes with the API server, the store and the journal at work.
func BenchmarkPodsThroughTheAPI(b *testing.B) {
	c := apitest.New(b)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		for i := range 1000 {
			n := apitest.Node(fmt.Sprintf("node-%04d", i))
			if _, err := kubeapi.Make(p, client, n); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, o := range c.List(kinds.Nodes) {
		if _, err := c.MergePatch(kinds.Nodes, "", o.GetName(), "", `{"spec":{"taints":null}}`); err != nil {
			b.Fatal(err)
		}
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		for i := range b.N {
			pod := fixture.Pod(fmt.Sprintf("p%d: cpu 1m, memory 1Mi, label app=web", i))
			pod.UID, pod.Generation = "", 0
			if _, err := kubeapi.Make(p, client, pod); err != nil {
				b.Fatal(err)
			}
		}
	})
	scheduler.Start(c.Process("master-1", "scheduler", apitest.Scheduler), scheduler.Config{})
	b.ResetTimer()
	c.Run(time.Minute)
	b.StopTimer()
	for _, o := range c.List(kinds.Pods) {
		if nodeOf(c, o.GetName()) == "" {
			b.Fatalf("%s is not bound", o.GetName())
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pods/s")
}
