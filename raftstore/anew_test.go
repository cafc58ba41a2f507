package raftstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/internal/peer"
)

// mutedFor makes sure that for a while nobody leads and every member that is up says that it may not vote.
func mutedFor(t testing.TB, c *RaftCluster, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); pause(50*time.Millisecond, nil) {
		for _, s := range c.Status() {
			if s.Role == Leader || s.Ready || s.Up && s.Term != 0 && s.Err != MutedReason {
				t.Fatalf("a member that was wiped is %+v", s)
			}
		}
	}
}

// anew looks whether the cluster has begun anew, once, above everything clients have seen.
func anew(t testing.TB, c *RaftCluster, told *news, seen int64) {
	t.Helper()
	awaitWall(t, "a settled cluster", c.Settled)
	begun := told.of(BegunAnew)
	if len(begun) != 1 || begun[0].Revision < seen+RevisionBump {
		t.Errorf("told %+v; clients had seen %d", begun, seen)
	}
	for _, m := range c.Membership().Members {
		if m.Learner || !c.Store(m.Name).Status().Up {
			continue
		}
		found, rev := keys(t, c.Store(m.Name))
		if len(found) != 0 || rev < seen+RevisionBump {
			t.Errorf("%s has %v at revision %d", m.Name, found, rev)
		}
		for _, from := range []int64{1, seen + 1, seen + RevisionBump/2} {
			watch := make(chan WatchBatch, 1)
			c.Store(m.Name).Watch(WatchRequest{From: from}, func(b WatchBatch) { watch <- b })
			if b := <-watch; !errors.Is(b.Err, ErrCompacted) {
				t.Errorf("a watch on %s from revision %d, which is gone, got %+v", m.Name, from, b)
			}
		}
	}
	mustPut(t, c, "new")
}

// wipeOneByOne wipes all of some members, and starts each again at once, where that is asked for. Until the last is wiped nobody may lead.
func wipeOneByOne(t testing.TB, c *RaftCluster, order []string, starts bool) {
	t.Helper()
	for i, name := range order {
		c.KillMember(name)
		if err := c.WipeMember(name); err != nil {
			t.Fatal(err)
		}
		if starts {
			if err := c.StartMember(name); err != nil {
				t.Fatal(err)
			}
		}
		if i < len(order)-1 {
			mutedFor(t, c, 3*time.Second)
		}
	}
	if !starts {
		for _, name := range order {
			if err := c.StartMember(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func orders(names []string) (all [][]string) {
	if len(names) == 0 {
		return [][]string{nil}
	}
	for i, first := range names {
		for _, rest := range orders(slices.Delete(slices.Clone(names), i, i+1)) {
			all = append(all, append([]string{first}, rest...))
		}
	}
	return all
}

// filledAndSeen writes something and tells the newest revision that a client has seen.
func filledAndSeen(t testing.TB, c *RaftCluster) int64 {
	t.Helper()
	for i := range 20 {
		mustPut(t, c, fmt.Sprint("old-", i))
	}
	awaitWall(t, "a settled cluster", c.Settled)
	_, seen := keys(t, c.Store("master-1"))
	return seen
}

func TestWhenAllVotersWereWipedTheClusterBeginsAnew(t *testing.T) {
	for _, order := range orders(names(3)) {
		for _, starts := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, started between: %v", strings.Join(order, " "), starts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					told := new(news)
					o := snapshotting()
					o.Observer = told
					c := openLed(t, o)
					seen := filledAndSeen(t, c)
					killAll(c)
					wipeOneByOne(t, c, order, starts)
					anew(t, c, told, seen)
					// What it holds now it keeps, from its log alone as well, and gives to one that joins.
					_, last := keys(t, c.Store("master-2"))
					killAll(c)
					startAll(t, c)
					join(t, c, "master-4")
					awaitWall(t, "a settled cluster", c.Settled)
					for _, name := range names(4) {
						if found, rev := keys(t, c.Store(name)); !slices.Equal(found, []string{"new"}) || rev != last {
							t.Errorf("%s has %v at revision %d, was %d", name, found, rev, last)
						}
					}
					if begun := told.of(BegunAnew); len(begun) != 1 {
						t.Errorf("it began anew %d times", len(begun))
					}
					// And it can be lost again.
					killAll(c)
					wipeOneByOne(t, c, append(slices.Clone(order), "master-4"), starts)
					awaitWall(t, "a settled cluster", c.Settled)
					if found, rev := keys(t, c.Store("master-4")); len(found) != 0 || rev < last+RevisionBump {
						t.Errorf("lost again, it has %v at revision %d", found, rev)
					}
				})
			})
		}
	}
}

func TestAsLongAsOneVoterHoldsTheOldDataNothingBeginsAnew(t *testing.T) {
	for _, keeper := range names(3) {
		t.Run(keeper, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := new(news)
				o := snapshotting()
				o.Observer = told
				c := openLed(t, o)
				seen := filledAndSeen(t, c)
				killAll(c)
				for _, name := range names(3) {
					if name == keeper {
						continue
					}
					for range 2 { // a second time it holds nothing that could be wiped
						c.KillMember(name)
						if err := c.WipeMember(name); err != nil {
							t.Fatal(err)
						}
						if err := c.StartMember(name); err != nil {
							t.Fatal(err)
						}
					}
				}
				mutedFor(t, c, time.Minute)
				// It comes back, alone with what it holds: it has no majority, but it is there.
				if err := c.StartMember(keeper); err != nil {
					t.Fatal(err)
				}
				pause(20*time.Second, nil)
				if c.Led() {
					t.Error("members that forgot what they voted have elected a leader")
				}
				if got := told.of(BegunAnew); len(got) != 0 {
					t.Errorf("%s holds everything, and yet %+v", keeper, got)
				}
				if s := c.Store(keeper).Status(); s.LastIndex == 0 {
					t.Errorf("the keeper says %+v", s)
				}
				// Only when that is wiped too it is over.
				c.KillMember(keeper)
				if err := c.WipeMember(keeper); err != nil {
					t.Fatal(err)
				}
				anew(t, c, told, seen)
				if err := c.StartMember(keeper); err != nil {
					t.Fatal(err)
				}
				awaitWall(t, "the last one", func() bool { return c.Store(keeper).Status().Ready })
				awaitWall(t, "a settled cluster", c.Settled)
				if found, _ := keys(t, c.Store(keeper)); !slices.Equal(found, []string{"new"}) {
					t.Errorf("%s has %v", keeper, found)
				}
			})
		})
	}
}

// TestALearnerCannotKeepAClusterThatItsVotersForgot: what it holds is set aside, and it is a learner of the new one.
func TestALearnerCannotKeepAClusterThatItsVotersForgot(t *testing.T) {
	for _, up := range []bool{true, false} {
		t.Run(fmt.Sprint("up ", up), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := new(news)
				o := snapshotting()
				o.Observer = told
				c := openLed(t, o)
				mustChange(t, c.AddMember, "master-4")
				c.StartMember("master-4")
				seen := filledAndSeen(t, c)
				awaitWall(t, "the learner", func() bool { return c.Store("master-4").Status().Revision == seen })
				killAll(c)
				for _, name := range names(3) {
					c.WipeMember(name)
					c.StartMember(name)
					if up && name == "master-1" {
						c.StartMember("master-4")
					}
				}
				anew(t, c, told, seen)
				if !up {
					c.StartMember("master-4")
				}
				promoteWhenReady(t, c, "master-4")
				awaitWall(t, "a settled cluster", c.Settled)
				if found, _ := keys(t, c.Store("master-4")); !slices.Equal(found, []string{"new"}) {
					t.Errorf("the learner has %v", found)
				}
				if aside := told.of(SetAside); len(aside) != 1 || aside[0].Member != "master-4" {
					t.Errorf("set aside: %+v", aside)
				}
			})
		})
	}
}

// TestACrashAtTheLastWipeOfAll: the disk is empty and the roster does not say yet that the cluster begins anew.
func TestACrashAtTheLastWipeOfAll(t *testing.T) {
	t.Parallel()
	told := new(news)
	o := Options{Members: names(3), Dir: t.TempDir(), Rate: 5, Observer: told}
	c := openLed(t, o)
	filledAndSeen(t, c)
	killAll(c)
	for _, name := range names(2) {
		if err := c.WipeMember(name); err != nil {
			t.Fatal(err)
		}
		if err := c.StartMember(name); err != nil {
			t.Fatal(err)
		}
	}
	last := c.find("master-3")
	last.waitDown()
	if err := last.disk.Wipe(true, peer.Identity{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := told.of(BegunAnew); len(got) != 0 {
		t.Fatalf("begun anew by then: %+v", got)
	}
	c = openLed(t, o)
	anew(t, c, told, 0)
	_, rev := keys(t, c.Store("master-1"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = openLed(t, o)
	if found, now := keys(t, c.Store("master-3")); !slices.Equal(found, []string{"new"}) || now != rev {
		t.Errorf("after a restart: %v at revision %d, was %d", found, now, rev)
	}
	if got := told.of(BegunAnew); len(got) != 1 {
		t.Errorf("begun anew %d times", len(got))
	}
	for path := range everything(t, o.Dir) {
		if strings.Contains(path, ".aside") {
			t.Errorf("%s was left of a disk with nothing on it", path)
		}
	}
}
