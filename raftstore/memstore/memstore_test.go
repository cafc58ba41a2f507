package memstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/failure"
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
func (l *log) Changed(c raftstore.Change) {
	l.lines = append(l.lines, fmt.Sprintf("changed %+v", c))
}

func (l *log) Applied(a raftstore.Applied) {
	l.lines = append(l.lines, fmt.Sprint("applied ", a.Revision, a.Term, a.Events[0].KV))
}

func TestSameSeedSameStory(t *testing.T) {
	run := func(seed uint64) []string {
		r := rand.New(rand.NewPCG(seed, 0))
		members := []string{"a", "b", "c", "d"} // d may join
		l, net := &log{}, &storetest.Net{}
		c := memstore.New(members[:3], net, l)
		for i := range 300 {
			m := members[r.IntN(3)]
			done := func(w raftstore.Written) { l.lines = append(l.lines, fmt.Sprint(i, w)) }
			switch r.IntN(16) {
			case 8:
				c.Advance(time.Unix(int64(1000+i), 0))
			case 9:
				c.Store(m).GrantLease(t.Context(), 20*time.Second, func(g raftstore.Lease) {
					l.lines = append(l.lines, fmt.Sprint(i, g))
					c.Store(m).Txn(t.Context(), mvcc.Txn{Then: []mvcc.Op{{Key: fmt.Sprint("leased", i%3), Lease: g.ID}}}, func(raftstore.TxnResult) {})
				})
			case 10:
				[]func(context.Context, string, func(raftstore.Written)){c.AddMember, c.PromoteMember, c.RemoveMember}[r.IntN(3)](t.Context(), members[r.IntN(4)], done)
			case 11:
				c.SetDisk(m, failure.Disks()[r.IntN(5)], 0)
			case 12:
				c.SetQuota(r.Int64N(5000))
				c.Store(m).Disarm(t.Context(), done)
			case 13:
				c.Store(m).Defragment(func(before, after int64, err error) { l.lines = append(l.lines, fmt.Sprint(i, before, after, err)) })
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
	kinds := map[string]bool{}
	for seed := range uint64(40) {
		a, b := run(seed), run(seed)
		if !slices.Equal(a, b) {
			t.Fatalf("seed %d tells two stories", seed)
		}
		for _, line := range a {
			if kind, ok := strings.CutPrefix(line, "changed {Kind:"); ok {
				kinds[kind[:strings.IndexByte(kind, ' ')]] = true
			}
		}
	}
	if len(kinds) < 8 {
		t.Errorf("the stories tell of %d kinds of change only: %v", len(kinds), kinds)
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

func TestARestartedMemberRemembersItsTermAndFollowsOnlyWhomItReaches(t *testing.T) {
	net := &storetest.Net{}
	c := memstore.New([]string{"a", "b", "c"}, net, nil)
	c.KillMember("a") // b leads in term 2
	for _, other := range []string{"b", "c"} {
		net.Cut("a", other, true)
	}
	if err := c.StartMember("a"); err != nil {
		t.Fatal(err)
	}
	if s := c.Store("a").Status(); s.Term != 1 || s.Role != raftstore.Follower || s.Leader != "" || s.Ready {
		t.Errorf("cut off: %+v", s)
	}
	for _, other := range []string{"b", "c"} {
		net.Cut("a", other, false)
	}
	c.NetworkChanged()
	if s := c.Store("a").Status(); s.Term != 2 || s.Leader != "b" || !s.Ready {
		t.Errorf("connected: %+v", s)
	}
}

func TestADiskThatFailsOnceStopsItsMemberOnce(t *testing.T) {
	c := memstore.New([]string{"a", "b", "c"}, nil, nil)
	if err := c.SetDisk("a", failure.Flaky, 0); err != nil {
		t.Fatal(err)
	}
	put := func() (r raftstore.TxnResult) {
		c.Store("b").Txn(t.Context(), mvcc.Txn{Then: []mvcc.Op{{Key: "k"}}}, func(got raftstore.TxnResult) { r = got })
		return r
	}
	if r := put(); r.Outcome != raftstore.Done || r.Term != 2 {
		t.Errorf("the write beside the leader whose disk failed: %+v", r)
	}
	if s := c.Store("a").Status(); s.Up || !strings.Contains(s.Err, "input/output error") || s.Disk != failure.Sound {
		t.Errorf("%+v", s)
	}
	if err := c.StartMember("a"); err != nil {
		t.Fatal(err)
	}
	put()
	if s := c.Store("a").Status(); !s.Up || s.Revision != 3 {
		t.Errorf("after its restart: %+v", s)
	}
}

func TestTheLastMemberCannotBeRemoved(t *testing.T) {
	c := memstore.New([]string{"a"}, nil, nil)
	c.RemoveMember(t.Context(), "a", func(w raftstore.Written) {
		if w.Outcome != raftstore.Refused || w.Err != raftstore.ErrNotEnoughStarted {
			t.Errorf("%+v", w)
		}
	})
}
