package engine

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
)

// matches reports whether a record is what "until WHAT" waits for: a fact of that name, or an Event object with that reason. Case does not matter.
func matches(r event.Record, what string) bool {
	if strings.EqualFold(r.Event.Name(), what) {
		return true
	}
	if c, ok := r.Event.(event.ObjectChanged); ok && c.Type != event.Deleted {
		if ev, ok := c.Object.(*corev1.Event); ok {
			return strings.EqualFold(ev.Reason, what)
		}
	}
	return false
}

// stirs reports whether a record means that something is going on beyond heartbeats, samples and counts.
func stirs(r event.Record) bool {
	switch r.Event.(type) {
	case event.CommandGiven, event.CommandDone, event.LeaseRenewed, event.RaftProgress, event.RequestTally, event.QueueChanged, event.RateChanged, event.RequestDone, event.RequestReceived:
		return false
	}
	return true
}
