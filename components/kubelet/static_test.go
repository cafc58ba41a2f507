package kubelet_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

const system = "kube-system"

// program is a stand-in for a component that the assembly starts in a container.
type program struct {
	launch  runtime.Launch
	stopped bool
}

func (p *program) Stop(cause event.Seq, _ time.Duration) {
	p.stopped = true
	p.launch.Exited(cause, 0, "")
}
func (p *program) Kill(event.Seq) { p.stopped = true }

// master is a machine with kubeadm's static pods, whose programs are stand-ins.
func master(t *testing.T, health func(container, path string) bool) (*machine, map[string][]*program) {
	started := map[string][]*program{}
	m := start(t, func(k *kubelet.Config, r *runtime.Config) {
		k.StaticPods = kubelet.ControlPlanePods(k.NodeIP)
		k.Labels, k.Taints = kubelet.MasterLabels(), kubelet.MasterTaints()
		if health != nil {
			k.Health = func(container, path string) (bool, event.Seq) { return health(container, path), 0 }
		}
		r.Images = kubelet.ControlPlaneImages()
		r.Programs = map[string]runtime.Program{}
		for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
			r.Programs["registry.k8s.io/"+name] = func(l runtime.Launch) runtime.Running {
				p := &program{launch: l}
				started[name] = append(started[name], p)
				return p
			}
		}
	})
	return m, started
}

func TestStaticPodsRunAndAreMirrored(t *testing.T) {
	m, started := master(t, nil)
	m.c.Run(30 * time.Second)
	n := m.node()
	if len(n.Spec.Taints) == 0 || n.Spec.Taints[0].Key != "node-role.kubernetes.io/control-plane" {
		t.Errorf("taints %v", n.Spec.Taints)
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
		if len(started[name]) != 1 {
			t.Errorf("%s was started %d times", name, len(started[name]))
		}
		p := m.podIn(system, name+"-w1")
		if is(p) != "Running ready=True restarts=0 running" {
			t.Errorf("%s: %s", name, is(p))
			continue
		}
		if p.Annotations["kubernetes.io/config.source"] != "file" || p.Annotations["kubernetes.io/config.mirror"] == "" || p.Labels["component"] != name ||
			len(p.OwnerReferences) != 1 || p.OwnerReferences[0].UID != n.UID || p.Status.PodIP != "192.168.0.11" {
			t.Errorf("%s: %+v", name, p.ObjectMeta)
		}
	}
}

func TestDeletingAMirrorPodChangesNothingOnTheMachine(t *testing.T) {
	m, started := master(t, nil)
	m.c.Run(30 * time.Second)
	before := m.podIn(system, "kube-scheduler-w1")
	if err := m.c.Delete(kinds.Pods, system, "kube-scheduler-w1", nil); err != nil {
		t.Fatal(err)
	}
	m.c.Run(5 * time.Second)
	after := m.podIn(system, "kube-scheduler-w1")
	if after == nil || after.UID == before.UID || is(after) != "Running ready=True restarts=0 running" {
		t.Fatalf("after: %s", is(after))
	}
	if b, a := before.Status.ContainerStatuses[0], after.Status.ContainerStatuses[0]; b.ContainerID != a.ContainerID || !b.State.Running.StartedAt.Equal(&a.State.Running.StartedAt) {
		t.Errorf("the container changed: %+v", a)
	}
	if len(started["kube-scheduler"]) != 1 {
		t.Errorf("started %d times", len(started["kube-scheduler"]))
	}
}

func TestRemovingAManifestStopsThePodAndItsMirror(t *testing.T) {
	m, started := master(t, nil)
	m.c.Run(30 * time.Second)
	m.kubelet.SetStaticPods(0, m.cfg.StaticPods[:3])
	m.c.Run(5 * time.Second)
	if p := m.podIn(system, "kube-scheduler-w1"); p != nil || !started["kube-scheduler"][0].stopped {
		t.Errorf("mirror is %s", is(p))
	}
	m.kubelet.SetStaticPods(0, m.cfg.StaticPods)
	m.c.Run(30 * time.Second)
	if got := is(m.podIn(system, "kube-scheduler-w1")); got != "Running ready=True restarts=0 running" {
		t.Errorf("put back: %s", got)
	}
	changed := append([]*corev1.Pod(nil), m.cfg.StaticPods...)
	changed[3] = changed[3].DeepCopy()
	changed[3].Labels["v"] = "2"
	m.kubelet.SetStaticPods(0, changed)
	m.c.Run(30 * time.Second)
	p := m.podIn(system, "kube-scheduler-w1")
	if is(p) != "Running ready=True restarts=0 running" || p.Labels["v"] != "2" || len(started["kube-scheduler"]) != 3 {
		t.Errorf("changed: %s, started %d times", is(p), len(started["kube-scheduler"]))
	}
}

// TestAManifestThatComesBackAtOnceIsServedAsAnyOther: its pod has the UID of the one before, of whose end the kubelet has not heard all yet.
func TestAManifestThatComesBackAtOnceIsServedAsAnyOther(t *testing.T) {
	for _, later := range []time.Duration{0, 200 * time.Millisecond, 500 * time.Millisecond, 800 * time.Millisecond, time.Second} {
		m, _ := master(t, nil)
		m.c.Run(30*time.Second + later)
		m.kubelet.SetStaticPods(0, m.cfg.StaticPods[:3])
		gone := func() bool {
			for _, s := range m.cfg.Runtime.ListPodSandbox() {
				if s.Pod.Name == "kube-scheduler-w1" {
					return false
				}
			}
			return true
		}
		if !m.c.RunUntil(time.Minute, gone) {
			t.Fatal("its pod does not go")
		}
		m.kubelet.SetStaticPods(0, m.cfg.StaticPods)
		m.c.Run(time.Minute)
		if got := is(m.podIn(system, "kube-scheduler-w1")); got != "Running ready=True restarts=0 running" {
			t.Errorf("taken away after 30 s and %v, and put back: %s", later, got)
		}
	}
}

func TestAStaticPodThatExitsIsRestartedWithBackOff(t *testing.T) {
	m, started := master(t, nil)
	m.c.Run(30 * time.Second)
	for range 3 {
		all := started["kube-scheduler"]
		all[len(all)-1].launch.Exited(0, 1, "leader election lost")
		m.c.Run(40 * time.Second)
	}
	gaps := m.gaps("kube-scheduler-w1")
	within(t, "the first restart", gaps[0], 0, 2*time.Second)
	within(t, "the second", gaps[1], 10*time.Second, 18*time.Second)
	within(t, "the third", gaps[2], 20*time.Second, 33*time.Second)
	p := m.podIn(system, "kube-scheduler-w1")
	if last := p.Status.ContainerStatuses[0].LastTerminationState.Terminated; last.Message != "leader election lost" || last.ExitCode != 1 {
		t.Errorf("last state %+v", last)
	}
}

func TestAnAPIServerThatIsNotLiveIsRestartedAfterEightFailures(t *testing.T) {
	sick := false
	m, started := master(t, func(container, path string) bool { return container != "kube-apiserver" || !sick })
	m.c.Run(30 * time.Second)
	sick = true
	fell := m.c.Loop.Now()
	m.c.Run(5 * time.Second)
	if got := is(m.podIn(system, "kube-apiserver-w1")); got != "Running ready=False restarts=0 running" {
		t.Errorf("after 5 s: %s", got)
	}
	m.c.RunUntil(3*time.Minute, func() bool { return started["kube-apiserver"][0].stopped })
	within(t, "the restart", m.c.Loop.Now().Sub(fell), 70*time.Second, 100*time.Second)
	m.c.RunUntil(10*time.Second, func() bool { return len(started["kube-apiserver"]) > 1 })
	if n := len(m.containers("kube-apiserver-w1", event.ContainerStopping)); n != 1 { // its Killing event drowns in the readiness probe's, as in Kubernetes
		t.Errorf("stopped %d times", n)
	}
	sick = false
	m.c.Run(30 * time.Second)
	if got := is(m.podIn(system, "kube-apiserver-w1")); got != "Running ready=True restarts=1 running" {
		t.Errorf("healed: %s", got)
	}
}

func TestStaticPodsStartWithoutAnyAPIServer(t *testing.T) {
	m, started := master(t, nil)
	m.pr.Group.Kill()
	m.c.Net.SetHost("master-1", false)
	m.cfg.Runtime.PowerOff(0)
	m.c.Run(10 * time.Second)
	m.cfg.Runtime.PowerOn()
	m.startKubelet()
	m.c.Run(20 * time.Second)
	if len(started["etcd"]) != 2 {
		t.Errorf("etcd was started %d times", len(started["etcd"]))
	}
	m.c.Net.SetHost("master-1", true)
	m.c.Run(time.Minute)
	if got := is(m.podIn(system, "etcd-w1")); got != "Running ready=True restarts=1 running" {
		t.Errorf("etcd: %s", got)
	}
}
