package mvcc

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sort"
	"strings"
	"testing"
)

// model is the state machine as one would explain it: the whole map at every revision.
type model struct {
	states    []map[string]KV // states[rev]
	events    [][]Event
	compacted int64
}

func newModel() *model {
	return &model{states: []map[string]KV{{}, {}}, events: [][]Event{nil, nil}}
}

func (m *model) revision() int64 { return int64(len(m.states) - 1) }

func (m *model) apply(t Txn) TxnResult {
	now := m.states[m.revision()]
	ok := true
	for _, c := range t.If {
		kv := now[c.Key]
		ok = ok && c.Value == [...]int64{kv.ModRevision, kv.CreateRevision, kv.Version}[c.Target]
	}
	ops, res := t.Then, TxnResult{Succeeded: ok}
	if !ok {
		ops = t.Else
		for _, k := range t.Read {
			if kv, has := now[k]; has {
				res.Read = append(res.Read, kv)
			}
		}
	}
	next, rev := make(map[string]KV), m.revision()+1
	for k, v := range now {
		next[k] = v
	}
	var events []Event
	for _, op := range ops {
		old, had := next[op.Key]
		var prev *KV
		if had {
			prev = &old
		}
		switch {
		case op.Delete && had:
			delete(next, op.Key)
			events = append(events, Event{Deleted: true, KV: KV{Key: op.Key, ModRevision: rev}, Prev: prev})
		case !op.Delete:
			kv := KV{Key: op.Key, Value: op.Value, CreateRevision: rev, ModRevision: rev, Version: 1}
			if had {
				kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
			}
			next[op.Key] = kv
			events = append(events, Event{KV: kv, Prev: prev})
		}
	}
	if len(events) > 0 {
		m.states, m.events = append(m.states, next), append(m.events, events)
		res.Changed = true
	}
	res.Revision = m.revision()
	return res
}

func (m *model) rangeAt(r Range) (RangeResult, error) {
	at := r.Revision
	if at == 0 {
		at = m.revision()
	}
	res := RangeResult{Revision: m.revision()}
	if at > m.revision() {
		return res, ErrFutureRev
	}
	if at < m.compacted {
		return res, ErrCompacted
	}
	var keys []string
	for k := range m.states[at] {
		if r.End == "" && k == r.Key || k >= r.Key && k < r.End {
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	res.Count = len(keys)
	for i, k := range keys {
		if r.CountOnly {
			break
		}
		if r.Limit > 0 && i >= r.Limit {
			res.More = true
			break
		}
		kv := m.states[at][k]
		if r.KeysOnly {
			kv.Value = nil
		}
		res.KVs = append(res.KVs, kv)
	}
	return res, nil
}

func (m *model) eventsSince(prefix string, rev int64) ([]Event, error) {
	if rev <= m.compacted {
		return nil, ErrCompacted
	}
	var out []Event
	for r := rev; r <= m.revision(); r++ {
		for _, e := range m.events[r] {
			if strings.HasPrefix(e.KV.Key, prefix) {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

func randomKey(r *rand.Rand) string { return fmt.Sprintf("/%c/%d", 'a'+rune(r.IntN(3)), r.IntN(6)) }

func randomOps(r *rand.Rand) []Op {
	var ops []Op
	for range r.IntN(3) {
		op := Op{Key: randomKey(r), Delete: r.IntN(3) == 0}
		if !op.Delete {
			op.Value = []byte(fmt.Sprint("v", r.IntN(1000)))
		}
		ops = append(ops, op)
	}
	return ops
}

func randomTxn(r *rand.Rand, revision int64) Txn {
	t := Txn{Then: randomOps(r), Else: randomOps(r), Tag: r.Uint64()}
	for range r.IntN(3) {
		t.If = append(t.If, Compare{Key: randomKey(r), Target: Target(r.IntN(3)), Value: r.Int64N(min(revision+1, 4))})
	}
	if r.IntN(2) == 0 {
		t.Read = []string{randomKey(r), randomKey(r)}
	}
	return t
}

func TestStateMachineAgreesWithTheNaiveModelOnManySeeds(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, m := New(), newModel()
		var frozen *View
		var frozenBytes []byte
		for step := range 120 {
			switch r.IntN(12) {
			case 0:
				rev := m.compacted + r.Int64N(m.revision()-m.compacted+2)
				err := s.Compact(rev)
				switch {
				case rev <= m.compacted:
					want(t, errors.Is(err, ErrCompacted), "seed %d step %d: compact %d: %v", seed, step, rev, err)
				case rev > m.revision():
					want(t, errors.Is(err, ErrFutureRev), "seed %d step %d: compact %d: %v", seed, step, rev, err)
				default:
					want(t, err == nil, "seed %d step %d: compact %d: %v", seed, step, rev, err)
					m.compacted = rev
				}
			case 1:
				b := s.Encode()
				restored, err := DecodeSnapshot(b)
				if err != nil {
					t.Fatalf("seed %d step %d: %v", seed, step, err)
				}
				want(t, restored.Size() == s.Size() && restored.Hash() == s.Hash(), "seed %d step %d: restored state differs", seed, step)
				s = restored
			case 2:
				frozen = s.Snapshot()
				frozenBytes = frozen.Encode()
			default:
				txn := randomTxn(r, m.revision())
				got, events := s.Apply(txn)
				wantRes := m.apply(txn)
				want(t, reflect.DeepEqual(got, wantRes), "seed %d step %d: %+v: got %+v, want %+v", seed, step, txn, got, wantRes)
				if got.Changed {
					want(t, reflect.DeepEqual(events, m.events[m.revision()]), "seed %d step %d: events differ", seed, step)
				}
			}
			compareReads(t, r, s, m, fmt.Sprintf("seed %d step %d", seed, step))
		}
		if frozen != nil {
			want(t, bytes.Equal(frozen.Encode(), frozenBytes), "seed %d: a frozen view changed", seed)
		}
	}
}

func compareReads(t *testing.T, r *rand.Rand, s *Store, m *model, where string) {
	t.Helper()
	req := Range{Key: randomKey(r), Revision: r.Int64N(m.revision() + 2), Limit: r.IntN(4), KeysOnly: r.IntN(4) == 0, CountOnly: r.IntN(6) == 0}
	switch r.IntN(3) {
	case 0:
		req.Key, req.End = "/", PrefixEnd("/")
	case 1:
		req.End = PrefixEnd("/b")
	}
	got, gotErr := s.Range(req)
	wantRes, wantErr := m.rangeAt(req)
	want(t, errors.Is(gotErr, wantErr) && reflect.DeepEqual(got, wantRes), "%s: range %+v: got %+v %v, want %+v %v", where, req, got, gotErr, wantRes, wantErr)
	rev := 1 + r.Int64N(m.revision()+1)
	ev, evErr := s.EventsSince("/b", rev)
	wantEv, wantEvErr := m.eventsSince("/b", rev)
	want(t, errors.Is(evErr, wantEvErr) && reflect.DeepEqual(ev, wantEv), "%s: events since %d differ: %v %v", where, rev, evErr, wantEvErr)
}

func want(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

func TestSameRequestIDChangesTheStateOnceAndSurvivesASnapshot(t *testing.T) {
	s := New()
	txn := Txn{ID: "req-1", Then: []Op{{Key: "a", Value: []byte("1")}}}
	first, events := s.Apply(txn)
	want(t, len(events) == 1, "first application must change the state")
	s.Apply(Txn{Then: []Op{{Key: "a", Value: []byte("2")}}})
	restored, err := DecodeSnapshot(s.Encode())
	want(t, err == nil, "%v", err)
	for _, st := range []*Store{s, restored} {
		again, events := st.Apply(txn)
		want(t, reflect.DeepEqual(first, again) && events == nil, "repeated id: %+v %v", again, events)
		want(t, st.Revision() == 3, "revision %d", st.Revision())
	}
}

func TestOnlyTheLastTenThousandRequestIDsAreRemembered(t *testing.T) {
	s := New()
	for i := range 2*answersKept + 10 {
		s.Apply(Txn{ID: fmt.Sprint(i), Then: []Op{{Key: "a"}}})
	}
	want(t, len(s.byID) == answersKept && len(s.recentAnswers()) == answersKept, "kept %d ids", len(s.byID))
	rev := s.Revision()
	s.Apply(Txn{ID: fmt.Sprint(answersKept + 10), Then: []Op{{Key: "a"}}})
	want(t, s.Revision() == rev, "a remembered id was applied again")
	s.Apply(Txn{ID: "0", Then: []Op{{Key: "a"}}})
	want(t, s.Revision() == rev+1, "a forgotten id is a new request")
	restored, err := DecodeSnapshot(s.Encode())
	want(t, err == nil && restored.Hash() == s.Hash(), "restore: %v", err)
}

func TestEmptyStoreIsAtRevisionOne(t *testing.T) {
	s := New()
	want(t, s.Revision() == 1 && s.CompactedRevision() == 0, "got %d, %d", s.Revision(), s.CompactedRevision())
	res, _ := s.Apply(Txn{Then: []Op{{Delete: true, Key: "nothing"}}})
	want(t, !res.Changed && res.Revision == 1, "deleting nothing took a revision: %+v", res)
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	for name, txn := range map[string]Txn{
		"empty key":      {Then: []Op{{}}},
		"duplicate key":  {Else: []Op{{Key: "a"}, {Key: "a", Delete: true}}},
		"empty compare":  {If: []Compare{{}}},
		"unknown target": {If: []Compare{{Key: "a", Target: 9}}},
	} {
		want(t, Validate(txn) != nil, "%s was accepted", name)
	}
	want(t, Validate(Txn{If: []Compare{{Key: "a"}}, Then: []Op{{Key: "a"}, {Key: "b"}}, Else: []Op{{Key: "a"}}}) == nil, "a sound transaction was refused")
}

func TestDamagedSnapshotsAreErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := New()
	for range 50 {
		s.Apply(randomTxn(r, s.Revision()))
	}
	good := s.Encode()
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		_, err := DecodeSnapshot(bad)
		want(t, errors.Is(err, ErrDamaged), "byte %d flipped: %v", i, err)
		_, err = DecodeSnapshot(good[:i])
		want(t, errors.Is(err, ErrDamaged), "cut at %d: %v", i, err)
	}
}

func FuzzDecodeTxn(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 10 {
		f.Add(AppendTxn(nil, randomTxn(r, 5)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		txn, err := DecodeTxn(b)
		if err != nil {
			want(t, errors.Is(err, ErrDamaged), "%v", err)
			return
		}
		again, err := DecodeTxn(AppendTxn(nil, txn))
		want(t, err == nil && reflect.DeepEqual(txn, again), "decoded %+v, after a round trip %+v %v", txn, again, err)
		New().Apply(txn)
	})
}

// FuzzDecodeSnapshot seals the bytes, so that the decoder behind the checksum is what is tried.
func FuzzDecodeSnapshot(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	s := New()
	for range 20 {
		s.Apply(randomTxn(r, s.Revision()))
	}
	b := s.Encode()
	f.Add(b[:len(b)-4])
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSnapshot(Seal(bytes.Clone(b)))
		if err != nil {
			want(t, errors.Is(err, ErrDamaged), "%v", err)
			return
		}
		again, err := DecodeSnapshot(s.Encode())
		want(t, err == nil && again.Hash() == s.Hash(), "round trip: %v", err)
	})
}

func BenchmarkApply(b *testing.B) {
	s := New()
	value := make([]byte, 256)
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("/registry/pods/default/pod-%d", i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Apply(Txn{Then: []Op{{Key: keys[i%len(keys)], Value: value}}})
		if i%100_000 == 99_999 {
			s.Compact(s.Revision())
		}
	}
}
