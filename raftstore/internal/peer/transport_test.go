package peer

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// net is a network whose verdict a test sets.
type net struct {
	mu      sync.Mutex
	verdict func(Packet) Verdict
	passed  []Packet
}

func (n *net) set(v func(Packet) Verdict) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.verdict = v
}

func (n *net) Verdict(p Packet) Verdict {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.passed = append(n.passed, p)
	if n.verdict == nil {
		return Verdict{}
	}
	return n.verdict(p)
}

// stand is a member's transport with a test in the place of raft.
type stand struct {
	*Transport
	leading  bool
	inTerm   uint64
	reached  uint64
	servers  []raft.Server
	removed  map[string]bool
	hears    chan struct{}
	failed   chan error
	marked   int
	replaced []uint64
}

func newStand(f *Fabric, name, id string) *stand {
	ready := make(chan struct{})
	close(ready)
	s := &stand{Transport: newTransport(f, Identity{ID: id}, name, ready), leading: true, inTerm: 1, hears: make(chan struct{}, 1), failed: make(chan error, 1), removed: make(map[string]bool),
		servers: Founders("a", "b", "c").Servers}
	t := s.Transport
	t.leads = func(term uint64) bool { return s.leading && term == s.inTerm }
	t.term = func() uint64 { return s.inTerm }
	t.applied = func() uint64 { return s.reached }
	t.position = func() (uint64, uint64) { return 100, 100 }
	t.installed = func(r *raft.InstallSnapshotRequest) { s.replaced = append(s.replaced, r.LastLogIndex) }
	t.latest = func() []raft.Server { return s.servers }
	t.excludes = func(id string, _, _ uint64) bool { return s.removed[id] }
	t.told = func() { s.hears <- struct{}{} }
	t.markUsed = func() error { s.marked++; return nil }
	t.fail = func(err error) { s.failed <- err }
	f.attach(&endpoint{name: name, raft: t, gone: make(chan struct{})})
	return s
}

// serve answers every RPC with success and hands it to the test.
func (s *stand) serve(n int) <-chan raft.RPC {
	got := make(chan raft.RPC, 100)
	go func() {
		for range n {
			select {
			case rpc := <-s.rpcs:
				got <- rpc
				switch rpc.Command.(type) {
				case *raft.AppendEntriesRequest:
					rpc.Respond(&raft.AppendEntriesResponse{Term: 1, Success: true}, nil)
				case *raft.InstallSnapshotRequest:
					rpc.Respond(&raft.InstallSnapshotResponse{Term: 1, Success: true}, nil)
				case *raft.RequestVoteRequest:
					rpc.Respond(&raft.RequestVoteResponse{Term: 1, Granted: true}, nil)
				}
			case <-s.closed:
				return
			}
		}
	}()
	return got
}

// pair is two members; n may be changed.
func pair(t *testing.T) (a, b *stand, n *net) {
	n = &net{}
	f := NewFabric(n.Verdict, func(Message) {})
	a, b = newStand(f, "a", "a"), newStand(f, "b", "b")
	t.Cleanup(func() { a.Close(); b.Close(); synctest.Wait() })
	return a, b, n
}

func entry(index uint64, data string) *raft.AppendEntriesRequest {
	return &raft.AppendEntriesRequest{Term: 1, PrevLogEntry: index - 1, PrevLogTerm: 1, Entries: []*raft.Log{{Index: index, Term: 1, Data: []byte(data)}}, LeaderCommitIndex: index}
}

func (s *stand) append(to string, r *raft.AppendEntriesRequest) error {
	return s.AppendEntries(raft.ServerID(to), raft.ServerAddress(to), r, new(raft.AppendEntriesResponse))
}

func bubble(t *testing.T, name string, do func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, do) })
}

func TestHeartbeatsGoTheWayOfAllOtherMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		b.SetHeartbeatHandler(func(raft.RPC) { t.Error("the fast path was taken") })
		got := b.serve(1)
		if err := a.append("b", &raft.AppendEntriesRequest{Term: 1}); err != nil {
			t.Fatal(err)
		}
		if rpc := <-got; len(rpc.Command.(*raft.AppendEntriesRequest).Entries) != 0 {
			t.Error("not a heartbeat")
		}
	})
}

func TestLeadershipIsNeverHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, _ := pair(t)
		if err := a.TimeoutNow("b", "b", nil, nil); !errors.Is(err, errNoTransfer) {
			t.Error(err)
		}
	})
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "LeadershipTransfer") {
				t.Errorf("%s calls %s", path, s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsDeliveredIsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		got := b.serve(1)
		sent := entry(1, "x")
		if err := a.append("b", sent); err != nil {
			t.Fatal(err)
		}
		have := (<-got).Command.(*raft.AppendEntriesRequest)
		have.Entries[0].Term, have.Entries[0].Extensions = 99, []byte("its own")
		have.Entries = nil
		if len(sent.Entries) != 1 || sent.Entries[0].Term != 1 || sent.Entries[0].Extensions != nil {
			t.Errorf("one member has changed what another holds: %+v", sent.Entries)
		}
	})
}

func TestADeadMemberIsNoticedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		a.f.detach(a.f.ends["b"])
		b.Close()
		at := time.Now()
		if err := a.append("b", &raft.AppendEntriesRequest{Term: 1}); err == nil { // one with entries is kept for it
			t.Error("no error")
		}
		if err := a.RequestVote("b", "b", &raft.RequestVoteRequest{Term: 1}, new(raft.RequestVoteResponse)); err == nil {
			t.Error("no error")
		}
		if took := time.Since(at); took != 0 {
			t.Errorf("after %v", took)
		}
	})
}

func TestNothingIsProcessedAfterItsSendersDeadline(t *testing.T) {
	snapshot := &raft.InstallSnapshotRequest{Term: 1, LastLogIndex: 50, LastLogTerm: 1, Size: 3, SnapshotVersion: 1, Configuration: raft.EncodeConfiguration(Founders("a", "b"))}
	bubble(t, "raft is busy", func(t *testing.T) {
		a, b, _ := pair(t)
		for name, send := range map[string]func() error{
			"append": func() error { return a.append("b", entry(1, "x")) },
			"snapshot": func() error {
				return a.InstallSnapshot("b", "b", snapshot, new(raft.InstallSnapshotResponse), strings.NewReader("abc"))
			},
			"vote": func() error {
				return a.RequestVote("b", "b", &raft.RequestVoteRequest{Term: 1}, new(raft.RequestVoteResponse))
			},
		} {
			if err := send(); err == nil { // nobody takes it
				t.Errorf("%s: no error", name)
			}
			select {
			case rpc := <-b.rpcs:
				t.Errorf("%s came late: %+v", name, rpc.Command)
			case <-time.After(time.Minute):
			}
		}
	})
	bubble(t, "copies", func(t *testing.T) {
		a, b, n := pair(t)
		n.set(func(p Packet) Verdict {
			if p.Reply {
				return Verdict{}
			}
			return Verdict{Delay: 90 * time.Millisecond, Copies: 5}
		})
		got := b.serve(100)
		at := time.Now()
		if err := a.append("b", entry(1, "x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		var after []time.Duration
		for range len(got) {
			<-got
			after = append(after, 0)
		}
		// It is there after 90 ms; from then on its sender waits for rpcTimeout, in which two more of the five copies arrive.
		if len(after) != 3 {
			t.Errorf("processed %d times since %v", len(after), at)
		}
	})
	bubble(t, "a snapshot that is older than the state", func(t *testing.T) {
		a, b, _ := pair(t)
		b.reached = 60
		var resp raft.InstallSnapshotResponse
		if err := a.InstallSnapshot("b", "b", snapshot, &resp, strings.NewReader("abc")); err != nil || !resp.Success {
			t.Errorf("%v, %+v", err, resp) // success: what it holds is there
		}
		if len(b.replaced) > 0 {
			t.Error("it was taken over")
		}
	})
}

func TestACopyComesLaterThanWhatWasSentNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, n := pair(t)
		first := true
		n.set(func(p Packet) Verdict {
			if p.Reply || !first {
				return Verdict{}
			}
			first = false
			return Verdict{Copies: 1}
		})
		got := b.serve(3)
		for i := range 2 {
			if err := a.append("b", entry(uint64(i)+1, "x")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		var order []uint64
		for range len(got) {
			order = append(order, (<-got).Command.(*raft.AppendEntriesRequest).PrevLogEntry+1)
		}
		if len(order) != 3 || order[0] != 1 || order[1] != 2 || order[2] != 1 {
			t.Errorf("entries arrived as %v", order)
		}
	})
}

func TestDifferentDelaysLetMessagesOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, n := pair(t)
		n.set(func(p Packet) Verdict {
			if p.Kind == "vote" && !p.Reply {
				return Verdict{Delay: 50 * time.Millisecond}
			}
			return Verdict{}
		})
		got := b.serve(2)
		var wg sync.WaitGroup
		wg.Go(func() { a.RequestVote("b", "b", &raft.RequestVoteRequest{Term: 1}, new(raft.RequestVoteResponse)) })
		synctest.Wait() // it is on its way
		wg.Go(func() { a.append("b", entry(1, "x")) })
		wg.Wait()
		if _, ok := (<-got).Command.(*raft.AppendEntriesRequest); !ok {
			t.Error("what was sent first came first")
		}
	})
}

func TestASnapshotStopsAndGoesOnInTheMiddle(t *testing.T) {
	state := bytes.Repeat([]byte("0123456789"), 1000)
	snapshot := func() *raft.InstallSnapshotRequest {
		return &raft.InstallSnapshotRequest{Term: 1, LastLogIndex: 50, LastLogTerm: 1, Size: int64(len(state)), SnapshotVersion: 1, Configuration: raft.EncodeConfiguration(Founders("a", "b"))}
	}
	clog := func(p Packet) Verdict { return Verdict{Drop: p.Kind == "snapshot" && p.Piece > 0} }
	install := func(a *stand) <-chan error {
		ended := make(chan error, 1)
		go func() {
			ended <- a.InstallSnapshot("b", "b", snapshot(), new(raft.InstallSnapshotResponse), bytes.NewReader(state))
		}()
		return ended
	}
	bubble(t, "the link heals", func(t *testing.T) {
		a, b, n := pair(t)
		n.set(clog)
		got := b.serve(1)
		ended := install(a)
		time.Sleep(time.Minute)
		if len(got) > 0 || len(ended) > 0 {
			t.Fatal("it arrived over a link that is clogged")
		}
		n.set(nil)
		a.f.NetworkChanged()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		rpc := <-got
		if rpc.Command.(*raft.InstallSnapshotRequest).LastLogIndex != 50 || b.marked != 1 {
			t.Errorf("%+v, marked %d times", rpc.Command, b.marked)
		}
		first := 0
		for _, p := range n.passed {
			if p.Kind == "snapshot" && !p.Reply && p.Piece == 0 {
				first++
			}
		}
		if first != 1 {
			t.Errorf("the first piece was sent %d times", first)
		}
	})
	for name, end := range map[string]func(a *stand){
		"the leader is deposed": func(a *stand) { a.leading = false },
		"the member is removed": func(a *stand) { a.servers = Founders("a", "c").Servers },
		"the sender is stopped": func(a *stand) { a.Close() },
	} {
		bubble(t, name, func(t *testing.T) {
			a, _, n := pair(t)
			n.set(clog)
			ended := install(a)
			time.Sleep(time.Minute)
			synctest.Wait()
			end(a)
			a.f.NetworkChanged()
			select {
			case err := <-ended:
				if err == nil {
					t.Error("no error")
				}
			case <-time.After(time.Second):
				t.Error("it hangs")
			}
		})
	}
}

func TestMessagesAreForAnIdentityAndNotForAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		got := b.serve(1)
		for name, send := range map[string]func() error{
			"append": func() error {
				return a.AppendEntries("b#0", "b", entry(1, "x"), new(raft.AppendEntriesResponse))
			},
			"vote": func() error {
				return a.RequestVote("b#0", "b", &raft.RequestVoteRequest{Term: 9}, new(raft.RequestVoteResponse))
			},
			"pre-vote": func() error {
				return a.RequestPreVote("b#0", "b", &raft.RequestPreVoteRequest{Term: 9}, new(raft.RequestPreVoteResponse))
			},
		} {
			if err := send(); !errors.Is(err, errOther) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(got) > 0 {
			t.Error("it was delivered to who has the name now")
		}
	})
}

func TestWhoWasRemovedIsToldSoAndNotListenedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		got := b.serve(1)
		b.removed["a"] = true
		for range 2 {
			if err := a.RequestPreVote("b", "b", &raft.RequestPreVoteRequest{Term: 9}, new(raft.RequestPreVoteResponse)); !errors.Is(err, ErrRemoved) {
				t.Error(err)
			}
			<-a.hears
		}
		if len(got) > 0 {
			t.Error("it disturbed the others")
		}
	})
}

func TestSnapshotsWithoutEndStopTheMember(t *testing.T) {
	heartbeat := &raft.AppendEntriesRequest{Term: 1}
	for name, c := range map[string]struct {
		steps string // i: a snapshot is taken over, r: an append is refused, a: one is accepted, h: a heartbeat comes
		stops bool
	}{
		"three without one append":               {"iririr", true},
		"refusals before the first do not count": {"rrrrirrrrir", false},
		"an append in between":                   {"iririairir", false},
		"snapshots follow one another":           {"iiiiiiir", false},
		"heartbeats change nothing":              {"ihrihrihr", true},
	} {
		t.Run(name, func(t *testing.T) {
			var l loop
			stopped := false
			for _, step := range c.steps {
				switch step {
				case 'i':
					l.installed()
				case 'r':
					stopped = l.appended(false, entry(5, "x")) || stopped
				case 'a':
					l.appended(true, entry(5, "x"))
				case 'h':
					l.appended(true, heartbeat)
				}
			}
			if stopped != c.stops {
				t.Errorf("%s: stopped %v", c.steps, stopped)
			}
		})
	}
}

func TestADiskIsMarkedBeforeTheFirstThingOnItIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := pair(t)
		b.serve(3)
		if err := a.append("b", &raft.AppendEntriesRequest{Term: 1}); err != nil || b.marked != 0 {
			t.Errorf("a heartbeat: %v, marked %d times", err, b.marked)
		}
		full := errors.New("no space left on device")
		b.markUsed = func() error { return full }
		if err := a.append("b", entry(1, "x")); !errors.Is(err, full) {
			t.Errorf("acknowledged without a mark: %v", err)
		}
		if err := <-b.failed; !errors.Is(err, full) {
			t.Error(err)
		}
	})
}

func TestTheObserverIsToldWhichPieceOfASnapshotIsSentAndOfHowMany(t *testing.T) {
	for size, pieces := range map[int]int{0: 1, 100: 1, 256: 1, 257: 2, 1000: 4, 10_000: 4, 10_003: 5, 2 << 20: 8} {
		bubble(t, fmt.Sprint(size), func(t *testing.T) {
			var told []string
			f := NewFabric((&net{}).Verdict, func(m Message) { told = append(told, fmt.Sprint(m.Kind, " ", m.Reply, " ", m.Piece, "/", m.Pieces)) })
			a, b := newStand(f, "a", "a"), newStand(f, "b", "b")
			t.Cleanup(func() { a.Close(); b.Close(); synctest.Wait() })
			b.serve(2)
			request := &raft.InstallSnapshotRequest{Term: 1, LastLogIndex: 50, LastLogTerm: 1, Size: int64(size), SnapshotVersion: 1, Configuration: raft.EncodeConfiguration(Founders("a", "b"))}
			if err := a.InstallSnapshot("b", "b", request, new(raft.InstallSnapshotResponse), bytes.NewReader(make([]byte, size))); err != nil {
				t.Fatal(err)
			}
			if err := a.RequestVote("b", "b", &raft.RequestVoteRequest{Term: 1}, new(raft.RequestVoteResponse)); err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range pieces {
				want = append(want, fmt.Sprint("snapshot false ", i+1, "/", pieces))
			}
			want = append(want, "snapshot true 0/0", "vote false 0/0", "vote true 0/0")
			if !slices.Equal(told, want) {
				t.Errorf("told %q, want %q", told, want)
			}
		})
	}
}
