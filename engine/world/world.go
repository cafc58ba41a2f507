// Package world is the picture of a cluster that the records of its journal add up to: one pure fold, many readers (screen, time travel, replay, summary,
// expectations).
//
// Apply is the fold: a switch with one arm per fact and no I/O. A World is cheap to Clone (its tables are copy-on-write trees), so checkpoints cost little
// and what was cloned never changes. What tables hold (*Host, *Pod …) is immutable: Apply replaces entries, it never writes to one.
//
// Imports of ours: engine/event, engine/fault, engine/kinds. Goroutines: one owner per World; a Clone may go to another goroutine. Time: simulated, as found in records.
package world

import (
	"time"

	"github.com/tidwall/btree"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

// World is a cluster at an instant.
type World struct {
	// Seq and At are of the last record folded in.
	Seq  event.Seq
	At   time.Time
	Wall time.Time
	// Start is the instant of the first record.
	Start  time.Time
	Header event.ClusterStarted
	// Rate of simulated time; 0 is paused.
	Rate     float64
	Unpaced  bool
	WhyPause string
	// Revision of the store.
	Revision int64

	Hosts   btree.Map[string, *Host]   // by name; masters and workers
	Members btree.Map[string, *Member] // raft members by name
	// Log is what the newest entries of the members' logs hold, by index: one entry, or one for each term that had another there.
	Log btree.Map[uint64, []Entry]
	// Store is what its operators know of the store: who its members are, alarms, quota, compaction, backups.
	Store Store
	// Timing is raft's timeouts; zero: not known.
	Timing event.RaftTiming
	Nodes  btree.Map[string, *Node] // Node objects by name
	Pods   btree.Map[string, *Pod]  // by "namespace/name"
	// Objects holds every object by store-like key ("deployments.apps default/nginx"), pods and nodes included, leases and events too.
	Objects btree.Map[string, *Object]
	// Defined are the kinds of objects that are in no table, by their names ("crontabs.stable.example.com"): each the one row by which Objects knows its objects.
	Defined btree.Map[string, *kinds.Kind]
	// Running is the truth: what runtimes run, by "node pod-uid container".
	Running btree.Map[string, *Container]
	Queues  btree.Map[string, *Queue] // by "actor queue"
	// Watches that are open on API servers, by "server number".
	Watches btree.Map[string, *Watch]
	// Clients from outside that are connected, by the number of their ClientConnected; Programs sums them up, by "program user".
	Clients  btree.Map[event.Seq, *Client]
	Programs btree.Map[string, *Program]
	// Leases by "namespace/name": holder and last renewal.
	Leases btree.Map[string, *Lease]
	// Faults in force, by the number of their record.
	Faults btree.Map[event.Seq, Fault]
	// Backends of the load balancer, by host.
	Backends btree.Map[string, *Backend]
	// Evictions planned, by pod "namespace/name".
	Evictions btree.Map[string, *Eviction]
	// Attempts is the last scheduling attempt by pod "namespace/name".
	Attempts btree.Map[string, *Attempt]
	// Leaders of the control plane's programs by lease ("kube-scheduler"), as they know themselves; what the store believes is in Leases.
	Leaders btree.Map[string, *Leader]

	Elections []Election
	Requests  Requests
	Commands  []Command
	// Lost counts records that a reader missed.
	Lost int

	// Came is when all of the cluster was there for the first time: a leader, API servers, nodes. Zero until then.
	Came time.Time

	vacancy vacancy
	indexes indexes
	// shared: Commands is also held by a clone and must be copied before an entry changes.
	shared bool
}

// Host is a machine as it really is.
type Host struct {
	Name   string
	Master bool
	Up     bool
	Since  time.Time // of Up or not Up
	// By says who took it down ("you"), Seq the record that says so; both empty while it is up.
	By  event.Actor
	Seq event.Seq
	// Processes by name, few.
	Processes map[string]Process
}

// Process on a machine: apiserver, etcd, scheduler, controller-manager, kubelet.
type Process struct {
	Name     string
	Up       bool
	Since    time.Time
	Reason   string // of the last stop
	By       event.Actor
	Seq      event.Seq
	Restarts int
}

// Member of the raft cluster as it sees itself.
type Member struct {
	Name string
	// ID it votes under; empty: not told. Learner: it gets data and has no vote. Out: it is no member of the group (any more).
	ID           string
	Learner, Out bool
	// Joined is when its place in the group became what it is, by JoinedSeq.
	Joined                          time.Time
	JoinedSeq                       event.Seq
	Role                            string // follower, candidate, leader, learner, down
	Term                            uint64
	Leader                          string
	LastIndex, CommitIndex, Applied uint64
	Since                           time.Time // of Role
	Wall                            time.Time // of Role, by the wall
	Seq                             event.Seq
	Err                             string
	// Runs are the terms of the log's newest entries, oldest first; see TermAt.
	Runs []Run
	// Kept is what the last entries held when the member went down or lost the lead, for as long as it stays away.
	Kept []Entry
	// VotedFor is whom it gave its vote in VoteTerm; empty: nobody, as far as is known.
	VotedFor string
	VoteTerm uint64
	// Heard is when it last heard a leader, by the wall, as last told; Silent: it has heard nothing since.
	Heard  time.Time
	Silent bool
	// Round is the last time it stood for election.
	Round Round
	// Snapshot is the index up to which it has made or taken over a snapshot; 0: none is known.
	Snapshot uint64
	// Cut is the last piece of log that it had to give up.
	Cut Cut
	// Size of its log and snapshots; DBSize is what its database occupies, DBInUse what of it is in use, Quota what bounds the first. Bytes; 0: not told.
	Size, DBSize, DBInUse, Quota int64
	Disk                         Disk
	// Traps that wait for it, copied on write, and the last that it stepped on.
	Traps  []event.TrapSet
	Sprung Sprung
	// Aside is what was last moved away from its disk, Install the last snapshot that was sent to it; Seq is 0 where there was none.
	Aside    Aside
	Install  Install
	Diverged Diverged
}

// Node is a Node object with what the screen asks of it.
type Node struct {
	Object *corev1.Node
	Seq    event.Seq // of the last change
	Master bool
	// Ready is the condition's status: True, False, Unknown; empty when there is none. Reason and Since are the condition's.
	Ready, Reason string
	Since         time.Time
	// Pods bound to it, and the sum of their requests (terminal ones not counted).
	Pods     int
	MilliCPU int64
	Memory   int64 // bytes
}

// Pod is a Pod object with what the screen asks of it.
type Pod struct {
	Object *corev1.Pod
	Seq    event.Seq
	// Status is kubectl's STATUS column; Ready of Total containers are ready.
	Status          string
	Ready, Total    int
	Restarts        int
	Deleting, Ended bool
	Since           time.Time // of Status

	milliCPU, memory int64 // requests; 0 once ended
}

// Object is any object at its last change.
type Object struct {
	Kind   *kinds.Kind
	Object kinds.Object
	Seq    event.Seq
	At     time.Time
}

// Container as its runtime has it.
type Container struct {
	Node  string
	Pod   kinds.ObjectRef
	Name  string
	State event.ContainerState
	Image string
	Since time.Time
	Until time.Time
	Seq   event.Seq
	// Restarts counts starts after the first.
	Restarts, ExitCode int
	Reason             string
}

// Lease with its holder.
type Lease struct {
	Namespace, Name, Holder string
	Renewed                 time.Time
	Duration                time.Duration
	Transitions             int
	Seq                     event.Seq
}

// Fault in force.
type Fault struct {
	Fault fault.Fault
	By    event.Actor
	At    time.Time
	Seq   event.Seq
}

// Leader of a program that runs active-standby.
type Leader struct {
	Lease, Host, Identity string
	Since                 time.Time
	Seq                   event.Seq
}

// Eviction that is planned.
type Eviction struct {
	Pod  kinds.ObjectRef
	Node string
	Due  time.Time
	Seq  event.Seq
}

// Attempt to schedule a pod.
type Attempt struct {
	event.SchedulingAttempt
	At    time.Time
	Queue string // where the pod waits now: active, backoff, unschedulable
	Until time.Time
	Seq   event.Seq
}

// Election is one change of raft leader.
type Election struct {
	// At is when the new leader was elected; Lost is when the old one was lost (equal At for the first).
	At, Lost      time.Time
	From, To      string
	Term          uint64
	Virtual, Wall time.Duration // from Lost to At
	Seq           event.Seq
	// LostSeq is the record that tells of the loss, or of the winner's standing for election where nobody saw the loss.
	LostSeq event.Seq
	// Votes that are known to have been for it, its own among them, and no fewer than it needed; 0: none was recorded. Voters there were.
	Votes, Voters int
	// Anew: it is the first of a group that began anew (restored, or all disks were wiped). Its terms are not those of before, and nobody was taken over from.
	Anew bool
}

// Requests answered by all API servers.
type Requests struct {
	Total  int
	ByCode map[int]int // copied on write
}

// Command of the user.
type Command struct {
	Seq   event.Seq
	At    time.Time
	Text  string
	Done  bool
	Error string
}

// Deployment returns a Deployment by namespace and name.
func (w *World) Deployment(namespace, name string) (*appsv1.Deployment, bool) {
	o, ok := w.Objects.Get(ObjectKey(kinds.Deployments, namespace, name))
	if !ok {
		return nil, false
	}
	d, ok := o.Object.(*appsv1.Deployment)
	return d, ok
}

// ObjectKey is the key of World.Objects.
func ObjectKey(k *kinds.Kind, namespace, name string) string {
	return k.String() + " " + kinds.ObjectRef{Namespace: namespace, Name: name}.String()
}
