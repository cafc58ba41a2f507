package peer

import (
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// heard is a state machine that notes what it is given.
type heard struct{ data []string }

func (h *heard) Apply(l *raft.Log) any                { h.data = append(h.data, string(l.Data)); return nil }
func (h *heard) Snapshot() (raft.FSMSnapshot, error)  { return nil, raft.ErrNothingNewToSnapshot }
func (h *heard) Restore(snapshot io.ReadCloser) error { return snapshot.Close() }

func TestAFollowerAppliesNothingThatItsLeaderDoesNotHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		a.inTerm, b.inTerm = 2, 2
		// b led in term 1 and got its entries 2 and 3 nowhere but, the first of them, to a.
		logs, stable := raft.NewInmemStore(), raft.NewInmemStore()
		if err := logs.StoreLogs([]*raft.Log{
			{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(Founders("a", "b", "c"))},
			{Index: 2, Term: 1, Data: []byte("both have it")},
			{Index: 3, Term: 1, Data: []byte("only b has it")},
			{Index: 4, Term: 1, Data: []byte("nor that")},
		}); err != nil {
			t.Fatal(err)
		}
		if err := stable.SetUint64([]byte("CurrentTerm"), 1); err != nil {
			t.Fatal(err)
		}
		conf := raft.DefaultConfig()
		conf.LocalID, conf.Logger = "b", hclog.NewNullLogger()
		got := &heard{}
		node, err := raft.NewRaft(conf, got, logs, stable, raft.NewInmemSnapshotStore(), b.Transport)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := node.Shutdown().Error(); err != nil {
				t.Error(err)
			}
		}()
		send := func(index, term, prevTerm uint64, data string) {
			r := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("a"), Addr: []byte("a")}, Term: 2, PrevLogEntry: index - 1, PrevLogTerm: prevTerm,
				Entries: []*raft.Log{{Index: index, Term: term, Data: []byte(data)}}, LeaderCommitIndex: 9}
			if err := a.append("b", r); err != nil {
				t.Fatalf("entry %d: %v", index, err)
			}
			time.Sleep(time.Millisecond) // of the bubble
			synctest.Wait()              // the state machine works beside, and has come to rest before it is read
		}
		send(2, 1, 1, "both have it")
		if want := []string{"both have it"}; !slices.Equal(got.data, want) {
			t.Errorf("after entry 2: %q, want %q", got.data, want)
		}
		send(3, 2, 1, "the new leader's")
		if want := []string{"both have it", "the new leader's"}; !slices.Equal(got.data, want) {
			t.Errorf("after entry 3: %q, want %q", got.data, want)
		}
	})
}

func TestARequestSpeaksForWhatItHoldsAndForWhatIsBefore(t *testing.T) {
	for _, c := range []struct {
		name                     string
		prev, entries, said, due uint64
	}{
		{"less is committed than it holds", 10, 5, 12, 12},
		{"more is committed than it holds", 10, 5, 99, 15},
		{"it only tells what is committed", 10, 0, 99, 10},
		{"a heartbeat", 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &raft.AppendEntriesRequest{PrevLogEntry: c.prev, Entries: make([]*raft.Log, c.entries), LeaderCommitIndex: c.said}
			if vouch(r); r.LeaderCommitIndex != c.due {
				t.Errorf("committed up to %d, want %d", r.LeaderCommitIndex, c.due)
			}
		})
	}
}
