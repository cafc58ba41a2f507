package raftstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// news records changes.
type news struct {
	nobody
	mu  sync.Mutex
	all []Change
}

func (n *news) Changed(c Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, c)
}

func (n *news) of(kinds ...ChangeKind) (some []Change) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.all {
		if slices.Contains(kinds, c.Kind) {
			some = append(some, c)
		}
	}
	return some
}

// withNews runs do with a led cluster in memory whose changes are recorded, at a virtual noon.
func withNews(t *testing.T, members int, do func(t *testing.T, c *RaftCluster, net *ruled, told *news)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net, told := &ruled{}, &news{}
		c := openLed(t, Options{Members: names(members), InMemory: true, Rate: 5, Network: net, Observer: told, SnapshotThreshold: 50, TrailingLogs: 20, SnapshotInterval: 50 * time.Millisecond})
		c.Advance(noon)
		do(t, c, net, told)
	})
}

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func grant(s Store, ttl time.Duration) Lease {
	ch := make(chan Lease, 1)
	s.GrantLease(context.Background(), ttl, func(l Lease) { ch <- l })
	return <-ch
}

func keepAliveOf(s Store, id mvcc.LeaseID) Lease {
	ch := make(chan Lease, 1)
	s.KeepAlive(context.Background(), id, func(l Lease) { ch <- l })
	return <-ch
}

func written(ask func(done func(Written))) Written {
	ch := make(chan Written, 1)
	ask(func(w Written) { ch <- w })
	return <-ch
}

// hang attaches a key to a lease.
func hang(t *testing.T, s Store, key string, id mvcc.LeaseID) {
	t.Helper()
	ch := make(chan TxnResult, 1)
	s.Txn(context.Background(), mvcc.Txn{Then: []mvcc.Op{{Key: key, Lease: id}}}, func(r TxnResult) { ch <- r })
	if r := <-ch; r.Outcome != Done {
		t.Fatalf("put %s: %+v", key, r)
	}
}

func (c *RaftCluster) has(key string) bool { return c.versions(key) > 0 }

func TestALeaseRunsOutInVirtualTimeAndTakesItsKeysAlongInOneRevision(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		f := c.follower()
		l := grant(f, 9500*time.Millisecond)
		awaitWall(t, "the leader to count it", c.Settled)
		if l.Outcome != Done || l.ID <= 0 || l.TTL != 10*time.Second {
			t.Fatalf("%+v", l)
		}
		hang(t, f, "a", l.ID)
		hang(t, f, "b", l.ID)
		mustPut(t, c, "c")
		pause(time.Minute, nil) // of wall time, which does not count
		c.Advance(noon.Add(9999 * time.Millisecond))
		c.Advance(noon) // time never goes back
		pause(time.Second, nil)
		if !c.has("a") || !c.has("b") {
			t.Fatal("it ran out too early")
		}
		before := c.leaderLife().peer.Load().View().Revision()
		c.Advance(noon.Add(10 * time.Second))
		awaitWall(t, "the end", func() bool { return !c.has("a") })
		if c.has("b") || !c.has("c") || c.leaderLife().peer.Load().View().Revision() != before+1 {
			t.Error("not exactly its keys, in one revision")
		}
		if r := keepAliveOf(f, l.ID); r.Outcome != Refused || r.Err != ErrLeaseNotFound {
			t.Errorf("kept alive afterwards: %+v", r)
		}
		awaitWall(t, "all members", c.Settled)
		want := []Change{{Kind: LeaseGranted, Lease: l.ID, TTL: 10 * time.Second}, {Kind: LeaseExpired, Lease: l.ID, Keys: 2}}
		if got := told.of(LeaseGranted, LeaseExpired, LeaseRevoked); !slices.EqualFunc(got, want, func(a, b Change) bool {
			return a.Kind == b.Kind && a.Lease == b.Lease && a.TTL == b.TTL && a.Keys == b.Keys
		}) {
			t.Errorf("told %+v", got)
		}
	})
}

func TestWhereNobodyTellsTheTimeNoLeaseRunsOut(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, _ *ruled) {
		l := grant(c.follower(), time.Second)
		hang(t, c.follower(), "a", l.ID)
		pause(time.Minute, nil)
		if !c.has("a") {
			t.Fatal("it ran out")
		}
		c.Advance(noon) // from here on it counts
		pause(time.Second, nil)
		if !c.has("a") {
			t.Fatal("it ran out at the first time that was told")
		}
		c.Advance(noon.Add(time.Second))
		awaitWall(t, "the end", func() bool { return !c.has("a") })
	})
}

func TestKeepAliveStartsTheTimeAnewThroughWhateverMember(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, _ *news) {
		l := grant(c.follower(), 10*time.Second)
		hang(t, c.follower(), "a", l.ID)
		for i, m := range c.places() {
			c.Advance(noon.Add(time.Duration(i+1) * 9 * time.Second))
			if r := keepAliveOf(m, l.ID); r.Outcome != Done || r.TTL != 10*time.Second || r.ID != l.ID {
				t.Fatalf("%+v", r)
			}
		}
		pause(time.Second, nil)
		if !c.has("a") {
			t.Fatal("it ran out all the same")
		}
		c.Advance(noon.Add(37 * time.Second))
		awaitWall(t, "the end", func() bool { return !c.has("a") })
	})
}

func TestANewLeaderCountsEachLeaseAnew(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		l := grant(c.follower(), 10*time.Second)
		hang(t, c.follower(), "a", l.ID)
		c.Advance(noon.Add(8 * time.Second))
		c.KillMember(c.leaderLife().m.name)
		awaitWall(t, "another leader", c.Settled)
		c.Advance(noon.Add(17 * time.Second))
		pause(time.Second, nil)
		if !c.has("a") {
			t.Fatal("it ran out by the count of the leader before")
		}
		c.Advance(noon.Add(18 * time.Second))
		awaitWall(t, "the end", func() bool { return !c.has("a") })
		if n := len(told.of(LeaseExpired)); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

func TestALeaderThatIsCutOffNeitherEndsLeasesNorKeepsThemAlive(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, net *ruled, _ *news) {
		old := c.leaderLife().m
		l := grant(old, 10*time.Second)
		hang(t, old, "a", l.ID)
		net.set(cut(old.name))
		kept := make(chan Lease, 1)
		old.KeepAlive(context.Background(), l.ID, func(l Lease) { kept <- l })
		c.Advance(noon.Add(10 * time.Second)) // the old leader decides that it has run out
		awaitWall(t, "another leader", func() bool { l := c.leaderLife(); return l != nil && l.m != old })
		awaitWall(t, "its lease", func() bool { return c.has("a") })
		select {
		case r := <-kept:
			t.Fatalf("kept alive by a leader that was none any more: %+v", r)
		default:
		}
		c.Advance(noon.Add(11 * time.Second))
		net.set(nil)
		c.NetworkChanged()
		if r := <-kept; r.Outcome != Done { // by the new leader
			t.Errorf("%+v", r)
		}
		awaitWall(t, "all members", c.Settled)
		pause(time.Second, nil)
		if !c.has("a") {
			t.Error("what the deposed leader decided became real")
		}
	})
}

func TestManyLeasesThatRunOutTogetherEndOnceEachInFewEntries(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() { grant(c.follower(), 5*time.Second) })
		}
		wg.Wait()
		awaitWall(t, "the leader to count them all", c.Settled)
		before := c.leaderLife().peer.Load().LastIndex()
		for i := range 20 { // told again and again while the revokes are in flight
			c.Advance(noon.Add(5*time.Second + time.Duration(i)))
		}
		awaitWall(t, "the end of all", func() bool { return len(told.of(LeaseExpired)) == 500 })
		awaitWall(t, "rest", c.Settled)
		pause(time.Second, nil)
		if n := len(told.of(LeaseExpired)); n != 500 {
			t.Errorf("told %d times", n)
		}
		if n := c.leaderLife().peer.Load().LastIndex() - before; n > 10 {
			t.Errorf("they took %d entries", n)
		}
	})
}

func TestALeaseIsRevokedOnceAndBoundsOfItsTTLHold(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		l := grant(c.follower(), 0)
		if l.TTL != time.Second {
			t.Errorf("no time at all became %v", l.TTL)
		}
		hang(t, c.follower(), "a", l.ID)
		revoke := func() Written {
			return written(func(done func(Written)) { c.follower().RevokeLease(context.Background(), l.ID, done) })
		}
		wantOutcome(t, "revoke", revoke(), Done, nil)
		wantOutcome(t, "again", revoke(), Refused, ErrLeaseNotFound)
		if got := told.of(LeaseRevoked); len(got) != 1 || got[0].Keys != 1 || c.has("a") {
			t.Errorf("told %+v", got)
		}
		wantOutcome(t, "a lease for more than 285 years", grant(c.follower(), 1<<63-1).Written, Refused, ErrLeaseTTLTooLarge)
	})
}

func TestAMemberOverItsQuotaRaisesTheAlarmOnceAndPutsAreRefusedUntilThereIsSpaceAgain(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		f := c.follower()
		c.SetQuota(20_000)
		for i := range 5 {
			if r := put(f, "a", make([]byte, 3000)); r.Outcome != Done {
				t.Fatalf("write %d: %+v", i, r)
			}
		}
		put(f, "a", make([]byte, 10_000))
		awaitWall(t, "the alarm of each member", func() bool { return len(told.of(AlarmRaised)) == 3 })
		wantOutcome(t, "a put", put(f, "b", nil).Written, Refused, ErrNoSpace)
		wantOutcome(t, "a grant", grant(f, time.Minute).Written, Refused, ErrNoSpace)
		s := f.Status()
		if s.Quota != 20_000 || s.DBSize <= s.Quota || len(s.Alarms) != 3 || s.Alarms[0].Kind != mvcc.NoSpace {
			t.Errorf("status %+v", s)
		}
		disarm := func() Written {
			return written(func(done func(Written)) { f.Disarm(context.Background(), done) })
		}
		wantOutcome(t, "disarm", disarm(), Done, nil)
		awaitWall(t, "the alarms again", func() bool { return len(told.of(AlarmRaised)) == 6 })
		// The way out: compaction, defragmentation of each member, disarming.
		rev := f.Status().Revision
		wantOutcome(t, "compact", written(func(done func(Written)) { f.Compact(context.Background(), rev, done) }), Done, nil)
		awaitWall(t, "compaction everywhere", c.Settled)
		for _, m := range c.places() {
			if s := m.Status(); s.DBSize <= s.Quota {
				t.Errorf("compaction alone has shrunk the database to %d", s.DBSize)
			}
			ch := make(chan [2]int64, 1)
			m.Defragment(func(before, after int64, err error) {
				if err != nil {
					t.Error(err)
				}
				ch <- [2]int64{before, after}
			})
			if sizes := <-ch; sizes[1] >= sizes[0] || m.Status().DBSize != sizes[1] {
				t.Errorf("%s: %v, status %d", m.name, sizes, m.Status().DBSize)
			}
		}
		wantOutcome(t, "disarm", disarm(), Done, nil)
		wantOutcome(t, "a put", put(f, "b", nil).Written, Done, nil)
		awaitWall(t, "rest", c.Settled)
		if r, l, d := len(told.of(AlarmRaised)), len(told.of(AlarmLifted)), len(told.of(Defragmented)); r != 6 || l != 6 || d != 3 || len(f.Status().Alarms) != 0 {
			t.Errorf("%d raised, %d lifted, %d defragmented, %v in force", r, l, d, f.Status().Alarms)
		}
		if n := len(told.of(Compacted)); n != 1 {
			t.Errorf("compaction was told %d times", n)
		}
	})
}

// tamper changes the state of one member behind the others' backs.
func tamper(m *member) {
	m.current().peer.Load().WithState(func(kv *mvcc.Store) { kv.Apply(putting("a secret")) })
}

func TestAMemberWhoseStateDiffersIsStoppedAndNamedAtTheNextComparison(t *testing.T) {
	for _, role := range []string{"leader", "follower"} {
		t.Run(role, func(t *testing.T) {
			withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
				mustPut(t, c, "a")
				awaitWall(t, "all members", c.Settled)
				odd := c.leaderLife().m
				if role == "follower" {
					odd = c.follower()
				}
				tamper(odd)
				var other *member
				for _, m := range c.places() {
					if m != odd {
						other = m
					}
				}
				for i := 0; odd.Status().Up && i < 2000; i++ {
					put(other, fmt.Sprint("k", i%7), nil)
				}
				if s := odd.Status(); s.Up || !strings.Contains(s.Err, "differs from that of the majority at log index") {
					t.Fatalf("%+v", s)
				}
				awaitWall(t, "the alarm", func() bool {
					return slices.Contains(other.Status().Alarms, mvcc.Alarm{Kind: mvcc.Corrupt, Member: odd.name})
				})
				if got := told.of(Diverged); len(got) != 1 || got[0].Member != odd.name || got[0].Index == 0 {
					t.Errorf("told %+v", got)
				}
				awaitWall(t, "the rest at work", c.Settled)
				wantOutcome(t, "a write", put(other, "b", nil).Written, Done, nil)
			})
		})
	}
}

func TestWhereHalfTheMembersDifferTheAlarmSaysSoAndNobodyIsStopped(t *testing.T) {
	withNews(t, 2, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		mustPut(t, c, "a")
		awaitWall(t, "all members", c.Settled)
		tamper(c.follower())
		for i := 0; len(told.of(AlarmRaised)) == 0 && i < 2000; i++ {
			mustPut(t, c, fmt.Sprint("k", i%7))
		}
		if got := told.of(AlarmRaised, Diverged); len(got) != 1 || got[0].Alarm != (mvcc.Alarm{Kind: mvcc.Corrupt}) {
			t.Errorf("told %+v", got)
		}
	})
}

func TestHealthyMembersAreNeverFoundToDiffer(t *testing.T) {
	withNews(t, 3, func(t *testing.T, c *RaftCluster, _ *ruled, told *news) {
		for i := range 300 {
			if i%60 == 20 {
				c.KillMember(c.follower().name)
			}
			if i%60 == 50 {
				for _, m := range c.places() {
					c.StartMember(m.name)
				}
			}
			mustPut(t, c, fmt.Sprint("k", i%11))
		}
		awaitWall(t, "all members", c.Settled)
		pause(time.Second, nil)
		if got := told.of(Diverged, AlarmRaised); len(got) != 0 {
			t.Errorf("told %+v", got)
		}
		var hashes []mvcc.HashKV
		for _, m := range c.places() {
			h, err := m.HashKV(0)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, h)
		}
		if hashes[0] != hashes[1] || hashes[1] != hashes[2] || hashes[0].Hash == 0 {
			t.Errorf("%+v", hashes)
		}
		if _, err := c.places()[0].HashKV(1 << 40); err != ErrFutureRev {
			t.Errorf("of the future: %v", err)
		}
	})
}
