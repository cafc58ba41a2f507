package connect

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

type door struct{ refuse *kubeapi.KubeletError }

func (d door) Logs(*sim.Proc, string, string, kubeapi.ContainerQuery) (kubeapi.Container, error) {
	if d.refuse != nil {
		return nil, d.refuse
	}
	return nil, nil
}

func (d door) Running(p *sim.Proc, namespace, pod string, q kubeapi.ContainerQuery) (kubeapi.Container, error) {
	return d.Logs(p, namespace, pod, q)
}

func TestWhatAUserHearsOfAKubelet(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{NodeName: "w1", Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}}}
	alone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "q"}, Spec: corev1.PodSpec{NodeName: "w1", Containers: []corev1.Container{{Name: "a"}}}}
	free := alone.DeepCopy()
	free.Spec.NodeName = ""
	lost := alone.DeepCopy()
	lost.Spec.NodeName = "nowhere"
	for _, c := range []struct {
		says, path string
		pod        *corev1.Pod
		container  string
		listens    bool
		off        bool
		refuse     *kubeapi.KubeletError
		want       string
	}{
		{"a pod of two containers", "pods/log", pod, "", true, false, nil, "BadRequest: a container name must be specified for pod p, choose one of: [a b]"},
		{"a container that is none", "pods/exec", pod, "c", true, false, nil, "BadRequest: container c is not valid for pod p"},
		{"its only container", "pods/log", alone, "", true, false, nil, "ok"},
		{"a kubelet that is down, a log", "pods/log", alone, "", false, false, nil, `: Get "https://10.0.1.1:10250/containerLogs/default/q/a": dial tcp 10.0.1.1:10250: connect: connection refused`},
		{"a kubelet that is down, a command", "pods/exec", alone, "", false, false, nil, ": error dialing backend: dial tcp 10.0.1.1:10250: connect: connection refused"},
		{"a machine that is off", "pods/exec", alone, "", true, true, nil, ": error dialing backend: dial tcp 10.0.1.1:10250: i/o timeout"},
		{"the kubelet refuses", "pods/log", alone, "", true, false, &kubeapi.KubeletError{Code: 400, Message: `container "a" in pod "q" is waiting to start: ContainerCreating`},
			`BadRequest: container "a" in pod "q" is waiting to start: ContainerCreating`},
		{"no node yet, a log", "pods/log", free, "", true, false, nil, "ok"},
		{"no node yet, a command", "pods/exec", free, "", true, false, nil, "BadRequest: pod q does not have a host assigned"},
		{"a node that is none", "pods/log", lost, "", true, false, nil, `NotFound: nodes "nowhere" not found`},
	} {
		t.Run(c.says, func(t *testing.T) {
			l := sim.New(sim.Options{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 1, Rate: sim.Unpaced})
			net := simnet.New(l)
			net.SetHost("m1", true)
			net.SetHost("w1", !c.off)
			if c.listens {
				net.Listen(simnet.Addr{Host: "w1", Process: "kubelet"}, l.NewGroup("kubelet"))
			}
			ways := Pods(Config{Net: net, From: simnet.Addr{Host: "m1", Process: "apiserver"}, Kubelet: func(node string) (kubeapi.Kubelet, string, bool) {
				return door{c.refuse}, "10.0.1.1", node == "w1"
			}})
			got := "nothing"
			l.Spawn(l.NewGroup("apiserver"), "test", func(p *sim.Proc) {
				if _, err := ways[c.path](p, &kubeapi.Request{Container: &kubeapi.ContainerQuery{Name: c.container}}, c.pod); err != nil {
					got = fmt.Sprintf("%s: %v", apierrors.ReasonForError(err), err)
				} else {
					got = "ok"
				}
			})
			if err := l.RunUntil(context.Background(), l.Now().Add(2*time.Minute)); err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
