package apiserver_test

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// inLoop runs fn in a process of the test, without stepping the loop for its end.
func inLoop(b *testing.B, c *apitest.Cluster, fn func(p *sim.Proc, client *kubeapi.Client)) {
	done := false
	pr := c.Process("bench", "client", apitest.Admin)
	pr.Go("bench", func(p *sim.Proc) { fn(p, pr.Client); done = true })
	for !done {
		c.Run(time.Second)
	}
}

func BenchmarkCreatePod(b *testing.B) {
	c := apitest.New(b)
	b.ReportAllocs()
	inLoop(b, c, func(p *sim.Proc, client *kubeapi.Client) {
		b.ResetTimer()
		for i := range b.N {
			if _, err := kubeapi.Make(p, client, apitest.Pod(fmt.Sprintf("p-%d", i))); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
	})
}

func manyPods(b *testing.B, c *apitest.Cluster, n, nodes int) {
	inLoop(b, c, func(p *sim.Proc, client *kubeapi.Client) {
		for i := range n {
			pod := apitest.Pod(fmt.Sprintf("p-%06d", i), on(fmt.Sprintf("n-%05d", i%nodes)))
			if _, err := kubeapi.Make(p, client, pod); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkList5000PodsFromTheCache(b *testing.B) {
	c := apitest.New(b)
	manyPods(b, c, 5000, 100)
	b.ReportAllocs()
	inLoop(b, c, func(p *sim.Proc, client *kubeapi.Client) {
		b.ResetTimer()
		for range b.N {
			resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.List, Kind: kinds.Pods, ResourceVersion: "0"})
			if err != nil || len(resp.Items) != 5000 {
				b.Fatal(err, len(resp.Items))
			}
		}
		b.StopTimer()
	})
}

func BenchmarkPatchStatus(b *testing.B) {
	for _, watchers := range []int{0, 5000} {
		b.Run(fmt.Sprintf("with %d node watchers", watchers), func(b *testing.B) {
			c := apitest.New(b)
			nodes := max(watchers, 100)
			manyPods(b, c, nodes, nodes)
			got := 0
			pr := c.Process("nodes", "kubelets", apitest.Admin)
			for i := range watchers {
				pr.Go("watch", func(p *sim.Proc) {
					s, err := pr.Client.Watch(p, &kubeapi.Request{Kind: kinds.Pods, ResourceVersion: "0", Fields: fields.OneTermEqualSelector("spec.nodeName", fmt.Sprintf("n-%05d", i))})
					for err == nil {
						if _, err = s.Recv(p); err == nil {
							got++
						}
					}
				})
			}
			c.Run(10 * time.Second)
			got = 0
			b.ReportAllocs()
			inLoop(b, c, func(p *sim.Proc, client *kubeapi.Client) {
				b.ResetTimer()
				for i := range b.N {
					_, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Pods, Namespace: "default", Name: fmt.Sprintf("p-%06d", i%nodes), Subresource: "status",
						PatchType: types.StrategicMergePatchType, Patch: []byte(fmt.Sprintf(`{"status":{"message":"%d","conditions":[{"type":"Ready","status":"True"}]}}`, i))})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
			})
			if watchers > 0 && got < b.N {
				b.Fatalf("%d deliveries for %d changes", got, b.N)
			}
		})
	}
}

func BenchmarkRenewLease(b *testing.B) {
	c := apitest.New(b)
	c.Nodes(1)
	b.ReportAllocs()
	inLoop(b, c, func(p *sim.Proc, client *kubeapi.Client) {
		lease, err := kubeapi.Fetch[kinds.Object](p, client, kinds.Leases, "kube-node-lease", "worker-1")
		if err != nil {
			b.Fatal(err)
		}
		b.ResetTimer()
		for range b.N {
			if lease, err = renew(p, client, lease); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
	})
}

func renew(p *sim.Proc, client *kubeapi.Client, lease kinds.Object) (kinds.Object, error) {
	next := lease.DeepCopyObject().(*coordinationv1.Lease)
	now := metav1.NewMicroTime(p.Now())
	next.Spec.RenewTime = &now
	return kubeapi.Replace[kinds.Object](p, client, next)
}
