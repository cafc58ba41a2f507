//go:build planted

package robust_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/raftstore/internal/planted"
	"example.com/kubeviz/raftstore/robust/swarm"
)

// seedsMax is how many seeds the swarm may need to find a bug.
const seedsMax = 500

// plantedBug names the bug for a child process: each gets one of its own, because some bugs end in a panic, which finds them as well.
const plantedBug = "KUBEVIZ_PLANTED_BUG"

func TestPlantedBugsAreFound(t *testing.T) {
	if bug := planted.Bug(os.Getenv(plantedBug)); bug != "" {
		find(t, bug)
		return
	}
	limit := environment(t, "KUBEVIZ_PLANTED_SEEDS", seedsMax)
	only := os.Getenv("KUBEVIZ_PLANTED_ONLY")
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, bug := range planted.Bugs() {
		if only != "" && !strings.Contains(only, string(bug)) {
			continue
		}
		t.Run(string(bug), func(t *testing.T) {
			if testing.Short() && rare[bug] {
				t.Skip("it takes many seeds")
			}
			t.Parallel()
			free <- struct{}{}
			defer func() { <-free }()
			began := time.Now()
			child := exec.Command(os.Args[0], "-test.run=^TestPlantedBugsAreFound$", "-test.timeout=30m")
			child.Env = append(os.Environ(), plantedBug+"="+string(bug), fmt.Sprint("KUBEVIZ_PLANTED_SEEDS=", limit), "GOMAXPROCS=1")
			out, err := child.CombinedOutput()
			took := time.Since(began).Round(time.Millisecond)
			if m := foundLine.FindStringSubmatch(string(out)); m != nil {
				t.Logf("found at seed %s in %v: %.300s", m[1], took, m[2])
				return
			}
			if m := panicLine.FindString(string(out)); err != nil && m != "" && !strings.Contains(m, "test timed out") {
				t.Logf("found in %v by a crash: %.300s", took, m)
				return
			}
			t.Errorf("not found in %d seeds (%v, %v)\n%s", limit, took, err, out)
		})
	}
}

// rare are bugs that bite only when several things go wrong at the right time; all others show within a few seeds.
var rare = map[planted.Bug]bool{planted.WipedVotes: true, planted.SkipConfirm: true, planted.DirtyGap: true, planted.RestoreFallsBehind: true}

var (
	foundLine = regexp.MustCompile(`(?m)^found at (\d+): (.*)$`)
	panicLine = regexp.MustCompile(`(?m)^(panic|fatal error): .*$`)
)

// find runs seeds until one breaks a promise.
func find(t *testing.T, bug planted.Bug) {
	defer planted.Plant(bug)()
	limit := environment(t, "KUBEVIZ_PLANTED_SEEDS", seedsMax)
	for seed := 1; seed <= limit; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			_, broken := runSeed(t, swarm.Draw(uint64(seed), swarm.Faults()))
			if len(broken) > 0 {
				fmt.Printf("\nfound at %d: %s\n", seed, broken[0])
				os.Exit(0)
			}
		})
	}
}
