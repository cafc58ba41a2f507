package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/world"
)

// containersOf counts the containers of that name that really run, whatever the API says.
func (s *staged) containersOf(name string) int {
	n := 0
	s.world().Running.Scan(func(_ string, c *world.Container) bool {
		if c.Name == name && (c.State == event.ContainerRunning || c.State == event.ContainerStopping) {
			n++
		}
		return true
	})
	return n
}

func TestARestoreMakesWhatFollowedDisappearAndWhatWasDeletedComeBack(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			s := inStages(t, run{store: store, seed: 1}, "")
			s.to(time.Minute)
			s.must("create deployment early --image=httpd --replicas=2")
			s.to(s.now() + 20*time.Second)
			if out := s.must("backup @before"); !strings.Contains(out, "saved at @before: revision ") {
				t.Errorf("backup: %s", out)
			}
			s.fails("backup @before", "@before is there already")
			s.must("delete deployment early")
			s.must("create deployment late --image=redis --replicas=2")
			s.to(s.now() + 40*time.Second)
			if n, m := s.containersOf("httpd"), s.containersOf("redis"); n != 0 || m != 2 {
				t.Fatalf("before the restore %d containers of early run and %d of late", n, m)
			}
			began := s.now()
			if out := s.must("restore @before"); !strings.Contains(out, "revisions go on from ") || !strings.Contains(out, "3 voters, quorum 2, can lose 1") {
				t.Errorf("restore: %s", out)
			}
			s.settled(6, 5*time.Minute)
			s.to(s.now() + 90*time.Second)
			if got := s.podsOf("early"); len(got) != 2 {
				t.Errorf("pods of early, which was there when the backup was made: %v", got)
			}
			if got := s.podsOf("late"); len(got) != 0 {
				t.Errorf("pods of late, which came after the backup: %v", got)
			}
			if n, m := s.containersOf("httpd"), s.containersOf("redis"); n != 2 || m != 0 {
				t.Errorf("%d containers of early run, want 2, and %d of late, which the store knows nothing of", n, m)
			}
			if out := s.must("get deployments"); strings.Contains(out, "late") || !strings.Contains(out, "early") {
				t.Errorf("the API lists\n%s", out)
			}
			p := s.told()
			p.revisionsNeverFall()
			if _, r, ok := first(p, began, func(event.StoreRestored) bool { return true }); !ok || r.Restored <= r.Revision || r.File != "@before" {
				t.Errorf("the journal says %+v", r)
			}
			if n := len(all(p, began, func(e event.WatchClosed) bool { return e.Reason == "the server's picture began anew" })); n < 10 { // with 410 Expired
				t.Errorf("%d watches were ended", n)
			}
			s.must("create deployment after --image=httpd --replicas=1")
			s.to(s.now() + 20*time.Second)
			whole(t, s.world(), 6)
		})
	}
}

// revisionsNeverFall: neither those that the store gives, nor those that any client of the API sees.
func (p *told) revisionsNeverFall() {
	p.t.Helper()
	var last int64
	for _, r := range all[event.ObjectChanged](p, 0, nil) {
		e := r.Event.(event.ObjectChanged)
		if e.Revision < last {
			p.t.Fatalf("#%d %s follows revision %d", r.Seq, brief(e), last)
		}
		last = e.Revision
	}
}

func TestAFileThatIsNoBackupChangesNothing(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		t.Run(store, func(t *testing.T) {
			besides(t, store)
			dir := t.TempDir()
			good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
			s := inStages(t, run{store: store, seed: 2}, "")
			s.to(time.Minute)
			s.must("create deployment kept --image=nginx --replicas=0")
			s.must("backup " + good)
			s.fails("backup "+good, "is there already; choose another name, or move it away")
			content, err := os.ReadFile(good)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)/2] ^= 1
			if err := os.WriteFile(bad, content, 0o600); err != nil {
				t.Fatal(err)
			}
			before := s.now()
			s.fails("restore "+bad, "restore "+bad+": read backup: not a backup, or a damaged one: its checksum does not fit")
			s.fails("restore "+dir, "restore "+dir+": it is no regular file")
			s.fails("restore "+filepath.Join(dir, "none"), "none: no such file or directory")
			s.fails("backup "+filepath.Join(dir, "none", "b"), "b: no such file or directory")
			s.to(s.now() + 20*time.Second)
			if r, e, ok := first(s.told(), before, func(e event.ProcessStopped) bool { return e.Process == "etcd" }); ok {
				t.Errorf("#%d %s for a file that is no backup", r.Seq, brief(e))
			}
			s.settled(6, time.Second)
			if out := s.must("get deployments"); !strings.Contains(out, "kept") {
				t.Errorf("the API lists\n%s", out)
			}
			s.told().invariants()
			s.must("restore " + good)
			s.settled(6, 3*time.Minute)
		})
	}
}

// TestWhenAllDisksAreWipedTheClusterForgets (fidelity STO-20): no nodes and no pods in the API; a kubelet stops what nobody knows of when it lists its pods the next time, which it does when its watch
// is answered 410. It does not matter whether the disks are wiped while nothing runs, or one after the other.
func TestWhenAllDisksAreWipedTheClusterForgets(t *testing.T) {
	t.Parallel()
	for _, store := range bothStores() {
		for _, oneByOne := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, one by one %v", store, oneByOne), func(t *testing.T) {
				besides(t, store)
				s := inStages(t, run{store: store, seed: 3}, "")
				s.to(time.Minute)
				if n := len(really(s.world())); n != 6 {
					t.Fatalf("%d containers run", n)
				}
				masters := []string{"master-1", "master-2", "master-3"}
				for _, m := range masters {
					s.must("kill " + m)
				}
				for i, m := range masters {
					s.must("wipe " + m)
					if oneByOne {
						s.must("start " + m)
						if i < 2 {
							s.to(s.now() + 40*time.Second)
						}
						if m, led := s.world().Leader(); i < 2 && led {
							t.Fatalf("%s leads members that were wiped, although others were not", m.Name)
						}
					}
				}
				for _, m := range masters {
					if !oneByOne {
						s.must("start " + m)
					}
				}
				s.to(s.now() + 3*time.Minute)
				if n := len(web(s.world())); n != 0 {
					t.Errorf("the API knows %d pods of web", n)
				}
				if out := s.must("get deployments"); strings.Contains(out, "web") {
					t.Errorf("the API lists\n%s", out)
				}
				// A kubelet makes its Node when it starts, so those of the masters are there and those of the workers are not.
				if out := s.must("get nodes"); strings.Count(out, " Ready ") != 3 || strings.Contains(out, "worker") {
					t.Errorf("nodes:\n%s", out)
				}
				if n := len(really(s.world())); n != 0 {
					t.Errorf("%d containers run that nobody knows of, although their kubelets have listed their pods", n)
				}
				for _, w := range []string{"worker-1", "worker-2", "worker-3", "worker-4"} {
					s.must("restart " + w + "/kubelet")
				}
				s.to(s.now() + 60*time.Second)
				if out := s.must("get nodes"); strings.Count(out, " Ready ") != 7 {
					t.Errorf("nodes:\n%s", out)
				}
				s.must("create deployment anew --image=web --replicas=2")
				s.to(s.now() + 20*time.Second)
				if n := len(really(s.world())); n != 2 {
					t.Errorf("%d containers of the new deployment run", n)
				}
			})
		}
	}
}

func TestWhenOneDiskIsWipedNothingIsForgotten(t *testing.T) {
	besides(t, engine.StoreRaft)
	s := inStages(t, run{store: engine.StoreRaft, seed: 4}, "")
	s.to(time.Minute)
	s.must("create deployment kept --image=nginx --replicas=0")
	before := s.world().Clone()
	for _, verb := range []string{"kill", "wipe", "start"} {
		s.must(verb + " master-2")
	}
	s.settled(6, 2*time.Minute)
	unharmed(t, &before, s.world())
	if out := s.must("get deployments"); !strings.Contains(out, "kept") {
		t.Errorf("the API lists\n%s", out)
	}
	s.told().invariants()
}

// TestADataDirectoryBringsBackWhatTheClusterHeld: objects as well as members that joined meanwhile, and the journal tells of all of them.
func TestADataDirectoryBringsBackWhatTheClusterHeld(t *testing.T) {
	besides(t, engine.StoreRaft)
	dir := t.TempDir()
	s := inStages(t, run{store: engine.StoreRaft, seed: 5}, dir)
	s.to(time.Minute)
	s.must("create deployment kept --image=nginx --replicas=0")
	s.must("member add master-4")
	s.promote("master-4", 2*time.Minute)
	s.must("member remove master-1")
	s.to(s.now() + 10*time.Second)
	if err := s.e.Close(); err != nil {
		t.Fatal(err)
	}

	again := inStages(t, run{store: engine.StoreRaft, seed: 5}, dir)
	again.to(time.Minute)
	if got := again.voting(); got != "master-2 master-3 master-4" {
		t.Errorf("members: %s", got)
	}
	if got := strings.Join(again.world().Header.Masters, " "); got != "master-1 master-2 master-3 master-4" {
		t.Errorf("masters: %s", got)
	}
	if _, ok := again.world().Deployment("default", "kept"); !ok {
		t.Error("the journal knows nothing of a deployment that the store holds")
	}
	if got := len(web(again.world())); got != 6 {
		t.Errorf("%d pods of web", got)
	}
	if out := again.must("get deployments"); !strings.Contains(out, "kept") {
		t.Errorf("the API lists\n%s", out)
	}
	if p, _, ok := first(again.told(), 0, func(e event.ProcessStopped) bool {
		return e.Host == "master-1" && e.Process == "etcd" && strings.Contains(e.Message, "permanently removed")
	}); !ok {
		t.Errorf("etcd of the master that was removed runs on: %v", p)
	}
	if err := again.e.Close(); err != nil {
		t.Fatal(err)
	}
	five := loaded(t, run{preset: "five"})
	if _, err := engine.New(engine.Options{Scenario: five, Store: engine.StoreRaft, DataDir: dir, Start: engine.RepeatableStart}); err == nil || !strings.Contains(err.Error(), "another folder") {
		t.Errorf("five masters in the folder of others: %v", err)
	}
}
