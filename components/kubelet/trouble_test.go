package kubelet_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

// TestAfterAnyTroubleTheMachineAndTheAPIAgree does random things to one machine, heals everything and compares what runs with what the API reads.
func TestAfterAnyTroubleTheMachineAndTheAPIAgree(t *testing.T) {
	seeds := 25
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { trouble(t, uint64(seed)) })
	}
}

func trouble(t *testing.T, seed uint64) {
	m := &machine{t: t, c: apitest.New(t, apitest.Seed(seed))}
	m.cfg = kubelet.Config{Node: "w1", Capacity: size, NodeIP: "192.168.0.11", StaticPods: kubelet.ControlPlanePods("192.168.0.11")[3:]}
	m.cfg.Runtime = runtime.New(runtime.Config{Loop: m.c.Loop, Sink: m.c.Journal, Node: "w1", PodCIDR: netip.MustParsePrefix("10.244.1.0/24"), NodeIP: "192.168.0.11"})
	m.startKubelet()
	rng := m.c.Loop.Rand("trouble")
	next := 0
	var did []string
	for range 40 {
		what := rng.IntN(9)
		did = append(did, fmt.Sprint(what))
		switch what {
		case 0, 1:
			next++
			kind := []func(*corev1.Pod){func(*corev1.Pod) {}, command("sleep", "40"), command("sh", "-c", "sleep 5; exit 1"), restart(corev1.RestartPolicyNever)}[rng.IntN(4)]
			m.create(fmt.Sprintf("p%d", next), kind, func(p *corev1.Pod) { p.Spec.Containers[0].Resources = corev1.ResourceRequirements{} })
		case 2, 3:
			all := m.c.List(kinds.Pods)
			if len(all) > 0 {
				o := all[rng.IntN(len(all))]
				opts := &metav1.DeleteOptions{}
				if rng.IntN(3) == 0 {
					zero := int64(0)
					opts.GracePeriodSeconds = &zero
				}
				m.c.Delete(kinds.Pods, o.GetNamespace(), o.GetName(), opts)
			}
		case 4:
			m.c.Net.AddFault(1, fault.Fault{Kind: fault.Cut, A: "w1", B: fault.All})
		case 5:
			m.c.Net.RemoveFaults(func(fault.Active) bool { return true })
		case 6:
			m.pr.Group.Kill()
			if m.cfg.Runtime.Up() {
				m.startKubelet()
			}
		case 7:
			m.pr.Group.Kill()
			m.cfg.Runtime.PowerOff(0)
			m.c.Net.SetHost("w1", false)
		case 8:
			if !m.cfg.Runtime.Up() {
				m.cfg.Runtime.PowerOn()
				m.startKubelet()
			}
		}
		m.c.Run(time.Duration(rng.Int64N(int64(15 * time.Second))))
	}
	m.c.Net.RemoveFaults(func(fault.Active) bool { return true })
	if !m.cfg.Runtime.Up() {
		m.cfg.Runtime.PowerOn()
		m.startKubelet()
	}
	m.c.Run(3 * time.Minute)

	have := map[string]bool{}
	for _, o := range m.c.List(kinds.Pods) {
		p := o.(*corev1.Pod)
		uid := p.UID
		if p.DeletionTimestamp != nil {
			t.Errorf("%s is still terminating (did %v)", p.Name, did)
		}
		if p.Annotations[corev1.MirrorPodAnnotationKey] != "" {
			uid = types.UID(p.Annotations[corev1.MirrorPodAnnotationKey])
		}
		have[string(uid)] = true
		list := m.cfg.Runtime.ListContainers(uid)
		if len(p.Status.ContainerStatuses) == 0 || len(list) == 0 {
			if p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
				t.Errorf("%s: %s, and %d containers on the machine (did %v)", p.Name, is(p), len(list), did)
			}
			continue
		}
		st, last := p.Status.ContainerStatuses[0], list[len(list)-1]
		runs := st.State.Running != nil
		if now := m.c.Loop.Now(); now.Sub(last.Finished) < 2*time.Second || now.Sub(last.Started) < 2*time.Second || now.Sub(last.Created) < 2*time.Second {
			continue // found out at the next relist
		}
		if runs != (last.State == runtime.StateRunning) || int(st.RestartCount) != last.Attempt {
			t.Errorf("%s: API says %s, the machine %v after %d restarts (did %v)", p.Name, is(p), last.State, last.Attempt, did)
		}
		if p.Spec.RestartPolicy == corev1.RestartPolicyAlways && !runs && st.State.Waiting == nil && p.Spec.Containers[0].Command == nil {
			t.Errorf("%s does not run: %s (did %v)", p.Name, is(p), did)
		}
	}
	for _, s := range m.cfg.Runtime.ListPodSandbox() {
		if !have[string(s.Pod.UID)] {
			t.Errorf("%s runs, and the API does not know it (did %v)", s.Pod.Name, did)
		}
	}
	if m.podIn(system, "kube-scheduler-w1") == nil {
		t.Errorf("the mirror is missing (did %v)", did)
	}
}
