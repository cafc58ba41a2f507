// Package event is the vocabulary of facts: every fact the journal can hold is one struct here.
//
// One fact has one emitter. The store says what was committed; a component says what it decided and why; simnet and the assembly
// say what a fault did. Objects inside facts are shared and immutable: the emitter copies once when emitting, nobody after.
//
// Imports of ours: engine/fault, engine/kinds. Goroutines: facts are values, safe anywhere. Time: simulated, except Record.Wall.
package event

import (
	"strings"
	"time"
)

// Seq numbers a record in its journal, from 1. Zero means "none", as a Cause: nothing recorded led here.
type Seq uint64

// Actor is who did or decided something: "component/host" ("kubelet/worker-1", "scheduler/master-2"), "you" for the user, or "engine".
type Actor string

// The actors that live on no machine.
const (
	You    Actor = "you"
	Engine Actor = "engine"
)

// On names a component on a host as an actor.
func On(component, host string) Actor { return Actor(component + "/" + host) }

// Component is the part of the actor before the slash.
func (a Actor) Component() string { c, _, _ := strings.Cut(string(a), "/"); return c }

// Host is the part of the actor after the slash; empty for You and Engine.
func (a Actor) Host() string { _, h, _ := strings.Cut(string(a), "/"); return h }

// Record is one fact with its place in time and its cause.
type Record struct {
	Seq Seq
	// At is simulated time.
	At time.Time
	// Wall is real time; zero in runs that must repeat byte for byte.
	Wall  time.Time
	Actor Actor
	// Cause is the record that led to this one; following causes ends at a command of the user or at the start of the cluster.
	Cause Seq
	Event Event
}

// Event is a fact. Name is its type's name in files and filters, stable for ever ("ObjectChanged").
type Event interface{ Name() string }

// Sink takes facts. The journal is the only real one.
type Sink interface {
	// Emit appends a fact and returns its number. Loop goroutine only.
	Emit(actor Actor, cause Seq, e Event) Seq
}
