package raftstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

func backup(t testing.TB, c *RaftCluster, name string) ([]byte, BackupInfo) {
	t.Helper()
	var file bytes.Buffer
	info, err := c.Backup(name, &file)
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), info
}

func killAll(c *RaftCluster) {
	for _, n := range c.Members() {
		c.KillMember(n)
	}
}

func startAll(t testing.TB, c *RaftCluster) {
	t.Helper()
	for _, m := range c.Membership().Members {
		if err := c.StartMember(m.Name); err != nil {
			t.Fatal(err)
		}
	}
	awaitWall(t, "a settled cluster", c.Settled)
}

func keys(t testing.TB, s Store) (found []string, revision int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ch := make(chan RangeResult, 1)
	s.Range(ctx, RangeRequest{Range: mvcc.Range{Key: "\x00", End: mvcc.PrefixEnd("")}}, func(r RangeResult) { ch <- r })
	r := <-ch
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	for _, kv := range r.KVs {
		found = append(found, kv.Key)
	}
	return found, r.Revision
}

func TestRestoringAnOlderBackupMakesWhatFollowedDisappearAndNoRevisionFall(t *testing.T) {
	t.Parallel()
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprint("memory ", memory), func(t *testing.T) {
			run := func(t *testing.T) {
				o := Options{Members: names(3), InMemory: memory, Rate: 5}
				if !memory {
					o.Dir = t.TempDir()
				}
				c := openLed(t, o)
				mustPut(t, c, "before")
				awaitWall(t, "a settled cluster", c.Settled)
				file, info := backup(t, c, "master-2")
				if info.Keys != 1 || info.Bytes != int64(len(file)) {
					t.Errorf("backed up %+v", info)
				}
				mustPut(t, c, "after")
				_, seen := keys(t, c.Store("master-1"))
				ended := make(chan WatchBatch, 100)
				c.Store("master-1").Watch(WatchRequest{Prefix: "", From: seen}, func(b WatchBatch) { ended <- b })
				var last int64
				for round := range 2 {
					killAll(c)
					if round == 0 {
						for b := range ended {
							if b.Err != nil {
								if !errors.Is(b.Err, ErrStopped) {
									t.Errorf("an open watch ended with %v", b.Err)
								}
								break
							}
						}
					}
					restored, err := c.Restore(bytes.NewReader(file))
					if err != nil {
						t.Fatal(err)
					}
					startAll(t, c)
					for _, n := range names(3) {
						found, rev := keys(t, c.Store(n))
						if !slices.Equal(found, []string{"before"}) {
							t.Errorf("%s has %v", n, found)
						}
						if rev < restored.Restored || rev < seen+RevisionBump || rev <= last {
							t.Errorf("%s is at revision %d; told %d, clients had seen %d and %d", n, rev, restored.Restored, seen, last)
						}
						watch := make(chan WatchBatch, 1)
						c.Store(n).Watch(WatchRequest{Prefix: "", From: seen + 1}, func(b WatchBatch) { watch <- b })
						if b := <-watch; !errors.Is(b.Err, ErrCompacted) {
							t.Errorf("a watch from before the restore got %+v", b)
						}
						if id := c.Store(n).Status().ID; id != fmt.Sprint(n, "#", round+2) {
							t.Errorf("%s votes as %s", n, id)
						}
					}
					mustPut(t, c, fmt.Sprint("new-", round))
					if round == 1 {
						if found, _ := keys(t, c.Store("master-1")); !slices.Equal(found, []string{"before", "new-1"}) {
							t.Errorf("after the second restore: %v", found)
						}
					}
					_, last = keys(t, c.Store("master-3"))
				}
				if err := c.Close(); err != nil || memory {
					return
				}
				c = openLed(t, o)
				awaitWall(t, "a settled cluster", c.Settled)
				if found, rev := keys(t, c.Store("master-2")); rev < last || len(found) != 2 {
					t.Errorf("after a restart: %v at %d, was at %d", found, rev, last)
				}
			}
			if memory {
				synctest.Test(t, run)
			} else {
				run(t)
			}
		})
	}
}

func TestRestoreNeedsNoQuorumAndNoDisk(t *testing.T) {
	t.Parallel()
	o := Options{Members: names(3), Dir: t.TempDir(), Rate: 5}
	c := openLed(t, o)
	mustPut(t, c, "a")
	file, _ := backup(t, c, c.leaderLife().m.name)
	killAll(c)
	for _, m := range c.places() {
		m.waitDown()
	}
	os.RemoveAll(filepath.Join(o.Dir, "master-1"))
	os.WriteFile(filepath.Join(o.Dir, "master-2", "raft.db"), []byte("rubbish"), 0o600)
	if _, err := c.Restore(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	startAll(t, c)
	if found, _ := keys(t, c.Store("master-1")); !slices.Equal(found, []string{"a"}) {
		t.Errorf("%v", found)
	}
	if b, err := os.ReadFile(filepath.Join(o.Dir, "master-2.aside-1", "raft.db")); err != nil || string(b) != "rubbish" {
		t.Errorf("what master-2 had is not aside: %v", err)
	}
}

// everything below a folder, by path.
func everything(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		all[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestRestoreThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	o := Options{Members: names(3), Dir: t.TempDir(), Rate: 5}
	c := openLed(t, o)
	mustPut(t, c, "a")
	awaitWall(t, "a settled cluster", c.Settled)
	file, _ := backup(t, c, "master-1")
	if _, err := c.Restore(bytes.NewReader(file)); err == nil || !strings.Contains(err.Error(), "is up") {
		t.Errorf("restore below running members: %v", err)
	}
	killAll(c)
	for _, m := range c.places() {
		m.waitDown()
	}
	before := everything(t, o.Dir)
	bad := bytes.Clone(file)
	bad[len(bad)/2] ^= 1
	// A file where the last disk would be prepared: the first two are prepared in vain.
	blocked := filepath.Join(o.Dir, "master-3"+".restoring")
	for what, restore := range map[string]func() error{
		"a bad file":  func() error { _, err := c.Restore(bytes.NewReader(bad)); return err },
		"half a file": func() error { _, err := c.Restore(bytes.NewReader(file[:len(file)/2])); return err },
		"no room at the end": func() error {
			c.find("master-3").disk = peer.NewDisk(filepath.Join(o.Dir, "members.json", "x"), false)
			defer func() { c.find("master-3").disk = peer.NewDisk(filepath.Join(o.Dir, "master-3"), false) }()
			_, err := c.Restore(bytes.NewReader(file))
			return err
		},
	} {
		if err := restore(); err == nil {
			t.Errorf("%s: no error", what)
		}
		after := everything(t, o.Dir)
		for path, b := range before {
			if after[path] != b {
				t.Errorf("%s: %s is another", what, path)
			}
		}
		if len(after) != len(before) {
			t.Errorf("%s: %d files, were %d", what, len(after), len(before))
		}
	}
	if _, err := os.Stat(blocked); err == nil {
		t.Error("a prepared disk was left behind")
	}
	startAll(t, c)
	mustPut(t, c, "b")
}

func TestACrashInARestoreLeavesTheOldOrTheNewForAll(t *testing.T) {
	t.Parallel()
	for _, decided := range []bool{false, true} {
		for taken := range 4 {
			if !decided && taken > 0 {
				continue
			}
			t.Run(fmt.Sprintf("decided %v, %d disks taken", decided, taken), func(t *testing.T) {
				o := Options{Members: names(3), Dir: t.TempDir(), Rate: 5}
				c := openLed(t, o)
				mustPut(t, c, "before")
				awaitWall(t, "a settled cluster", c.Settled)
				file, _ := backup(t, c, "master-1")
				mustPut(t, c, "after")
				awaitWall(t, "a settled cluster", c.Settled)
				killAll(c)
				for _, m := range c.places() {
					m.waitDown()
				}
				// What Restore does, up to the crash.
				kv, info, err := ReadBackup(bytes.NewReader(file))
				if err != nil {
					t.Fatal(err)
				}
				next := c.restoredRoster(info.Revision)
				kv.Bump(next.Floor)
				for _, x := range next.Members {
					if err := c.find(x.Name).disk.Prepare(peer.Fresh{Identity: next.identityOf(x), Members: next.founders(), State: kv.Snapshot()}); err != nil {
						t.Fatal(err)
					}
				}
				if decided {
					text, _ := json.Marshal(next)
					if err := os.WriteFile(filepath.Join(o.Dir, restoreFile), text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				for i := range taken {
					if _, err := c.places()[i].disk.TakePrepared(); err != nil {
						t.Fatal(err)
					}
				}
				c.Close()
				c = openLed(t, o)
				awaitWall(t, "a settled cluster", c.Settled)
				want := []string{"after", "before"}
				if decided {
					want = []string{"before"}
				}
				for _, n := range names(3) {
					if found, rev := keys(t, c.Store(n)); !slices.Equal(found, want) || (rev > RevisionBump) != decided {
						t.Errorf("%s has %v at revision %d", n, found, rev)
					}
				}
				for path := range everything(t, o.Dir) {
					if strings.Contains(path, "restor") {
						t.Errorf("%s was left behind", path)
					}
				}
			})
		}
	}
}

// TestWhileDisksAreReplacedTheStatusIsTold: that takes long for a large backup, and the engine asks hundreds of times a second. Who wants to start a member waits.
func TestWhileDisksAreReplacedTheStatusIsTold(t *testing.T) {
	t.Parallel()
	var block atomic.Bool
	entered, free := make(chan struct{}), make(chan struct{})
	o := Options{Members: names(3), Dir: t.TempDir(), Rate: 5, Check: func(context.Context, string) error {
		if block.CompareAndSwap(true, false) {
			close(entered)
			<-free
		}
		return peer.ErrNotChecked
	}}
	c := openLed(t, o)
	mustPut(t, c, "a")
	awaitWall(t, "a settled cluster", c.Settled)
	file, _ := backup(t, c, "master-1")
	killAll(c)
	block.Store(true)
	restored := make(chan error, 1)
	go func() { _, err := c.Restore(bytes.NewReader(file)); restored <- err }()
	<-entered
	told := make(chan struct{})
	go func() {
		defer close(told)
		c.Status()
		c.Membership()
		c.Settled()
		c.SetPace(5)
		for _, name := range names(3) {
			c.KillMember(name)
			if r := put(c.Store(name), "b", nil); r.Outcome != Refused {
				t.Errorf("a write through %s, whose disk is being replaced: %+v", name, r)
			}
		}
	}()
	select {
	case <-told:
	case <-time.After(time.Minute):
		t.Fatal("a question about members waits until their disks are replaced")
	}
	started := make(chan error, 3)
	for _, name := range names(3) {
		go func() { started <- c.StartMember(name) }()
	}
	select {
	case err := <-started:
		t.Errorf("a member was started while its disk was replaced: %v", err)
	case <-restored:
		t.Error("the restore did not wait")
	case <-time.After(50 * time.Millisecond):
	}
	close(free)
	if err := <-restored; err != nil {
		t.Fatal(err)
	}
	for range names(3) {
		if err := <-started; err != nil {
			t.Error(err)
		}
	}
	awaitWall(t, "a settled cluster", c.Settled)
	if found, _ := keys(t, c.Store("master-1")); !slices.Equal(found, []string{"a"}) {
		t.Errorf("%v", found)
	}
}

func TestWhoWasRemovedBeforeARestoreIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(4), InMemory: true, Rate: 5})
		mustPut(t, c, "a")
		awaitWall(t, "a settled cluster", c.Settled)
		c.KillMember("master-4")
		mustChange(t, c.RemoveMember, "master-4")
		file, _ := backup(t, c, "master-1")
		killAll(c)
		if _, err := c.Restore(bytes.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		startAll(t, c)
		c.StartMember("master-4")
		awaitWall(t, "the end of master-4", func() bool { s := c.Store("master-4").Status(); return !s.Up && s.Err == RemovedReason("master-4") })
		if got := voters(c); !slices.Equal(got, names(3)) {
			t.Errorf("voters %v", got)
		}
	})
}

func TestABackupIsTakenBesideWritesAndFromAMinority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, snapshotting())
		stop := startTraffic(t, c)
		for range 5 {
			pause(300*time.Millisecond, nil)
			for _, n := range names(3) {
				file, info := backup(t, c, n)
				kv, read, err := ReadBackup(bytes.NewReader(file))
				if err != nil || kv.Revision() != info.Revision || read.Hash != info.Hash {
					t.Fatalf("%s: %v, %+v, %+v", n, err, info, read)
				}
			}
		}
		stop(t)
		lead := c.leaderLife().m.name
		for _, n := range names(3) {
			if n != lead {
				c.KillMember(n)
			}
		}
		awaitWall(t, "no leader", func() bool { return !c.Led() })
		if _, info := backup(t, c, lead); info.Revision < 100 {
			t.Errorf("a backup of a member alone: %+v", info)
		}
		c.KillMember(lead)
		c.StartMember(lead)
		pause(time.Second, nil)
		if _, err := c.Backup(lead, new(bytes.Buffer)); err == nil {
			t.Error("a backup of a member that may have lost its newest entries until a leader is there")
		}
	})
}
