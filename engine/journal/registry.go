package journal

import (
	"encoding/json"
	"maps"
	"slices"

	"example.com/kubeviz/engine/event"
)

// decode reads one fact out of its JSON form.
type decode func(json.RawMessage) (event.Event, error)

// registry holds every kind of fact by the name it has in files. A fact that is not in here is read as event.Unknown.
var registry = table(
	fact[event.ClusterStarted](), fact[event.CommandGiven](), fact[event.CommandRefused](), fact[event.CommandDone](), fact[event.RateChanged](),
	fact[event.MachineUp](), fact[event.MachineDown](), fact[event.ProcessStarted](), fact[event.ProcessStopped](),
	fact[event.FaultAdded](), fact[event.FaultRemoved](), fact[event.BackendChanged](),
	fact[event.RaftRole](), fact[event.RaftProgress](), fact[event.RaftMessage](), fact[event.RaftTiming](), fact[event.RaftContact](), fact[event.RaftAppended](), fact[event.RaftTruncated](), fact[event.RaftSnapshot](),
	fact[event.MembersChanged](), fact[event.StoreCompacted](), fact[event.StoreDefragmented](), fact[event.StoreAlarm](), fact[event.StoreLease](), fact[event.StoreQuota](),
	fact[event.StoreBackedUp](), fact[event.StoreRestored](), fact[event.DiskChanged](), fact[event.DiskSetAside](), fact[event.TrapSet](), fact[event.TrapSprung](), fact[event.StoreDiverged](),
	objectFact(), fact[event.LeaseRenewed](),
	fact[event.RequestReceived](), fact[event.RequestDone](), fact[event.RequestTally](), fact[event.WatchOpened](), fact[event.WatchClosed](), fact[event.WatchBehind](), fact[event.ClientConnected](), fact[event.ClientGone](),
	fact[event.QueueChanged](), fact[event.Reconciled](), fact[event.Leading](), fact[event.SchedulingAttempt](), fact[event.PodQueued](),
	fact[event.NodeJudged](), fact[event.EvictionPlanned](), fact[event.EvictionCancelled](), fact[event.ContainerChanged](), fact[event.Crashed](),
)

// FactNames lists the names of all facts, sorted.
func FactNames() []string { return slices.Sorted(maps.Keys(registry)) }

type row struct {
	zero   event.Event
	decode decode
}

// fact is the row of a fact whose JSON form is that of its struct.
func fact[E event.Event]() row {
	var zero E
	return row{zero: zero, decode: func(raw json.RawMessage) (event.Event, error) {
		var e E
		err := json.Unmarshal(raw, &e)
		return e, err
	}}
}

func objectFact() row { return row{zero: event.ObjectChanged{}, decode: decodeObjectChanged} }

func table(rows ...row) map[string]row {
	m := make(map[string]row, len(rows))
	for _, r := range rows {
		m[r.zero.Name()] = r
	}
	return m
}
