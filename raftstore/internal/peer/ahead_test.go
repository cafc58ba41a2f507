package peer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// following is an append of raft's own that b took: the leader knows that b has everything up to index.
func following(t *testing.T, a, b *stand, index uint64) {
	t.Helper()
	served := b.serve(1)
	if err := a.append("b", entry(index, "known")); err != nil {
		t.Fatal(err)
	}
	<-served
}

func logged(term, from, to uint64) []*raft.Log { return entries(term, from, to) }

func TestEntriesAreSentWhileTheLeadersDiskIsStillAtWork(t *testing.T) {
	bubble(t, "bubble", func(t *testing.T) {
		a, b, _ := pair(t)
		a.ahead.most = 64
		a.sendAhead(logged(1, 7, 7)) // nothing is known of b yet
		following(t, a, b, 7)
		got := b.serve(2)
		first, second := logged(1, 8, 9), logged(1, 10, 10)
		a.sendAhead(first)
		rpc := (<-got).Command.(*raft.AppendEntriesRequest)
		if rpc.Term != 1 || rpc.PrevLogEntry != 7 || rpc.PrevLogTerm != 1 || len(rpc.Entries) != 2 || rpc.Entries[1].Index != 9 {
			t.Fatalf("b was sent %+v, want the entries 8 and 9 behind entry 7", rpc)
		}
		if rpc.Entries[0] == first[0] {
			t.Fatal("b was given the leader's own entry, want a copy")
		}
		a.sendAhead(second)
		if rpc := (<-got).Command.(*raft.AppendEntriesRequest); rpc.PrevLogEntry != 9 || rpc.Entries[0].Index != 10 {
			t.Fatalf("b was sent %+v, want entry 10 behind entry 9", rpc)
		}
	})
}

func TestNothingIsSentAheadToWhoDoesNotFollowWithoutAGap(t *testing.T) {
	for name, c := range map[string]struct {
		before func(a, b *stand, n *net)
		logs   []*raft.Log
	}{
		"a member that does not lead":              {func(a, _ *stand, _ *net) { a.leading = false }, logged(1, 8, 8)},
		"entries of a later term than it is known": {func(a, _ *stand, _ *net) { a.inTerm = 2 }, logged(2, 8, 8)},
		"entries behind a gap":                     {func(*stand, *stand, *net) {}, logged(1, 9, 9)},
		"more than raft may send at once":          {func(a, _ *stand, _ *net) { a.ahead.most = 3 }, logged(1, 8, 11)},
		"a follower that lost what came before": {func(a, _ *stand, n *net) {
			n.set(func(p Packet) Verdict { return Verdict{Drop: p.To == "b"} })
			a.sendAhead(logged(1, 8, 8))
			time.Sleep(time.Second)
			n.set(nil)
		}, logged(1, 9, 9)},
		"a follower that refused what came before": {func(a, b *stand, _ *net) {
			go func() {
				rpc := <-b.rpcs
				rpc.Respond(&raft.AppendEntriesResponse{Term: 1, LastLog: 3}, nil)
			}()
			a.sendAhead(logged(1, 8, 8))
			synctest.Wait()
		}, logged(1, 9, 9)},
	} {
		bubble(t, name, func(t *testing.T) {
			a, b, n := pair(t)
			a.ahead.most = 64
			a.sendAhead(logged(1, 7, 7))
			following(t, a, b, 7)
			c.before(a, b, n)
			got := b.serve(10)
			a.sendAhead(c.logs)
			time.Sleep(time.Second)
			if len(got) > 0 {
				t.Fatalf("b was sent %+v", (<-got).Command)
			}
		})
	}
}

// A follower that does not answer is not sent more and more.
func TestFewMessagesAreOnTheirWayAheadAtOnce(t *testing.T) {
	bubble(t, "bubble", func(t *testing.T) {
		a, b, n := pair(t)
		a.ahead.most = 64
		a.sendAhead(logged(1, 7, 7))
		following(t, a, b, 7)
		before := len(n.passed)
		for i := uint64(8); i < 60; i++ { // b takes nothing from its queue
			a.sendAhead(logged(1, i, i))
		}
		synctest.Wait()
		if sent := len(n.passed) - before; sent != aheadMax {
			t.Fatalf("%d messages are on their way, want %d", sent, aheadMax)
		}
	})
}
