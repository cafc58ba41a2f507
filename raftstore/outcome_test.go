package raftstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/internal/peer"
	"example.com/kubeviz/raftstore/mvcc"
)

func putting(key string) mvcc.Txn { return mvcc.Txn{Then: []mvcc.Op{{Key: key, Value: []byte("v")}}} }

// asking starts a write and returns where its answer will be.
func asking(ctx context.Context, s Store, key string) chan TxnResult {
	ch := make(chan TxnResult, 2)
	s.Txn(ctx, putting(key), func(r TxnResult) { ch <- r })
	return ch
}

// versions reads how often a key was written, from the leader's state.
func (c *RaftCluster) versions(key string) int64 {
	res, _ := c.leaderLife().peer.Load().View().Range(mvcc.Range{Key: key})
	if len(res.KVs) == 0 {
		return 0
	}
	return res.KVs[0].Version
}

// inBubble runs do with a led cluster of three in memory.
func inBubble(t *testing.T, do func(t *testing.T, c *RaftCluster, net *ruled)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		net := &ruled{}
		do(t, openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, Network: net, SnapshotThreshold: 20, TrailingLogs: 10, SnapshotInterval: 50 * time.Millisecond}), net)
	})
}

func wantOutcome(t *testing.T, what string, r Written, outcome Outcome, err error) {
	t.Helper()
	if r.Outcome != outcome || !errors.Is(r.Err, err) {
		t.Errorf("%s: %v, %v; want %v, %v", what, r.Outcome, r.Err, outcome, err)
	}
}

func TestWritesHandedToTheLeaderTwiceAreAppliedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, _ *ruled) {
		lead := c.leaderLife()
		_, term := lead.peer.Load().Role()
		id := c.follower().current().newID()
		q := forwardedWrites{term: term, writes: []peer.Encoded{peer.EncodeTxn(id, putting("a"))}}
		for range 3 {
			if lead.asked("a follower", q) != true {
				t.Fatal("the leader refused them")
			}
			mustPut(t, c, "between") // so that the copies are in different entries
		}
		if n := c.versions("a"); n != 1 {
			t.Errorf("the write was applied %d times", n)
		}
	})
}

func TestWritesThroughAFollowerSurviveLostQuestionsAndLostAnswersAndAreAppliedOnce(t *testing.T) {
	for name, drop := range map[string]func(Packet, int) bool{
		"the question is lost five times": func(p Packet, n int) bool { return !p.Reply && n <= 5 },
		"the answer is lost five times":   func(p Packet, n int) bool { return p.Reply && n <= 5 },
		"the answer never comes":          func(p Packet, n int) bool { return p.Reply },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *RaftCluster, net *ruled) {
				n := 0
				net.set(drops(func(p Packet) bool {
					if p.Kind != "forward" {
						return false
					}
					n++
					return drop(p, n)
				}))
				r := <-asking(context.Background(), c.follower(), "a")
				wantOutcome(t, "write", r.Written, Done, nil)
				mustPut(t, c, "b")
				if n := c.versions("a"); n != 1 {
					t.Errorf("it was applied %d times", n)
				}
			})
		})
	}
}

func TestAWriteInALeaderThatIsCutOffIsUnknownUntilALaterTermRefusesIt(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, net *ruled) {
		old := c.leaderLife().m
		net.set(cut(old.name))
		give, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		impatient, patient := asking(give, old, "impatient"), asking(context.Background(), old, "patient")
		wantOutcome(t, "who gives up", (<-impatient).Written, Unknown, ErrTimeout)
		awaitWall(t, "another leader", func() bool { l := c.leaderLife(); return l != nil && l.m != old })
		late, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer stop()
		wantOutcome(t, "who comes when no leader is known", (<-asking(late, old, "late")).Written, Refused, ErrTimeout)
		select {
		case r := <-patient:
			t.Fatalf("answered while nobody could know: %+v", r)
		default:
		}
		net.set(nil)
		c.NetworkChanged()
		wantOutcome(t, "who waits", (<-patient).Written, Refused, ErrLeaderChanged)
		for _, key := range []string{"impatient", "patient", "late"} {
			if c.versions(key) != 0 {
				t.Errorf("%s is there", key)
			}
		}
	})
}

func TestAWriteThatASnapshotMayHoldIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, net *ruled) {
		for try := range 5 {
			f, key := c.follower(), fmt.Sprint("a", try)
			// The leader gets its write, and it hears of nothing until a snapshot comes.
			net.set(drops(func(p Packet) bool {
				return (p.From == f.name && (p.Kind != "forward" || p.Reply)) || (p.To == f.name)
			}))
			answer := asking(context.Background(), f, key)
			awaitWall(t, "the write", func() bool { l := c.leaderLife(); return l != nil && c.versions(key) == 1 })
			for i := range 60 {
				mustPut(t, c, fmt.Sprint("k", i))
			}
			pause(time.Second, nil)
			net.set(nil)
			c.NetworkChanged()
			w := (<-answer).Written
			if w.Outcome == Done { // the entry itself was on its way since before the log was cut, and came first
				awaitWall(t, "a settled cluster", c.Settled)
				continue
			}
			wantOutcome(t, "the write", w, Unknown, ErrLeaderChanged)
			return
		}
		t.Error("no snapshot came before the entry")
	})
}

func TestALeaderKilledByATrapLeavesEachWriteEitherDoneOrRefusedAndSaysTheTruth(t *testing.T) {
	for _, at := range []failure.Point{failure.BeforePropose, failure.AfterPropose, failure.BeforeForward, failure.AfterForward, failure.BeforeApply, failure.AfterApply} {
		for _, through := range []string{"leader", "follower"} {
			t.Run(string(at)+" through the "+through, func(t *testing.T) {
				inBubble(t, func(t *testing.T, c *RaftCluster, _ *ruled) {
					lead, f := c.leaderLife().m, c.follower()
					victim, store := lead, Store(lead)
					if through == "follower" {
						store = f
					}
					if at == failure.BeforeForward || at == failure.AfterForward {
						if victim = f; through == "leader" {
							t.Skip("a leader forwards nothing")
						}
					}
					c.Traps().Set(failure.Trap{Member: victim.name, Point: at, Action: failure.Kill})
					var answers []chan TxnResult
					for i := range 5 {
						answers = append(answers, asking(context.Background(), store, fmt.Sprint("k", i)))
						pause(5*time.Millisecond, nil)
					}
					awaitWall(t, "the kill", func() bool { return !victim.Status().Up })
					awaitWall(t, "a leader", c.Settled)
					// Whoever was handed over and not applied learns it from the new leader's mark; those of a member that is dead are told at once.
					for i, a := range answers {
						r := <-a
						there := c.versions(fmt.Sprint("k", i))
						if r.Outcome == Done && there != 1 || r.Outcome == Refused && there != 0 || there > 1 {
							t.Errorf("k%d is %v (%v), and was written %d times", i, r.Outcome, r.Err, there)
						}
					}
				})
			})
		}
	}
}

// each calls every kind of write of a member and hands its outcome to told.
func eachWrite(ctx context.Context, m Store, told func(kind string, w Written)) {
	m.Txn(ctx, putting("k"), func(r TxnResult) { told("txn", r.Written) })
	m.Compact(ctx, 1, func(w Written) { told("compact", w) })
	m.GrantLease(ctx, time.Minute, func(l Lease) { told("grant", l.Written) })
	m.RevokeLease(ctx, 7, func(w Written) { told("revoke", w) })
	m.KeepAlive(ctx, 7, func(l Lease) { told("keep alive", l.Written) })
	m.Disarm(ctx, func(w Written) { told("disarm", w) })
}

func TestEveryKindOfWriteEndsOnceAndSaysHow(t *testing.T) {
	type ends map[string]Outcome
	refused := ends{"txn": Refused, "compact": Refused, "grant": Refused, "revoke": Refused, "keep alive": Refused, "disarm": Refused}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, c *RaftCluster, net *ruled) *member
		want    ends
		err     error // of those that are not done; nil: any
	}{
		"a member that is down refuses": {want: refused, err: ErrStopped, prepare: func(t *testing.T, c *RaftCluster, _ *ruled) *member {
			m := c.follower()
			c.KillMember(m.name)
			return m
		}},
		"where nobody leads nothing is handed over": {want: refused, err: ErrTimeout, prepare: func(t *testing.T, c *RaftCluster, net *ruled) *member {
			m := c.follower()
			for _, other := range c.places() {
				if other != m {
					c.KillMember(other.name)
				}
			}
			awaitWall(t, "no leader", func() bool { return m.Status().Leader == "" })
			return m
		}},
		"what a leader without a majority took is unknown": {err: ErrTimeout, prepare: func(t *testing.T, c *RaftCluster, net *ruled) *member {
			m := c.leaderLife().m
			net.set(cut(m.name))
			return m
		}, want: ends{"txn": Unknown, "compact": Unknown, "grant": Unknown, "revoke": Unknown, "keep alive": Refused, "disarm": Unknown}}, // it asks the majority first
		"a lease that may have been kept alive is not said not to be": {err: ErrTimeout, prepare: func(t *testing.T, c *RaftCluster, net *ruled) *member {
			net.set(drops(func(p Packet) bool { return p.Kind == "lease" && p.Reply }))
			return c.follower()
		}, want: ends{"keep alive": Unknown}},
		"a healthy cluster does it": {prepare: func(t *testing.T, c *RaftCluster, _ *ruled) *member { return c.follower() },
			want: ends{"txn": Done, "compact": Done, "grant": Done, "revoke": Refused, "keep alive": Refused, "disarm": Done}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *RaftCluster, net *ruled) {
				m := tc.prepare(t, c, net)
				ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
				defer cancel()
				var mu sync.Mutex
				got := map[string][]Written{}
				eachWrite(ctx, m, func(kind string, w Written) {
					mu.Lock()
					defer mu.Unlock()
					got[kind] = append(got[kind], w)
				})
				pause(3*time.Second, nil)
				net.set(nil)
				c.NetworkChanged()
				for _, m := range c.places() {
					c.StartMember(m.name)
				}
				pause(5*time.Second, nil)
				mu.Lock()
				defer mu.Unlock()
				for kind, want := range tc.want {
					if len(got[kind]) != 1 {
						t.Errorf("%s was answered %d times", kind, len(got[kind]))
						continue
					}
					w := got[kind][0]
					if w.Outcome != want || (w.Err == nil) != (want == Done) || (tc.err != nil && !errors.Is(w.Err, tc.err)) {
						t.Errorf("%s ended %v, %v; want %v, %v", kind, w.Outcome, w.Err, want, tc.err)
					}
				}
			})
		})
	}
}

func TestWritesInFlightWhenTheirMemberDiesAreUnknownAndThoseInItsQueueRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, net *ruled) {
		m := c.follower()
		net.set(drops(func(p Packet) bool { return p.To == m.name && p.Kind == "append" || p.Kind == "forward" && p.Reply }))
		handed := asking(context.Background(), m, "handed")
		pause(20*time.Millisecond, nil)
		net.set(cut(m.name))
		awaitWall(t, "no leader known", func() bool { return m.Status().Leader == "" })
		queued := asking(context.Background(), m, "queued")
		c.KillMember(m.name)
		wantOutcome(t, "handed over", (<-handed).Written, Unknown, ErrStopped)
		wantOutcome(t, "queued", (<-queued).Written, Refused, ErrStopped)
	})
}

func TestWhatALeaderDecidedForItsTermIsNeverForwardedToTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T, c *RaftCluster, _ *ruled) {
		l := c.follower().current()
		answers := make(chan TxnResult, 1)
		l.writeIn(1, []peer.Encoded{peer.EncodeTxn(l.newID(), putting("a"))}, func(_ int, r TxnResult) { answers <- r })
		wantOutcome(t, "decided by one that does not lead", (<-answers).Written, Refused, ErrLeaderChanged)
		mustPut(t, c, "b")
		if c.versions("a") != 0 {
			t.Error("it was applied")
		}
	})
}

// copier is a network that delivers each question for writes three times, the copies later than what is sent next.
type copier struct{}

func (copier) Verdict(p Packet) Verdict {
	if p.Kind == "forward" && !p.Reply {
		return Verdict{Copies: 2, Delay: 7 * time.Millisecond}
	}
	return Verdict{}
}

func TestANetworkThatRepeatsQuestionsRepeatsNoWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, Network: copier{}, SnapshotThreshold: 20, TrailingLogs: 10, SnapshotInterval: 50 * time.Millisecond})
		f := c.follower()
		for i := range 100 {
			if r := put(f, fmt.Sprint("k", i%3), nil); r.Outcome != Done {
				t.Fatalf("%+v", r)
			}
		}
		pause(time.Second, nil) // the last copies
		if a, b, z := c.versions("k0"), c.versions("k1"), c.versions("k2"); a != 34 || b != 33 || z != 33 {
			t.Errorf("100 writes were applied as %d, %d and %d", a, b, z)
		}
	})
}
