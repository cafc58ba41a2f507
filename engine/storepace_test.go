package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"example.com/kubeviz/engine/fault"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
	"example.com/kubeviz/raftstore"
	"example.com/kubeviz/raftstore/mvcc"
)

// stated is a cluster of which only what it says of itself is needed.
type stated struct {
	raftstore.Cluster
	led    bool
	status []raftstore.MemberStatus
}

func (s *stated) Led() bool                        { return s.led }
func (s *stated) Status() []raftstore.MemberStatus { return s.status }
func (s *stated) NetworkChanged()                  {}

// pacing is a door of a store with voters and learners, the last of each by name, that are all up; master-1 leads.
func pacing(voters, learners int) (*storeDoor, *stated) {
	loop := sim.New(sim.Options{Start: RepeatableStart, Rate: sim.Unpaced})
	e := &Engine{loop: loop, net: simnet.New(loop)}
	c := &stated{led: true}
	d := &storeDoor{e: e, cluster: c, inFlight: map[string]int{}, leader: map[string]raftstore.MemberStatus{}, asked: causes{}}
	for i := range voters + learners {
		name := fmt.Sprintf("master-%d", i+1)
		d.members.Members = append(d.members.Members, raftstore.Member{Name: name, ID: name, Learner: i >= voters})
		e.net.SetHost(name, true)
		e.net.Listen(etcdOn(name), loop.NewGroup(name))
		c.status = append(c.status, raftstore.MemberStatus{Name: name, Up: true, Ready: true, Revision: 10})
	}
	d.leader["master-1"] = raftstore.MemberStatus{Role: raftstore.Leader}
	d.netChanged()
	return d, c
}

const held = sim.Rate(1)

func TestAFastClockIsHeldWhileTheStoreIsAtWorkWithoutABreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := pacing(3, 0)
		gate := func() sim.Rate { return d.gate(60, held) }
		if gate() != sim.Unpaced {
			t.Error("nothing is asked, and the clock is held")
		}
		d.inFlight["master-2"] = 1
		if gate() != sim.Unpaced {
			t.Error("a request has just begun, and the clock is held already")
		}
		time.Sleep(busyLimit + time.Millisecond)
		if gate() != electionRate {
			t.Error("a request is older than the limit, and the clock is not held")
		}
		d.inFlight["master-2"] = 0
		if gate() != sim.Unpaced {
			t.Error("all is answered, and the clock is still held")
		}
		for range 20 { // many short ones with breaks between
			d.inFlight["master-1"] = 1
			gate()
			time.Sleep(busyLimit / 3)
			if gate() != sim.Unpaced {
				t.Fatal("short requests with breaks between hold the clock")
			}
			d.inFlight["master-1"] = 0
			gate()
		}
		for i := range 20 { // one after the other, without a break
			d.inFlight["master-1"], d.inFlight["master-3"] = i%2, 1-i%2
			gate()
			time.Sleep(busyLimit / 3)
		}
		if gate() != electionRate {
			t.Error("requests without a break between do not hold the clock")
		}
		d.inFlight = map[string]int{}
		gate()
		d.orders = 1
		gate()
		time.Sleep(2 * busyLimit)
		if gate() != electionRate {
			t.Error("an order to the store is in flight, and the clock is not held")
		}
	})
}

func TestRequestsThatNothingWillAnswerDoNotHoldTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := pacing(5, 0)
		for _, far := range []string{"master-1", "master-2", "master-3"} {
			for _, cut := range []string{"master-4", "master-5"} {
				d.e.net.AddFault(1, fault.Fault{Kind: fault.Cut, A: far, B: cut})
			}
		}
		d.netChanged()
		d.inFlight["master-5"] = 7
		d.gate(sim.Unpaced, held)
		time.Sleep(time.Minute)
		if got := d.gate(sim.Unpaced, held); got != sim.Unpaced {
			t.Errorf("requests in the minority hold a free clock to %v", got)
		}
		if got := d.gate(60, held); got != sim.Unpaced {
			t.Errorf("requests in the minority hold a fast clock to %v", got)
		}
		d.inFlight["master-3"] = 1
		if got := d.gate(sim.Unpaced, held); got != held {
			t.Errorf("a request in the majority holds a free clock to %v", got)
		}
	})
}

func TestAnElectionHoldsTheClockAndAStoreWithoutQuorumDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n := 1; n <= 9; n++ {
			for learners := range 2 {
				for down := range n + 1 {
					d, c := pacing(n, learners)
					for i := range down { // from the end, the leader last
						d.e.net.SetHost(fmt.Sprintf("master-%d", n-i), false)
					}
					d.netChanged()
					quorum := n-down >= n/2+1
					if got := d.majority != nil; got != quorum {
						t.Fatalf("%d voters, %d learners, %d down: quorum %v", n, learners, down, got)
					}
					if quorum && (len(d.majority) != n-down || len(d.learners) != learners) {
						t.Fatalf("%d voters, %d learners, %d down: the majority is %v, and learners %v", n, learners, down, d.majority, d.learners)
					}
					c.led = false // the fall of the leader
					paced, free := sim.Unpaced, sim.Unpaced
					if quorum {
						paced, free = electionRate, held
					}
					if got := d.gate(60, held); got != paced {
						t.Errorf("%d voters, %d learners, %d down, no leader: a clock at 60x is held to %v", n, learners, down, got)
					}
					if got := d.gate(sim.Unpaced, held); got != free {
						t.Errorf("%d voters, %d learners, %d down, no leader: a free clock is held to %v", n, learners, down, got)
					}
				}
			}
		}
	})
}

func TestAFreeClockWaitsUntilARemovedMemberHasHeardOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := pacing(3, 0)
		d.members.Members = d.members.Members[:2]
		d.shaken(1)
		gate := func() sim.Rate { return d.gate(sim.Unpaced, held) }
		if got := gate(); got != held {
			t.Errorf("it runs, and a free clock is held to %v", got)
		}
		d.e.net.AddFault(1, fault.Fault{Kind: fault.Cut, A: "master-3", B: fault.All})
		if got := gate(); got != sim.Unpaced {
			t.Errorf("it can hear nobody, and a free clock is held to %v", got)
		}
		d.e.net.RemoveFaults(func(fault.Active) bool { return true })
		c.status[2].Up = false
		if got := gate(); got != sim.Unpaced {
			t.Errorf("it has ended, and a free clock is held to %v", got)
		}
		c.status[2].Up = true
		time.Sleep(joinFor)
		if got := gate(); got != sim.Unpaced {
			t.Errorf("it never hears of it, and a free clock is held to %v", got)
		}
	})
}

func TestLearnersAndRemovedMembersHaveNoVote(t *testing.T) {
	d, _ := pacing(2, 1) // two voters and a learner
	off := func(host string) { d.e.net.SetHost(host, false); d.netChanged() }
	off("master-3")
	if !slices.Equal(d.majority, []string{"master-1", "master-2"}) || d.learners != nil {
		t.Errorf("a learner is off: %v, learners %v", d.majority, d.learners)
	}
	off("master-2")
	if d.majority != nil {
		t.Errorf("one of two voters is off: %v", d.majority)
	}
	d.e.net.SetHost("master-3", true)
	d.netChanged()
	if d.majority != nil {
		t.Errorf("the learner is back, and makes a quorum: %v", d.majority)
	}
	d.members.Members = d.members.Members[:1]
	d.netChanged()
	if !slices.Equal(d.majority, []string{"master-1"}) {
		t.Errorf("the other voter was removed: %v", d.majority)
	}
	d.members.Members = append(d.members.Members, raftstore.Member{Name: "master-3"}, raftstore.Member{Name: "master-4"})
	d.netChanged()
	if !slices.Equal(d.majority, []string{"master-1", "master-3"}) {
		t.Errorf("the learner was promoted and a member added that is not there yet: %v", d.majority)
	}
}

func TestAFreeClockWaitsForMembersThatLag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, c := pacing(3, 1)
		d.lastCommit = time.Now()
		for _, i := range []int{1, 3} { // a voter, a learner
			c.status[i].Revision = 9
			if got := d.gate(sim.Unpaced, held); got != held {
				t.Errorf("%s lags, and the clock runs at %v", c.status[i].Name, got)
			}
			c.status[i].Revision = 10
		}
		c.status[3].Ready = false // a learner serves no reads that would make it so
		if got := d.gate(sim.Unpaced, held); got != sim.Unpaced {
			t.Errorf("all have everything, and the clock is held to %v", got)
		}
		c.status[2].Revision = 9
		time.Sleep(settleFor + time.Millisecond)
		if got := d.gate(sim.Unpaced, held); got != sim.Unpaced {
			t.Errorf("nothing was committed for a while, and the clock is held to %v", got)
		}
	})
}

func TestAMessageSuffersWhatItsLinkDoes(t *testing.T) {
	m := fault.Messages{Duplicate: 50, DuplicateID: 4, Reorder: 50, ReorderID: 5, Clog: true, ClogID: 6}
	draw := func(numbers ...float64) func() float64 {
		return func() float64 {
			if len(numbers) == 0 {
				t.Fatal("one number too many was drawn")
			}
			n := numbers[0]
			numbers = numbers[1:]
			return n
		}
	}
	for _, c := range []struct {
		what   string
		v      raftstore.Verdict
		m      fault.Messages
		p      raftstore.Packet
		chance func() float64
		want   raftstore.Verdict
	}{
		{"a healthy link", raftstore.Verdict{}, fault.Messages{}, raftstore.Packet{Kind: "append"}, draw(), raftstore.Verdict{}},
		{"what is lost is lost", raftstore.Verdict{Drop: true, Cause: 1}, m, raftstore.Packet{Kind: "append"}, draw(), raftstore.Verdict{Drop: true, Cause: 1}},
		{"what is refused is refused", raftstore.Verdict{Refuse: true}, m, raftstore.Packet{Kind: "append"}, draw(), raftstore.Verdict{Refuse: true}},
		{"neither", raftstore.Verdict{Delay: 7}, m, raftstore.Packet{Kind: "append"}, draw(0.5, 0.5), raftstore.Verdict{Delay: 7}},
		{"twice", raftstore.Verdict{}, m, raftstore.Packet{Kind: "vote"}, draw(0.1, 0.9), raftstore.Verdict{Copies: 1, Cause: 4}},
		{"late", raftstore.Verdict{}, m, raftstore.Packet{Kind: "append", Reply: true}, draw(0.9, 0.1, 0.5), raftstore.Verdict{Delay: lateMost / 2, Cause: 5}},
		{"twice and late, on a slow link that is the cause", raftstore.Verdict{Delay: time.Second, Cause: 1}, m, raftstore.Packet{Kind: "append"}, draw(0, 0, 0), raftstore.Verdict{Delay: time.Second, Copies: 1, Cause: 1}},
		{"the first piece of a snapshot", raftstore.Verdict{}, m, raftstore.Packet{Kind: "snapshot"}, draw(0.9, 0.9), raftstore.Verdict{}},
		{"a further piece", raftstore.Verdict{}, m, raftstore.Packet{Kind: "snapshot", Piece: 1}, draw(), raftstore.Verdict{Drop: true, Cause: 6}},
		{"the answer to one", raftstore.Verdict{}, m, raftstore.Packet{Kind: "snapshot", Piece: 1, Reply: true}, draw(0.9, 0.9), raftstore.Verdict{}},
	} {
		if got := mangle(c.v, c.m, c.p, c.chance); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}

func TestTheArithmeticOfAQuorum(t *testing.T) {
	group := func(voters, learners int) (m raftstore.Membership) {
		for i := range voters + learners {
			m.Members = append(m.Members, raftstore.Member{Name: fmt.Sprint(i), Learner: i >= voters})
		}
		return m
	}
	for _, c := range []struct {
		voters, learners int
		want             string
		hint             bool
	}{
		{1, 0, "1 voter, quorum 1, can lose 0", false},
		{2, 0, "2 voters, quorum 2, can lose 0", true},
		{3, 0, "3 voters, quorum 2, can lose 1", false},
		{3, 1, "3 voters and 1 learner, quorum 2, can lose 1", false},
		{4, 0, "4 voters, quorum 3, can lose 1", true},
		{5, 2, "5 voters and 2 learners, quorum 3, can lose 2", false},
		{6, 0, "6 voters, quorum 4, can lose 2", true},
		{7, 0, "7 voters, quorum 4, can lose 3", false},
		{scenario.MastersMax + 2, 0, "9 voters, quorum 5, can lose 4", false},
	} {
		if got := arithmetic(group(c.voters, c.learners)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		if hint := evenHint(group(c.voters, c.learners)); (hint != nil) != c.hint {
			t.Errorf("%d voters: %v", c.voters, hint)
		}
	}
}

// silent is a store that answers when it is told to.
type silent struct {
	raftstore.Store
	answer func()
}

func (s *silent) Txn(_ context.Context, _ mvcc.Txn, done func(raftstore.TxnResult)) {
	s.answer = func() { done(raftstore.TxnResult{}) }
}

func (s *silent) Range(_ context.Context, _ raftstore.RangeRequest, done func(raftstore.RangeResult)) {
	s.answer = func() { done(raftstore.RangeResult{}) }
}

func (s *silent) GrantLease(_ context.Context, _ time.Duration, done func(raftstore.Lease)) {
	s.answer = func() { done(raftstore.Lease{}) }
}

func (s *silent) Compact(_ context.Context, _ int64, done func(raftstore.Written)) {
	s.answer = func() { done(raftstore.Written{}) }
}

func TestWhateverAnAPIServerAsksOfTheStoreHoldsAFreeClockUntilItIsAnswered(t *testing.T) {
	ctx := t.Context()
	for name, ask := range map[string]func(raftstore.Store){
		"a transaction": func(s raftstore.Store) { s.Txn(ctx, mvcc.Txn{}, func(raftstore.TxnResult) {}) },
		"a read":        func(s raftstore.Store) { s.Range(ctx, raftstore.RangeRequest{}, func(raftstore.RangeResult) {}) },
		"a lease":       func(s raftstore.Store) { s.GrantLease(ctx, time.Hour, func(raftstore.Lease) {}) },
		"a compaction":  func(s raftstore.Store) { s.Compact(ctx, 7, func(raftstore.Written) {}) },
	} {
		d, _ := pacing(3, 0)
		store := &silent{}
		ask(&countedStore{Store: store, d: d, member: "master-2"})
		if d.gate(sim.Unpaced, held) != held {
			t.Errorf("%s is on its way, and the clock runs free", name)
		}
		store.answer()
		if err := d.e.loop.RunUntil(ctx, d.e.loop.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if d.gate(sim.Unpaced, held) != sim.Unpaced {
			t.Errorf("%s is answered, and the clock is held", name)
		}
	}
}
