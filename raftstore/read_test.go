package raftstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// ruled is a network that a test rules, and counts what passes by kind and receiver.
type ruled struct {
	mu      sync.Mutex
	rule    func(Packet) Verdict
	counted map[string]int
}

func (n *ruled) set(rule func(Packet) Verdict) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rule, n.counted = rule, make(map[string]int)
}

func (n *ruled) count(key string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counted[key]
}

func (n *ruled) Verdict(p Packet) Verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.rule == nil {
		return Verdict{}
	}
	if !p.Reply {
		n.counted[p.Kind+" "+p.To]++
	}
	return n.rule(p)
}

// cut separates one member from all others.
func cut(name string) func(Packet) Verdict {
	return drops(func(p Packet) bool { return p.From == name || p.To == name })
}

// openRuled opens a cluster that snapshots often on a network that the test rules.
func openRuled(t *testing.T) (*RaftCluster, *ruled) {
	t.Helper()
	net, o := &ruled{}, snapshotting()
	o.Network = net
	return openLed(t, o), net
}

// drops is a rule that loses some messages.
func drops(lost func(Packet) bool) func(Packet) Verdict {
	return func(p Packet) Verdict { return Verdict{Drop: lost(p)} }
}

func readKey(s Store, key string, serializable bool, within time.Duration) RangeResult {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	ch := make(chan RangeResult, 1)
	s.Range(ctx, RangeRequest{Range: mvcc.Range{Key: key}, Serializable: serializable}, func(r RangeResult) { ch <- r })
	return <-ch
}

func TestARestartedMemberAnswersNoReadBeforeItHasCaughtUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, net := openRuled(t)
		for i := range 100 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		m := c.follower()
		c.KillMember(m.name)
		mustPut(t, c, "newest")
		net.set(cut(m.name))
		c.StartMember(m.name)
		watched := make(chan WatchBatch, 10)
		for range 3 {
			pause(time.Second, nil)
			for _, serializable := range []bool{false, true} {
				if r := readKey(m, "k1", serializable, 100*time.Millisecond); !errors.Is(r.Err, ErrTimeout) {
					t.Errorf("serializable %v: %+v", serializable, r)
				}
			}
		}
		if m.Status().Ready {
			t.Error("ready without having heard a leader")
		}
		m.Watch(WatchRequest{Prefix: ""}, func(b WatchBatch) { watched <- b })
		net.set(nil)
		c.NetworkChanged()
		for _, serializable := range []bool{true, false} {
			if r := readKey(m, "newest", serializable, 10*time.Second); r.Err != nil || r.Count != 1 {
				t.Errorf("serializable %v: %+v", serializable, r)
			}
		}
		// A watch from the next change on, begun while it lagged, does not begin with old ones.
		mustPut(t, c, "next")
		for b := range watched {
			if len(b.Events) > 0 {
				if got := b.Events[0].KV.Key; got != "next" {
					t.Errorf("the watch began with %s", got)
				}
				break
			}
		}
	})
}

func TestAReadIsConfirmedAlthoughOneMemberIsSilentAndAnotherRefusesForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &ruled{}
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, Network: net})
		mustPut(t, c, "a")
		lead := c.leaderLife().m
		var silent, refusing string
		for _, m := range c.places() {
			switch {
			case m == lead:
			case silent == "":
				silent = m.name
			default:
				refusing = m.name
			}
		}
		net.set(func(p Packet) Verdict {
			return Verdict{Drop: p.Kind == "term" && p.To == silent, Refuse: p.Kind == "term" && p.To == refusing}
		})
		read := make(chan RangeResult, 1)
		at := time.Now()
		lead.Range(t.Context(), RangeRequest{Range: mvcc.Range{Key: "a"}}, func(r RangeResult) { read <- r })
		pause(2*time.Second, nil)
		if len(read) > 0 {
			t.Fatalf("a read that nobody confirmed: %+v", <-read)
		}
		// Who refuses is asked again in a while, and not without pause.
		if n, most := net.count("term "+refusing), int(2*time.Second/retryEvery)+10; n < 10 || n > most {
			t.Errorf("the one that refuses was asked %d times in 2 s; want 10 to %d", n, most)
		}
		net.set(func(p Packet) Verdict { return Verdict{Drop: p.Kind == "term" && p.To == silent} })
		c.NetworkChanged()
		select {
		case r := <-read:
			if r.Err != nil || r.Count != 1 {
				t.Errorf("%+v", r)
			}
		case <-time.After(time.Second):
			t.Errorf("the read hangs %v after it was asked, although a majority would confirm it", time.Since(at))
		}
	})
}

func TestReadsWithoutALeaderAreRetriedWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &ruled{}
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, Network: net})
		mustPut(t, c, "a")
		m := c.follower()
		lead := c.leaderLife().m.name
		// The leader says nothing useful: the question for the index is refused.
		net.set(func(p Packet) Verdict { return Verdict{Refuse: p.Kind == "index"} })
		var wg sync.WaitGroup
		for i := range 500 { // a client with many readers
			wg.Go(func() {
				pause(time.Duration(i)*2*time.Millisecond, nil)
				if r := readKey(m, "a", false, 3*time.Second); r.Err != nil {
					t.Error(r.Err)
				}
			})
		}
		pause(time.Second, nil)
		asked := net.count("index " + lead)
		net.set(nil)
		wg.Wait()
		if asked > 650 { // at most one for each read that comes, and a hundred a second
			t.Errorf("asked %d times in a second", asked)
		}
	})
}

func TestAStaleLeaderConfirmsNoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &ruled{}
		c := openLed(t, Options{Members: names(5), InMemory: true, Rate: 5, Network: net})
		mustPut(t, c, "a")
		old := c.leaderLife().m
		net.set(cut(old.name))
		if r := readKey(old, "a", false, 5*time.Second); !errors.Is(r.Err, ErrTimeout) {
			t.Errorf("%+v", r)
		}
		awaitWall(t, "another leader", func() bool { l := c.leaderLife(); return l != nil && l.m != old })
		mustPut(t, c, "b")
		net.set(nil)
		c.NetworkChanged()
		if r := readKey(old, "b", false, 15*time.Second); r.Err != nil || r.Count != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestWhoForgotItsTermOrHasAnotherIdentityVouchesForNoLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5})
		mustPut(t, c, "a")
		l := c.follower().current()
		if yes := l.asked("x", termQuestion{term: 1 << 40, id: l.who.ID}); yes != true {
			t.Errorf("a voter in an earlier term said %v", yes)
		}
		if yes := l.asked("x", termQuestion{term: 1 << 40, id: "another"}); yes != false {
			t.Errorf("asked as somebody else it said %v", yes)
		}
		for _, m := range c.places() { // nobody can catch the wiped one up
			c.KillMember(m.name)
		}
		c.WipeMember(l.m.name)
		c.StartMember(l.m.name)
		awaitWall(t, "its start", func() bool { l := l.m.current(); return l != nil && l.peer.Load() != nil })
		if yes := l.m.current().asked("x", termQuestion{term: 1 << 40, id: l.who.ID}); yes != false {
			t.Errorf("a wiped member said %v", yes)
		}
	})
}

func TestAMemberStopsAtOnceWhateverItsLinksDo(t *testing.T) {
	for what, rule := range map[string]func(Packet) Verdict{
		"silent": func(Packet) Verdict { return Verdict{Drop: true} },
		"slow":   func(Packet) Verdict { return Verdict{Delay: 10 * time.Second} },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := &ruled{}
				c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, Network: net})
				l := c.leaderLife()
				net.set(rule)
				done := make(chan TxnResult, 1)
				l.m.Txn(t.Context(), mvcc.Txn{Then: []mvcc.Op{{Key: "a"}}}, func(r TxnResult) { done <- r })
				pause(100*time.Millisecond, nil)
				at := time.Now()
				c.KillMember(l.m.name)
				l.m.waitDown()
				if took := time.Since(at); took > 100*time.Millisecond {
					t.Errorf("its disk was free after %v", took)
				}
				if r := <-done; r.Outcome != Unknown {
					t.Errorf("%v", r.Outcome)
				}
			})
		})
	}
}

// lastRoles keeps what an observer heard last of each member.
type lastRoles struct {
	nobody
	mu   sync.Mutex
	last map[string]MemberStatus
}

func (o *lastRoles) RoleChanged(s MemberStatus) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last[s.Name] = s
}

func TestTheLastRoleToldIsTheRoleAMemberHasHoweverFastTheyChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &ruled{}
		obs := &lastRoles{last: make(map[string]MemberStatus)}
		c := openLed(t, Options{Members: names(5), InMemory: true, Rate: 5, Network: net, Observer: obs})
		for i := range 20 {
			net.set(cut(names(5)[i%5]))
			c.NetworkChanged()
			pause(time.Duration(i*83%700)*time.Millisecond, nil)
		}
		net.set(nil)
		c.NetworkChanged()
		awaitWall(t, "a settled cluster", c.Settled)
		pause(time.Second, nil)
		obs.mu.Lock()
		defer obs.mu.Unlock()
		for _, s := range c.Status() {
			if told := obs.last[s.Name]; told.Role != s.Role || told.Term != s.Term || told.Leader != s.Leader {
				t.Errorf("%s is %s in term %d behind %s; told %s, %d, %s", s.Name, s.Role, s.Term, s.Leader, told.Role, told.Term, told.Leader)
			}
		}
	})
}

func TestALinkThatHealsAfterALongTimeIsCaughtUpAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, net := openRuled(t)
		m := c.follower()
		_, term := c.leaderLife().peer.Load().Role()
		net.set(cut(m.name))
		for range 30 { // by then raft's pauses between two tries have long reached their longest, 10 s
			pause(10*time.Second, nil)
			mustPut(t, c, "a")
		}
		net.set(nil)
		c.NetworkChanged()
		at := time.Now()
		awaitWall(t, "its log", func() bool { return m.current().peer.Load().Applied() >= c.leaderLife().peer.Load().CommitIndex() })
		if took := time.Since(at); took > 2*time.Second {
			t.Errorf("caught up after %v", took)
		}
		if _, now := c.leaderLife().peer.Load().Role(); now != term {
			t.Errorf("term %d, was %d: who was away has unseated the leader", now, term)
		}
	})
}

func TestANewestSnapshotThatIsDamagedCostsNothing(t *testing.T) {
	t.Parallel()
	o := Options{Members: names(1), Dir: t.TempDir(), Rate: 5, SnapshotThreshold: 20, TrailingLogs: 60, SnapshotInterval: 10 * time.Millisecond, Sync: true}
	c := openLed(t, o)
	newest := func() string {
		found, _ := filepath.Glob(filepath.Join(o.Dir, "master-1", "snapshots", "*.snap"))
		if len(found) < 3 {
			return ""
		}
		return found[len(found)-1]
	}
	n := 0
	for ; newest() == ""; n++ {
		mustPut(t, c, fmt.Sprint("k", n))
	}
	hash := c.leaderLife().peer.Load().View().Hash()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	path := newest()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	c = openLed(t, o)
	mustRead := readKey(c.Store("master-1"), "k0", false, 5*time.Second)
	if got := c.leaderLife().peer.Load().View().Hash(); mustRead.Err != nil || got != hash {
		t.Errorf("state %x, was %x; %v", got, hash, mustRead.Err)
	}
}

func TestDuplicatesAndReorderingNeverApplyAWriteTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, net := openRuled(t)
		var n int
		net.set(func(p Packet) Verdict {
			n++
			return Verdict{Copies: n % 3, Delay: time.Duration(n*7%23) * time.Millisecond}
		})
		stop := startTraffic(t, c)
		pause(5*time.Second, nil)
		join(t, c, "master-4")
		pause(2*time.Second, nil)
		net.set(nil)
		stop(t)
		view := c.leaderLife().peer.Load().View()
		all, err := view.Range(mvcc.Range{Key: "\x00", End: mvcc.PrefixEnd("")})
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range all.KVs {
			if kv.Version != 1 {
				t.Errorf("%s was written once and has version %d", kv.Key, kv.Version)
			}
		}
		if m := c.Membership(); m.Voters() != 4 {
			t.Errorf("%+v", m)
		}
	})
}
