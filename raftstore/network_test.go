package raftstore

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore/mvcc"
)

// rough is a network that loses and delays messages, from a seed.
type rough struct {
	mu    sync.Mutex
	rand  *rand.Rand
	loss  float64
	delay time.Duration
}

func (r *rough) Verdict(p Packet) Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Verdict{Drop: r.rand.Float64() < r.loss, Delay: r.delay}
}

// counter counts what it observes.
type counter struct {
	nobody
	mu       sync.Mutex
	messages map[string]int
	lost     int
	leaders  int
}

func (c *counter) Message(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.messages == nil {
		c.messages = make(map[string]int)
	}
	c.messages[m.Kind]++
	if m.Lost {
		c.lost++
	}
}

func (c *counter) RoleChanged(s MemberStatus) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Role == Leader {
		c.leaders++
	}
}

func TestLossAndDelaySlowTheClusterAndDoNotUnseatItsLeader(t *testing.T) {
	for name, net := range map[string]*rough{
		"20 % loss":          {loss: 0.2},
		"50 ms":              {delay: 50 * time.Millisecond},
		"10 % loss at 20 ms": {loss: 0.1, delay: 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net.rand = rand.New(rand.NewPCG(7, 7))
				obs := &counter{}
				c := openLed(t, Options{Members: names(3), InMemory: true, Network: net, Observer: obs})
				for i := range 100 {
					if r := put(c.Store(names(3)[i%3]), fmt.Sprint("k", i), nil); r.Outcome != Done {
						t.Fatalf("write %d: %v %v", i, r.Outcome, r.Err)
					}
				}
				pause(10*time.Second, nil)
				obs.mu.Lock()
				defer obs.mu.Unlock()
				if obs.leaders != 1 {
					t.Errorf("%d members came to lead", obs.leaders)
				}
				if net.loss > 0 && obs.lost == 0 {
					t.Error("no lost message was shown")
				}
			})
		})
	}
}

func TestObserverSeesAllVotesAndASampleOfTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		obs := &counter{}
		c := openLed(t, Options{Members: names(3), InMemory: true, Observer: obs})
		for i := range 500 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		pause(10*time.Second, nil)
		obs.mu.Lock()
		defer obs.mu.Unlock()
		if obs.messages["vote"] < 2 || obs.messages["pre-vote"] < 2 {
			t.Errorf("an election without its votes: %v", obs.messages)
		}
		// Two links, messages and answers, ten a second each, for a little over ten seconds.
		for _, kind := range []string{"append", "heartbeat"} {
			if n := obs.messages[kind]; n < 100 || n > 500 {
				t.Errorf("%d messages of kind %s in ten seconds", n, kind)
			}
		}
	})
}

func TestMemberRestartsOnItsSnapshotWhenItsLogConflicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5, SnapshotThreshold: 10, TrailingLogs: 5, SnapshotInterval: 20 * time.Millisecond})
		for i := range 50 {
			mustPut(t, c, fmt.Sprint("k", i))
		}
		m := c.follower()
		before := m.current()
		before.dropLog()
		awaitWall(t, "the member's next life", func() bool { l := m.current(); return l != nil && l != before && l.ready.Load() })
		awaitWall(t, "settled cluster", c.Settled)
		mustPut(t, c, "after")
		awaitWall(t, "the same state", func() bool {
			return m.current().peer.Load().View().Hash() == c.leaderLife().peer.Load().View().Hash()
		})
	})
}

func TestPanicInACallbackFailsTheMemberAndNotTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Rate: 5})
		m := c.follower()
		m.Watch(WatchRequest{Prefix: "a"}, func(WatchBatch) { panic("a client's mistake") })
		mustPut(t, c, "a")
		awaitWall(t, "failed member", func() bool { return m.Status().Err != "" })
		mustPut(t, c, "b")
	})
}

func TestReadsOfOneMomentShareAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := openLed(t, Options{Members: names(3), InMemory: true, Network: &rough{rand: rand.New(rand.NewPCG(1, 1)), delay: 10 * time.Millisecond}})
		m := c.follower()
		at := time.Now()
		results := make(chan RangeResult, 100)
		for range cap(results) {
			m.Range(t.Context(), RangeRequest{Range: mvcc.Range{Key: "a"}}, func(r RangeResult) { results <- r })
		}
		for range cap(results) {
			if r := <-results; r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		// The question and the leader's to the majority take 40 ms; what came after the first question left waits for a second.
		if took := time.Since(at); took > 150*time.Millisecond {
			t.Errorf("100 reads took %v", took)
		}
	})
}
