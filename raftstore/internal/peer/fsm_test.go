package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/hashicorp/raft"

	"example.com/kubeviz/raftstore/failure"
	"example.com/kubeviz/raftstore/mvcc"
)

// machine is a state machine on its own, and what it answered last.
type machine struct {
	*fsm
	told     []Outcome
	restored int
	halts    int
}

func newMachine() *machine {
	m := &machine{}
	m.fsm = &fsm{decoder: new(Decoder), kv: mvcc.New(), met: new(met), committed: func() {}, begun: true, halt: func(error) { m.halts++ }}
	m.hooks = Hooks{
		Applied:  func(uint64, uint64, []Outcome, *mvcc.Store) {},
		Restored: func(uint64, uint64, *mvcc.Store) { m.restored++ },
		Answer:   func(_, _ uint64, o []Outcome) { m.told = o },
	}
	return m
}

// apply runs an entry and says everything that its clients could see of it.
func (m *machine) apply(index, term uint64, data []byte) string {
	m.told = nil
	answer := m.Apply(&raft.Log{Index: index, Term: term, Data: data})
	s := fmt.Sprint(answer, " ")
	for _, o := range m.told {
		s += fmt.Sprintf("%d %+v %v %v %v;", o.ID, o.Result, o.Err, o.Repeated, o.Alarms)
		for _, e := range o.Events {
			s += fmt.Sprintf(" %v %+v", e.Deleted, e.KV)
			if e.Prev != nil {
				s += fmt.Sprintf(" was %+v", *e.Prev)
			}
		}
	}
	return s
}

type memSink struct{ bytes.Buffer }

func (*memSink) ID() string    { return "" }
func (*memSink) Cancel() error { return nil }
func (*memSink) Close() error  { return nil }

// reborn is a machine that knows only m's snapshot.
func (m *machine) reborn(t *testing.T) *machine {
	t.Helper()
	s, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var sink memSink
	if err := s.Persist(&sink); err != nil {
		t.Fatal(err)
	}
	n := newMachine()
	if err := n.Restore(io.NopCloser(&sink.Buffer)); err != nil {
		t.Fatal(err)
	}
	return n
}

func (m *machine) state() string {
	return fmt.Sprint(m.kv.Digest(), m.kv.Revision(), m.kv.CompactedRevision(), m.kv.Leases(), m.kv.Alarms(), m.index.Load(), m.term.Load(), mvcc.Checksum(m.met.append(nil)))
}

// tape turns arbitrary bytes into choices; when it is used up every choice is the first.
type tape struct{ b []byte }

func (t *tape) pick(n int) int {
	if len(t.b) == 0 {
		return 0
	}
	v := int(t.b[0]) % n
	t.b = t.b[1:]
	return v
}

func (t *tape) key() string { return []string{"a", "b", "c", "aa", "", "\xff", "\x00"}[t.pick(7)] }

func (t *tape) txn() (x mvcc.Txn) {
	x.ID = []string{"", "", "once", "twice"}[t.pick(4)]
	x.Tag = uint64(t.pick(3))
	for range t.pick(3) {
		x.If = append(x.If, mvcc.Compare{Key: t.key(), Target: mvcc.Target(t.pick(5)), Relation: mvcc.Relation(t.pick(4)), Value: int64(t.pick(6)) - 1, Bytes: []byte(t.key())})
	}
	for _, ops := range []*[]mvcc.Op{&x.Then, &x.Else} {
		for range t.pick(4) {
			op := mvcc.Op{Delete: t.pick(3) == 0, Key: t.key(), Value: []byte(t.key())}
			if t.pick(4) == 0 {
				op.End = t.key()
			}
			if t.pick(3) == 0 {
				op.Lease = mvcc.LeaseID(t.pick(4))
			}
			*ops = append(*ops, op)
		}
	}
	for range t.pick(3) {
		x.Read, x.ReadThen = append(x.Read, t.key()), append(x.ReadThen, t.key())
	}
	return x
}

func (t *tape) command() Encoded {
	id := uint64(t.pick(3))<<numberBits + uint64(t.pick(4)+1)*uint64([]int{1, 50, 64 * windowWords}[t.pick(3)])
	switch t.pick(8) {
	case 0:
		return EncodeCompact(id, int64(t.pick(12)+1))
	case 1:
		return EncodeGrant(id, mvcc.LeaseID(t.pick(4)+1), int64(t.pick(5)+1))
	case 2:
		return EncodeRevoke(id, mvcc.LeaseID(t.pick(4)+1), t.pick(2) == 0)
	case 3:
		return EncodeRaise(id, mvcc.Alarm{Kind: []string{mvcc.NoSpace, mvcc.Corrupt}[t.pick(2)], Member: t.key()})
	case 4:
		return EncodeDisarm(id)
	}
	return EncodeTxn(id, t.txn())
}

// FuzzFSM feeds three members the same entries: two from the beginning, one that is born again from its own snapshot in between. They must answer the same and be the same, whatever the bytes are.
func FuzzFSM(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		b := make([]byte, 600)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tape := &tape{b[:min(len(b), 2000)]}
		all := [3]*machine{newMachine(), newMachine(), newMachine()}
		all[1].decoder = all[0].decoder
		term := uint64(1)
		for index := uint64(1); len(tape.b) > 0; index++ {
			var data []byte
			switch tape.pick(40) {
			case 0: // what no member wrote
				n := tape.pick(30)
				data = bytes.Clone(tape.b[:min(n, len(tape.b))])
				if tape.pick(2) == 0 {
					data = mvcc.Seal(data)
				}
				tape.pick(1)
			case 1:
				term++
				fallthrough
			default:
				var commands []Encoded
				for range tape.pick(4) {
					commands = append(commands, tape.command())
				}
				data = EncodeEntry(term-uint64(tape.pick(8)/7), commands)
			}
			if tape.pick(5) == 0 && all[2].halted == nil {
				all[2] = all[2].reborn(t)
			}
			want := all[0].apply(index, term, data)
			for i, m := range all {
				got := want
				if i > 0 {
					got = m.apply(index, term, data)
				}
				if got != want {
					t.Fatalf("entry %d: member %d answers\n%s\nand the first\n%s", index, i, got, want)
				}
				if got, want := m.state(), all[0].state(); got != want {
					t.Fatalf("entry %d: member %d is %s, the first %s", index, i, got, want)
				}
			}
			if all[0].halted != nil {
				return
			}
		}
	})
}

func put(id uint64, key string) Encoded {
	return EncodeTxn(id, mvcc.Txn{Then: []mvcc.Op{{Key: key}}})
}

func TestACommandThatIsInTheLogTwiceIsAppliedOnce(t *testing.T) {
	m := newMachine()
	m.apply(1, 1, EncodeEntry(1, []Encoded{put(7, "a"), put(7, "a")}))
	if m.kv.Revision() != 2 || m.told[0].Repeated || !m.told[1].Repeated {
		t.Fatalf("in one entry: revision %d, %+v", m.kv.Revision(), m.told)
	}
	m = m.reborn(t)
	m.apply(2, 1, EncodeEntry(1, []Encoded{put(7, "a")}))
	if m.kv.Revision() != 2 || !m.told[0].Repeated {
		t.Fatalf("in another, after a snapshot: revision %d, %+v", m.kv.Revision(), m.told)
	}
}

func TestWhatWasMetIsForgottenWithItsTermBecauseItsEntriesAreVoidThen(t *testing.T) {
	m := newMachine()
	entry := EncodeEntry(1, []Encoded{put(7, "a")})
	m.apply(1, 1, entry)
	m.apply(2, 2, EncodeEntry(2, nil))
	m.apply(3, 2, entry)
	if m.kv.Revision() != 2 || len(m.met.origins) != 0 {
		t.Errorf("revision %d, %d origins", m.kv.Revision(), len(m.met.origins))
	}
}

func TestACommandOvertakenByTooManyIsTurnedDownRatherThanPerhapsAppliedTwice(t *testing.T) {
	m := newMachine()
	const far = 64 * windowWords
	m.apply(1, 1, EncodeEntry(1, []Encoded{put(1, "a"), put(far+64, "b")}))
	m.apply(2, 1, EncodeEntry(1, []Encoded{put(1, "a"), put(2, "c")}))
	if m.kv.Revision() != 3 || !errors.Is(m.told[0].Err, ErrLate) || !errors.Is(m.told[1].Err, ErrLate) {
		t.Errorf("revision %d, %+v", m.kv.Revision(), m.told)
	}
	m.apply(3, 1, EncodeEntry(1, []Encoded{put(200, "d"), put(200, "d")}))
	if m.kv.Revision() != 4 {
		t.Errorf("revision %d: one within the window was not applied once", m.kv.Revision())
	}
}

func TestIdsOfManyOriginsInAnyOrderAreMetOnce(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		m, seen := new(met), map[uint64]bool{}
		m.begin(1)
		for range 20_000 {
			id := uint64(r.IntN(5))<<numberBits + uint64(r.IntN(64*windowWords/2))
			if got := m.meet(id); (got == fresh) == seen[id] {
				t.Fatalf("seed %d: id %x is %d, seen before: %v", seed, id, got, seen[id])
			}
			seen[id] = true
			if r.IntN(5000) == 0 {
				rd := &reader{b: m.append(nil)}
				if m = readMet(rd); rd.bad || len(rd.b) > 0 {
					t.Fatal("what was written cannot be read")
				}
			}
		}
	}
}

func TestEachLifeCountsFromAnOriginOfItsOwn(t *testing.T) {
	seen := map[uint64]bool{}
	for range 100 {
		id := NewOrigin()
		if id&(1<<numberBits-1) != 0 || seen[id] {
			t.Fatalf("origin %x", id)
		}
		seen[id] = true
	}
}

func TestAnEntryThatPanicsHaltsTheMemberWithTheSameAnswerEverywhere(t *testing.T) {
	var answers []string
	for range 2 {
		m := newMachine()
		m.hooks.Applied = func(index, _ uint64, _ []Outcome, _ *mvcc.Store) {
			if index == 2 {
				panic("no way on")
			}
		}
		m.apply(1, 1, EncodeEntry(1, []Encoded{put(1, "a")}))
		answers = append(answers, m.apply(2, 1, EncodeEntry(1, []Encoded{put(2, "b")}))+m.apply(3, 1, EncodeEntry(1, []Encoded{put(3, "c")})))
		if m.halts != 1 || m.index.Load() != 2 {
			t.Errorf("halted %d times, at %d", m.halts, m.index.Load())
		}
	}
	if answers[0] != answers[1] {
		t.Errorf("one answers %q, the other %q", answers[0], answers[1])
	}
}

func TestASnapshotThatIsOlderThanTheStateIsRefused(t *testing.T) {
	m := newMachine()
	m.apply(5, 1, EncodeEntry(1, []Encoded{put(1, "a")}))
	var old bytes.Buffer
	if err := WriteState(&old, 4, 1, mvcc.New().Snapshot()); err != nil {
		t.Fatal(err)
	}
	if err := m.Restore(io.NopCloser(&old)); err == nil || m.restored != 0 || m.kv.Revision() != 2 {
		t.Errorf("%v, restored %d times, revision %d", err, m.restored, m.kv.Revision())
	}
}

func TestDamagedSnapshotsAreErrors(t *testing.T) {
	m := newMachine()
	m.apply(1, 1, EncodeEntry(1, []Encoded{put(1, "a"), EncodeGrant(2, 1, 5)}))
	good := append(stateHeader(1, 1, 0, m.met), m.kv.Encode()...)
	if s, err := DecodeState(good); err != nil || s.Index != 1 || s.KV.Digest() != m.kv.Digest() {
		t.Fatalf("%+v %v", s, err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := DecodeState(bad); !errors.Is(err, mvcc.ErrDamaged) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
		if _, err := DecodeState(good[:i]); !errors.Is(err, mvcc.ErrDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func TestTheSizeOfTheDatabaseOutlivesASnapshot(t *testing.T) {
	m := newMachine()
	m.apply(1, 1, EncodeEntry(1, []Encoded{EncodeTxn(1, mvcc.Txn{Then: []mvcc.Op{{Key: "a", Value: make([]byte, 10_000)}}}), EncodeTxn(2, mvcc.Txn{Then: []mvcc.Op{{Key: "a", Delete: true}}}), EncodeCompact(3, 3)}))
	n := m.reborn(t)
	if n.kv.DBSize() != m.kv.DBSize() || n.kv.InUse() >= n.kv.DBSize() {
		t.Errorf("%d, %d in use; before %d", n.kv.DBSize(), n.kv.InUse(), m.kv.DBSize())
	}
}

func TestAMemberThatIsKilledBeforeAnEntryIsAppliedNeverAppliesIt(t *testing.T) {
	for at, want := range map[failure.Point]int64{failure.BeforeApply: 1, failure.AfterApply: 2} {
		m := newMachine()
		m.hooks.Step = func(p failure.Point) error {
			if p == at {
				return errStopped
			}
			return nil
		}
		m.apply(1, 1, EncodeEntry(1, []Encoded{put(1, "a")}))
		m.apply(2, 1, EncodeEntry(1, []Encoded{put(2, "b")}))
		if m.kv.Revision() != want || m.told != nil {
			t.Errorf("%s: revision %d, answered %+v", at, m.kv.Revision(), m.told)
		}
	}
}
