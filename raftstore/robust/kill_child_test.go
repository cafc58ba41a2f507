package robust_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/robust/history"
	"example.com/kubeviz/raftstore/robust/swarm"
)

// What the parent tells the child, as JSON in this variable.
const childVariable = "KUBEVIZ_KILL_CHILD"

// order is one life of the program under test.
type order struct {
	Dir  string
	Sync bool
	Seed uint64
	// From is where instants and ids go on from, Revision the last that the parent knows all of, Began when the run began, in nanoseconds.
	From, Revision, Began int64
	// Point, where set, is where Member stalls for a while, so that the parent can kill the program right there.
	Point  failure.Point
	Member string
	Skip   int
	// Finish: no load; wait until all members are equal, and end.
	Finish bool
}

// TestMain is where a child begins its life: it never gets to the tests.
func TestMain(m *testing.M) {
	if s := os.Getenv(childVariable); s != "" {
		var o order
		if err := json.Unmarshal([]byte(s), &o); err == nil {
			err = live(o)
			if err == nil {
				os.Exit(0)
			}
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func killPlan(seed uint64) swarm.Plan {
	return swarm.Plan{Seed: seed, Members: 3, Clients: 6, Watchers: 2, Groups: 2, Keys: 5, ThinkMax: 4 * time.Millisecond, Patience: 5 * time.Second, Leases: 0.05, Retries: 0.5}
}

// live runs a cluster of three members on files and writes everything that happens, line by line, to the pipe that the parent reads.
func live(o order) error {
	pipe := os.NewFile(3, "history")
	var mu sync.Mutex
	enc := json.NewEncoder(pipe)
	rec := history.NewRecorder("", o.From, func(l history.Line) {
		mu.Lock()
		defer mu.Unlock()
		enc.Encode(l) // one write each, so that a kill cuts at most the last line
	})
	rec.Began(time.Unix(0, o.Began))
	names := []string{"m1", "m2", "m3"}
	c, err := raftstore.Open(raftstore.Options{
		Members: names, Dir: o.Dir, Sync: o.Sync, Observer: rec, Rate: 5, SnapshotThreshold: 60, TrailingLogs: 30, SnapshotInterval: 30 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	rec.Attach(c)
	if o.Point != "" {
		c.Traps().Set(failure.Trap{Member: o.Member, Point: o.Point, Action: failure.Stall, Delay: 300 * time.Millisecond, Skip: o.Skip})
	}
	// The first thing to be served tells how long the start took; then everything that the parent may not have heard of before the last kill.
	first := rec.Client(2000, time.Minute).Txn("m1", mvcc.Txn{Then: []mvcc.Op{{Key: "g0/0"}}})
	rec.Note(noteServing, "", "%v %s", first.Outcome, first.Err)
	rec.Client(2001, time.Minute).Watch("m1", raftstore.WatchRequest{From: o.Revision + 1})
	if !o.Finish {
		swarm.Drive(context.Background(), killPlan(o.Seed), c, rec, o.From)
		return nil
	}
	for range 3000 {
		if equal(c) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !equal(c) {
		var all []string
		for _, s := range c.Status() {
			all = append(all, fmt.Sprintf("%+v", s))
		}
		rec.Note(history.NoteLate, "", "after the last start: %s", strings.Join(all, "\n"))
	}
	time.Sleep(200 * time.Millisecond)
	rec.Finish(equal(c))
	return c.Close()
}

func equal(c raftstore.Cluster) bool {
	all := c.Status()
	for _, s := range all {
		if !s.Up || !s.Ready || s.Revision != all[0].Revision {
			return false
		}
	}
	return true
}

const noteServing = "serving"
