// Package fault is the catalogue of what can be broken, as data, and the set of what is broken now. Hook points (simnet, the assembly's machines)
// consult the set; nothing else in the program asks "is this broken".
//
// Imports nothing of ours. Goroutines: a Set has one owner, the loop. Time: none.
package fault

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind of a fault on links.
type Kind string

const (
	// Cut: packets vanish (a black hole, not a refusal).
	Cut Kind = "cut"
	// Delay: packets take Duration longer.
	Delay Kind = "delay"
	// Loss: each packet vanishes with probability Percent/100; a stream retransmits instead, which delays it.
	Loss Kind = "loss"
	// Duplicate: a message of the store arrives twice with probability Percent/100. Reorder: it comes late with that probability, so that newer ones overtake it. Clog: of
	// a snapshot only the first piece gets through. What travels over TCP (the API) does not see these three.
	Duplicate Kind = "duplicate"
	Reorder   Kind = "reorder"
	Clog      Kind = "clog"
)

// OfMessages reports that the kind touches single messages of the store, and nothing else.
func (k Kind) OfMessages() bool { return k == Duplicate || k == Reorder || k == Clog }

// All as a selector means every other host.
const All = "all"

// Fault is one broken link, or a set of them.
type Fault struct {
	Kind Kind
	// A and B select ends: a host ("worker-1"), a process on one ("master-1/etcd") or All.
	A, B string
	// OneWay breaks only packets from A to B.
	OneWay bool `json:",omitempty"`
	// Duration is the extra delay of Delay, simulated.
	Duration time.Duration `json:",omitempty"`
	// Percent is the share of packets that Loss, Duplicate and Reorder touch, 0-100.
	Percent float64 `json:",omitempty"`
	// Group is shared by the faults of one partition command, so that they heal together.
	Group uint64 `json:",omitempty"`
}

func (f Fault) String() string {
	s := string(f.Kind) + " " + f.A + " " + f.B
	switch f.Kind {
	case Delay:
		s += " " + f.Duration.String()
	case Loss, Duplicate, Reorder:
		s += fmt.Sprintf(" %g%%", f.Percent)
	}
	if f.OneWay {
		s += " oneway"
	}
	return s
}

// Matches reports whether a packet between the processes "host/process" from and to is touched. Traffic inside one host is never touched, unless
// both ends are named as processes.
func (f Fault) Matches(from, to string) bool {
	if f.matches(f.A, f.B, from, to) {
		return true
	}
	return !f.OneWay && f.matches(f.B, f.A, from, to)
}

func (f Fault) matches(a, b, from, to string) bool {
	if host(from) == host(to) && !(strings.Contains(a, "/") && strings.Contains(b, "/")) {
		return false
	}
	return selects(a, from) && selects(b, to)
}

// Touches reports whether the selector (a host, a process or All) is one of the fault's ends.
func (f Fault) Touches(selector string) bool {
	return f.A == selector || f.B == selector || host(f.A) == selector || host(f.B) == selector
}

func selects(selector, end string) bool {
	return selector == All || selector == end || selector == host(end)
}

func host(end string) string { h, _, _ := strings.Cut(end, "/"); return h }

// Active is a fault in force.
type Active struct {
	// ID is the number of the journal's record that announced it.
	ID    uint64
	Fault Fault
}

// Set is what is broken now. The zero value is an empty set.
type Set struct{ active []Active }

// Add puts a fault in force.
func (s *Set) Add(id uint64, f Fault) { s.active = append(s.active, Active{ID: id, Fault: f}) }

// Remove takes out the faults that drop says yes to and returns them.
func (s *Set) Remove(drop func(Active) bool) []Active {
	var gone []Active
	s.active = slices.DeleteFunc(slices.Clone(s.active), func(a Active) bool {
		if drop(a) {
			gone = append(gone, a)
			return true
		}
		return false
	})
	return gone
}

// Active lists what is in force, oldest first. The slice is shared; it is replaced, never written to.
func (s *Set) Active() []Active { return s.active }

// Effect is what the active faults do together to packets from one end to another.
type Effect struct {
	Cut     bool
	Delay   time.Duration
	Percent float64 // chance of loss, 0-100
	// ID is the fault to name as the cause: the first that cuts, otherwise the first that has an effect; 0: none.
	ID uint64
	// Messages is what is done to messages of the store besides.
	Messages Messages
}

// Messages is what the faults do that touch single messages of the store: chances of a second copy and of coming late, 0-100, and whether the rest of a snapshot is lost.
type Messages struct {
	Duplicate, Reorder float64
	Clog               bool
	// The faults to name as causes; 0: none.
	DuplicateID, ReorderID, ClogID uint64
}

// Between computes the effect on packets from one process to another.
func Between(active []Active, from, to string) Effect {
	var e Effect
	m := &e.Messages
	for _, a := range active {
		if !a.Fault.Matches(from, to) {
			continue
		}
		if e.ID == 0 && !a.Fault.Kind.OfMessages() {
			e.ID = a.ID
		}
		switch a.Fault.Kind {
		case Cut:
			if !e.Cut {
				e.Cut, e.ID = true, a.ID
			}
		case Delay:
			e.Delay += a.Fault.Duration
		case Loss:
			e.Percent = either(e.Percent, a.Fault.Percent)
		case Duplicate:
			m.Duplicate, m.DuplicateID = either(m.Duplicate, a.Fault.Percent), cmp.Or(m.DuplicateID, a.ID)
		case Reorder:
			m.Reorder, m.ReorderID = either(m.Reorder, a.Fault.Percent), cmp.Or(m.ReorderID, a.ID)
		case Clog:
			m.Clog, m.ClogID = true, cmp.Or(m.ClogID, a.ID)
		}
	}
	return e
}

// either is the chance that at least one of two independent things happens, in percent.
func either(a, b float64) float64 { return 100 - (100-a)*(100-b)/100 }
