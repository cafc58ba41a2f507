// Package runtime is the container runtime of one machine, in CRI's words: pod sandboxes, images, containers, and the small simulated programs inside them.
//
// It belongs to the machine and not to the kubelet: when the kubelet dies, calls in flight complete, containers live on, and a new kubelet finds them by
// ListPodSandbox and ListContainers. Power is another matter: PowerOff takes everything that runs; PowerOn leaves behind containers that exited with 255.
//
// Owns: sandboxes and their IPs, images present, containers, the truth about what runs (event.ContainerChanged, actor "containerd/<node>"). What ordinary images
// do is in command.go and app.go; images in Config.Programs start whatever their Program says (API server, store member …).
//
// Imports of ours: engine/sim, engine/clock, engine/event, engine/kinds. Goroutines: the loop; it has no process of its own, only timers. Calls that take a
// *sim.Proc park it while the machine works. Time: simulated; delays come from the random stream "runtime <node>".
package runtime

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Version is what the node reports as its container runtime.
const Version = "containerd://2.2.1"

// networkDelay is how long after power-on the network plugin has written its configuration.
const (
	networkDelayMin = 800 * time.Millisecond
	networkDelayMax = 1800 * time.Millisecond
)

// Config of a runtime.
type Config struct {
	Loop *sim.Loop
	Sink event.Sink
	Node string
	// Programs by image repository ("registry.k8s.io/kube-apiserver"): what starts when a container of that image starts.
	Programs map[string]Program
	// Images already present on the machine, as written in pods.
	Images []string
	// PodCIDR is the subnet pods get their addresses from (host-local: one after the other, then around); the first address is the bridge's.
	PodCIDR netip.Prefix
	// NodeIP is the address of pods on the host's network.
	NodeIP string
	// NetworkReady: the network plugin is configured from the start, without the second or two that it takes after power-on.
	NetworkReady bool
}

// Errors of the runtime.
var (
	// ErrNotFound: no such sandbox or container (any more).
	ErrNotFound = errors.New("rpc error: code = NotFound desc = not found")
	// ErrNetwork: the network plugin has not been configured yet; only sandboxes on the host's network can run.
	ErrNetwork = errors.New("container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized")
)

// Runtime of one machine.
type Runtime struct {
	cfg       Config
	rng       *rand.Rand
	up        bool
	boot      int // counts power-ons; work begun before a loss of power never completes
	bootID    string
	machineID string
	networkAt time.Time
	bootAt    time.Time
	spent     float64 // CPU seconds of containers that have ended since the start
	ipam      ipam
	sandboxes []*sandbox
	byPod     map[types.UID][]*sandbox
	images    map[string]Image
	listeners []listener
}

type sandbox struct {
	id         string
	pod        *corev1.Pod
	ip         string
	ready      bool
	host       bool
	created    time.Time
	containers []*container
}

type listener struct {
	group *sim.Group
	fn    func(Event)
}

// Event says that a container or sandbox of a pod changed its state (what a PLEG relist would find out).
type Event struct {
	Pod       types.UID
	Container string
	State     State
	// Cause is the record that describes the change.
	Cause event.Seq
}

// SandboxStatus is a picture of a sandbox.
type SandboxStatus struct {
	ID  string
	Pod *corev1.Pod // as it was when the sandbox was made; shared, immutable
	// Ready: the sandbox runs. One that lost its power or was stopped is not ready.
	Ready   bool
	IP      string
	Created time.Time
}

// New makes the runtime of a machine that is on.
func New(cfg Config) *Runtime {
	r := &Runtime{cfg: cfg, rng: cfg.Loop.Rand("runtime " + cfg.Node), byPod: map[types.UID][]*sandbox{}, images: map[string]Image{}}
	r.machineID = r.hexID(16)
	r.ipam.prefix = cfg.PodCIDR
	for _, name := range cfg.Images {
		img := Describe(name)
		r.images[img.Ref] = img
	}
	r.start()
	if cfg.NetworkReady {
		r.networkAt = cfg.Loop.Now()
	}
	return r
}

func (r *Runtime) start() {
	r.up = true
	r.boot++
	r.bootID = r.uuid()
	r.bootAt, r.spent = r.now(), 0
	r.networkAt = r.now().Add(r.between(networkDelayMin, networkDelayMax))
}

func (r *Runtime) now() time.Time { return r.cfg.Loop.Now() }

// Node is the name of the machine.
func (r *Runtime) Node() string { return r.cfg.Node }

// Up reports that the machine has power.
func (r *Runtime) Up() bool { return r.up }

// BootID changes with each power-on.
func (r *Runtime) BootID() string { return r.bootID }

// MachineID never changes.
func (r *Runtime) MachineID() string { return r.machineID }

// NetworkReadyAt is when pods outside the host's network can be started.
func (r *Runtime) NetworkReadyAt() time.Time { return r.networkAt }

// Subscribe makes fn hear of changes as long as g lives. It runs on the loop and must not park.
func (r *Runtime) Subscribe(g *sim.Group, fn func(Event)) {
	r.listeners = slices.DeleteFunc(r.listeners, func(l listener) bool { return l.group.Dead() })
	r.listeners = append(r.listeners, listener{g, fn})
}

func (r *Runtime) notify(e Event) {
	for _, l := range r.listeners {
		if !l.group.Dead() {
			l.fn(e)
		}
	}
}

// emit journals a container's state.
func (r *Runtime) emit(cause event.Seq, c event.ContainerChanged) event.Seq {
	c.Node = r.cfg.Node
	return r.cfg.Sink.Emit(event.On("containerd", r.cfg.Node), cause, c)
}

// between draws a delay.
func (r *Runtime) between(low, high time.Duration) time.Duration {
	return low + time.Duration(r.rng.Int64N(int64(high-low)+1))
}

// work parks p for d. The work goes on when p's program dies, but not when the machine loses its power.
func work[T any](r *Runtime, p *sim.Proc, d time.Duration, done func(cause event.Seq) (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	var f sim.Future[outcome]
	boot, cause := r.boot, p.Cause
	r.cfg.Loop.After(d, func() {
		if !r.up || r.boot != boot {
			return
		}
		v, err := done(cause)
		f.Set(outcome{v, err})
	})
	o := f.Await(p)
	return o.v, o.err
}

// RunPodSandbox makes and starts a sandbox for pod, with its network, and returns the sandbox's id.
func (r *Runtime) RunPodSandbox(p *sim.Proc, pod *corev1.Pod) (string, error) {
	return work(r, p, r.between(100*time.Millisecond, 400*time.Millisecond), func(cause event.Seq) (string, error) {
		s := &sandbox{id: r.hexID(32), pod: pod, ready: true, host: pod.Spec.HostNetwork, created: r.now(), ip: r.cfg.NodeIP}
		if !s.host {
			if r.now().Before(r.networkAt) {
				return "", ErrNetwork
			}
			ip, err := r.ipam.take()
			if err != nil {
				return "", fmt.Errorf("rpc error: code = Unknown desc = failed to setup network for sandbox %q: %w", s.id, err)
			}
			s.ip = ip
		}
		r.sandboxes = append(r.sandboxes, s)
		r.byPod[pod.UID] = append(r.byPod[pod.UID], s)
		r.notify(Event{Pod: pod.UID, Cause: cause})
		return s.id, nil
	})
}

// StopPodSandbox kills what still runs in a sandbox and frees its network. Stopping twice does nothing.
func (r *Runtime) StopPodSandbox(p *sim.Proc, id string) error {
	_, err := work(r, p, r.between(20*time.Millisecond, 80*time.Millisecond), func(cause event.Seq) (struct{}, error) {
		if s := r.sandbox(id); s != nil {
			r.stopSandbox(s, cause)
		}
		return struct{}{}, nil
	})
	return err
}

func (r *Runtime) stopSandbox(s *sandbox, cause event.Seq) {
	for _, c := range s.containers {
		r.kill(c, cause)
	}
	if s.ready {
		s.ready = false
		r.release(s)
	}
}

func (r *Runtime) release(s *sandbox) {
	if !s.host {
		r.ipam.free(s.ip)
	}
}

// RemovePodSandbox stops a sandbox and forgets it with all its containers.
func (r *Runtime) RemovePodSandbox(p *sim.Proc, id string) error {
	_, err := work(r, p, r.between(20*time.Millisecond, 80*time.Millisecond), func(cause event.Seq) (struct{}, error) {
		s := r.sandbox(id)
		if s == nil {
			return struct{}{}, nil
		}
		r.stopSandbox(s, cause)
		for _, c := range s.containers {
			r.forget(c, cause, "")
		}
		is := func(o *sandbox) bool { return o == s }
		r.sandboxes = slices.DeleteFunc(r.sandboxes, is)
		rest := slices.DeleteFunc(r.byPod[s.pod.UID], is)
		r.byPod[s.pod.UID] = rest
		if len(rest) == 0 {
			delete(r.byPod, s.pod.UID)
		}
		return struct{}{}, nil
	})
	return err
}

// ListPodSandbox lists all sandboxes, oldest first.
func (r *Runtime) ListPodSandbox() []SandboxStatus {
	out := make([]SandboxStatus, len(r.sandboxes))
	for i, s := range r.sandboxes {
		out[i] = s.status()
	}
	return out
}

// PodSandboxes lists the sandboxes of a pod, oldest first.
func (r *Runtime) PodSandboxes(pod types.UID) []SandboxStatus {
	var out []SandboxStatus
	for _, s := range r.byPod[pod] {
		out = append(out, s.status())
	}
	return out
}

func (s *sandbox) status() SandboxStatus {
	return SandboxStatus{ID: s.id, Pod: s.pod, Ready: s.ready, IP: s.ip, Created: s.created}
}

func (r *Runtime) sandbox(id string) *sandbox {
	for _, s := range r.sandboxes {
		if s.id == id {
			return s
		}
	}
	return nil
}

// PowerOff takes the machine's power: whatever runs is gone at once, and nobody is told but the journal.
func (r *Runtime) PowerOff(cause event.Seq) {
	if !r.up {
		return
	}
	r.up = false
	for _, s := range r.sandboxes {
		if s.ready {
			s.ready = false
			r.release(s)
		}
		for _, c := range s.containers {
			c.losePower(r, cause)
		}
	}
}

// PowerOn starts the machine anew. Containers that ran are known as exited with 255 ("Unknown"), which is what containerd says of tasks that it does not find
// again; their sandboxes are not ready.
func (r *Runtime) PowerOn() {
	if r.up {
		return
	}
	r.start()
	for _, s := range r.sandboxes {
		for _, c := range s.containers {
			if c.lost {
				c.lost = false
				c.Finished = r.now()
			}
		}
	}
}

func (r *Runtime) hexID(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(r.rng.Uint32())
	}
	return hex.EncodeToString(b)
}

func (r *Runtime) uuid() string {
	h := r.hexID(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func podRef(p *corev1.Pod) kinds.ObjectRef {
	return kinds.ObjectRef{Resource: kinds.Pods.String(), Namespace: p.Namespace, Name: p.Name, UID: string(p.UID)}
}
