// Package scene is what a person would say about a World at an instant: who leads, what can be lost, what is broken, by whom, since when, and what comes next.
// It is pure arithmetic; views only place it.
//
// A Maker makes one scene after another and looks only at what has changed in between: a frame costs a glance at each machine (pointers are compared, some
// nanoseconds), and a look at the pods of machines in trouble within a budget; never all pods.
//
// Imports of ours: engine/event, engine/fault, engine/kinds, engine/world, tui/target, tui/words. Goroutines: a Maker and its scenes have one owner. Time: simulated.
package scene

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/world"
	"example.com/kubeviz/tui/target"
)

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

	renewed time.Time
	stopped bool // a process on it does not run
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
	// Queued requests wait for a seat at the API server (priority and fairness), the first since QueuedSince.
	Queued      int
	QueuedSince time.Time
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
	// Parted: Waiting, Backoff and Unschedulable are the scheduler's three queues.
	Parted                 bool
	Backoff, Unschedulable int
}

// WorkerInfo is a machine that runs pods.
type WorkerInfo struct {
	Machine
	// Pods bound to it that have not ended.
	Pods int
	// Believed counts pods that the store shows as Running there, True those of which a container really runs. Looked at only on machines that are Wrong, and only
	// where Compared. Ghosts are believed but do not run; Strays run but the store has them elsewhere or nowhere.
	Believed, True, Ghosts, Strays int
	Compared                       bool
	// Differ: belief and truth are not the same.
	Differ bool
	// EvictAt is when the first pod will be deleted; zero: none is planned. Evictions counts them.
	EvictAt   time.Time
	Evictions int
	Cordoned  bool
	// Zone by the label topology.kubernetes.io/zone; empty where there is none.
	Zone string
	// Requests and what can be given away, milli-CPU and bytes.
	CPU, CPUAll int64
	Mem, MemAll int64
	// Silent: its lease is old but nobody has judged it yet. JudgedIn is the time left until then.
	Silent   bool
	JudgedIn time.Duration
	// Wrong: something about it is not as it should be.
	Wrong bool

	evicts bool // a taint with the effect NoExecute is on the node
}

// Quorum of the store.
type Quorum struct {
	// Members that have a vote, Alive of them that can write together under one of them, and Need of them. Learners that have none yet.
	Members, Alive, Need, Learners int
	// Lose is how many more may fall, whichever they are; negative: writes are impossible.
	Lose   int
	Leader string
	Term   uint64
	// Raft is false on the memory store, which has no members.
	Raft bool
	// Refuses: the alarm NOSPACE is on, so writes are refused but deletions.
	Refuses bool
	// Disk index of the leader.
	Last, Commit uint64
}

// Scene of an instant. It is good until the Maker makes the next one.
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
	// Ghosts counts pods of machines in trouble that the store shows as Running and that do not run, Strays those that run unknown to the store.
	Ghosts, Strays int
	// Trouble are the places in Workers of those that are Wrong.
	Trouble []int
	// Starting: the cluster was switched on a short while ago, nobody has broken anything, and not all of it is there yet.
	Starting bool
	// ActiveScheduler and ActiveControllers are the machines of the leaders; empty: nobody leads.
	ActiveScheduler, ActiveControllers string
	Faults                             []world.Fault
	// Deployment that scaling acts on where nothing else is selected: the only one there is.
	OnlyDeployment *appsv1.Deployment

	index map[string]int // a name's place in Workers, or -1 less its place in Masters
	zones []Zone

	everyone []int
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
	if q, ok := w.Queues.Get(string(event.On("apiserver", m.Name)) + " requests"); ok {
		i.Queued, i.QueuedSince = q.Waiting, q.Oldest
	}
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
		w.QueuesOf(event.On(process, m.Name), func(q *world.Queue) bool {
			r.Queued = true
			r.InWork += q.InWork
			if len(q.Parts) > 0 {
				r.Parted = true
				r.Waiting += q.Parts["active"]
				r.Backoff += q.Parts["backoff"]
				r.Unschedulable += q.Parts["unschedulable"]
				return true
			}
			r.Waiting += q.Waiting
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
