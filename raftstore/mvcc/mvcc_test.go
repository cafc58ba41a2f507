package mvcc

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

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
	want(t, len(s.byID) == answersKept && rememberedBy(s) == answersKept, "kept %d ids", len(s.byID))
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
		"empty key":                         {Then: []Op{{}}},
		"duplicate key":                     {Else: []Op{{Key: "a"}, {Key: "a", Delete: true}}},
		"empty compare":                     {If: []Compare{{}}},
		"unknown target":                    {If: []Compare{{Key: "a", Target: 9}}},
		"unknown relation":                  {If: []Compare{{Key: "a", Relation: 9}}},
		"bytes with a number":               {If: []Compare{{Key: "a", Bytes: []byte("x")}}},
		"put before a deletion of the same": {Then: []Op{{Key: "a"}, {Key: "a", Delete: true}}},
		"put inside of a deleted range":     {Then: []Op{{Key: "a", End: "c", Delete: true}, {Key: "b"}}},
		"put before a range that holds it":  {Then: []Op{{Key: "b"}, {Key: "a", End: "c", Delete: true}}},
		"put inside of an open range":       {Then: []Op{{Key: "a", End: "\x00", Delete: true}, {Key: "zzz"}}},
		"put with an end":                   {Then: []Op{{Key: "a", End: "b"}}},
		"deletion with a lease":             {Then: []Op{{Key: "a", Delete: true, Lease: 1}}},
		"empty key to read":                 {ReadThen: []string{""}},
		"too many operations":               {Then: make([]Op, MaxOps+1)},
	} {
		want(t, Validate(txn) != nil, "%s was accepted", name)
	}
	for name, txn := range map[string]Txn{
		"both branches touch a key":       {If: []Compare{{Key: "a"}}, Then: []Op{{Key: "a"}, {Key: "b"}}, Else: []Op{{Key: "a"}}},
		"a put at the end of a range":     {Then: []Op{{Key: "a", End: "b", Delete: true}, {Key: "b"}}},
		"deletions that overlap, as etcd": {Then: []Op{{Key: "a", End: "c", Delete: true}, {Key: "b", End: "d", Delete: true}, {Key: "b", Delete: true}}},
		"a compare of content":            {If: []Compare{{Key: "a", Target: Content, Relation: Less, Bytes: []byte("x")}}},
	} {
		want(t, Validate(txn) == nil, "%s was refused: %v", name, Validate(txn))
	}
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

func rememberedBy(s *Store) int {
	recent, _ := s.answers.recent()
	return len(recent)
}
