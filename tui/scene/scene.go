// Package scene is what a person would say about a World at an instant: who leads, what can be lost, what is broken, by whom, since when, and what comes next.
// It is pure arithmetic; views only place it.
//
// Its cost is the number of machines, and that of the pods on machines which are in trouble; never that of all pods.
//
// Imports of ours: engine/event, engine/fault, engine/world. Goroutines: values. Time: simulated.
package scene

import (
	"sort"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"
)

// Grace is how long a node may be silent before it is judged; 50 s.
// Source: kube-controller-manager --node-monitor-grace-period.
const Grace = 50 * time.Second

// silentAfter is the age of a node's lease that is worth a word: one renewal (10 s) missed, and a half.
const silentAfter = 15 * time.Second

// Target is a thing one can select.
type Target = target.Target

// Kind of a target.
type Kind = target.Kind

// The kinds of targets that a scene knows.
const (
	Nothing  = target.Nothing
	Balancer = target.Balancer
	Master   = target.Master
	Worker   = target.Worker
	Process  = target.Process
	Pod      = target.Pod
)

// Machine of the cluster with the faults that touch it.
type Machine struct {
	Host   *world.Host
	Name   string
	Up     bool
	Since  time.Time
	By     event.Actor
	Seq    event.Seq
	Faults []world.Fault
	// CutFrom is "all" or the other ends of cuts that touch it.
	CutFrom []string
	Node    *world.Node
	// LeaseAge is the time since the node's lease was renewed; negative: no lease.
	LeaseAge time.Duration
}

// MasterInfo is a machine of the control plane.
type MasterInfo struct {
	Machine
	Member  *world.Member
	Backend *world.Backend
	// Leads the raft group as the group sees it (not as a cut-off member thinks of itself). Claims: it thinks so.
	Leads, Claims bool
	Scheduler     Role
	Controllers   Role
}

// Role of an active-standby component on a machine.
type Role struct {
	Up, Active bool
	// Age of the lease as last renewed by whoever holds it.
	Age      time.Duration
	Duration time.Duration
	Waiting  int
	InWork   int
	Delayed  int
	Queued   bool // queue figures are known
}

// WorkerInfo is a machine that runs pods.
type WorkerInfo struct {
	Machine
	// Pods bound to it that have not ended.
	Pods int
	// Believed counts pods that the store holds for running; True counts pods that have a running container there. Looked at only when something is Wrong.
	Believed, True int
	// Differ: belief and truth are not the same.
	Differ bool
	// EvictAt is when the first pod will be deleted; zero: none is planned. Evictions counts them.
	EvictAt   time.Time
	Evictions int
	Cordoned  bool
	// Requests and what can be given away, milli-CPU and bytes.
	CPU, CPUAll int64
	Mem, MemAll int64
	// Silent: its lease is old but nobody has judged it yet. JudgedIn is the time left until then.
	Silent   bool
	JudgedIn time.Duration
	// Wrong: something about it is not as it should be.
	Wrong bool
}

// Quorum of the store.
type Quorum struct {
	Members, Alive, Need int
	Leader               string
	Term                 uint64
	// Raft is false on the memory store, which has no members.
	Raft bool
	// Disk index of the leader.
	Last, Commit uint64
}

// CanLose is how many more members may fall; negative: writes are impossible.
func (q Quorum) CanLose() int { return q.Alive - q.Need }

// Scene of an instant.
type Scene struct {
	Now      time.Time
	Quorum   Quorum
	Masters  []MasterInfo
	Workers  []WorkerInfo
	Backends []*world.Backend
	Pending  []*world.Pod
	// Failing pods, the first hundred.
	Failing []*world.Pod
	// Pods by state.
	PodsRunning, PodsPending, PodsFailing, PodsEnding, Pods int
	NodesReady                                              int
	// ActiveScheduler and ActiveControllers are the machines of the leaders; empty: nobody leads.
	ActiveScheduler, ActiveControllers string
	Faults                             []world.Fault
	// Deployment that scaling acts on where nothing else is selected: the only one there is.
	OnlyDeployment *appsv1.Deployment
}

// most pending or failing pods that are looked at in a frame; counts are of all.
const most = 100

// Shape is how a pod is drawn.
type Shape int

// The shapes.
const (
	ShapeRunning Shape = iota
	ShapeStarting
	ShapeWaiting
	ShapeFailing
	ShapeEnding
)

// ShapeOf a pod, as the store sees it.
func ShapeOf(p *world.Pod) Shape {
	switch {
	case p.Deleting:
		return ShapeEnding
	case p.Status == "Completed" || p.Object.Status.Phase == corev1.PodSucceeded:
		return ShapeEnding
	case p.Failing():
		return ShapeFailing
	case p.Object.Spec.NodeName == "":
		return ShapeWaiting
	case p.Status == "Running" && p.Ready == p.Total:
		return ShapeRunning
	}
	return ShapeStarting
}

// Of makes the scene of a World at an instant.
func Of(w *world.World, now time.Time) *Scene { return new(Maker).Of(w, now) }

// Maker makes one scene after another; it keeps the order of the machines' names, which hardly ever changes.
type Maker struct{ names []string }

func (k *Maker) order(w *world.World) []string {
	good := len(k.names) == w.Hosts.Len()
	for i := 0; good && i < len(k.names); i++ {
		_, good = w.Hosts.Get(k.names[i])
	}
	if !good {
		k.names = w.Hosts.Keys()
		sort.Slice(k.names, func(i, j int) bool { return NaturalLess(k.names[i], k.names[j]) })
	}
	return k.names
}

// Of makes the scene of a World at an instant.
func (k *Maker) Of(w *world.World, now time.Time) *Scene {
	s := &Scene{Now: now, PodsPending: w.PendingCount(), PodsFailing: w.FailingCount(), Pods: w.Pods.Len()}
	w.StatusCounts(func(status string, n int) bool {
		switch status {
		case "Running":
			s.PodsRunning += n
		case "Terminating", "Completed":
			s.PodsEnding += n
		}
		return true
	})
	w.Pending(func(p *world.Pod) bool { s.Pending = append(s.Pending, p); return len(s.Pending) < most })
	w.FailingPods(func(p *world.Pod) bool { s.Failing = append(s.Failing, p); return len(s.Failing) < most })
	s.OnlyDeployment = onlyDeployment(w)
	w.Faults.Scan(func(_ event.Seq, f world.Fault) bool { s.Faults = append(s.Faults, f); return true })
	w.Backends.Scan(func(_ string, b *world.Backend) bool { s.Backends = append(s.Backends, b); return true })
	s.Quorum = quorum(w, s.Faults)
	s.ActiveScheduler = active(w, "kube-system/kube-scheduler", now)
	s.ActiveControllers = active(w, "kube-system/kube-controller-manager", now)
	s.Workers = make([]WorkerInfo, 0, w.Hosts.Len())
	for _, name := range k.order(w) {
		h, ok := w.Hosts.Get(name)
		if !ok {
			continue
		}
		m := s.machine(w, h, now)
		if h.Master {
			s.Masters = append(s.Masters, s.master(w, m, now))
		} else {
			s.Workers = append(s.Workers, s.worker(w, m))
		}
	}
	return s
}

func (s *Scene) machine(w *world.World, h *world.Host, now time.Time) Machine {
	m := Machine{Host: h, Name: h.Name, Up: h.Up, Since: h.Since, By: h.By, Seq: h.Seq, LeaseAge: -1}
	for _, f := range s.Faults {
		if !f.Fault.Touches(h.Name) {
			continue
		}
		m.Faults = append(m.Faults, f)
		if f.Fault.Kind == fault.Cut {
			m.CutFrom = append(m.CutFrom, other(f.Fault, h.Name))
		}
	}
	m.Node, _ = w.Nodes.Get(h.Name)
	if l, ok := w.Leases.Get("kube-node-lease/" + h.Name); ok && !l.Renewed.IsZero() {
		m.LeaseAge = max(now.Sub(l.Renewed), 0)
	}
	return m
}

// other is the end of a fault that is not host.
func other(f fault.Fault, host string) string {
	a, _, _ := strings.Cut(f.A, "/")
	if a == host {
		return f.B
	}
	return f.A
}

func (s *Scene) master(w *world.World, m Machine, now time.Time) MasterInfo {
	i := MasterInfo{Machine: m}
	i.Member, _ = w.Members.Get(m.Name)
	i.Backend, _ = w.Backends.Get(m.Name)
	i.Claims = i.Member != nil && i.Member.Role == "leader" && m.Up
	i.Leads = i.Claims && s.Quorum.Leader == m.Name
	i.Scheduler = role(w, m, "scheduler", "kube-system/kube-scheduler", s.ActiveScheduler, now)
	i.Controllers = role(w, m, "controller-manager", "kube-system/kube-controller-manager", s.ActiveControllers, now)
	return i
}

func role(w *world.World, m Machine, process, lease, active string, now time.Time) Role {
	var r Role
	if m.Host != nil {
		r.Up = m.Host.Processes[process].Up && m.Up
	}
	r.Active = active == m.Name && r.Up
	if l, ok := w.Leases.Get(lease); ok {
		r.Age, r.Duration = max(now.Sub(l.Renewed), 0), l.Duration
	}
	if r.Active {
		prefix := process + "/" + m.Name + " "
		w.Queues.Ascend(prefix, func(key string, q *world.Queue) bool {
			if !strings.HasPrefix(key, prefix) {
				return false
			}
			r.Queued = true
			r.Waiting += q.Waiting
			r.InWork += q.InWork
			r.Delayed += q.Delayed
			return true
		})
	}
	return r
}

// active is the machine that holds a lease which has not run out.
func active(w *world.World, lease string, now time.Time) string {
	l, ok := w.Leases.Get(lease)
	if !ok || l.Holder == "" || (l.Duration > 0 && now.Sub(l.Renewed) > l.Duration) {
		return ""
	}
	host, _, _ := strings.Cut(l.Holder, "_")
	return host
}

// onlyDeployment is the Deployment of a cluster that has just one.
func onlyDeployment(w *world.World) (only *appsv1.Deployment) {
	const prefix = "deployments.apps "
	n := 0
	w.Objects.Ascend(prefix, func(key string, o *world.Object) bool {
		if !strings.HasPrefix(key, prefix) {
			return false
		}
		n++
		only, _ = o.Object.(*appsv1.Deployment)
		return n < 2
	})
	if n != 1 {
		return nil
	}
	return only
}

// PodsOn lists the first pods bound to a node.
func PodsOn(w *world.World, node string, max int) []*world.Pod {
	var out []*world.Pod
	w.PodsOnNode(node, func(p *world.Pod) bool { out = append(out, p); return len(out) < max })
	return out
}

func (s *Scene) worker(w *world.World, m Machine) WorkerInfo {
	i := WorkerInfo{Machine: m}
	i.Evictions, i.EvictAt = w.EvictionsOnNode(m.Name)
	ready := false
	if n := m.Node; n != nil {
		i.Cordoned = n.Object.Spec.Unschedulable
		i.Pods = n.Pods
		i.CPU, i.Mem = n.MilliCPU, n.Memory
		i.CPUAll, i.MemAll = n.Object.Status.Allocatable.Cpu().MilliValue(), n.Object.Status.Allocatable.Memory().Value()
		ready = n.Ready == string(corev1.ConditionTrue)
	}
	if ready {
		s.NodesReady++
	}
	// while the store takes no writes, an old lease says nothing about the node
	writable := !s.Quorum.Raft || (s.Quorum.Alive >= s.Quorum.Need && s.Quorum.Leader != "")
	i.Silent = ready && m.LeaseAge > silentAfter && (writable || !m.Up || len(m.Faults) > 0)
	if i.Silent {
		i.JudgedIn = max(Grace-m.LeaseAge, 0)
	}
	i.Wrong = !ready || !m.Up || len(m.Faults) > 0 || i.Silent
	if m.Host != nil {
		for _, p := range m.Host.Processes {
			i.Wrong = i.Wrong || !p.Up
		}
	}
	if i.Wrong { // a look at each of its pods, so only where it matters
		c := w.Compare(m.Name)
		i.Believed, i.True, i.Differ = c.Belief, c.Truth, c.Belief != c.Truth
	}
	return i
}

// NaturalLess orders names so that worker-2 comes before worker-10.
func NaturalLess(a, b string) bool {
	pa, na := number(a)
	pb, nb := number(b)
	if pa != pb {
		return pa < pb
	}
	if na != nb {
		return na < nb
	}
	return a < b
}

func number(s string) (prefix string, n int) {
	i := len(s)
	for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' && len(s)-i < 9 {
		i--
	}
	for _, c := range s[i:] {
		n = n*10 + int(c-'0')
	}
	return s[:i], n
}
