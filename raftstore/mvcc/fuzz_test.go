package mvcc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

func FuzzDecodeTxn(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20 {
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
		_ = Validate(txn)
		New().Apply(txn)
	})
}

// FuzzDecodeSnapshot seals the bytes, so that the decoder behind the checksum is what is tried.
func FuzzDecodeSnapshot(f *testing.F) {
	for seed := range uint64(5) {
		s := randomState(seed, 30)
		b := s.Encode()
		f.Add(b[:len(b)-4])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSnapshot(Seal(bytes.Clone(b)))
		if err != nil {
			want(t, errors.Is(err, ErrDamaged), "%v", err)
			return
		}
		again, err := DecodeSnapshot(s.Encode())
		want(t, err == nil && again.Hash() == s.Hash() && again.Digest() == s.Digest() && again.InUse() == s.InUse(), "round trip: %v", err)
		// What can be read can be worked with.
		for rev := max(1, s.CompactedRevision()); rev <= s.Revision() && rev < s.CompactedRevision()+20; rev++ {
			_, err := s.Range(Range{Key: "\x00", End: "\x00", Revision: rev})
			want(t, err == nil, "range at %d: %v", rev, err)
		}
		_, err = s.HashKV(0)
		want(t, err == nil, "hash: %v", err)
		for _, l := range s.Leases() {
			_, err := s.Revoke(l.ID)
			want(t, err == nil, "revoke %d: %v", l.ID, err)
		}
		if s.Revision() > s.CompactedRevision() {
			want(t, s.Compact(s.Revision()) == nil, "compact")
		}
	})
}

// program reads operations out of any bytes.
type program struct{ b []byte }

func (p *program) next() byte {
	if len(p.b) == 0 {
		return 0
	}
	v := p.b[0]
	p.b = p.b[1:]
	return v
}

func (p *program) key() string {
	return string([]byte{'a' + p.next()%4, 'a' + p.next()%3}[:1+p.next()%2])
}

func (p *program) op() Op {
	op := Op{Key: p.key()}
	switch p.next() % 5 {
	case 0:
		op.Delete = true
	case 1:
		op.Delete, op.End = true, p.key()
	case 2:
		op.Lease = LeaseID(p.next() % 3)
		fallthrough
	default:
		if v := p.next(); v%8 > 0 { // no bytes are nil, as the decoder makes them
			op.Value = bytes.Repeat([]byte{v}, 1+int(p.next()%40))
		}
	}
	return op
}

// txn makes transactions that need not be valid: the state machine must cope alike with whatever a log holds.
func (p *program) txn() Txn {
	t := Txn{}
	if p.next()%2 == 0 {
		t.ID = string([]byte{'i', p.next() % 8})
	}
	for range p.next() % 3 {
		t.If = append(t.If, Compare{Key: p.key(), Target: Target(p.next() % 5), Relation: Relation(p.next() % 4), Value: int64(p.next() % 8), Bytes: []byte{p.next()}})
	}
	for range p.next() % 4 {
		t.Then = append(t.Then, p.op())
	}
	for range p.next() % 2 {
		t.Else = append(t.Else, p.op())
	}
	if p.next()%3 == 0 {
		t.Read, t.ReadThen = []string{p.key()}, []string{p.key()}
	}
	return t
}

// FuzzProgram runs any bytes as operations on two members, one of which is encoded, decoded and frozen at every turn, and demands that nobody can tell them apart.
func FuzzProgram(f *testing.F) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		b := make([]byte, 400)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, one, other := &program{b}, New(), New()
		var frozen *View
		var digest, hash uint64
		for len(p.b) > 0 {
			if frozen == nil && p.next()%8 == 0 {
				frozen = other.Snapshot()
				digest, hash = frozen.Digest(), frozen.Hash()
			}
			if p.next()%4 == 0 {
				again, err := DecodeSnapshot(other.Encode())
				want(t, err == nil, "decode: %v", err)
				again.Grow(other.DBSize())
				other = again
			}
			kind, arg := p.next(), p.next()
			txn := p.txn()
			do := func(s *Store) []any {
				switch kind % 10 {
				case 0:
					return []any{s.Compact(s.CompactedRevision() + int64(arg%8))}
				case 1:
					return []any{s.Grant(LeaseID(arg%3), int64(arg))}
				case 2:
					events, err := s.Revoke(LeaseID(arg % 3))
					return []any{events, err}
				case 3:
					if arg%4 > 0 {
						return []any{s.Disarm()}
					}
					return []any{s.Raise(Alarm{NoSpace, "m"})}
				case 4:
					if arg == 0 {
						s.Bump(s.Revision() + 10)
					}
					return nil
				}
				result, events := s.Apply(txn)
				return []any{result, events}
			}
			a, b := do(one), do(other)
			want(t, reflect.DeepEqual(a, b), "answers differ:\n%+v\n%+v", a, b)
			want(t, one.Digest() == other.Digest() && one.Hash() == other.Hash() && one.DBSize() == other.DBSize(), "states differ")
		}
		a, aErr := one.HashKV(0)
		b2, bErr := other.HashKV(0)
		want(t, a == b2 && aErr == nil && bErr == nil, "HashKV differs: %+v %v, %+v %v", a, aErr, b2, bErr)
		for rev := one.CompactedRevision() + 1; rev <= one.Revision(); rev++ {
			ea, _ := one.EventsWithin("a", "c", rev)
			eb, _ := other.EventsWithin("a", "c", rev)
			ra, _ := one.Range(Range{Key: "a", End: "c", Revision: rev})
			rb, _ := other.Range(Range{Key: "a", End: "c", Revision: rev})
			want(t, reflect.DeepEqual(ea, eb) && reflect.DeepEqual(ra, rb), "reads at %d differ:\n%+v\n%+v\n%+v\n%+v", rev, ea, eb, ra, rb)
		}
		if frozen != nil {
			want(t, frozen.Digest() == digest && frozen.Hash() == hash, "a frozen view changed")
		}
	})
}
