package kubelet_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// patch sends a strategic merge patch to a part of a pod, as kubectl does.
func (m *machine) patch(name, part, body string) {
	m.t.Helper()
	m.c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Pods, Namespace: "default", Name: name, Subresource: part, PatchType: types.StrategicMergePatchType, Patch: []byte(body)}); err != nil {
			m.t.Fatal(err)
		} else if resp.Err != nil {
			m.t.Fatal(resp.Err)
		}
	})
}

func TestAContainerForDebuggingIsStartedBesideTheOthersAndRunsOnce(t *testing.T) {
	m := start(t)
	m.create("a", command("sleep", "3600"))
	m.c.Run(10 * time.Second)
	m.patch("a", "ephemeralcontainers", `{"spec":{"ephemeralContainers":[{"name":"shell","image":"busybox:1.36","stdin":true,"tty":true},{"name":"once","image":"busybox:1.36","command":["sleep","5"]}]}}`)
	m.c.Run(4 * time.Second)
	m.expect("a", "Running ready=True restarts=0 running")
	for _, st := range m.pod("a").Status.EphemeralContainerStatuses {
		if st.State.Running == nil || st.Ready || st.Started != nil {
			t.Errorf("at first: %+v", st)
		}
	}
	m.c.Run(time.Minute)
	got := m.pod("a").Status.EphemeralContainerStatuses
	if len(got) != 2 || got[0].Name != "once" || got[0].State.Terminated == nil || got[0].RestartCount != 0 || got[1].State.Running == nil {
		t.Errorf("then: %+v", got)
	}
	m.expect("a", "Running ready=True restarts=0 running")
	if err := m.c.Delete(kinds.Pods, "default", "a", &metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	m.c.Run(40 * time.Second)
	m.expect("a", "gone")
	if want, got := "c running, shell running, once running, once exited, c exited, shell exited", m.order("a", event.ContainerRunning, event.ContainerExited); got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestAContainerForDebuggingHelpsWhereThePodDoesNotStart(t *testing.T) {
	m := start(t)
	m.create("a", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "busybox:1.36", Command: []string{"sleep", "3600"}}}
	})
	m.c.Run(10 * time.Second)
	m.patch("a", "ephemeralcontainers", `{"spec":{"ephemeralContainers":[{"name":"e","image":"busybox:1.36","stdin":true,"tty":true}]}}`)
	m.c.Run(5 * time.Second)
	if p := m.pod("a"); p.Status.Phase != corev1.PodPending || len(p.Status.EphemeralContainerStatuses) != 1 || p.Status.EphemeralContainerStatuses[0].State.Running == nil {
		t.Errorf("%s, %+v", is(p), p.Status.EphemeralContainerStatuses)
	}
}
