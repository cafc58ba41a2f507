package mvcc

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// randomState drives a store by the operations of the model test.
func randomState(seed uint64, steps int) *Store {
	p := &pair{t: &testing.T{}, r: rand.New(rand.NewPCG(seed, 7)), s: New(), m: newModel()}
	for range steps {
		p.step()
	}
	return p.s
}

func TestDigestTellsStatesApartExactlyWhenTheyDiffer(t *testing.T) {
	byDigest, byState := map[uint64]string{}, map[string]uint64{}
	for seed := range uint64(120) {
		p := &pair{t: t, r: rand.New(rand.NewPCG(seed, 8)), s: New(), m: newModel(), where: fmt.Sprint("seed ", seed)}
		for range 60 {
			p.step()
			state, digest := string(p.s.Encode()), p.s.Digest()
			if other, seen := byDigest[digest]; seen && other != state {
				t.Fatalf("seed %d: two states have digest %x", seed, digest)
			}
			if other, seen := byState[state]; seen && other != digest {
				t.Fatalf("seed %d: one state has two digests", seed)
			}
			byDigest[digest], byState[state] = state, digest
		}
	}
	if len(byState) < 3000 {
		t.Fatalf("only %d states were tried", len(byState))
	}
}

func TestEveryDifferenceShowsInTheDigest(t *testing.T) {
	put := func(key, value string, lease LeaseID) Txn {
		return Txn{Then: []Op{{Key: key, Value: []byte(value), Lease: lease}}}
	}
	base := func() *Store {
		s := New()
		s.Grant(1, 60)
		s.Grant(2, 60)
		s.Apply(put("a", "1", 0))
		s.Apply(put("b", "0123456789abcdef0123456789abcdef", 1))
		s.Apply(put("a", "2", 0))
		s.Raise(Alarm{Corrupt, "m1"})
		s.Apply(Txn{ID: "x", Read: []string{"a"}})
		return s
	}
	differences := map[string]func(*Store){
		"another value":                   func(s *Store) { s.Apply(put("c", "1", 0)) },
		"another value of that key":       func(s *Store) { s.Apply(put("c", "2", 0)) },
		"another key":                     func(s *Store) { s.Apply(put("d", "1", 0)) },
		"another lease":                   func(s *Store) { s.Apply(put("c", "1", 1)) },
		"yet another lease":               func(s *Store) { s.Apply(put("c", "1", 2)) },
		"two keys":                        func(s *Store) { s.Apply(Txn{Then: []Op{{Key: "c"}, {Key: "d"}}}) },
		"two keys the other way round":    func(s *Store) { s.Apply(Txn{Then: []Op{{Key: "d"}, {Key: "c"}}}) },
		"two keys in two revisions":       func(s *Store) { s.Apply(put("c", "", 0)); s.Apply(put("d", "", 0)) },
		"a byte in the middle":            func(s *Store) { s.Apply(put("b", "0123456789abcdeX0123456789abcdef", 1)) },
		"the same again":                  func(s *Store) { s.Apply(put("b", "0123456789abcdef0123456789abcdef", 1)) },
		"a shorter value":                 func(s *Store) { s.Apply(put("b", "0123456789abcdef0123456789abcde", 1)) },
		"a zero byte more":                func(s *Store) { s.Apply(put("b", "0123456789abcdef0123456789abcdef\x00", 1)) },
		"a deletion":                      func(s *Store) { s.Apply(Txn{Then: []Op{{Key: "a", Delete: true}}}) },
		"deleted and made anew":           func(s *Store) { s.Apply(Txn{Then: []Op{{Key: "a", Delete: true}}}); s.Apply(put("a", "2", 0)) },
		"compaction":                      func(s *Store) { s.Compact(2) },
		"compaction of more":              func(s *Store) { s.Compact(3) },
		"a lease more":                    func(s *Store) { s.Grant(3, 60) },
		"a lease with another TTL":        func(s *Store) { s.Grant(3, 61) },
		"a lease less":                    func(s *Store) { s.Revoke(2) },
		"an alarm":                        func(s *Store) { s.Raise(Alarm{NoSpace, "m1"}) },
		"the alarm of another member":     func(s *Store) { s.Raise(Alarm{NoSpace, "m2"}) },
		"no alarm":                        func(s *Store) { s.Disarm() },
		"a request id":                    func(s *Store) { s.Apply(Txn{ID: "y"}) },
		"a request id with another name":  func(s *Store) { s.Apply(Txn{ID: "z"}) },
		"a request id that failed":        func(s *Store) { s.Apply(Txn{ID: "y", If: []Compare{{Key: "a"}}}) },
		"a request id that was refused":   func(s *Store) { s.Apply(Txn{ID: "y", Then: []Op{{Key: "a", Lease: 9}}}) },
		"a request id with an answer":     func(s *Store) { s.Apply(Txn{ID: "y", ReadThen: []string{"a"}}) },
		"a request id, another answer":    func(s *Store) { s.Apply(Txn{ID: "y", ReadThen: []string{"b"}}) },
		"two request ids":                 func(s *Store) { s.Apply(Txn{ID: "y"}); s.Apply(Txn{ID: "z"}) },
		"two request ids, in other order": func(s *Store) { s.Apply(Txn{ID: "z"}); s.Apply(Txn{ID: "y"}) },
		"a bump":                          func(s *Store) { s.Bump(100) },
		"a bump further":                  func(s *Store) { s.Bump(101) },
		"nothing":                         func(*Store) {},
	}
	digests := map[uint64]string{}
	for name, do := range differences {
		s := base()
		do(s)
		if other, same := digests[s.Digest()]; same {
			t.Errorf("%q and %q have the same digest", name, other)
		}
		digests[s.Digest()] = name
		again, err := DecodeSnapshot(s.Encode())
		if err != nil || again.Digest() != s.Digest() {
			t.Errorf("%q: another digest after encoding and decoding: %v", name, err)
		}
	}
}

func TestDigestsThatWentDifferentWaysMeetAgain(t *testing.T) {
	a, b := New(), New()
	for _, s := range []*Store{a, b} {
		s.Apply(Txn{Then: []Op{{Key: "k", Value: []byte("v")}}})
	}
	a.Grant(1, 10)
	a.Raise(Alarm{NoSpace, "m"})
	want(t, a.Digest() != b.Digest(), "a lease and an alarm do not show")
	a.Disarm()
	a.Revoke(1)
	want(t, a.Digest() == b.Digest(), "what was taken back still shows")
}
