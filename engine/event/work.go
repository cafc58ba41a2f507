package event

import (
	"strings"
	"time"

	"example.com/kubeviz/engine/kinds"
)

// ---- API requests

// RequestReceived: an API server took in a request. Reads and lease renewals of components are not listed, only counted (RequestTally); what clients from outside read and watch is.
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

// StageFlow is the stage in which a request waits for a seat (API Priority and Fairness).
const StageFlow = "priority and fairness"

// Stage of the request pipeline: authentication, StageFlow, authorization, mutating admission, validation, validating admission, store.
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

// WatchOpened: a client follows a kind on an API server. Once a watch, never for what it carries.
type WatchOpened struct {
	Server string // host of the API server
	// Watch numbers it on that server since its program started.
	Watch     uint64
	Resource  string
	Namespace string `json:",omitempty"` // empty: all
	// Selector as in a URL: "fieldSelector=spec.nodeName=worker-1".
	Selector string `json:",omitempty"`
	User     string
	// Client is the process that watches: "kubelet/worker-1"; for the user's tools "you".
	Client Actor
	// Revision after which it began; 0: with the objects there were.
	Revision int64 `json:",omitempty"`
}

// WatchClosed: it ended. Reason: "its time was up", "the client was too slow", "the client closed it", "connection reset", "connection timed out". A server that dies says
// nothing: its ProcessStopped ends all its watches.
type WatchClosed struct {
	Server   string
	Watch    uint64
	Resource string
	Client   Actor
	Reason   string
}

// WatchBehind: the client of a watch is behind with reading. Told of clients from outside, once a second (simulated) while it changes; Changes 0: it has caught up.
type WatchBehind struct {
	Server   string
	Watch    uint64
	Resource string
	Client   Actor
	// Changes sent that it has not read.
	Changes int `json:",omitempty"`
	// Since is when the oldest of them reached it.
	Since time.Time `json:",omitzero"`
}

// ---- clients from outside

// ClientConnected: a program outside came in. It is a process of the model from now on, and Client of the watches it opens. Nothing in the model is its cause: as with an order, what
// follows from it begins here.
type ClientConnected struct {
	Client Actor
	// Door is where it came in: "balancer", or the host of a master.
	Door string
	// UserAgent as sent; Command is what kubectl says it runs ("kubectl get").
	UserAgent string `json:",omitempty"`
	Command   string `json:",omitempty"`
	// User as its certificate says; empty: it showed none.
	User string `json:",omitempty"`
}

// Program is what it is one of: the program and its user, which many clients may share ("kubectl kubernetes-admin").
func (e ClientConnected) Program() string { return ProgramName(e.Client) + " " + e.User }

// Outside is the machine on which all clients from outside run.
const Outside = "outside"

// ProgramName is the program of a client: its name without the number that tells it from others.
func ProgramName(client Actor) string {
	name := client.Component()
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		return name[:i]
	}
	return name
}

// ClientGone: it hung up, and all that was open for it ended. Cause is its ClientConnected.
type ClientGone struct{ Client Actor }

// ---- reconcilers and queues

// QueueChanged: the state of a work queue. Coalesced: at most five a second (simulated) and queue; one a second where nothing but sums moved.
type QueueChanged struct {
	Queue   string // "deployment", "scheduler", …
	Waiting int
	InWork  int
	Delayed int
	// NextDue is when the first delayed item becomes ready; zero: none.
	NextDue time.Time `json:",omitzero"`
	// Parts splits Waiting and Delayed for queues that have named parts (scheduler: active, backoff, unschedulable).
	Parts map[string]int `json:",omitempty"`
	// Oldest is since when the item that waits longest has waited; zero: none waits.
	Oldest time.Time `json:",omitzero"`
	// Added, Done and Retried count since the program started: items that became ready, that were worked on, that were put back after an error.
	Added   int64 `json:",omitempty"`
	Done    int64 `json:",omitempty"`
	Retried int64 `json:",omitempty"`
	// Failing counts keys whose last try failed.
	Failing int `json:",omitempty"`
	// Peak is the most that waited at once, and Waited the longest that an item which was taken had waited, since the record before.
	Peak   int           `json:",omitempty"`
	Waited time.Duration `json:",omitempty"`
	// Items worth showing, at most QueueItemsMax of each state: those that waited longest, those in work, those due first.
	Items []QueueItem `json:",omitempty"`
	// Kept: Items are left out; those of the record before hold.
	Kept bool `json:",omitempty"`
}

// QueueItemsMax bounds the items of one state in a QueueChanged.
const QueueItemsMax = 8

// QueueItem is one thing that waits in a queue.
type QueueItem struct {
	// Key of what it is about: "namespace/name" or "name" of the queue's kind.
	Key   string
	State ItemState
	// Since is when it came into this state; Due when it leaves it by plan, zero: by no plan.
	Since time.Time
	Due   time.Time `json:",omitzero"`
	// Why it is in this state, and what would move it before Due; empty where Cause says all.
	Why   string `json:",omitempty"`
	Moves string `json:",omitempty"`
	// By is who waits for it, where that is another program.
	By Actor `json:",omitempty"`
	// Retries counts failures in a row; for the scheduler, attempts.
	Retries int `json:",omitempty"`
	// Cause is the record that put it there.
	Cause Seq `json:",omitempty"`
}

// ItemState is where in its queue an item is.
type ItemState string

// The states. The scheduler's queue has parts of its own in place of waiting and delayed.
const (
	ItemWaiting       ItemState = "waiting"
	ItemInWork        ItemState = "work"
	ItemDelayed       ItemState = "delayed"
	ItemActive        ItemState = "active"
	ItemBackoff       ItemState = "backoff"
	ItemUnschedulable ItemState = "unschedulable"
)

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
	// Verdicts per node, at most 100; the chosen node is always among them.
	Verdicts []NodeVerdict `json:",omitempty"`
	// Weights by score plugin, where nodes were scored.
	Weights map[string]int64 `json:",omitempty"`
}

// NodeVerdict is what the plugins said of one node.
type NodeVerdict struct {
	Node string
	// Plugin that refused, and why; empty when the node passed.
	Plugin  string   `json:",omitempty"`
	Reasons []string `json:",omitempty"`
	// Raw scores by plugin, normalised to 0 … 100; Scores are the same times the plugin's weight; Total is the sum of Scores.
	Raw    map[string]int64 `json:",omitempty"`
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

func (RequestReceived) Name() string   { return "RequestReceived" }
func (RequestDone) Name() string       { return "RequestDone" }
func (RequestTally) Name() string      { return "RequestTally" }
func (WatchOpened) Name() string       { return "WatchOpened" }
func (WatchClosed) Name() string       { return "WatchClosed" }
func (WatchBehind) Name() string       { return "WatchBehind" }
func (ClientConnected) Name() string   { return "ClientConnected" }
func (ClientGone) Name() string        { return "ClientGone" }
func (QueueChanged) Name() string      { return "QueueChanged" }
func (Reconciled) Name() string        { return "Reconciled" }
func (Leading) Name() string           { return "Leading" }
func (SchedulingAttempt) Name() string { return "SchedulingAttempt" }
func (PodQueued) Name() string         { return "PodQueued" }
