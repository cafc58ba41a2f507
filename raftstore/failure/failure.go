// Package failure is the catalogue of what can go wrong with a member of the store, as data: the state of its disk, and traps on named points of its
// work. Tests, swarms, scenarios and the console name them with the same words.
//
// Owns: the names and what they mean. The hook points are in raftstore and raftstore/internal/peer. Links are the network's business (raftstore.Network).
// Imports of ours: none. Goroutines: a Traps is safe from any. Time: wall, for delays.
package failure

import (
	"errors"
	"time"
)

// What a disk answers, in the words of the operating system.
var (
	ErrNoSpace  = errors.New("no space left on device")
	ErrIO       = errors.New("input/output error")
	ErrReadOnly = errors.New("read-only file system")
)

// Disk is the state of a member's disk.
type Disk string

const (
	// Sound: as it should be.
	Sound Disk = "ok"
	// Full: the next write fails with "no space left on device", and so does a start, until it is Sound again.
	Full Disk = "full"
	// Slow: each durable step takes Delay longer.
	Slow Disk = "slow"
	// Flaky: the next write fails with an I/O error, later ones do not; the disk is Sound again after it.
	Flaky Disk = "flaky"
	// ReadOnly: writes fail, and so does a start.
	ReadOnly Disk = "readonly"
	// Torn, Zeroed, Flipped, Cut and Deleted damage what is on the disk of a member that is down (a member that runs is stopped first): a write that nobody was told of
	// reached it only in part, one page is zeros, one bit is another, the log file is cut in the middle of a page, or it is gone. A member comes back from Torn by itself; the
	// others are found when it starts, where anything was lost by them.
	Torn    Disk = "torn"
	Zeroed  Disk = "zeroed"
	Flipped Disk = "flipped"
	Cut     Disk = "cut"
	Deleted Disk = "deleted"
	// Damaged is what a check found that nobody ordered: what is on the disk is not what was written. It cannot be set.
	Damaged Disk = "damaged"
)

// Disks lists all states that can be set, in the order of help.
func Disks() []Disk {
	return []Disk{Sound, Full, Slow, Flaky, ReadOnly, Torn, Zeroed, Flipped, Cut, Deleted}
}

// Damages reports that the state is damage to what was written, done once, and not a behaviour that lasts.
func (d Disk) Damages() bool {
	switch d {
	case Torn, Zeroed, Flipped, Cut, Deleted:
		return true
	}
	return false
}

// Action is what a trap does to the member that steps on it.
type Action string

const (
	// Kill ends the member as a power loss at that very instant: nothing after the point happens.
	Kill Action = "kill"
	// Fail makes the step fail with an I/O error, where it can; elsewhere it is Kill.
	Fail Action = "fail"
	// Stall makes the step take Delay longer, wall.
	Stall Action = "stall"
)

// Actions lists them in the order of help.
func Actions() []Action { return []Action{Kill, Fail, Stall} }

// Trap waits at a point for a member to step on it.
type Trap struct {
	Member string
	Point  Point
	Action Action
	// Delay of Stall, wall.
	Delay time.Duration
	// Skip lets that many passes go by first. A trap springs once.
	Skip int
}
