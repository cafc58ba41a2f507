package kubelet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	gort "runtime"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// fleet starts n machines with a kubelet each and waits until they are ready.
func fleet(tb testing.TB, c *apitest.Cluster, n int) {
	for i := range n {
		name := fmt.Sprintf("w%04d", i)
		ip := netip.AddrFrom4([4]byte{172, 16, byte(i / 250), byte(i%250 + 1)}).String()
		rt := runtime.New(runtime.Config{Loop: c.Loop, Sink: c.Journal, Node: name, NodeIP: ip,
			PodCIDR: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(64 + i/256), byte(i % 256), 0}), 24)})
		kubelet.Start(c.Process(name, "kubelet", apitest.Kubelet(name)), kubelet.Config{Node: name, Capacity: size, NodeIP: ip, Runtime: rt})
	}
	c.Run(20 * time.Second)
}

// pods binds per pods to each of n machines and waits until they run.
func pods(c *apitest.Cluster, n, per int) {
	for i := range n {
		for j := range per {
			c.Create(apitest.Pod(fmt.Sprintf("p-%d-%d", i, j), func(p *corev1.Pod) {
				p.Spec.NodeName = fmt.Sprintf("w%04d", i)
				p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			}))
		}
	}
	c.Run(time.Minute)
}

func TestTheSameSeedGivesTheSameJournal(t *testing.T) {
	run := func() (out []string) {
		c := apitest.New(t)
		fleet(t, c, 3)
		pods(c, 3, 4)
		c.Delete(kinds.Pods, "default", "p-1-1", nil)
		c.Run(time.Minute)
		for _, r := range c.Records() {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if o, ok := r.Event.(event.ObjectChanged); ok {
				object, _ := json.Marshal(o.Object)
				text = append(text, object...)
			}
			out = append(out, string(text))
		}
		return out
	}
	a, b := run(), run()
	if len(a) != len(b) {
		t.Errorf("%d and %d records", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("record %d differs:\n%s\n%s", i+1, a[i], b[i])
		}
	}
}

// BenchmarkIdle: kubelets of which nothing is asked, ten simulated minutes an operation.
func BenchmarkIdle(b *testing.B) {
	for _, x := range []struct{ nodes, per int }{{1000, 0}, {100, 30}} {
		b.Run(fmt.Sprintf("nodes=%d,pods=%d", x.nodes, x.per), func(b *testing.B) {
			var before, after gort.MemStats
			c := apitest.New(b)
			gort.GC()
			gort.ReadMemStats(&before)
			fleet(b, c, x.nodes)
			pods(c, x.nodes, x.per)
			gort.GC()
			gort.ReadMemStats(&after)
			defer b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/float64(x.nodes)/1024, "KiB/node")
			defer b.ReportMetric(float64(c.Loop.Procs())/float64(x.nodes), "procs/node")
			used := cpu()
			b.ResetTimer()
			for range b.N {
				c.Loop.RunUntil(context.Background(), c.Loop.Now().Add(10*time.Minute))
			}
			b.ReportMetric((cpu()-used).Seconds()/float64(b.N), "cpu-s/op")
		})
	}
}

// cpu is the processor time this program has used, which says more than wall time on a machine that is shared.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPodLife: a pod from binding to Running and from deletion to gone, API server and store included.
func BenchmarkPodLife(b *testing.B) {
	c := apitest.New(b)
	fleet(b, c, 20)
	used := cpu()
	b.ResetTimer()
	for i := 0; i < b.N; i += 200 {
		for j := range min(200, b.N-i) {
			c.Create(apitest.Pod(fmt.Sprintf("p%d", j), func(p *corev1.Pod) {
				p.Spec.NodeName = fmt.Sprintf("w%04d", j%20)
				p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
			}))
		}
		c.Run(20 * time.Second)
		for j := range min(200, b.N-i) {
			c.Delete(kinds.Pods, "default", fmt.Sprintf("p%d", j), nil)
		}
		c.Run(10 * time.Second)
	}
	b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-us/pod")
	if n := len(c.List(kinds.Pods)); n != 0 {
		b.Fatalf("%d pods are left", n)
	}
}
