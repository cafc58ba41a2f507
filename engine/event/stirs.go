package event

// Stirs reports whether a fact means that something is going on beyond heartbeats, samples, counts and the giving of orders. A step goes on to the next that does.
func Stirs(e Event) bool {
	switch e.(type) {
	case CommandGiven, CommandDone, LeaseRenewed, RaftProgress, RequestTally, WatchOpened, WatchClosed, QueueChanged, RateChanged, RequestDone, RequestReceived:
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
