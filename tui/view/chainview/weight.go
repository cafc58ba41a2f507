package chainview

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

// Weights of facts: how much a reader of the chain wants to see one. A branch weighs what the heaviest fact in it does.
const (
	trivial = 0 // Events, and what only tells that something was told
	lesser  = 2 // reports of a status
	step    = 4 // decisions, requests that change something
	turn    = 6 // a turn of the story
	outcome = 9 // what it was all about
)

func weight(h *hop) int {
	switch e := h.rec.Event.(type) {
	case event.RequestReceived:
		return requestWeight(h, e)
	case event.ObjectChanged:
		return objectWeight(e)
	case event.Reconciled:
		if strings.HasPrefix(e.Decision, "report ") || e.Error != "" {
			return lesser
		}
		return step
	case event.ContainerChanged:
		switch e.State {
		case event.ContainerRunning:
			return outcome
		case event.ContainerBackoff:
			return outcome - 1
		case event.ContainerPulling, event.ContainerCreated:
			return turn
		}
		return turn + 1
	case event.Leading:
		if e.Leading {
			return outcome - 1
		}
		return step
	case event.RaftRole:
		switch e.Role {
		case "leader":
			return outcome - 1
		case "candidate":
			return step
		}
		return lesser
	case event.SchedulingAttempt, event.EvictionPlanned, event.EvictionCancelled, event.NodeJudged, event.FaultAdded, event.FaultRemoved, event.MachineDown, event.MachineUp,
		event.CommandGiven, event.Crashed:
		return turn
	case event.ProcessStarted, event.ProcessStopped, event.BackendChanged, event.CommandRefused:
		return step
	case event.PodQueued:
		return step - 1
	case event.ClusterStarted:
		return turn
	}
	return trivial
}

func requestWeight(h *hop, e event.RequestReceived) int {
	switch done, answered := h.done.Event.(event.RequestDone); {
	case e.Resource == "events", strings.HasPrefix(e.Resource, "leases"):
		return trivial
	case len(h.writes) == 0 && (!answered || done.Code >= 500):
		return step
	case len(h.writes) == 0:
		return trivial
	}
	if e.Subresource == "status" {
		if e.Resource == "nodes" {
			return step
		}
		return lesser
	}
	if e.Verb == "create" || e.Verb == "delete" {
		return turn - 1
	}
	return step
}

func objectWeight(e event.ObjectChanged) int {
	switch e.Object.(type) {
	case nil, *corev1.Event:
		return trivial
	}
	if e.Type == event.Modified {
		return lesser
	}
	return step
}

// shape is equal for hops that say the same of like things.
func shape(h *hop) string {
	switch e := h.rec.Event.(type) {
	case event.RequestReceived:
		return "request " + e.Verb + " " + e.Resource + "/" + e.Subresource
	case event.Reconciled:
		if e.Error != "" {
			return "error " + e.Controller
		}
		first, _, _ := strings.Cut(e.Decision, " ")
		return "pass " + e.Controller + " " + first
	case event.ObjectChanged:
		kind := ""
		if e.Object != nil {
			if k, err := kinds.Of(e.Object); err == nil {
				kind = k.Kind
			}
		}
		return "object " + string(e.Type) + " " + kind
	case event.ContainerChanged:
		return "container " + string(e.State)
	case event.RaftRole:
		return "role " + e.Role
	case event.Leading:
		return "lease " + e.Lease
	case event.ProcessStopped:
		return "stopped"
	}
	return h.rec.Event.Name()
}
