package kubelet_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// machine is one node: its runtime, and the kubelet that runs on it now.
type machine struct {
	t       *testing.T
	c       *apitest.Cluster
	cfg     kubelet.Config
	pr      *kubeapi.Process
	kubelet *kubelet.Kubelet
}

var size = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi")}

// start boots a machine named w1 with a kubelet in a new cluster and lets it become Ready.
func start(t *testing.T, changes ...func(*kubelet.Config, *runtime.Config)) *machine {
	t.Helper()
	m := &machine{t: t, c: apitest.New(t)}
	m.cfg = kubelet.Config{Node: "w1", Capacity: size, NodeIP: "192.168.0.11"}
	rc := runtime.Config{Loop: m.c.Loop, Sink: m.c.Journal, Node: "w1", PodCIDR: netip.MustParsePrefix("10.244.1.0/24"), NodeIP: "192.168.0.11"}
	for _, fn := range changes {
		fn(&m.cfg, &rc)
	}
	m.cfg.Runtime = runtime.New(rc)
	m.startKubelet()
	m.c.Run(5 * time.Second)
	return m
}

func (m *machine) startKubelet() {
	m.pr = m.c.Process("w1", "kubelet", apitest.Kubelet("w1"))
	m.kubelet = kubelet.Start(m.pr, m.cfg)
}

// onNode binds a test pod to the machine, as a scheduler would.
func onNode(changes ...func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = "w1"
		for _, fn := range changes {
			fn(p)
		}
	}
}

func command(argv ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Image, p.Spec.Containers[0].Command = "busybox:1.36", argv }
}

func restart(policy corev1.RestartPolicy) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.RestartPolicy = policy }
}

func (m *machine) create(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	m.t.Helper()
	return m.c.Create(apitest.Pod(name, onNode(changes...))).(*corev1.Pod)
}

// pod reads a pod of namespace default; nil: it does not exist.
func (m *machine) pod(name string) *corev1.Pod { return m.podIn("default", name) }

func (m *machine) podIn(namespace, name string) *corev1.Pod {
	m.t.Helper()
	if o := m.c.Get(kinds.Pods, namespace, name); o != nil {
		return o.(*corev1.Pod)
	}
	return nil
}

func (m *machine) node() *corev1.Node { return m.c.Get(kinds.Nodes, "", "w1").(*corev1.Node) }

// events are those about an object in the order they happened, "Normal Pulled", each once.
func (m *machine) events(kind, name string) (reasons, messages []string) {
	for _, r := range m.c.Records() {
		ch, ok := r.Event.(event.ObjectChanged)
		if !ok || ch.Type != event.Added {
			continue
		}
		if e, ok := ch.Object.(*corev1.Event); ok && e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name {
			reasons = append(reasons, e.Reason)
			messages = append(messages, e.Message)
		}
	}
	return reasons, messages
}

func (m *machine) expectEvents(kind, name string, want ...string) []string {
	m.t.Helper()
	reasons, messages := m.events(kind, name)
	if got := strings.Join(reasons, " "); got != strings.Join(want, " ") {
		m.t.Errorf("events of %s %s are %s\n%*s want %s", kind, name, got, 14+len(kind+name), "", strings.Join(want, " "))
	}
	return messages
}

// containers are the changes of a pod's containers on the machine: "12.3s running".
func (m *machine) containers(name string, states ...event.ContainerState) (out []event.Record) {
	for _, r := range m.c.Records() {
		c, ok := r.Event.(event.ContainerChanged)
		if !ok || c.Pod.Name != name {
			continue
		}
		for _, s := range states {
			if c.State == s {
				out = append(out, r)
			}
		}
	}
	return out
}

// is describes a pod in a line: phase, ready, restarts, state of its first container.
func is(p *corev1.Pod) string {
	if p == nil {
		return "gone"
	}
	s := string(p.Status.Phase)
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			s += fmt.Sprintf(" ready=%s", c.Status)
		}
	}
	for _, c := range p.Status.ContainerStatuses[:min(1, len(p.Status.ContainerStatuses))] {
		s += fmt.Sprintf(" restarts=%d ", c.RestartCount)
		switch {
		case c.State.Running != nil:
			s += "running"
		case c.State.Waiting != nil:
			s += c.State.Waiting.Reason
		case c.State.Terminated != nil:
			s += fmt.Sprintf("%s(%d)", c.State.Terminated.Reason, c.State.Terminated.ExitCode)
		}
	}
	if p.DeletionTimestamp != nil {
		s += " terminating"
	}
	return s
}

func (m *machine) expect(name, want string) {
	m.t.Helper()
	if got := is(m.pod(name)); got != want {
		m.t.Errorf("pod %s at %s: %s, want %s", name, m.c.Loop.Now().Sub(apitest.Start), got, want)
	}
}

func within(t *testing.T, what string, d, low, high time.Duration) {
	t.Helper()
	if d < low || d > high {
		t.Errorf("%s took %v, want %v-%v", what, d, low, high)
	}
}

func quantity(s string) resource.Quantity { return resource.MustParse(s) }
