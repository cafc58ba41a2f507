package nodelifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// PodGC-1 and NODE-13: 40 to 80 seconds after the node object goes, its pods go.
func TestPodsOfADeletedNodeAreCollected(t *testing.T) {
	r := newRig(t, 1, 2)
	r.pod("web", "w2")
	r.kubelets["w2"].kill()
	r.now()
	var root event.Seq
	r.do(func(p *sim.Proc, c *kubeapi.Client) error {
		root = r.c.Journal.Emit(event.You, 0, event.CommandGiven{Text: "kubectl delete node w2"})
		p.Cause = root
		return kubeapi.Remove(p, c, kinds.Nodes, "", "w2", nil)
	})
	r.run(2 * time.Minute)
	r.within(0, 6*time.Second, `event Node/w2 Normal RemovingNode "Node w2 event: Removing Node w2 from Controller" node-controller`)
	failed := r.within(40*time.Second, 80*time.Second, "pod web Failed Ready=True DisruptionTarget=True DeletionByPodGC: PodGC: node no longer exists")
	gone := r.within(failed.at, failed.at+time.Second, failed.text+" deleting grace 0 gone")
	r.follows(failed, root)
	r.follows(gone, root)
}

// PodGC-3 and C-20 B: the operator says that the machine is off for good.
func TestOutOfServiceTaintFreesThePods(t *testing.T) {
	r := newRig(t, 3, 3)
	r.pod("web", "w2")
	r.kubelets["w2"].kill()
	r.run(2 * time.Minute)
	r.now()
	r.do(func(p *sim.Proc, c *kubeapi.Client) error {
		node, err := kubeapi.Fetch[*corev1.Node](p, c, kinds.Nodes, "", "w2")
		if err != nil {
			return err
		}
		next := node.DeepCopy()
		next.Spec.Taints = append(next.Spec.Taints, corev1.Taint{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute})
		_, err = kubeapi.PatchFrom(p, c, "", node, next)
		return err
	})
	r.run(30 * time.Second)
	r.within(0, time.Second, "pod web"+terminating)
	r.within(0, 21*time.Second, "pod web Failed Ready=False DisruptionTarget=True DeletionByTaintManager: Taint manager: deleting due to NoExecute taint deleting grace 0 gone")
}

// PodGC-2.
func TestATerminatingPodThatWasNeverScheduledIsCollected(t *testing.T) {
	r := newRig(t, 1, 1)
	r.do(func(p *sim.Proc, c *kubeapi.Client) error {
		_, err := kubeapi.Make(p, c, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "stuck", Finalizers: []string{"example.com/hold"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "nginx:1.27"}}}})
		if err != nil {
			return err
		}
		return kubeapi.Remove(p, c, kinds.Pods, "default", "stuck", nil)
	})
	r.now()
	r.run(30 * time.Second)
	r.within(0, 21*time.Second, "pod stuck Failed deleting grace 0")
}
