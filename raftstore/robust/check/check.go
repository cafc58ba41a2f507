// Package check judges a history: is it one that a store as promised could have made? It looks only at what was recorded, so the same checks serve unit runs, swarms and crash sweeps,
// and a file that a failed run left behind can be judged again.
//
// Owns: the order of revisions (put together from what was announced and what watches saw), an independent model of the data, the seven guarantees of watches, the rules of outcomes,
// real time, leases, compaction, terms and the end, and the model for porcupine. The model shares no code with raftstore/mvcc, whose mistakes it is to find.
//
// Imports of ours: raftstore, raftstore/mvcc (types), raftstore/robust/history. Goroutines: none but porcupine's. Time: none; limits of porcupine are wall.
package check

import (
	"fmt"
	"time"

	"example.com/kubeviz/raftstore/robust/history"
)

// Violation is a promise that was broken.
type Violation struct {
	// Promise names it: "linearizable", "watch: reliable" …
	Promise string
	Text    string
}

func (v Violation) String() string { return v.Promise + ": " + v.Text }

// Options of a check.
type Options struct {
	// Patience of porcupine for each group of keys; where it cannot tell within that it gets ten times as long, and then counts as a failure. 0: 10 s.
	Patience time.Duration
	// Skip leaves porcupine out.
	SkipPorcupine bool
	// TTL slack: how much later than its time a lease may run out when all is well.
	LeaseSlack time.Duration
	// MayBeCut: the program was killed, so a call may stay without an answer.
	MayBeCut bool
}

// reportedMax is how many violations are reported; a run that breaks one promise often breaks it a thousand times.
const reportedMax = 20

type checker struct {
	h     *history.History
	opt   Options
	found []Violation
	// order of revisions, and the calls that made them.
	order *order
	byID  map[int64]*history.Op
}

// Check judges a history. Empty: nothing is wrong with it.
func Check(h *history.History, opt Options) []Violation {
	if opt.Patience == 0 {
		opt.Patience = 10 * time.Second
	}
	c := &checker{h: h, opt: opt, byID: make(map[int64]*history.Op)}
	for _, o := range h.Ops {
		c.byID[o.ID] = o
	}
	c.order = c.reconstruct()
	c.outcomes()
	c.requests()
	c.realTime()
	c.reads()
	c.compactions()
	c.watches()
	c.leases()
	c.terms()
	c.newcomers()
	c.end()
	c.restored()
	if !opt.SkipPorcupine && len(c.found) == 0 {
		c.porcupine()
	}
	return c.found
}

func (c *checker) fail(promise, format string, args ...any) {
	if len(c.found) < reportedMax {
		c.found = append(c.found, Violation{promise, fmt.Sprintf(format, args...)})
	}
}
