package raftstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

func (c *RaftCluster) follower() *member {
	lead := c.leaderLife()
	for _, m := range c.places() {
		if m != lead.m {
			return m
		}
	}
	return nil
}

func mustPut(t testing.TB, c *RaftCluster, key string) {
	t.Helper()
	var lead *life
	awaitWall(t, "a leader", func() bool { lead = c.leaderLife(); return lead != nil })
	if r := put(lead.m, key, []byte("v")); r.Outcome != Done {
		t.Fatalf("put %s: %v %v", key, r.Outcome, r.Err)
	}
}

func TestMemberWhoseDiskFailsStopsAloneAndComesBack(t *testing.T) {
	for _, role := range []string{"leader", "follower"} {
		t.Run(role, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5})
				mustPut(t, c, "a")
				victim := c.leaderLife().m
				if role == "follower" {
					victim = c.follower()
				}
				victim.current().peer.Load().FailDisk(errors.New("no space left on device"))
				s := c.Store(names(3)[0])
				if s == Store(victim) {
					s = c.Store(names(3)[1])
				}
				s.Txn(context.Background(), mvcc.Txn{Then: []mvcc.Op{{Key: "b"}}}, func(TxnResult) {})
				awaitWall(t, "failed member", func() bool { st := victim.Status(); return !st.Up && strings.Contains(st.Err, "no space left") })
				awaitWall(t, "settled cluster without it", c.Settled)
				mustPut(t, c, "c")
				if err := c.StartMember(victim.name); err != nil {
					t.Fatal(err)
				}
				awaitWall(t, "recovered member", func() bool { st := victim.Status(); return st.Ready && st.Err == "" })
				awaitWall(t, "settled cluster", c.Settled)
				if a, b := victim.current().peer.Load().View().Hash(), c.leaderLife().peer.Load().View().Hash(); a != b {
					t.Errorf("states differ: %x, %x", a, b)
				}
			})
		})
	}
}

func TestBadEntryHaltsTheMembersAndNotTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5})
		l := c.leaderLife()
		_, term := l.peer.Load().Role()
		l.peer.Load().Propose(term, []byte("not an entry"))
		awaitWall(t, "halt", func() bool { return strings.Contains(l.m.Status().Err, "damaged bytes") })
	})
}

func TestEntryOfAnEarlierTermChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5})
		l := c.leaderLife()
		p := l.peer.Load()
		_, term := p.Role()
		before := p.View().Revision()
		// A proposal that raft logs later than it was meant for.
		late := peer.EncodeTxn(1, mvcc.Txn{Then: []mvcc.Op{{Key: "late"}}})
		p.Propose(term, peer.EncodeEntry(term-1, []peer.Encoded{late}))
		mustPut(t, c, "b")
		if got := p.View().Revision(); got != before+1 {
			t.Errorf("revision %d, want %d: the late write was applied", got, before+1)
		}
	})
}

// damage opens a cluster on files, fills it, closes it, changes one file of a member and opens it again.
func damage(t *testing.T, change func(t *testing.T, dir string)) (*RaftCluster, MemberStatus) {
	t.Helper()
	dir := t.TempDir()
	c := openLed(t, Options{Members: names(3), Dir: dir, Rate: 5})
	for i := range 50 {
		mustPut(t, c, fmt.Sprint("k", i))
	}
	awaitWall(t, "all members with all entries", c.Settled) // or there is nothing to damage in one that lags
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	change(t, filepath.Join(dir, "master-2"))
	c, err := Open(Options{Members: names(3), Dir: dir, Rate: 5})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	awaitWall(t, "a settled cluster", c.Settled)
	return c, c.Store("master-2").Status()
}

func TestDamagedFilesKeepOneMemberDownAndLoseNothing(t *testing.T) {
	t.Parallel()
	edit := func(change func(b []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "raft.db")
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, change := range map[string]func(*testing.T, string){
		"emptied log file":  edit(func([]byte) []byte { return nil }),
		"log file cut":      edit(func(b []byte) []byte { return b[:4*4096+100] }), // among pages in use; the file is grown ahead of them
		"deleted log file":  func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "raft.db")) },
		"changed log entry": edit(func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "k33", "k99")) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := damage(t, change)
			if s.Up || s.Err == "" {
				t.Fatalf("damage was not noticed: %+v", s)
			}
			t.Log(s.Err)
			ch := make(chan RangeResult, 1)
			c.Store("master-1").Range(context.Background(), RangeRequest{Range: mvcc.Range{Key: "k", End: "l"}}, func(r RangeResult) { ch <- r })
			if r := <-ch; r.Err != nil || r.Count != 50 {
				t.Errorf("%d keys, %v", r.Count, r.Err)
			}
			if err := c.WipeMember("master-2"); err != nil {
				t.Fatal(err)
			}
			if err := c.StartMember("master-2"); err != nil {
				t.Fatal(err)
			}
			awaitWall(t, "rejoined member", func() bool { return c.Store("master-2").Status().Ready })
		})
	}
}

func TestWipedMemberKeepsOutOfElectionsUntilItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5})
		lead, wiped := c.leaderLife().m, c.follower()
		var stale *member
		for _, m := range c.places() {
			if m != lead && m != wiped {
				stale = m
			}
		}
		c.KillMember(stale.name)
		mustPut(t, c, "acknowledged") // by lead and wiped only
		c.KillMember(wiped.name)
		c.KillMember(lead.name)
		c.WipeMember(wiped.name)
		c.StartMember(wiped.name)
		c.StartMember(stale.name)
		for range 50 {
			pause(100*time.Millisecond, nil)
			if c.Led() {
				t.Fatal("a member that forgot its log elected one that never had the acknowledged write")
			}
		}
		c.StartMember(lead.name)
		awaitWall(t, "settled cluster", c.Settled)
		ch := make(chan RangeResult, 1)
		c.Store(wiped.name).Range(context.Background(), RangeRequest{Range: mvcc.Range{Key: "acknowledged"}}, func(r RangeResult) { ch <- r })
		if r := <-ch; r.Count != 1 {
			t.Error("the acknowledged write is gone")
		}
	})
}

func TestStartFromFilesKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Members: names(1), Dir: dir, Rate: 5, SnapshotThreshold: 20, TrailingLogs: 10, SnapshotInterval: 20 * time.Millisecond, Sync: true}
	c := openLed(t, o)
	for i := range 60 {
		mustPut(t, c, fmt.Sprint("k", i%7))
	}
	hash := c.leaderLife().peer.Load().View().Hash()
	c.Close()
	c = openLed(t, o)
	if got := c.leaderLife().peer.Load().View().Hash(); got != hash {
		t.Errorf("state %x, was %x", got, hash)
	}
}

func TestConcurrentFaultsNeverLoseAnAcknowledgedWrite(t *testing.T) {
	t.Parallel()
	for round := range 2 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := openLed(t, Options{Members: names(5), InMemory: true, Rate: 5, SnapshotThreshold: 30, TrailingLogs: 15, SnapshotInterval: 50 * time.Millisecond,
					CommitTimeout: 20 * time.Millisecond})
				var mu sync.Mutex
				acked := make(map[string]int64)
				outcomes := make(map[Outcome]int)
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				for w := range 8 {
					wg.Go(func() {
						for i := 0; ctx.Err() == nil; i++ {
							key := fmt.Sprint("w", w, "-", i)
							ch := make(chan TxnResult, 1)
							give, stop := context.WithTimeout(context.Background(), 700*time.Millisecond)
							c.Store(names(5)[(w+i)%5]).Txn(give, mvcc.Txn{Then: []mvcc.Op{{Key: key}}}, func(r TxnResult) { ch <- r })
							r := <-ch
							stop()
							mu.Lock()
							outcomes[r.Outcome]++
							if r.Outcome == Done {
								acked[key] = r.Result.Revision
							} else if r.Outcome == Refused {
								acked[key] = -1
							}
							mu.Unlock()
							pause(5*time.Millisecond, nil)
						}
					})
				}
				for i := range 8 {
					victim := names(5)[(i*3+round)%5]
					c.KillMember(victim)
					if l := c.leaderLife(); l != nil && i%2 == 0 {
						c.KillMember(l.m.name)
					}
					pause(400*time.Millisecond, nil)
					for _, m := range names(5) {
						c.StartMember(m) // those that are up say so
					}
					pause(600*time.Millisecond, nil)
				}
				cancel()
				wg.Wait()
				awaitWall(t, "settled cluster", c.Settled)
				view := c.leaderLife().peer.Load().View()
				for key, rev := range acked {
					res, _ := view.Range(mvcc.Range{Key: key})
					switch {
					case rev > 0 && (res.Count != 1 || res.KVs[0].ModRevision != rev):
						t.Errorf("%s was acknowledged at revision %d: %+v", key, rev, res.KVs)
					case rev < 0 && res.Count != 0:
						t.Errorf("%s was refused and is there: %+v", key, res.KVs)
					}
				}
				for _, m := range c.places() {
					if got := m.current().peer.Load().View().Hash(); got != view.Hash() {
						t.Errorf("%s differs from the leader", m.name)
					}
				}
				t.Log(len(acked), "answers", outcomes, "revision", view.Revision())
			})
		})
	}
}

// TestFailOverTime measures; it fails only when a fail-over takes absurdly long.
func TestFailOverTime(t *testing.T) {
	for _, rate := range []float64{1, 5} {
		synctest.Test(t, func(t *testing.T) {
			var took []time.Duration
			c := openLed(t, Options{Members: names(3), InMemory: true, Rate: rate})
			for range 60 {
				lead := c.leaderLife().m.name
				pause(time.Duration(len(took)%7)*37*time.Millisecond, nil)
				at := time.Now()
				c.KillMember(lead)
				for _, m := range c.places() {
					if m.name != lead {
						if r := put(m, "a", nil); r.Outcome != Done {
							t.Fatal(r.Outcome, r.Err)
						}
						break
					}
				}
				took = append(took, time.Since(at))
				c.StartMember(lead)
				awaitWall(t, "settled cluster", c.Settled)
			}
			sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
			t.Logf("rate %gx: from the leader's death to the next write done: median %v, p95 %v, worst %v", rate, took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
			if took[len(took)-1] > 10*heartbeatSlow {
				t.Errorf("a fail-over took %v", took[len(took)-1])
			}
		})
	}
}

func TestPaceReachesRunningMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true})
		c.SetPace(10)
		for _, m := range c.places() {
			if got := m.current().peer.Load().Heartbeat(); got != heartbeatFast {
				t.Errorf("%s: heartbeat timeout %v", m.name, got)
			}
		}
		mustPut(t, c, "a")
		c.SetPace(1)
		if state, _ := c.leaderLife().peer.Load().Role(); state != raft.Leader {
			t.Error("changing the pace cost the leader")
		}
	})
}
