package raftstore

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/peer"
)

// Followers have an entry while the leader's disk is still at work on it; nobody counts it as committed before that disk has it; and where the leader then loses power, they go on with it.
func TestAnEntrySentAheadIsCommittedWithTheLeadersDiskOrByTheNextLeader(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprint("the leader dies: ", dies), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 1, Sync: true, Volatile: true})
				for i := range 5 {
					mustPut(t, c, fmt.Sprint("k", i))
				}
				awaitWall(t, "all with all", c.Settled)
				lead := c.leaderLife()
				if err := c.SetDisk(lead.m.name, failure.Slow, 150*time.Millisecond); err != nil {
					t.Fatal(err)
				}
				before := lead.m.Status().LastIndex
				answer := asking(context.Background(), lead.m, "a")
				awaitWall(t, "the entry in both followers", func() bool {
					for _, m := range c.places() {
						if s := m.Status(); m != lead.m && s.LastIndex <= before || s.CommitIndex > before || s.Applied > before {
							return false
						}
					}
					return true
				})
				if s := lead.m.Status(); s.LastIndex != before || len(answer) > 0 {
					t.Fatalf("the leader's disk is at work, and its log ends at %d, %d answered", s.LastIndex, len(answer))
				}
				if !dies {
					wantOutcome(t, "the write", (<-answer).Written, Done, nil)
					if s := lead.m.Status(); s.LastIndex <= before {
						t.Errorf("answered while the leader's own log ends at %d", s.LastIndex)
					}
					return
				}
				c.KillMember(lead.m.name)
				wantOutcome(t, "the write", (<-answer).Written, Unknown, ErrStopped)
				awaitWall(t, "the next leader, which has it", func() bool { return c.Led() && c.versions("a") == 1 })
				revive(t, c)
				awaitWall(t, "a settled cluster", c.Settled)
				want := c.leaderLife().peer.Load().View().Hash()
				if got := c.find(lead.m.name).current().peer.Load().View().Hash(); got != want {
					t.Error("the one that died differs from the others")
				}
			})
		})
	}
}

// Leaders on slow disks lose power under load, alone and with all others.
func TestSlowLeadersThatLosePowerLoseNothingAcknowledged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := snapshotting()
				o.Sync, o.Volatile, o.Seed = true, true, seed
				c := openLed(t, o)
				stop := startTraffic(t, c)
				for round := range 6 {
					awaitWall(t, "a leader", c.Led)
					lead := c.leaderLife()
					if err := c.SetDisk(lead.m.name, failure.Slow, time.Duration(20+10*round)*time.Millisecond); err != nil {
						t.Fatal(err)
					}
					pause(300*time.Millisecond+time.Duration(seed)*7*time.Millisecond, nil)
					if round%3 == 2 {
						killAll(c)
					} else {
						c.KillMember(lead.m.name)
						pause(time.Second, nil)
					}
					c.SetDisk(lead.m.name, failure.Sound, 0)
					revive(t, c)
				}
				stop(t)
			})
		})
	}
}

// The gathering of writes into groups, as the leader's proposer asks for them.
func TestWritesGatherWhileAGroupIsOnItsWayAndForAMomentAfterIt(t *testing.T) {
	group := func(sync bool) (l *life, arrive func(n int), want func(n int, wait time.Duration), land func()) {
		l = newLife(&member{c: &RaftCluster{opt: Options{Sync: sync}}})
		var newest []peer.Encoded
		arrive = func(n int) {
			for range n {
				l.outbox = append(l.outbox, outgoing{enc: peer.EncodeDisarm(l.newID()), term: 1})
			}
		}
		want = func(n int, wait time.Duration) {
			t.Helper()
			_, batch, waits := l.nextGroup()
			if len(batch) != n || waits != wait {
				t.Errorf("%d writes go, or in %v; want %d, or in %v", len(batch), waits, n, wait)
			}
			if len(batch) > 0 {
				newest = batch
			}
		}
		land = func() { l.landed([]peer.Outcome{{ID: newest[len(newest)-1].ID}}) }
		return l, arrive, want, land
	}
	synctest.Test(t, func(t *testing.T) {
		_, arrive, want, land := group(true)
		want(0, 0)
		arrive(3)
		want(3, 0)
		arrive(1)
		want(0, flyingFor) // one group at a time
		time.Sleep(10 * time.Millisecond)
		want(0, flyingFor-10*time.Millisecond)
		land()
		want(0, gatherFor) // the other two who were answered may write again
		arrive(1)
		want(0, gatherFor)
		arrive(1)
		want(3, 0) // they have
		land()
		arrive(2)
		time.Sleep(gatherFor)
		want(2, 0) // one has not, and is not waited for longer
		arrive(5)
		want(0, flyingFor)
		time.Sleep(flyingFor)
		want(5, 0) // a group that is not applied holds nothing up for ever
		land()
		arrive(6)
		want(6, 0) // more than there were
	})
	synctest.Test(t, func(t *testing.T) {
		l, arrive, want, land := group(false)
		for range flyingMax {
			arrive(1)
			want(1, 0)
		}
		arrive(1)
		want(0, flyingFor)
		land()
		want(1, 0) // without synced disks nobody is waited for
		land()
		l.outbox = append(l.outbox, outgoing{term: 2, mark: true})
		arrive(1)
		if term, batch, _ := l.nextGroup(); term != 2 || len(batch) != 0 {
			t.Errorf("%d writes of term %d, want the mark of term 2 alone", len(batch), term)
		}
		want(1, 0)
	})
}
