package memstore_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/memstore"
	"example.com/kubeviz/raftstore/mvcc"
	"example.com/kubeviz/raftstore/storetest"
)

func TestMemstoreIsAStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(_ *testing.T, members []string, net raftstore.Network, obs raftstore.Observer) raftstore.Cluster {
			return memstore.New(members, net, obs)
		},
		Bubble: true,
	})
}

// log records everything a cluster says, in order.
type log struct{ lines []string }

func (l *log) RoleChanged(s raftstore.MemberStatus) {
	l.lines = append(l.lines, fmt.Sprintf("role %+v", s))
}
func (l *log) Message(raftstore.Message) {}
func (l *log) Changed(raftstore.Change)  {}

func (l *log) Applied(a raftstore.Applied) {
	l.lines = append(l.lines, fmt.Sprint("applied ", a.Revision, a.Term, a.Events[0].KV))
}

func TestSameSeedSameStory(t *testing.T) {
	run := func(seed uint64) []string {
		r := rand.New(rand.NewPCG(seed, 0))
		members := []string{"a", "b", "c"}
		l, net := &log{}, &storetest.Net{}
		c := memstore.New(members, net, l)
		for i := range 300 {
			m := members[r.IntN(3)]
			switch r.IntN(8) {
			case 0:
				c.KillMember(m)
			case 1:
				c.StartMember(m) // one that is up says so
			case 2:
				net.Cut(m, members[r.IntN(3)], r.IntN(2) == 0)
				c.NetworkChanged()
			case 3:
				c.Store(m).Watch(raftstore.WatchRequest{}, func(b raftstore.WatchBatch) { l.lines = append(l.lines, fmt.Sprint(m, b.Revision, b.Err)) })
			default:
				c.Store(m).Txn(t.Context(), mvcc.Txn{Then: []mvcc.Op{{Key: fmt.Sprint(i % 5)}}}, func(r raftstore.TxnResult) { l.lines = append(l.lines, fmt.Sprint(i, r)) })
			}
		}
		return l.lines
	}
	for seed := range uint64(20) {
		a, b := run(seed), run(seed)
		if !slices.Equal(a, b) {
			t.Fatalf("seed %d tells two stories", seed)
		}
	}
}

func TestLeadershipStaysUntilItMustMove(t *testing.T) {
	c := memstore.New([]string{"a", "b", "c"}, nil, nil)
	lead := func() (string, uint64) { s := c.Status(); return s[2].Leader, s[2].Term }
	if l, term := lead(); l != "a" || term != 1 {
		t.Fatal(l, term)
	}
	c.KillMember("a")
	c.StartMember("a")
	if l, term := lead(); l != "b" || term != 2 {
		t.Fatal(l, term)
	}
}
