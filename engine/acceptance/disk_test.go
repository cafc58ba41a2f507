package acceptance

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/event"
)

// TestABadDiskStopsItsMemberAndNobodyElse: a disk that takes no write is a member that is down until it does; one that is damaged is
// replaced, but for a write that was torn, which its member does without.
func TestABadDiskStopsItsMemberAndNobodyElse(t *testing.T) {
	for _, store := range bothStores() {
		for _, state := range []string{"full", "readonly", "flaky", "zeroed", "torn", "deleted"} {
			t.Run(store+" "+state, func(t *testing.T) {
				t.Parallel()
				s := inStages(t, run{store: store, seed: 1}, "")
				s.to(time.Minute)
				s.must("disk master-2 " + state)
				bad := s.now()
				s.to(bad + 20*time.Second)
				s.must("create deployment meanwhile --image=nginx --replicas=0")
				p := s.told()
				_, d := must(p, "the disk", time.Minute, func(e event.DiskChanged) bool { return e.Member == "master-2" })
				if d.State != state {
					t.Errorf("the journal says %+v", d)
				}
				end, e := must(p, "the end of etcd", time.Minute, func(e event.ProcessStopped) bool { return e.Host == "master-2" && e.Process == "etcd" })
				if c, ok := p.root(end.Seq).Event.(event.CommandGiven); !ok || c.Text != "disk master-2 "+state {
					t.Errorf("%s leads back to %s", brief(e), p.chain(end.Seq))
				}
				switch state {
				case "full", "readonly":
					s.must("disk master-2 ok")
				case "zeroed", "deleted":
					s.fails("disk master-2 ok", "what is on its disk is "+state+", and no word mends that; to give it a new one: member replace master-2")
					s.fails("disk master-2 full", "to give it a new one: member replace master-2")
					s.must("member replace master-2")
					s.promote("master-2", 3*time.Minute)
				}
				s.settled(6, 7*time.Minute)
				s.told().invariants()
			})
		}
	}
}

// TestWhatIsDoneToTheStoreRepeatsFromASeed: on the memory store, byte for byte, with members that come and go, a backup and a restore.
func TestWhatIsDoneToTheStoreRepeatsFromASeed(t *testing.T) {
	t.Parallel()
	r := run{seed: 7, length: 6 * time.Minute, do: []string{"40s member add master-4", "55s member promote master-4", "60s backup @one", "70s scale deployment nginx --replicas=2", "80s member remove leader",
		"90s disk master-3 full", "100s disk master-3 ok", "110s quota 64Ki", "130s compact", "131s defrag all", "132s quota 8Mi", "133s disarm", "150s restore @one", "200s member replace master-2"}}
	a, b := play(t, r), play(t, r)
	if !bytes.Equal(a.file, b.file) {
		t.Fatal(firstDifference(a.file, b.file))
	}
	for _, c := range a.summary.Commands {
		if c.Error != "" {
			t.Errorf("%s: %s", c.Text, c.Error)
		}
	}
	if !strings.Contains(string(a.file), "StoreRestored") {
		t.Error("nothing was restored")
	}
}

// TestThePresetsAboutTheStore: each of their steps succeeds, on both stores, and the cluster ends whole.
func TestThePresetsAboutTheStore(t *testing.T) {
	for preset, end := range map[string]struct {
		pods  int
		after time.Duration
	}{"grow": {6, 6 * time.Minute}, "full": {8, 8 * time.Minute}, "backup": {6, 5 * time.Minute}, "disk": {6, 7 * time.Minute}} {
		for _, store := range bothStores() {
			t.Run(preset+" "+store, func(t *testing.T) {
				t.Parallel()
				p := play(t, run{preset: preset, store: store, seed: 1, length: end.after})
				for _, c := range p.summary.Commands {
					if c.Error != "" {
						t.Errorf("%s: %s", c.Text, c.Error)
					}
				}
				whole(t, p.world, end.pods)
			})
		}
	}
}
