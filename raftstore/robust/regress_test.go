package robust_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// mute loses the answers of one member.
type mute struct {
	mu   sync.Mutex
	from string
}

func (m *mute) Verdict(p raftstore.Packet) raftstore.Verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	return raftstore.Verdict{Drop: p.Reply && p.From == m.from}
}

func (m *mute) set(from string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from = from
}

// A swarm found that a follower whose answers were lost snapshotted and cut its log beyond what its leader knew of it, and that the two then exchanged one snapshot for ever without a pause.
func TestFollowerWhoseAnswersAreLostCatchesUpAfterItsSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &mute{}
		c, err := raftstore.Open(raftstore.Options{Members: []string{"m1", "m2", "m3"}, InMemory: true, Network: net, Rate: 5,
			SnapshotThreshold: 5, TrailingLogs: 1, SnapshotInterval: 20 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		wait := func(what string, holds func() bool) {
			t.Helper()
			for range 1500 {
				if holds() {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Fatalf("no %s: %+v", what, c.Status())
		}
		wait("settled cluster", c.Settled)
		var lead, follower string
		for _, s := range c.Status() {
			if s.Role == raftstore.Leader {
				lead = s.Name
			} else {
				follower = s.Name
			}
		}
		for round := range 5 {
			net.set(follower)
			c.NetworkChanged()
			for i := range 40 {
				done := make(chan struct{})
				c.Store(lead).Txn(context.Background(), mvcc.Txn{Then: []mvcc.Op{{Key: fmt.Sprint("k", round, i)}}}, func(raftstore.TxnResult) { close(done) })
				<-done
				time.Sleep(5 * time.Millisecond)
			}
			net.set("")
			c.NetworkChanged()
			wait("equal members", func() bool {
				all := c.Status()
				return all[0].Revision == all[1].Revision && all[1].Revision == all[2].Revision
			})
		}
	})
}
