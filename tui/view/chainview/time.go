package chainview

import (
	"strings"
	"time"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/trace"
	"example.com/kubeviz/tui/view"
)

// spell is what a stretch of time went into.
type spell uint8

// The spells. Those up to lastWork are work that is done, the rest is waiting.
const (
	decided spell = iota // a component thinks: no time in the model
	transit              // a request on its way
	server               // authentication, authorization, admission, validation
	store                // the store: raft's log on a majority, or the memory store
	pulling
	creating
	starting
	stopping
	voting
	lastWork
	watching // a change on its way to who watches
	queued   // in a controller's queue
	seating  // in an API server's queue, for a seat
	unbound  // in the scheduler's queue
	backoff
	toleration // of a taint, until the pod is evicted
	silence    // of a node, until it is judged
	cutOff     // the machine could not be reached
	electing   // an election timeout
	leasing    // a lease that has to run out
	checking   // until the balancer looks
	syncing    // until the kubelet looks and tells
	running    // a program ran
	asking     // until a client asks
	probing    // a probe fails, until the kubelet has seen enough
	waiting
	spells
)

func (s spell) waits() bool { return s > lastWork }

// spellWords are the catalogue's keys.
var spellWords = [spells]string{
	decided: "chain.t-decided", transit: "chain.t-transit", server: "chain.t-server", store: "chain.t-store", pulling: "chain.t-pulling", creating: "chain.t-creating",
	starting: "chain.t-starting", stopping: "chain.t-stopping", voting: "chain.t-voting", lastWork: "chain.t-decided", watching: "chain.t-watching", queued: "chain.t-queued", seating: "chain.t-seating",
	unbound: "chain.t-unbound", backoff: "chain.t-backoff", toleration: "chain.t-toleration", silence: "chain.t-silence", cutOff: "chain.t-cut", electing: "chain.t-electing",
	leasing: "chain.t-leasing", checking: "chain.t-checking", syncing: "chain.t-syncing", running: "chain.t-running", asking: "chain.t-asking", waiting: "chain.t-waiting",
	probing: "chain.t-probing",
}

// stretch is a part of the time of a hop.
type stretch struct {
	spell spell
	took  time.Duration
}

// slow is what a request may take to arrive before it is plain that something held it up.
const slow = 100 * time.Millisecond

// before is the time between the record a hop follows from and the hop, in parts.
func before(f view.Frame, h *hop) []stretch {
	if h.parent == nil {
		return nil
	}
	gap := h.rec.At.Sub(h.from.At)
	if gap <= 0 {
		return nil
	}
	if healed, ok := unreachable(f, h); ok {
		return []stretch{{cutOff, healed.Sub(h.from.At)}, {after(h), h.rec.At.Sub(healed)}}
	}
	if e, ok := h.rec.Event.(event.Reconciled); ok {
		return reconciled(e, h.from, gap)
	}
	return []stretch{{after(h), gap}}
}

// reconciled splits the time before a pass: on the way by watch, then in the queue.
func reconciled(e event.Reconciled, from event.Record, gap time.Duration) []stretch {
	in := queued
	if e.Retries > 0 {
		in = backoff
	}
	switch from.Event.(type) {
	case event.Reconciled: // the pass before wrote or failed
		if e.Waited == 0 {
			in = waiting
		}
		return []stretch{{in, gap}}
	case event.NodeJudged:
		return []stretch{{queued, gap}}
	}
	wait := min(e.Waited, gap)
	return []stretch{{watching, gap - wait}, {in, wait}}
}

// after is what the time before a hop went into, by what it is and what it follows from.
func after(h *hop) spell {
	gap := h.rec.At.Sub(h.from.At)
	switch e := h.rec.Event.(type) {
	case event.RequestReceived:
		return asked(e, h.from, gap)
	case event.ObjectChanged, event.LeaseRenewed:
		return store
	case event.PodQueued, event.EvictionPlanned, event.EvictionCancelled:
		return watching
	case event.SchedulingAttempt:
		return unbound
	case event.NodeJudged:
		return silence
	case event.BackendChanged:
		return checking
	case event.Leading:
		return leasing
	case event.RaftRole:
		if was, ok := h.from.Event.(event.RaftRole); ok && was.Role == "candidate" {
			return voting
		}
		return electing // and in it the votes, where the candidate is not what it follows from
	case event.RaftMessage, event.RaftAppended, event.RaftSnapshot, event.RaftTruncated:
		return transit
	case event.ContainerChanged:
		return container(e, h.from, h.rec.At)
	case event.FaultAdded, event.FaultRemoved, event.MachineDown, event.MachineUp, event.CommandRefused:
		return decided
	}
	return waiting
}

// asked is why a request came only now.
func asked(e event.RequestReceived, from event.Record, gap time.Duration) spell {
	switch f := from.Event.(type) {
	case event.EvictionPlanned:
		return toleration
	case event.ContainerChanged:
		if f.State == event.ContainerPulling {
			return pulling
		}
		return syncing
	}
	switch {
	case gap < slow:
		return transit
	case strings.HasPrefix(e.User, "system:node:"):
		return syncing
	}
	return asking
}

// container is what the runtime was busy with until a container changed.
func container(e event.ContainerChanged, from event.Record, at time.Time) spell {
	was, ok := from.Event.(event.ContainerChanged)
	switch from.Event.(type) {
	case event.MachineDown, event.ProcessStopped, event.FaultAdded, event.CommandGiven: // elsewhere, or an order that breaks a probe: nothing tells the kubelet but its probes
		if at.Sub(from.At) > slow {
			return probing
		}
	}
	switch {
	case ok && was.State == event.ContainerBackoff:
		return backoff
	case ok && was.State == event.ContainerPulling:
		return pulling
	case e.State == event.ContainerRunning:
		return starting
	case ok && was.State == event.ContainerRunning:
		return running
	case e.State == event.ContainerExited || e.State == event.ContainerGone:
		return stopping
	case e.State == event.ContainerCreated || e.State == event.ContainerPulling:
		return creating
	case e.State == event.ContainerStopping:
		return watching
	}
	return syncing
}

// unreachable tells when a cut was healed that held a hop up: one that touched its machine and ended between its cause and itself.
func unreachable(f view.Frame, h *hop) (time.Time, bool) {
	host := h.rec.Actor.Host()
	if e, ok := h.rec.Event.(event.RequestReceived); ok {
		host = strings.TrimPrefix(e.User, "system:node:")
	}
	if host == "" || f.Trace == nil || h.rec.At.Sub(h.from.At) < slow {
		return time.Time{}, false
	}
	all := f.Trace.About(trace.Host(host), h.rec.Seq)
	for i := len(all) - 1; i >= 0 && i >= len(all)-64 && all[i] > h.from.Seq; i-- {
		r, ok := f.Record(all[i])
		if !ok {
			break
		}
		if _, ok := r.Event.(event.FaultRemoved); ok && r.At.After(h.from.At) {
			return r.At, true
		}
	}
	return time.Time{}, false
}

// own is the time a hop itself took up to one of its records.
func own(h *hop, upTo time.Time) []stretch {
	took := upTo.Sub(h.rec.At)
	if took <= 0 || !h.isRequest() {
		return nil
	}
	var seat, pipeline time.Duration
	if d, ok := h.done.Event.(event.RequestDone); ok {
		for _, s := range d.Stages {
			switch s.Stage {
			case "store":
			case event.StageFlow:
				seat += s.Took
			default:
				pipeline += s.Took
			}
		}
	}
	seat = min(seat, took)
	pipeline = min(pipeline, took-seat)
	var out []stretch
	for _, p := range []stretch{{seating, seat}, {server, pipeline}, {store, took - seat - pipeline}} {
		if p.took > 0 {
			out = append(out, p)
		}
	}
	return out
}

// account is where the time of a chain went.
type account struct {
	total   time.Duration
	waiting time.Duration
	by      [spells]time.Duration
}

// settle adds up the time from the root to the goal along the hops between them.
func settle(f view.Frame, t *tree, goal *hop) account {
	var a account
	add := func(parts []stretch) {
		for _, p := range parts {
			a.by[p.spell] += p.took
			a.total += p.took
			if p.spell.waits() {
				a.waiting += p.took
			}
		}
	}
	until := goal.result().At
	for h := goal; h != nil; h = h.parent {
		add(own(h, until))
		if h.parent == nil {
			break
		}
		add(before(f, h))
		until = h.from.At
	}
	return a
}
