package event

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What can be waited for beside the name of a fact and the reason of an Event object.
const (
	Anomaly = "anomaly" // the next fact that Alarms
	Quiet   = "quiet"   // nothing has stirred for QuietFor
)

// QuietFor is how long nothing may stir for the cluster to count as quiet, in simulated time.
const QuietFor = 5 * time.Second

// Await is a wait for something: a name of a fact, the reason of an Event object, Anomaly or Quiet. Case does not matter.
type Await struct {
	what    string
	stirred time.Time
}

// NewAwait begins to wait at an instant.
func NewAwait(what string, now time.Time) *Await { return &Await{what, now} }

// Heard takes in the next record and reports whether it is what was waited for.
func (a *Await) Heard(r Record) bool {
	if Stirs(r.Event) {
		a.stirred = r.At
	}
	if strings.EqualFold(a.what, Anomaly) {
		return Alarms(r.Event)
	}
	if strings.EqualFold(r.Event.Name(), a.what) {
		return true
	}
	if c, ok := r.Event.(ObjectChanged); ok && c.Type != Deleted {
		e, ok := c.Object.(*corev1.Event)
		return ok && strings.EqualFold(e.Reason, a.what)
	}
	return false
}

// Calm reports whether quiet was waited for and has come.
func (a *Await) Calm(now time.Time) bool {
	return strings.EqualFold(a.what, Quiet) && now.Sub(a.stirred) >= QuietFor
}

// Stirs reports whether a fact means that something is going on beyond heartbeats, samples, counts and the giving of orders. A step goes on to the next that does.
func Stirs(e Event) bool {
	switch e.(type) {
	case CommandGiven, CommandDone, LeaseRenewed, RaftProgress, RequestTally, WatchOpened, WatchClosed, WatchBehind, ClientConnected, ClientGone, QueueChanged, RateChanged, RequestDone, RequestReceived, StoreCompacted, StoreLease:
		return false
	}
	return quietly(e)
}

// quietly is false for facts of the raft group's daily traffic.
func quietly(e Event) bool {
	switch e := e.(type) {
	case RaftMessage:
		return e.Kind != "append" && e.Kind != "heartbeat"
	case RaftAppended, RaftSnapshot, RaftTiming:
		return false
	}
	return true
}

// Alarms reports whether a fact tells of something that is not as it should be: a machine or program that ended by itself, a leader that was lost, a node that is not heard, an
// eviction that is planned, a pod that fits nowhere, a container that fails. Faults that the user makes are orders, not alarms.
func Alarms(e Event) bool {
	switch e := e.(type) {
	case ProcessStopped:
		return e.Reason == "exited" || e.Reason == "crashed"
	case BackendChanged:
		return !e.Healthy
	case RaftRole:
		return e.Role == "candidate" || e.Err != ""
	case StoreAlarm:
		return e.Raised
	case StoreDiverged:
		return true
	case Leading:
		return !e.Leading && e.Message != "released"
	case NodeJudged:
		return e.Ready != "True"
	case EvictionPlanned, Crashed:
		return true
	case SchedulingAttempt:
		return e.Node == "" && e.Message != ""
	case ContainerChanged:
		return e.State == ContainerBackoff || e.State == ContainerExited && e.ExitCode != 0
	}
	return false
}
