package event

import (
	"time"

	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/kinds"
)

// ---- the cluster and its user

// ClusterStarted is the first record of a journal.
type ClusterStarted struct {
	Preset  string
	Version string // of kubeviz
	Seed    uint64
	Store   string // "raft" or "memory"
	Masters []string
	Workers []string
	// Repeatable: no wall time is in this journal, and the same seed makes the same journal.
	Repeatable bool
}

// CommandGiven: an order was accepted for execution. Its record is the cause of all that follows from it.
type CommandGiven struct{ Text string }

// CommandRefused: an order could not be carried out at all; nothing was changed.
type CommandRefused struct{ Text, Reason string }

// CommandDone: an accepted order ended. Error is empty when it worked. Cause is its CommandGiven.
type CommandDone struct {
	Text  string
	Error string `json:",omitempty"`
	// Output is what the order answers to its giver, one line an element.
	Output []string `json:",omitempty"`
}

// RateChanged: simulated time runs at Rate seconds per wall second from now on. 0: paused. Unpaced: as fast as it can.
type RateChanged struct {
	Rate    float64
	Unpaced bool `json:",omitempty"`
	// Why is set when the engine stopped by itself: "until quiet", "until NodeNotReady".
	Why string `json:",omitempty"`
}

// ---- machines, processes, links

// MachineUp and MachineDown: power. Reason for down: "killed", "stopped".
type MachineUp struct{ Host string }
type MachineDown struct{ Host, Reason string }

// ProcessStarted: a program of the control plane or a kubelet runs on a machine.
type ProcessStarted struct{ Host, Process string }

// ProcessStopped: it ended. Reason: "killed" (by the user), "stopped", "machine down", "exited", "crashed" (panic).
type ProcessStopped struct {
	Host, Process string
	Reason        string
	ExitCode      int    `json:",omitempty"`
	Message       string `json:",omitempty"`
}

// FaultAdded: a link fault is in force, under this record's number.
type FaultAdded struct{ Fault fault.Fault }

// FaultRemoved: it was lifted.
type FaultRemoved struct {
	ID    Seq // of FaultAdded
	Fault fault.Fault
}

// BackendChanged: the load balancer's health check changed its mind about an API server.
type BackendChanged struct {
	Backend string // host of the API server
	Healthy bool
	Reason  string `json:",omitempty"`
}

// ---- the store

// RaftRole: a member's role, term or leader changed, as it sees itself.
type RaftRole struct {
	Member string
	Role   string // follower, candidate, leader, learner, down
	Term   uint64
	Leader string `json:",omitempty"`
	Err    string `json:",omitempty"`
}

// RaftProgress: a member's log moved. Sampled.
type RaftProgress struct {
	Member                          string
	LastIndex, CommitIndex, Applied uint64
	Revision                        int64
	SizeBytes                       int64 `json:",omitempty"`
}

// RaftMessage: a raft RPC or its answer. Votes always, appends and heartbeats sampled.
type RaftMessage struct {
	From, To       string
	Kind           string // pre-vote, vote, append, heartbeat, snapshot
	Term           uint64
	Reply, Granted bool   `json:",omitempty"`
	Entries        int    `json:",omitempty"`
	CommitIndex    uint64 `json:",omitempty"`
	Lost           bool   `json:",omitempty"`
}

// ObjectChanged: a revision of an object is committed. Announced once in the cluster, by the store.
type ObjectChanged struct {
	Type     ChangeType
	Revision int64
	// Index and Term of the raft entry that carried it; 0 on the memory store.
	Index, Term uint64 `json:",omitempty"`
	// Object after the change; for Deleted the last state. Shared, immutable.
	Object kinds.Object `json:"-"`
}

// ChangeType as watches name it.
type ChangeType string

const (
	Added    ChangeType = "ADDED"
	Modified ChangeType = "MODIFIED"
	Deleted  ChangeType = "DELETED"
)

// LeaseRenewed stands for ObjectChanged where a Lease changed nothing but its renewTime.
type LeaseRenewed struct {
	Namespace, Lease string
	Holder           string
	Revision         int64
}

// ---- API requests

// RequestReceived: an API server took in a request. Reads and lease renewals of components are not listed, only counted (RequestTally).
type RequestReceived struct {
	Server      string // host of the API server
	Verb        string // get, list, watch, create, update, patch, delete
	Resource    string // "pods", "deployments.apps"
	Subresource string `json:",omitempty"`
	Namespace   string `json:",omitempty"`
	ObjectName  string `json:",omitempty"`
	User        string
}

// RequestDone: it was answered. Cause is its RequestReceived where there is one. Failed requests are always listed.
type RequestDone struct {
	Server      string
	Verb        string
	Resource    string
	Subresource string `json:",omitempty"`
	Namespace   string `json:",omitempty"`
	ObjectName  string `json:",omitempty"`
	User        string
	Code        int    // HTTP
	Reason      string `json:",omitempty"`
	Message     string `json:",omitempty"`
	Revision    int64  `json:",omitempty"`
	// Stages in order, with the simulated time each took.
	Stages []Stage `json:",omitempty"`
}

// Stage of the request pipeline: authentication, authorization, mutating admission, validation, validating admission, store.
type Stage struct {
	Stage string
	Took  time.Duration
	Note  string `json:",omitempty"`
}

// RequestTally counts requests answered by one API server since its last tally, listed ones included.
type RequestTally struct {
	Server  string
	Total   int
	ByCode  map[int]int
	Watches int // open now
}

// ---- reconcilers and queues

// QueueChanged: the state of a work queue. Coalesced: at most five a second (simulated) and queue.
type QueueChanged struct {
	Queue   string // "deployment", "scheduler", …
	Waiting int
	InWork  int
	Delayed int
	// NextDue is when the first delayed item becomes ready; zero: none.
	NextDue time.Time `json:",omitzero"`
	// Parts splits Waiting and Delayed for queues that have named parts (scheduler: active, backoff, unschedulable).
	Parts map[string]int `json:",omitempty"`
}

// Reconciled: a controller worked on a key and wrote something, failed, or was asked for in full detail. Idle passes are not listed. It is emitted before the first
// write of the pass, so that it can be the write's cause.
type Reconciled struct {
	Controller string
	Key        string
	Waited     time.Duration // in the queue
	Retries    int           `json:",omitempty"`
	// Decision is one line: what the plan is and why.
	Decision string `json:",omitempty"`
	Error    string `json:",omitempty"`
}

// Leading: a candidate won or lost the lease of a component. On losing, Message says why ("failed to renew for 10s", "released").
type Leading struct {
	Lease    string // kube-scheduler, kube-controller-manager
	Host     string
	Identity string
	Leading  bool
	Message  string `json:",omitempty"`
}

// ---- scheduler

// SchedulingAttempt: one pod was tried.
type SchedulingAttempt struct {
	Pod     kinds.ObjectRef
	Attempt int
	// Node chosen; empty when none fits.
	Node string `json:",omitempty"`
	// Nodes that exist, and how many passed all filters.
	Nodes, Feasible int
	// Message is the FailedScheduling sentence when Node is empty.
	Message string `json:",omitempty"`
	// Verdicts per node, at most 100.
	Verdicts []NodeVerdict `json:",omitempty"`
}

// NodeVerdict is what the plugins said of one node.
type NodeVerdict struct {
	Node string
	// Plugin that refused, and why; empty when the node passed.
	Plugin  string   `json:",omitempty"`
	Reasons []string `json:",omitempty"`
	// Scores by plugin, weighted; Total is their sum.
	Scores map[string]int64 `json:",omitempty"`
	Total  int64            `json:",omitempty"`
}

// PodQueued: a pod moved between the scheduler's queues. Queue: active, backoff, unschedulable; empty: left.
type PodQueued struct {
	Pod   kinds.ObjectRef
	Queue string `json:",omitempty"`
	Why   string
	Until time.Time `json:",omitzero"` // end of the back-off
}

// ---- node lifecycle

// NodeJudged: the node lifecycle controller changed its view of a node. Cause is what silenced the node where the model knows it.
type NodeJudged struct {
	Node      string
	Ready     string // True, False, Unknown
	SilentFor time.Duration
	Zone      string // Normal, PartialDisruption, FullDisruption
}

// EvictionPlanned: the taint eviction controller will delete a pod at Due unless the taint goes. EvictionCancelled takes it back.
type EvictionPlanned struct {
	Pod  kinds.ObjectRef
	Node string
	Due  time.Time
}
type EvictionCancelled struct {
	Pod  kinds.ObjectRef
	Node string
}

// ---- the truth on a machine

// ContainerChanged: a container on a machine changed its state; emitted by the runtime, so it is what really runs, whatever the API believes.
type ContainerChanged struct {
	Node      string
	Pod       kinds.ObjectRef
	Container string
	State     ContainerState
	Image     string `json:",omitempty"`
	ExitCode  int    `json:",omitempty"`
	Restarts  int    `json:",omitempty"`
	Reason    string `json:",omitempty"`
	// Until is when a waiting state ends by plan (back-off).
	Until time.Time `json:",omitzero"`
}

// ContainerState of the runtime.
type ContainerState string

const (
	ContainerPulling  ContainerState = "pulling"
	ContainerCreated  ContainerState = "created"
	ContainerRunning  ContainerState = "running"
	ContainerStopping ContainerState = "stopping"
	ContainerExited   ContainerState = "exited"
	ContainerBackoff  ContainerState = "backoff"
	ContainerGone     ContainerState = "gone" // sandbox removed
)

// ---- the program itself

// Crashed: a component panicked; its process ended, the cluster goes on.
type Crashed struct {
	Who   string
	Value string
	Stack string `json:"-"`
}

func (ClusterStarted) Name() string    { return "ClusterStarted" }
func (CommandGiven) Name() string      { return "CommandGiven" }
func (CommandRefused) Name() string    { return "CommandRefused" }
func (CommandDone) Name() string       { return "CommandDone" }
func (RateChanged) Name() string       { return "RateChanged" }
func (MachineUp) Name() string         { return "MachineUp" }
func (MachineDown) Name() string       { return "MachineDown" }
func (ProcessStarted) Name() string    { return "ProcessStarted" }
func (ProcessStopped) Name() string    { return "ProcessStopped" }
func (FaultAdded) Name() string        { return "FaultAdded" }
func (FaultRemoved) Name() string      { return "FaultRemoved" }
func (BackendChanged) Name() string    { return "BackendChanged" }
func (RaftRole) Name() string          { return "RaftRole" }
func (RaftProgress) Name() string      { return "RaftProgress" }
func (RaftMessage) Name() string       { return "RaftMessage" }
func (ObjectChanged) Name() string     { return "ObjectChanged" }
func (LeaseRenewed) Name() string      { return "LeaseRenewed" }
func (RequestReceived) Name() string   { return "RequestReceived" }
func (RequestDone) Name() string       { return "RequestDone" }
func (RequestTally) Name() string      { return "RequestTally" }
func (QueueChanged) Name() string      { return "QueueChanged" }
func (Reconciled) Name() string        { return "Reconciled" }
func (Leading) Name() string           { return "Leading" }
func (SchedulingAttempt) Name() string { return "SchedulingAttempt" }
func (PodQueued) Name() string         { return "PodQueued" }
func (NodeJudged) Name() string        { return "NodeJudged" }
func (EvictionPlanned) Name() string   { return "EvictionPlanned" }
func (EvictionCancelled) Name() string { return "EvictionCancelled" }
func (ContainerChanged) Name() string  { return "ContainerChanged" }
func (Crashed) Name() string           { return "Crashed" }
