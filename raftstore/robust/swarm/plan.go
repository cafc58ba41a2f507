// Package swarm runs a cluster of members in one process under load while things go wrong, each seed with a mix of its own: which faults, how often, how many members, clients and keys,
// how soon snapshots. A run has three phases: everything may fail; then a majority is healed and must be at work in bounded time; then all are healed and must be equal in bounded time.
// What clients saw is a history, which package check judges afterwards.
//
// A seed fixes what is drawn from it, not the schedule of goroutines: a run that failed may pass the next time. Its history is the evidence.
//
// Owns: the plan of a run, its network, its load, its faults. Imports of ours: raftstore, raftstore/failure, raftstore/mvcc, raftstore/robust/history.
// Goroutines: Run uses many and leaves none; run it in a testing/synctest bubble, with everything made inside. Time: whatever time.Now is there; one virtual second per second.
package swarm

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"time"
)

// Fault is something the swarm does to the cluster for a while.
type Fault string

const (
	KillOne    Fault = "kill one"
	KillLeader Fault = "kill leader"
	KillAll    Fault = "kill all"
	Isolate    Fault = "isolate"
	Silence    Fault = "pause leader" // nothing in or out, and it does not know
	Split      Fault = "split"
	OneWay     Fault = "one way"
	CutLink    Fault = "cut a link"
	Loss       Fault = "loss"
	Delay      Fault = "delay"
	Duplicate  Fault = "duplicate"
	Reorder    Fault = "reorder"
	Clog       Fault = "clog"
	DiskSlow   Fault = "disk slow"
	DiskFull   Fault = "disk full"
	DiskFlaky  Fault = "disk flaky"
	DiskLocked Fault = "disk readonly"
	DiskDamage Fault = "disk damage"
	TrapKill   Fault = "trap kill"
	TrapFail   Fault = "trap fail"
	TrapStall  Fault = "trap stall"
	Wipe       Fault = "wipe"
	Replace    Fault = "replace a member"
	Grow       Fault = "grow"
	Shrink     Fault = "shrink"
	Quota      Fault = "quota"
	// ChangePlaces: the members that were cut off come back at the moment when those that went on without them go, all but one.
	ChangePlaces Fault = "change places"
)

// Faults lists all of them.
func Faults() []Fault {
	return []Fault{KillOne, KillLeader, KillAll, Isolate, Silence, Split, OneWay, CutLink, Loss, Delay, Duplicate, Reorder, Clog, DiskSlow, DiskFull, DiskFlaky, DiskLocked, DiskDamage,
		TrapKill, TrapFail, TrapStall, Wipe, Replace, Grow, Shrink, Quota, ChangePlaces}
}

// Plan is what a seed draws.
type Plan struct {
	Seed    uint64
	Members int
	Clients int
	// Groups of keys, and keys in each.
	Groups, Keys int
	// Watchers that go on all the time.
	Watchers int
	// ThinkMax is the longest pause of a client between two calls, Patience how long it waits for an answer.
	ThinkMax, Patience time.Duration
	SnapshotThreshold  uint64
	TrailingLogs       uint64
	SnapshotInterval   time.Duration
	CommitTimeout      time.Duration
	// AppendMax and FragmentMax are those of raftstore.Options.
	AppendMax, FragmentMax int
	// Rate is the pace, which decides raft's timeouts.
	Rate float64
	// Compactions, Leases and Retries are how likely a call is one, or is made again with the same request id when its outcome is unknown.
	Compactions, Leases, Retries float64
	// Weights of the faults; those not named do not happen. FaultMax is the longest one, CalmMax the longest time between two.
	Weights           map[Fault]int
	FaultMax, CalmMax time.Duration
	// Storm is how long things go wrong.
	Storm time.Duration
	// Backup: at the end the cluster is restored from a backup made on the way.
	Backup bool
}

// Draw makes the plan of a seed. Only the faults given may be in it.
func Draw(seed uint64, faults []Fault) Plan {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	between := func(a, b int) int { return a + r.IntN(b-a+1) }
	p := Plan{
		Seed: seed, Members: between(3, 5), Clients: between(3, 8), Groups: between(1, 4), Keys: between(2, 8), Watchers: between(2, 5),
		ThinkMax: time.Duration(between(20, 160)) * time.Millisecond, Patience: time.Duration(between(500, 3000)) * time.Millisecond,
		SnapshotThreshold: uint64(between(10, 100)), TrailingLogs: uint64(between(1, 30)),
		SnapshotInterval: time.Duration(between(20, 300)) * time.Millisecond, CommitTimeout: time.Duration(between(1, 20)) * time.Millisecond,
		Rate: float64(between(1, 6)), Compactions: float64(between(0, 4)) / 200, Leases: float64(between(0, 3)) / 20, Retries: float64(between(0, 2)) / 2,
		FaultMax: time.Duration(between(300, 3000)) * time.Millisecond, CalmMax: time.Duration(between(100, 1200)) * time.Millisecond,
		Storm: time.Duration(between(15, 25)) * time.Second, Weights: make(map[Fault]int), Backup: r.IntN(4) == 0,
	}
	if p.Members == 4 && r.IntN(2) == 0 {
		p.Members = 3 // even counts are rarer
	}
	// About half of the faults, and always something that costs leaders, or the run would not count.
	for _, f := range faults {
		if r.IntN(2) == 0 {
			p.Weights[f] = between(1, 5)
		}
	}
	p.Weights[KillLeader] += 3
	if p.FragmentMax = between(1, 150); r.IntN(2) == 0 {
		p.AppendMax = between(1, 16)
	}
	return p
}

// String tells the plan in one line.
func (p Plan) String() string {
	var faults []string
	for f, w := range p.Weights {
		faults = append(faults, fmt.Sprintf("%s×%d", f, w))
	}
	sort.Strings(faults)
	return fmt.Sprintf("seed %d: %d members, %d clients, %d×%d keys, think %v, snapshot each %d keep %d, %d entries a message, fragments of %d bytes, pace %g, faults up to %v, calm up to %v: %s",
		p.Seed, p.Members, p.Clients, p.Groups, p.Keys, p.ThinkMax, p.SnapshotThreshold, p.TrailingLogs, p.AppendMax, p.FragmentMax, p.Rate, p.FaultMax, p.CalmMax, strings.Join(faults, ", "))
}
