package engine

import (
	"fmt"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/components/kubelet"
	"example.com/kubeviz/components/kubelet/runtime"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/simnet"
)

// systemd restarts a kubelet that ended by itself or was killed after this time (RestartSec=10 of the kubeadm package's unit).
const kubeletRestart = 10 * time.Second

// Boot times of a machine that is switched on while the cluster runs.
const (
	bootMin = 2 * time.Second
	bootMax = 4 * time.Second
)

// machine is one virtual machine: power, a container runtime, and the programs on it.
type machine struct {
	e        *Engine
	host     string
	master   bool
	number   int // from 0 among its kind
	size     scenario.Machine
	up       bool
	runtime  *runtime.Runtime
	programs map[string]*program
	kubelet  *kubelet.Kubelet // the newest
	// held says that the kubelet was stopped on purpose, so systemd leaves it down.
	held bool
	// stopping: it was told to shut down and the power goes soon.
	stopping bool
	// changed is the record of the last power change or of the last stop of a program by name, for causes.
	changed map[string]event.Seq
	healed  event.Seq // newest repair of a link of this machine
	joins   bool      // it is new, and its first start tells so
	boot    uint64    // counts power-ons, so that timers of an earlier life do nothing
}

func (e *Engine) addMachine(host string, master bool, number int) *machine {
	m := &machine{e: e, host: host, master: master, number: number, size: e.opts.Scenario.Cluster.Worker, programs: map[string]*program{}, changed: map[string]event.Seq{}}
	cfg := runtime.Config{Loop: e.loop, Sink: e.journal, Node: host, PodCIDR: podCIDR(master, number), NodeIP: m.ip()}
	if master {
		m.size = e.opts.Scenario.Cluster.Master
		cfg.Programs = m.controlPlanePrograms()
		cfg.Images = kubelet.ControlPlaneImages() // kubeadm pulls them before it begins
	}
	m.runtime = runtime.New(cfg)
	m.runtime.PowerOff(0)
	e.machines = append(e.machines, m)
	e.byHost[host] = m
	e.net.SetHost(host, false)
	return m
}

func (m *machine) addr(process string) simnet.Addr {
	return simnet.Addr{Host: m.host, Process: process}
}

// ip is the machine's address: masters 10.0.0.1x, workers 10.0.1.x upwards.
func (m *machine) ip() string {
	if m.master {
		return fmt.Sprintf("10.0.0.%d", 11+m.number)
	}
	return fmt.Sprintf("10.0.%d.%d", 1+m.number/250, 1+m.number%250)
}

// podCIDR is the subnet of a machine's pods, out of 10.224.0.0/11.
func podCIDR(master bool, number int) netip.Prefix {
	n := number
	if !master {
		n += scenario.MastersMax + 1
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(224 + n/256), byte(n % 256), 0}), 24)
}

// powerOn switches the machine on. A boot takes seconds; at the start of the cluster the machines are just up.
func (m *machine) powerOn(cause event.Seq, boots bool) {
	m.up = true
	m.boot++
	m.held, m.stopping = false, false
	seq := m.e.journal.Emit(event.On("machine", m.host), cause, event.MachineUp{Host: m.host, Joined: m.joins})
	m.joins = false
	m.changed[""] = seq
	m.e.net.SetHost(m.host, true)
	m.runtime.PowerOn()
	rng := m.e.loop.Rand(fmt.Sprintf("boot %s %d", m.host, m.boot))
	delay := time.Duration(rng.Int64N(int64(300 * time.Millisecond)))
	if boots {
		delay = bootMin + time.Duration(rng.Int64N(int64(bootMax-bootMin)))
	}
	m.startKubeletAfter(delay, seq)
	m.e.storeShaken(m, seq)
}

// powerOff cuts the power: everything on the machine is gone in one instant and nobody is told.
func (m *machine) powerOff(cause event.Seq, reason string) {
	m.up = false
	m.boot++
	seq := m.e.journal.Emit(event.On("machine", m.host), cause, event.MachineDown{Host: m.host, Reason: reason})
	m.changed[""] = seq
	m.e.net.SetHost(m.host, false)
	for _, name := range programNames {
		if pg := m.programs[name]; pg != nil {
			pg.container = nil // the runtime loses its containers by itself
			pg.end(seq, 137, "machine down", "")
		}
	}
	m.runtime.PowerOff(seq)
	m.e.storeShaken(m, seq)
}

// storeShaken tells the store's door when the machine is one of its members.
func (e *Engine) storeShaken(m *machine, cause event.Seq) {
	if m.master {
		e.store.shaken(cause)
	}
}

// startKubeletAfter lets systemd start the kubelet, unless the machine was switched in between or the kubelet is held down.
func (m *machine) startKubeletAfter(d time.Duration, cause event.Seq) {
	boot := m.boot
	m.e.loop.After(d, func() {
		if m.boot == boot && m.up && !m.held && m.programs["kubelet"] == nil {
			m.startKubelet(cause)
		}
	})
}

func (m *machine) startKubelet(cause event.Seq) {
	pg := m.newProgram("kubelet", cause)
	user := kubeapi.User{Name: "system:node:" + m.host, Groups: []string{"system:nodes", "system:authenticated"}}
	pg.proc.Client = m.e.client(pg.proc.Addr, user, "kubelet", nil)
	cfg := kubelet.Config{
		Node: m.host, NodeIP: m.ip(), Runtime: m.runtime,
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU: m.size.CPU.DeepCopy(), corev1.ResourceMemory: m.size.Memory.DeepCopy(),
			corev1.ResourcePods:             *resource.NewQuantity(m.size.Pods, resource.DecimalSI),
			corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		},
		Labels: map[string]string{},
	}
	if m.master {
		cfg.StaticPods = m.staticPods()
		cfg.Labels, cfg.Taints = kubelet.MasterLabels(), kubelet.MasterTaints()
		cfg.Health = m.health
	}
	if z := m.e.opts.Scenario.Cluster.Zones; !m.master && len(z) > 0 {
		cfg.Labels["topology.kubernetes.io/zone"] = z[m.number%len(z)]
	}
	m.kubelet = kubelet.Start(pg.proc, cfg)
	m.e.net.Listen(pg.proc.Addr, pg.group) // API servers come to it for logs and commands
}

// silence finds the record that keeps this machine's process from being heard: power, its own end, a cut, or the loss of the store's majority. 0: none.
func (m *machine) silence(process string) event.Seq {
	switch {
	case !m.up:
		return m.changed[""]
	case m.programs[process] == nil:
		return m.changed[process]
	}
	own, lb := m.addr(process), simnet.Addr{Host: "balancer", Process: "haproxy"} // the way of kubelets to the API and of the balancer to API servers
	for _, way := range [][2]simnet.Addr{{own, lb}, {lb, own}} {
		if seq := m.e.net.Silenced(way[0], way[1]); seq != 0 {
			return seq
		}
	}
	if m.master && process != "kubelet" && m.e.store.lostBy != 0 {
		return m.e.store.lostBy
	}
	for _, f := range m.e.net.Faults() {
		if f.Fault.Touches(m.host) || f.Fault.Touches(own.String()) {
			return event.Seq(f.ID)
		}
	}
	return 0
}
