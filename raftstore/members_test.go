package raftstore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// changed calls for a change of members and waits for its end.
func changed(t testing.TB, change func(context.Context, string, func(Written)), name string, within time.Duration) Written {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	ch := make(chan Written, 1)
	change(ctx, name, func(w Written) { ch <- w })
	return <-ch
}

func mustChange(t testing.TB, change func(context.Context, string, func(Written)), name string) {
	t.Helper()
	if w := changed(t, change, name, 30*time.Second); w.Outcome != Done || w.Err != nil || w.Index == 0 {
		t.Fatalf("%s: %+v", name, w)
	}
}

// join adds a member, starts it, and makes it a voter as soon as it may be one.
func join(t testing.TB, c *RaftCluster, name string) {
	t.Helper()
	mustChange(t, c.AddMember, name)
	if err := c.StartMember(name); err != nil {
		t.Fatal(err)
	}
	promoteWhenReady(t, c, name)
}

func promoteWhenReady(t testing.TB, c *RaftCluster, name string) {
	t.Helper()
	awaitWall(t, "promotion of "+name, func() bool {
		w := changed(t, c.PromoteMember, name, 30*time.Second)
		if w.Outcome != Done && !errors.Is(w.Err, ErrLearnerNotReady) {
			t.Fatalf("promote %s: %+v", name, w)
		}
		return w.Outcome == Done
	})
}

func voters(c *RaftCluster) []string {
	var names []string
	for _, m := range c.Membership().Members {
		if !m.Learner {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// traffic writes through all members that are up and reads back what it wrote, until stop, which reports what went wrong.
type traffic struct {
	c    *RaftCluster
	over context.Context
	wg   sync.WaitGroup

	mu    sync.Mutex
	acked map[string]int64 // revision of each key whose write was acknowledged
	wrong []string
}

func startTraffic(t *testing.T, c *RaftCluster) func(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	tr := &traffic{c: c, over: ctx, acked: make(map[string]int64)}
	for w := range 4 {
		tr.wg.Go(func() { tr.run(w) })
	}
	return func(t *testing.T) {
		t.Helper()
		awaitWall(t, "traffic worth the name", func() bool {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			return len(tr.acked) >= 100
		})
		cancel()
		tr.wg.Wait()
		awaitWall(t, "a settled cluster", c.Settled)
		for _, w := range tr.wrong {
			t.Error(w)
		}
		view := c.leaderLife().peer.Load().View()
		for key, rev := range tr.acked {
			if res, _ := view.Range(mvcc.Range{Key: key}); res.Count != 1 || res.KVs[0].ModRevision != rev {
				t.Errorf("%s was acknowledged at revision %d: %+v", key, rev, res.KVs)
			}
		}
		for _, m := range c.Membership().Members {
			l := c.find(m.Name).current()
			if l == nil {
				continue
			}
			if got := l.peer.Load().View().Hash(); got != view.Hash() {
				t.Errorf("%s differs from the leader", m.Name)
			}
		}
	}
}

func (tr *traffic) run(w int) {
	var newest int64 // no read may fall behind it
	for i := 0; tr.over.Err() == nil; i++ {
		places := tr.c.places()
		m := places[(w+i)%len(places)]
		key := fmt.Sprint("w", w, "-", i)
		give, stop := context.WithTimeout(context.Background(), 2*time.Second)
		wrote := make(chan TxnResult, 1)
		m.Txn(give, mvcc.Txn{Then: []mvcc.Op{{Key: key, Value: []byte(key)}}}, func(r TxnResult) { wrote <- r })
		r := <-wrote
		if r.Outcome == Done {
			newest = r.Result.Revision
			tr.mu.Lock()
			tr.acked[key] = newest
			tr.mu.Unlock()
			read := make(chan RangeResult, 1)
			other := places[(w+2*i+1)%len(places)]
			other.Range(give, RangeRequest{Range: mvcc.Range{Key: key}}, func(r RangeResult) { read <- r })
			if got := <-read; got.Err == nil && (got.Revision < newest || got.Count != 1) {
				tr.mu.Lock()
				tr.wrong = append(tr.wrong, fmt.Sprintf("%s, acknowledged at revision %d, is read through %s as %+v", key, newest, other.name, got))
				tr.mu.Unlock()
			}
		}
		stop()
		pause(7*time.Millisecond, nil)
	}
}

func snapshotting() Options {
	return Options{Members: names(3), InMemory: true, Rate: 5, SnapshotThreshold: 60, TrailingLogs: 30, SnapshotInterval: 100 * time.Millisecond}
}

func TestGrowFromThreeToFiveUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, snapshotting())
		stop := startTraffic(t, c)
		pause(time.Second, nil)
		for _, name := range names(5)[3:] {
			join(t, c, name)
			pause(500*time.Millisecond, nil)
		}
		stop(t)
		if got := voters(c); !slices.Equal(got, names(5)) {
			t.Errorf("voters %v", got)
		}
		// Five tolerate two failures, whichever.
		c.KillMember(c.leaderLife().m.name)
		awaitWall(t, "a leader", c.Led)
		c.KillMember(c.leaderLife().m.name)
		awaitWall(t, "a leader of three of five", c.Settled)
		mustPut(t, c, "after")
	})
}

func TestShrinkFromFiveToThreeUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := snapshotting()
		o.Members = names(5)
		c := openLed(t, o)
		stop := startTraffic(t, c)
		pause(time.Second, nil)
		for _, name := range names(5)[3:] {
			mustChange(t, c.RemoveMember, name)
			awaitWall(t, name+" to hear of it", func() bool { s := c.Store(name).Status(); return !s.Up && s.Err == RemovedReason(name) })
			pause(300*time.Millisecond, nil)
		}
		stop(t)
		if got := voters(c); !slices.Equal(got, names(3)) {
			t.Errorf("voters %v", got)
		}
		// Two of the three are a majority now.
		c.KillMember("master-1")
		awaitWall(t, "a leader of two of three", c.Settled)
		mustPut(t, c, "after")
	})
}

func TestTheLeaderIsRemovedUnderLoad(t *testing.T) {
	for _, n := range []int{3, 4, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := snapshotting()
				o.Members = names(n)
				c := openLed(t, o)
				stop := startTraffic(t, c)
				for range n - 1 {
					pause(time.Second, nil)
					awaitWall(t, "a leader", c.Led)
					lead := c.leaderLife().m.name
					mustChange(t, c.RemoveMember, lead)
					awaitWall(t, lead+" to stop", func() bool { s := c.Store(lead).Status(); return !s.Up && s.Err == RemovedReason(lead) })
				}
				stop(t)
				if got := voters(c); len(got) != 1 {
					t.Errorf("voters %v", got)
				}
				mustPut(t, c, "alone")
				if w := changed(t, c.RemoveMember, voters(c)[0], 5*time.Second); w.Outcome != Refused || !errors.Is(w.Err, ErrNotEnoughStarted) {
					t.Errorf("removing the last: %+v", w)
				}
			})
		})
	}
}

func TestThatALeaderRemovedItselfIsKnownThoughNobodyLeftKnowsThatItIsCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net, told, o := &ruled{}, &news{}, snapshotting()
		o.Network, o.Observer = net, told
		c := openLed(t, o)
		mustPut(t, c, "a")
		lead := c.leaderLife().m.name
		net.set(drops(func(p Packet) bool { return p.From != lead && p.To != lead })) // the others hear of it and cannot agree without it
		changed(t, c.RemoveMember, lead, 30*time.Second)                              // the leader may be gone before it can answer
		if n := len(told.of(MembersChanged)); n != 2 {
			t.Fatalf("%d configurations were told, want the first and the one without %s", n, lead)
		}
		pause(3*time.Second, nil)
		if c.Led() {
			t.Fatal("the others agreed over a link that is cut")
		}
		if got := voters(c); len(got) != 2 || slices.Contains(got, lead) {
			t.Errorf("after %s was removed the voters are %v", lead, got)
		}
		net.set(nil)
		c.NetworkChanged()
		awaitWall(t, "a leader", c.Led)
	})
}

func TestADeadMemberIsReplacedByRemovingItFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, snapshotting())
		stop := startTraffic(t, c)
		pause(time.Second, nil)
		dead := c.follower().name
		c.KillMember(dead)
		pause(2*activeWithin, nil)
		// With one of three dead, a fourth that fails as well would cost the quorum.
		if w := changed(t, c.AddMember, "master-4", 10*time.Second); w.Outcome != Refused || !errors.Is(w.Err, ErrUnhealthy) {
			t.Errorf("adding first: %+v", w)
		}
		mustChange(t, c.RemoveMember, dead)
		join(t, c, "master-4")
		stop(t)
		want := slices.DeleteFunc(names(4), func(n string) bool { return n == dead })
		if got := voters(c); !slices.Equal(got, want) {
			t.Errorf("voters %v, want %v", got, want)
		}
		if s := c.Store("master-4").Status(); s.ID != "master-4" || s.Role == Learner {
			t.Errorf("the new member: %+v", s)
		}
	})
}

func TestAPlaceThatJoinsAgainIsAnotherMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, snapshotting())
		stop := startTraffic(t, c)
		pause(time.Second, nil)
		for round := 2; round <= 3; round++ {
			name := c.follower().name
			if round == 3 {
				name = "master-1"
			}
			mustChange(t, c.RemoveMember, name)
			join(t, c, name)
			pause(300*time.Millisecond, nil)
		}
		for range 2 {
			mustChange(t, c.RemoveMember, "master-2")
			join(t, c, "master-2")
		}
		stop(t)
		m, _ := c.Membership().Find("master-2")
		if n := len(m.ID); n < len("master-2#3") || c.Store("master-2").Status().ID != m.ID {
			t.Errorf("%+v, status %+v", m, c.Store("master-2").Status())
		}
		if got := voters(c); !slices.Equal(got, names(3)) {
			t.Errorf("voters %v", got)
		}
	})
}

func TestAMemberRemovedWhileAwayIsToldWhenItComesBackAndDisturbsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &counter{}
		o := snapshotting()
		o.Observer = obs
		c := openLed(t, o)
		away := c.follower().name
		c.KillMember(away)
		for i := range 200 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		mustChange(t, c.RemoveMember, away)
		_, term := c.leaderLife().peer.Load().Role()
		for range 3 {
			if err := c.StartMember(away); err != nil {
				t.Fatal(err)
			}
			awaitWall(t, "the end of it", func() bool { s := c.Store(away).Status(); return !s.Up && s.Err == RemovedReason(away) })
		}
		pause(5*time.Second, nil)
		if _, now := c.leaderLife().peer.Load().Role(); now != term {
			t.Errorf("term %d, was %d", now, term)
		}
		mustPut(t, c, "after")
	})
}

func TestWithoutAQuorumNobodyComesOrGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, snapshotting())
		lead := c.leaderLife().m.name
		for _, n := range names(3) {
			if n != lead {
				c.KillMember(n)
			}
		}
		dead := names(3)[0]
		if dead == lead {
			dead = names(3)[1]
		}
		before := c.Membership()
		for what, change := range map[string]func(context.Context, string, func(Written)){"remove": c.RemoveMember, "add": c.AddMember} {
			name := dead
			if what == "add" {
				name = "master-4"
			}
			if w := changed(t, change, name, 5*time.Second); w.Outcome == Done || !errors.Is(w.Err, ErrTimeout) {
				t.Errorf("%s: %+v", what, w)
			}
		}
		if got := c.Membership(); got.Index != before.Index {
			t.Errorf("membership %+v", got)
		}
	})
}

func TestALearnerGetsDataAndHasNoSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, snapshotting())
		for i := range 100 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		mustChange(t, c.AddMember, "master-4")
		if w := changed(t, c.PromoteMember, "master-4", 5*time.Second); !errors.Is(w.Err, ErrLearnerNotReady) {
			t.Errorf("promoting one that does not run: %+v", w)
		}
		if w := changed(t, c.AddMember, "master-5", 5*time.Second); !errors.Is(w.Err, ErrTooManyLearners) {
			t.Errorf("a second learner: %+v", w)
		}
		if w := changed(t, c.AddMember, "master-4", 5*time.Second); !errors.Is(w.Err, ErrMemberExists) {
			t.Errorf("adding it twice: %+v", w)
		}
		if w := changed(t, c.PromoteMember, "master-1", 5*time.Second); !errors.Is(w.Err, ErrMemberNotLearner) {
			t.Errorf("promoting a voter: %+v", w)
		}
		c.StartMember("master-4")
		s := c.Store("master-4")
		awaitWall(t, "a learner that has caught up", func() bool { return s.Status().Ready })
		if got := s.Status().Role; got != Learner {
			t.Errorf("role %s", got)
		}
		read := make(chan RangeResult, 1)
		s.Range(t.Context(), RangeRequest{Range: mvcc.Range{Key: "k7"}}, func(r RangeResult) { read <- r })
		if r := <-read; !errors.Is(r.Err, ErrLearner) {
			t.Errorf("a linearizable read: %+v", r)
		}
		s.Range(t.Context(), RangeRequest{Range: mvcc.Range{Key: "k7"}, Serializable: true}, func(r RangeResult) { read <- r })
		if r := <-read; r.Err != nil || r.Count != 1 {
			t.Errorf("a serializable read: %+v", r)
		}
		id := grant(c.Store("master-1"), time.Hour).ID
		for what, w := range map[string]Written{
			"a write":                   put(s, "x", nil).Written,
			"a compaction":              written(func(done func(Written)) { s.Compact(t.Context(), 2, done) }),
			"the grant of a lease":      grant(s, time.Hour).Written,
			"the end of a lease":        written(func(done func(Written)) { s.RevokeLease(t.Context(), id, done) }),
			"keeping a lease alive":     keepAliveOf(s, id).Written,
			"the lifting of all alarms": written(func(done func(Written)) { s.Disarm(t.Context(), done) }),
		} {
			if w.Outcome != Refused || !errors.Is(w.Err, ErrLearner) {
				t.Errorf("%s: %+v", what, w)
			}
		}
		// The quorum is still that of three: with two dead there is no leader, learner or not.
		var dead []string
		for _, n := range names(3) {
			if n != c.leaderLife().m.name {
				dead = append(dead, n)
			}
		}
		c.KillMember(dead[0])
		c.KillMember(dead[1])
		awaitWall(t, "no leader", func() bool { return !c.Led() })
		pause(5*time.Second, nil)
		if c.Led() {
			t.Error("a leader by the vote of a learner")
		}
		c.StartMember(dead[0])
		awaitWall(t, "a leader", c.Led)
		promoteWhenReady(t, c, "master-4")
		awaitWall(t, "its new role", func() bool { return s.Status().Role != Learner })
		if r := put(s, "x", nil); r.Outcome != Done {
			t.Errorf("a write through the new voter: %+v", r)
		}
	})
}

func TestEachConfigurationIsToldOnceTheFirstAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &news{}
		o := snapshotting()
		o.Observer = told
		c := openLed(t, o)
		if first := told.of(MembersChanged); len(first) != 1 || len(first[0].Membership.Members) != 3 {
			t.Fatalf("told at the start: %+v", first)
		}
		join(t, c, "master-4")
		mustChange(t, c.RemoveMember, "master-1")
		for i := range 100 { // snapshots, and restarts from them
			mustPut(t, c, fmt.Sprint("k", i))
		}
		c.KillMember("master-2")
		awaitWall(t, "a leader", c.Led)
		c.StartMember("master-2")
		awaitWall(t, "a settled cluster", c.Settled)
		var seen []string
		var index uint64
		for _, change := range told.of(MembersChanged) {
			m := change.Membership
			if m.Index <= index {
				t.Errorf("index %d after %d", m.Index, index)
			}
			index = m.Index
			if m.Term == 0 {
				t.Errorf("no term: %+v", m)
			}
			seen = append(seen, fmt.Sprint(len(m.Members), "/", m.Voters(), "/", m.Quorum()))
		}
		if want := []string{"3/3/2", "4/3/2", "4/4/3", "3/3/2"}; !slices.Equal(seen, want) {
			t.Errorf("told %v, want %v", seen, want)
		}
	})
}

func TestAFolderOpensTheMembersItHasByNow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Options{Members: names(3), Dir: dir, Rate: 5}
	c := openLed(t, o)
	mustPut(t, c, "a")
	join(t, c, "master-4")
	mustChange(t, c.RemoveMember, "master-1")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for _, given := range [][]string{names(3), {"master-2", "master-3", "master-4"}, names(4)[:3]} {
		c = openLed(t, Options{Members: given, Dir: dir, Rate: 5})
		awaitWall(t, "a settled cluster", c.Settled)
		if got := voters(c); !slices.Equal(got, []string{"master-2", "master-3", "master-4"}) {
			t.Errorf("voters %v", got)
		}
		if got := c.Members(); !slices.Equal(got, names(4)) {
			t.Errorf("places %v", got)
		}
		if s := c.Store("master-1").Status(); s.Up || s.Err != RemovedReason("master-1") {
			t.Errorf("the removed one: %+v", s)
		}
		if s := c.Store("master-4").Status(); s.ID != "master-4" || !s.Up {
			t.Errorf("the one that joined: %+v", s)
		}
		mustPut(t, c, "b")
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(Options{Members: names(5), Dir: dir}); err == nil {
		t.Error("opened with members that it never had")
	} else {
		t.Log(err)
	}
}

func TestWhatARemovedMemberLeftIsSetAsideAndNotDeleted(t *testing.T) {
	t.Parallel()
	for _, memory := range []bool{true, false} {
		t.Run(fmt.Sprint("memory ", memory), func(t *testing.T) {
			o := Options{Members: names(3), InMemory: memory, Rate: 5}
			if !memory {
				o.Dir = t.TempDir()
			}
			told := &news{}
			o.Observer = told
			c := openLed(t, o)
			mustPut(t, c, "a")
			victim := c.follower().name
			mustChange(t, c.RemoveMember, victim)
			mustChange(t, c.AddMember, victim)
			if c.find(victim).disk.Used() {
				t.Error("the place is not empty")
			}
			if aside := told.of(SetAside); len(aside) != 1 || aside[0].Member != victim || (aside[0].Text == "") != memory {
				t.Errorf("told %+v", aside)
			}
			c.StartMember(victim)
			promoteWhenReady(t, c, victim)
			awaitWall(t, "a settled cluster", c.Settled)
			if s := c.Store(victim).Status(); s.ID != victim+"#2" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// A name is that of a folder beside the store's own files, and what a removed member leaves, or a restore prepares, lies beside it under a longer one.
func TestANameThatIsNoMachinesIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openLed(t, Options{Members: names(1), Dir: dir, Rate: 5})
	before := everything(t, filepath.Dir(dir))
	for _, name := range []string{"", ".", "..", "../master-4", "a/b", `a\b`, "/tmp/x", "master-1.used", "master-4.restoring", "master-1#2", "lock", "members.json", "Master", "-a", "a-", "a\x00b", strings.Repeat("a", 64)} {
		if w := changed(t, c.AddMember, name, 5*time.Second); w.Outcome != Refused || errors.Is(w.Err, ErrTimeout) {
			t.Errorf("adding %q: %+v", name, w)
		}
		if _, err := Open(Options{Members: []string{name}, InMemory: true}); err == nil {
			t.Errorf("a cluster of %q was opened", name)
		}
	}
	for path := range everything(t, filepath.Dir(dir)) {
		if _, was := before[path]; !was {
			t.Errorf("%s was made", path)
		}
	}
	if got := c.Members(); len(got) != 1 {
		t.Errorf("members %q", got)
	}
	for _, name := range []string{"a", "9", "master-10", strings.Repeat("a", 63)} {
		if err := CheckMemberName(name); err != nil {
			t.Error(err)
		}
	}
}

func TestAHealthyMemberIsNotRemovedWhileOneThatIsNeededHasNoVote(t *testing.T) {
	for _, justDown := range []bool{false, true} {
		t.Run(map[bool]string{false: "it runs", true: "it ended a moment ago, and comes back without one"}[justDown], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, net := openRuled(t)
				mustPut(t, c, "a")
				lead, wiped := c.leaderLife().m.name, c.follower().name
				healthy := voters(c)[slices.IndexFunc(voters(c), func(name string) bool { return name != lead && name != wiped })]
				c.KillMember(wiped)
				c.WipeMember(wiped)
				net.set(drops(func(p Packet) bool { return p.To == wiped && (p.Kind == "append" || p.Kind == "snapshot") })) // it is heard, and learns nothing
				c.StartMember(wiped)
				awaitWall(t, "a member without a vote", func() bool { return c.Store(wiped).Status().Err != "" && c.Store(wiped).Status().Leader == lead })
				if justDown {
					c.KillMember(wiped)
				}
				if w := changed(t, c.RemoveMember, healthy, 10*time.Second); w.Outcome != Refused || !errors.Is(w.Err, ErrUnhealthy) {
					t.Errorf("removing %s: %+v", healthy, w)
				}
				if w := changed(t, c.RemoveMember, wiped, 10*time.Second); w.Outcome != Done {
					t.Errorf("removing the one that has no vote: %+v", w)
				}
			})
		})
	}
}
