package nodelifecycle

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
)

// BenchmarkQuietPass is a look at 5,000 nodes that are well. It takes no simulated time, so their grace does not run out.
func BenchmarkQuietPass(b *testing.B) {
	const nodes = 5000
	c := apitest.New(b)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		for i := range nodes {
			made, err := kubeapi.Make(p, client, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i)}})
			if err != nil {
				b.Fatal(err)
			}
			next := made.DeepCopy()
			next.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			if _, err := kubeapi.ReplaceStatus(p, client, next); err != nil {
				b.Fatal(err)
			}
		}
	})
	pr := c.Process("manager", "controller-manager", apitest.ControllerManager)
	in := informers.New(pr)
	ctl := New(pr.As(apitest.Controller("node-controller")), in)
	in.Start()
	c.DoAs(pr, func(p *sim.Proc, _ *kubeapi.Client) {
		in.WaitSynced(p)
		ctl.pass(p) // meets them
		b.ReportAllocs()
		for b.Loop() {
			ctl.pass(p)
		}
	})
}
