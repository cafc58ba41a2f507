package runtime

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/engine/sim"
)

// machine is a runtime alone on a loop, and a group for whoever calls it.
type machine struct {
	t     *testing.T
	loop  *sim.Loop
	log   *journal.Journal
	rt    *Runtime
	group *sim.Group
}

func newMachine(t *testing.T, programs map[string]Program) *machine {
	l := sim.New(sim.Options{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Seed: 1, Rate: sim.Unpaced})
	j := journal.New(journal.Options{Now: l.Now})
	m := &machine{t: t, loop: l, log: j, group: l.NewGroup("kubelet")}
	m.rt = New(Config{Loop: l, Sink: j, Node: "w1", Programs: programs, PodCIDR: netip.MustParsePrefix("10.244.1.0/24"), NodeIP: "192.168.0.1", NetworkReady: true})
	return m
}

func (m *machine) run(d time.Duration) { m.loop.RunUntil(context.Background(), m.loop.Now().Add(d)) }

func (m *machine) do(fn func(p *sim.Proc)) {
	m.loop.Spawn(m.group, "test", fn)
	m.run(10 * time.Second)
}

// facts are the states of containers in order, "running", "exited 137" …
func (m *machine) facts() (out []string) {
	recs, _ := m.log.Read(nil, 1, 1000)
	for _, r := range recs {
		c := r.Event.(event.ContainerChanged)
		s := string(c.State)
		if c.State == event.ContainerExited {
			s = fmt.Sprintf("exited %d %s", c.ExitCode, c.Reason)
		}
		out = append(out, s)
	}
	return out
}

func testPod(image string, command ...string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u1"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image, Command: command}}}}
}

// up starts the pod's container and returns its id.
func (m *machine) up(pod *corev1.Pod) (id string) {
	m.t.Helper()
	m.do(func(p *sim.Proc) {
		c := &pod.Spec.Containers[0]
		s, err := m.rt.RunPodSandbox(p, pod)
		if err == nil {
			_, err = m.rt.PullImage(p, pod, "c", c.Image, 0)
		}
		if err == nil {
			id, err = m.rt.CreateContainer(p, s, c, 0)
		}
		if err == nil {
			err = m.rt.StartContainer(p, id)
		}
		if err != nil {
			m.t.Errorf("start: %v", err)
		}
	})
	return id
}

func (m *machine) expect(want ...string) {
	m.t.Helper()
	if got := strings.Join(m.facts(), ", "); got != strings.Join(want, ", ") {
		m.t.Errorf("facts are %s\n        want %s", got, strings.Join(want, ", "))
	}
}

func TestAServerStopsInGoodOrderAndASleepIsKilledAfterTheGracePeriod(t *testing.T) {
	for _, c := range []struct {
		says     string
		pod      *corev1.Pod
		low, top time.Duration
		exit     string
	}{
		{"a server hears TERM", testPod("nginx:1.27"), stopMin, stopMax, "exited 0 Completed"},
		{"sleep as process 1 does not", testPod("busybox", "sleep", "3600"), 30 * time.Second, 30 * time.Second, "exited 137 Error"},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := newMachine(t, nil)
			id := m.up(c.pod)
			began := m.loop.Now()
			var took time.Duration
			m.loop.Spawn(m.group, "stop", func(p *sim.Proc) {
				m.rt.StopContainer(0, id, 30*time.Second).Await(p)
				took = p.Now().Sub(began)
			})
			m.run(time.Minute)
			if took < c.low || took > c.top {
				t.Errorf("took %v", took)
			}
			m.expect("pulling", "created", "running", "stopping", c.exit)
		})
	}
}

func TestASecondStopCanOnlyShortenTheGrace(t *testing.T) {
	m := newMachine(t, nil)
	id := m.up(testPod("busybox", "sleep", "3600"))
	began := m.loop.Now()
	m.rt.StopContainer(0, id, 30*time.Second)
	m.rt.StopContainer(0, id, 60*time.Second)
	m.rt.StopContainer(0, id, 2*time.Second)
	m.run(time.Minute)
	if st, _ := m.rt.Container(id); st.Finished.Sub(began) != 2*time.Second {
		t.Errorf("ended after %v", st.Finished.Sub(began))
	}
}

func TestContainersOutliveTheKubelet(t *testing.T) {
	m := newMachine(t, nil)
	id := m.up(testPod("nginx:1.27"))
	pod := testPod("redis:7")
	pod.UID = "u2"
	m.loop.Spawn(m.group, "half-way", func(p *sim.Proc) { m.rt.RunPodSandbox(p, pod) })
	m.run(time.Millisecond)
	m.group.Kill()
	m.run(time.Minute)
	if st, _ := m.rt.Container(id); st.State != StateRunning {
		t.Errorf("container is %v", st.State)
	}
	if len(m.rt.PodSandboxes("u2")) != 1 {
		t.Error("the call in flight was lost")
	}
}

func TestLossOfPowerTakesEverythingWithoutAWord(t *testing.T) {
	m := newMachine(t, nil)
	id := m.up(testPod("nginx:1.27"))
	heard := 0
	m.rt.Subscribe(m.group, func(Event) { heard++ })
	ip, boot := m.rt.PodSandboxes("u1")[0].IP, m.rt.BootID()
	m.rt.PowerOff(7)
	m.run(time.Minute)
	m.rt.PowerOn()
	st, _ := m.rt.Container(id)
	if st.State != StateExited || st.ExitCode != 255 || st.Reason != "Unknown" || !st.Finished.Equal(m.loop.Now()) {
		t.Errorf("container is %+v", st)
	}
	if heard != 0 || m.rt.PodSandboxes("u1")[0].Ready || m.rt.BootID() == boot {
		t.Errorf("heard %d, sandbox ready %v", heard, m.rt.PodSandboxes("u1")[0].Ready)
	}
	rec, _ := m.log.Get(m.log.Last())
	if c := rec.Event.(event.ContainerChanged); c.State != event.ContainerGone || rec.Cause != 7 {
		t.Errorf("last record %+v", rec)
	}
	m.run(5 * time.Second)
	again := testPod("nginx:1.27")
	m.up(again)
	all := m.rt.PodSandboxes("u1")
	if got := all[len(all)-1].IP; got == ip {
		t.Errorf("the new sandbox has the old address %s", got)
	}
}

func TestAProgramStartsIsStoppedAndMayExitByItself(t *testing.T) {
	var fake *fakeProgram
	m := newMachine(t, map[string]Program{"registry.k8s.io/etcd": func(l Launch) Running { fake = &fakeProgram{launch: l}; return fake }})
	id := m.up(testPod("registry.k8s.io/etcd:3.7.0-0"))
	if fake == nil || fake.launch.Cause == 0 || fake.launch.Pod.Name != "p" {
		t.Fatalf("launched %+v", fake)
	}
	m.rt.StopContainer(0, id, 10*time.Second)
	m.run(time.Minute)
	if fake.stops != 1 || fake.kills != 1 {
		t.Errorf("stops %d kills %d", fake.stops, fake.kills)
	}
	fake.launch.Exited(0, 3, "late") // not heard
	m.expect("pulling", "created", "running", "stopping", "exited 137 Error")
}

type fakeProgram struct {
	launch       Launch
	stops, kills int
}

func (f *fakeProgram) Stop(event.Seq, time.Duration) { f.stops++ }
func (f *fakeProgram) Kill(event.Seq)                { f.kills++ }

func TestAMissingImageIsNotPulled(t *testing.T) {
	m := newMachine(t, nil)
	var errs []string
	m.do(func(p *sim.Proc) {
		for _, image := range []string{"nginx:nosuch", "registry.invalid/app:1"} {
			_, err := m.rt.PullImage(p, testPod(image), "c", image, 0)
			errs = append(errs, fmt.Sprint(err))
		}
	})
	if len(errs) != 2 || !strings.Contains(errs[0], "docker.io/library/nginx:nosuch: not found") || !strings.Contains(errs[1], "lookup registry.invalid: no such host") {
		t.Errorf("errors %q", errs)
	}
}

func TestAddressesRunOutAndComeBack(t *testing.T) {
	i := ipam{prefix: netip.MustParsePrefix("10.244.1.0/29")}
	var got []string
	for range 5 {
		a, err := i.take()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a)
	}
	if got[0] != "10.244.1.2" || got[4] != "10.244.1.6" {
		t.Errorf("got %v", got)
	}
	if _, err := i.take(); err == nil {
		t.Error("a sixth address in /29")
	}
	i.free("10.244.1.3")
	if a, _ := i.take(); a != "10.244.1.3" {
		t.Errorf("got %s", a)
	}
}
