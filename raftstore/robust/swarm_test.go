package robust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/robust/check"
	"example.com/kubeviz/raftstore/robust/history"
	"example.com/kubeviz/raftstore/robust/swarm"
)

// environment reads a number; def when it is not set.
func environment(t testing.TB, name string, def int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s=%q is not a number", name, s)
	}
	return n
}

// keep is where the histories of failed runs go.
func keep() string {
	if dir := os.Getenv("KUBEVIZ_HISTORIES"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "kubeviz-histories")
}

// runSeed runs a plan in a bubble and judges it outside.
func runSeed(t *testing.T, p swarm.Plan) (*history.History, []check.Violation) {
	var h *history.History
	synctest.Test(t, func(*testing.T) { h = swarm.Run(p) })
	return h, check.Check(h, check.Options{LeaseSlack: swarm.LeaseSlack})
}

// again is how often a seed that failed is run again: the schedule differs each time.
const again = 20

func TestSwarmOfFaultsBreaksNoPromise(t *testing.T) {
	seeds, from := environment(t, "KUBEVIZ_SWARM_SEEDS", 24), environment(t, "KUBEVIZ_SWARM_FROM", 1)
	if testing.Short() {
		seeds = min(seeds, 8)
	}
	var mu sync.Mutex
	counted, acknowledged, changes, parts, failed := 0, 0, 0, 0, 0
	began := time.Now()
	t.Run("seeds", func(t *testing.T) {
		for seed := from; seed < from+seeds; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				plan := swarm.Draw(uint64(seed), swarm.Faults())
				h, broken := runSeed(t, plan)
				mu.Lock()
				defer mu.Unlock()
				if swarm.Counts(h) {
					counted++
				} else if testing.Verbose() {
					t.Logf("does not count: %d writes, %d changes of leader: %s", h.Acknowledged(), h.LeaderChanges(), plan)
				}
				acknowledged += h.Acknowledged()
				changes += h.LeaderChanges()
				parts += partial(h)
				if len(broken) == 0 {
					return
				}
				report(t, h, broken, fmt.Sprintf("swarm-%d", seed))
				if failed++; failed > 1 {
					return
				}
				n := 0
				for range again {
					if _, broken := runSeed(t, plan); len(broken) > 0 {
						n++
					}
				}
				t.Logf("the same seed failed %d of %d more times", n, again)
			})
		}
	})
	t.Logf("%d of %d runs count, %d acknowledged writes, %d changes of leader, %d parts of revisions, %v", counted, seeds, acknowledged, changes, parts, time.Since(began).Round(time.Millisecond))
	if seeds >= 8 && parts == 0 {
		t.Error("no watch got a revision in parts: nothing shows that they fit together")
	}
	if counted*10 < seeds*8 {
		t.Errorf("only %d of %d runs reach %d acknowledged writes and %d changes of leader", counted, seeds, swarm.AcknowledgedMin, swarm.LeaderChangesMin)
	}
}

// partial counts the batches that hold a part of a revision.
func partial(h *history.History) (n int) {
	for _, w := range h.Watches {
		for _, b := range w.Batches {
			if b.Partial {
				n++
			}
		}
	}
	return n
}

// report tells what is wrong with a history, and where it is kept.
func report(t *testing.T, h *history.History, broken []check.Violation, name string) {
	t.Helper()
	path, err := h.Save(keep(), name)
	if err != nil {
		t.Error(err)
	}
	for i, v := range broken {
		if i == 5 {
			t.Errorf("… and %d more", len(broken)-i)
			break
		}
		t.Errorf("%.1500s", v.String())
	}
	t.Errorf("%s\nhistory kept in %s", h.Name, path)
}
