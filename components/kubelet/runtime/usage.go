package runtime

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What containers use is no simulation of their programs, but a calm guess that is the same whenever it is asked for: a program works up to its ordinary load, which swings by some percent over
// minutes. The load is a share of what the container asks for, or that of a well-known image; limits hold. Time and identity decide it, so that nothing has to be counted along.

// Amount is what something used since an instant.
type Amount struct {
	Since      time.Time
	CPUSeconds float64
	Memory     int64 // bytes, now
}

// ContainerUsage is what a running container uses.
type ContainerUsage struct {
	Pod       *corev1.Pod // shared, immutable
	Container string
	Amount
}

// Usage is what the machine and its running containers use.
func (r *Runtime) Usage() (machine Amount, running []ContainerUsage) {
	now := r.now()
	machine = Amount{Since: r.bootAt, CPUSeconds: r.spent + systemCores*now.Sub(r.bootAt).Seconds(), Memory: systemMemory}
	for _, s := range r.sandboxes {
		for _, c := range s.containers {
			if c.State != StateRunning {
				continue
			}
			u := ContainerUsage{Pod: s.pod, Container: c.Name, Amount: c.used(now)}
			machine.CPUSeconds += u.CPUSeconds + overheadCores*now.Sub(c.Started).Seconds()
			machine.Memory += u.Memory + overheadMemory
			running = append(running, u)
		}
	}
	return machine, running
}

// What a machine needs for itself (kernel, containerd, kubelet), and for watching over a container.
const (
	systemCores    = 0.045
	systemMemory   = 410 << 20
	overheadCores  = 0.0012
	overheadMemory = 6 << 20
)

// ordinary is the load of well-known programs that have little to do: cores and bytes.
var ordinary = map[string]struct {
	cores  float64
	memory int64
}{
	"kube-apiserver": {0.045, 260 << 20}, "etcd": {0.022, 70 << 20}, "kube-controller-manager": {0.016, 56 << 20}, "kube-scheduler": {0.003, 24 << 20},
	"kube-proxy": {0.001, 18 << 20}, "coredns": {0.002, 16 << 20}, "nginx": {0.0004, 6 << 20}, "httpd": {0.0006, 12 << 20}, "redis": {0.002, 5 << 20},
	"postgres": {0.003, 42 << 20}, "mysql": {0.006, 380 << 20}, "traefik": {0.001, 22 << 20}, "busybox": {0.0001, 700 << 10}, "alpine": {0.0001, 900 << 10},
}

// load is what a container comes to use: cores and bytes when it has warmed up.
type load struct {
	cores, memory        float64
	phase, period, start float64
}

const (
	swing      = 0.18 // of the CPU, by time
	ripple     = 0.02 // of the memory
	warmCPU    = 12.0 // seconds that a start keeps a program busy
	warmMemory = 75.0 // seconds in which memory fills
	coldMemory = 0.55 // share of memory that is there at once
	fullest    = 0.92 // of a limit
)

func loadOf(pod *corev1.Pod, spec *corev1.Container, attempt int) load {
	h := fnv.New64a()
	_, _ = h.Write([]byte(string(pod.UID) + "/" + pod.Name + "/" + spec.Name))
	draw := rand.New(rand.NewPCG(h.Sum64(), uint64(attempt)))
	l := load{phase: 2 * math.Pi * draw.Float64(), period: 240 + 420*draw.Float64(), start: 0.04 + 0.2*draw.Float64()}
	share, room := 0.18+0.4*draw.Float64(), 0.35+0.4*draw.Float64()
	name := path.Base(Describe(spec.Image).Repository)
	known, isKnown := ordinary[name]
	spread := 0.85 + 0.3*draw.Float64()
	switch cpu := spec.Resources.Requests.Cpu().AsApproximateFloat64(); {
	case isKnown && (cpu == 0 || programs[name]):
		l.cores = known.cores * spread
	case cpu > 0:
		l.cores = min(cpu, maxCores) * share
	default:
		l.cores = 0.001 + 0.004*share
	}
	switch memory := spec.Resources.Requests.Memory().AsApproximateFloat64(); {
	case isKnown && (memory == 0 || programs[name]):
		l.memory = float64(known.memory) * spread
	case memory > 0:
		l.memory = min(memory, maxMemory) * room
	default:
		l.memory = float64(8<<20) + float64(40<<20)*room*spread
	}
	if cpu := spec.Resources.Limits.Cpu().AsApproximateFloat64(); cpu > 0 {
		l.cores = min(l.cores, cpu*fullest/(1+swing))
		l.start = min(l.start, cpu*warmCPU/2)
	}
	if memory := spec.Resources.Limits.Memory().AsApproximateFloat64(); memory > 0 {
		l.memory = min(l.memory, memory*fullest/(1+ripple))
	}
	return l
}

// programs of the control plane need what they need, whatever their manifests ask for.
var programs = map[string]bool{"kube-apiserver": true, "etcd": true, "kube-controller-manager": true, "kube-scheduler": true}

// What nobody exceeds, however much a container asks for: quantities can be absurd.
const (
	maxCores  = 1 << 10
	maxMemory = 1 << 44
)

// cpu is what was used in the first t seconds, in seconds of a core: the integral of a load that swings, and the work of the start.
func (l load) cpu(t float64) float64 {
	w := 2 * math.Pi / l.period
	return l.cores*(t+swing/w*(math.Cos(l.phase)-math.Cos(w*t+l.phase))) + l.start*(1-math.Exp(-t/warmCPU))
}

// bytes in use after t seconds.
func (l load) bytes(t float64) int64 {
	return int64(l.memory * (1 - (1-coldMemory)*math.Exp(-t/warmMemory)) * (1 + ripple*math.Sin(2*math.Pi*t/l.period+l.phase)))
}

// used is what the container has used up to an instant of its life.
func (c *container) used(at time.Time) Amount {
	l, t := loadOf(c.sandbox.pod, c.spec, c.Attempt), max(0, at.Sub(c.Started).Seconds())
	return Amount{Since: c.Started, CPUSeconds: l.cpu(t), Memory: l.bytes(t) &^ 4095}
}

// settle adds what a container used that has ended to what the machine has.
func (r *Runtime) settle(c *container) {
	if !c.Started.IsZero() {
		r.spent += c.used(c.Finished).CPUSeconds + overheadCores*c.Finished.Sub(c.Started).Seconds()
	}
}
