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

// MachineUp and MachineDown: power. Reason for down: "killed", "stopped". Joined: it is a master that was not there at the start of the cluster.
type MachineUp struct {
	Host   string
	Joined bool `json:",omitempty"`
}
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
func (ObjectChanged) Name() string     { return "ObjectChanged" }
func (LeaseRenewed) Name() string      { return "LeaseRenewed" }
func (NodeJudged) Name() string        { return "NodeJudged" }
func (EvictionPlanned) Name() string   { return "EvictionPlanned" }
func (EvictionCancelled) Name() string { return "EvictionCancelled" }
func (ContainerChanged) Name() string  { return "ContainerChanged" }
func (Crashed) Name() string           { return "Crashed" }
