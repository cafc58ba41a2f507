package mvcc

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func putTxn(key, value string) Txn { return Txn{Then: []Op{{Key: key, Value: []byte(value)}}} }

func TestWithoutSpaceOnlyDeletionsWork(t *testing.T) {
	s := New()
	want(t, s.Grant(1, 60) == nil, "grant")
	s.Apply(Txn{Then: []Op{{Key: "a", Lease: 1}}})
	s.Apply(putTxn("b", "1"))
	want(t, s.Raise(Alarm{NoSpace, "m2"}) && s.Raise(Alarm{NoSpace, "m1"}) && !s.Raise(Alarm{NoSpace, "m1"}), "an alarm is raised once by each member")
	want(t, slices.Equal(s.Alarms(), []Alarm{{NoSpace, "m1"}, {NoSpace, "m2"}}), "alarms: %v", s.Alarms())
	rev := s.Revision()
	for name, txn := range map[string]Txn{
		"a put":                           putTxn("c", "1"),
		"a put in the branch not taken":   {Then: []Op{{Key: "b", Delete: true}}, Else: []Op{{Key: "c"}}},
		"a put beside deletions":          {Then: []Op{{Key: "b", Delete: true}, {Key: "c"}}},
		"a put whose compares would fail": {If: []Compare{{Key: "b", Value: 99}}, Then: []Op{{Key: "c"}}},
	} {
		r, events := s.Apply(txn)
		want(t, errors.Is(r.Err, ErrNoSpace) && !r.Succeeded && !r.Changed && r.Revision == rev && events == nil && s.Revision() == rev, "%s: %+v", name, r)
	}
	want(t, errors.Is(s.Grant(2, 60), ErrNoSpace), "a lease was granted")
	r, _ := s.Apply(Txn{If: []Compare{{Key: "b", Target: Version, Value: 1}}, Then: []Op{{Key: "b", Delete: true}}, ReadThen: []string{"a"}})
	want(t, r.Err == nil && r.Changed && len(r.Read) == 1, "a deletion: %+v", r)
	_, err := s.Revoke(1)
	want(t, err == nil && s.Len() == 0, "a lease is revoked: %v", err)
	want(t, s.Compact(s.Revision()) == nil, "compaction")
	want(t, len(s.Disarm()) == 2 && len(s.Alarms()) == 0, "disarm")
	r, _ = s.Apply(putTxn("c", "1"))
	want(t, r.Err == nil && r.Changed, "a put when the alarm is lifted: %+v", r)
}

func TestARefusalIsRememberedAndANewIDSucceeds(t *testing.T) {
	s := New()
	s.Raise(Alarm{NoSpace, "m1"})
	txn := putTxn("a", "1")
	txn.ID = "first"
	r, _ := s.Apply(txn)
	want(t, errors.Is(r.Err, ErrNoSpace), "%+v", r)
	s.Disarm()
	restored, err := DecodeSnapshot(s.Encode())
	want(t, err == nil, "%v", err)
	for _, st := range []*Store{s, restored} {
		// The same request coming out of the log once more must not happen after all.
		r, events := st.Apply(txn)
		want(t, errors.Is(r.Err, ErrNoSpace) && events == nil && st.Revision() == 1, "the same id: %+v", r)
		again := txn
		again.ID = "second"
		r, _ = st.Apply(again)
		want(t, r.Err == nil && r.Changed, "a new id: %+v", r)
	}
}

func TestDatabaseGrowsAndShrinksOnlyByDefragmentation(t *testing.T) {
	s := New()
	for i := range 100 {
		s.Apply(putTxn("a", strings.Repeat("x", 1000+i)))
	}
	full := s.DBSize()
	want(t, full == s.InUse() && full > 100_000, "size %d, in use %d", full, s.InUse())
	want(t, s.Compact(s.Revision()) == nil, "compact")
	want(t, s.DBSize() == full && s.InUse() < 2000, "after compaction: size %d, in use %d", s.DBSize(), s.InUse())
	s.Apply(putTxn("b", strings.Repeat("x", 1000)))
	want(t, s.DBSize() == full, "free space is used again: size %d", s.DBSize())
	before, after := s.Defragment()
	want(t, before == full && after == s.InUse() && s.DBSize() == after, "defragmented from %d to %d, in use %d", before, after, s.InUse())
	s.Grow(full)
	want(t, s.DBSize() == full, "a member that knows its file to be larger: %d", s.DBSize())
}

func TestDefragmentationDoesNotShowInTheDigest(t *testing.T) {
	a, b := New(), New()
	for _, s := range []*Store{a, b} {
		s.Apply(putTxn("a", "1"))
		s.Apply(putTxn("a", "2"))
		want(t, s.Compact(3) == nil, "compact")
	}
	a.Defragment()
	want(t, a.DBSize() != b.DBSize() && a.Digest() == b.Digest() && a.Hash() == b.Hash(), "sizes are a member's own")
}

func TestHashKVIsOfWhatIsReadableSinceTheCompaction(t *testing.T) {
	build := func(compact int64, more int) *Store {
		s := New()
		for i := range 10 {
			s.Apply(putTxn(fmt.Sprint("k", i%3), fmt.Sprint(i))) // revisions 2 to 11
		}
		s.Apply(Txn{Then: []Op{{Key: "k1", Delete: true}}}) // 12
		if compact > 0 {
			want(t, s.Compact(compact) == nil, "compact")
		}
		for i := range more {
			s.Apply(putTxn("later", fmt.Sprint(i)))
		}
		return s
	}
	hash := func(s *Store, rev int64) HashKV {
		t.Helper()
		h, err := s.HashKV(rev)
		want(t, err == nil, "%v", err)
		return h
	}
	at12 := hash(build(0, 0), 0)
	want(t, at12.Revision == 12 && at12.Compacted == 0, "%+v", at12)
	want(t, hash(build(0, 5), 12) == at12, "what came later shows in the hash up to a revision")
	want(t, hash(build(0, 5), 0).Hash != at12.Hash, "what came later does not show in the hash of the present")
	want(t, hash(build(5, 0), 0).Hash != at12.Hash && hash(build(5, 0), 0) == hash(build(5, 3), 12), "members compacted alike agree")
	other := build(0, 0)
	other.Apply(Txn{ID: "x"})
	other.Raise(Alarm{Corrupt, "m"})
	want(t, hash(other, 0) == at12, "request ids and alarms are no part of it")
	restored, err := DecodeSnapshot(build(5, 3).Encode())
	want(t, err == nil && hash(restored, 0) == hash(build(5, 3), 0), "after a restart: %v", err)
	_, err = build(5, 0).HashKV(4)
	want(t, errors.Is(err, ErrCompacted), "before the compaction: %v", err)
	_, err = build(5, 0).HashKV(13)
	want(t, errors.Is(err, ErrFutureRev), "in the future: %v", err)
}

func TestBumpForgetsThePastAndKeepsWhatIsPresent(t *testing.T) {
	s := New()
	s.Grant(7, 60)
	s.Apply(Txn{ID: "id", Then: []Op{{Key: "a", Value: []byte("1"), Lease: 7}}})
	s.Apply(putTxn("b", "1"))
	s.Apply(Txn{Then: []Op{{Key: "b", Delete: true}}})
	s.Raise(Alarm{NoSpace, "m"})
	s.Bump(1_000_000)
	want(t, s.Revision() == 1_000_000 && s.CompactedRevision() == 1_000_000, "at %d, compacted %d", s.Revision(), s.CompactedRevision())
	_, err := s.EventsSince("", 1_000_000)
	want(t, errors.Is(err, ErrCompacted), "events of the past: %v", err)
	_, err = s.Range(Range{Key: "a", Revision: 2})
	want(t, errors.Is(err, ErrCompacted), "the past: %v", err)
	r, err := s.Range(Range{Key: "\x00", End: "\x00"})
	want(t, err == nil && r.Count == 1 && r.KVs[0].ModRevision == 2 && r.KVs[0].Lease == 7, "present: %+v %v", r, err)
	l, ok := s.Lease(7)
	want(t, ok && l.Keys == 1 && len(s.Alarms()) == 0, "lease %+v, alarms %v", l, s.Alarms())
	again, events := s.Apply(Txn{ID: "id", Then: []Op{{Key: "c"}}})
	want(t, again.Changed && len(events) == 1 && again.Revision == 1_000_001, "a request id from before: %+v", again)
	restored, err := DecodeSnapshot(s.Encode())
	want(t, err == nil && restored.Digest() == s.Digest(), "%v", err)
	events, err = restored.Revoke(7)
	want(t, err == nil && len(events) == 1 && events[0].KV.ModRevision == 1_000_002, "the lease still holds its key: %+v %v", events, err)
	s.Bump(5)
	want(t, s.Revision() == 1_000_001 && s.CompactedRevision() == 1_000_001, "a revision fell to %d", s.Revision())
}

func TestLeasesOfThePastMayBeOver(t *testing.T) {
	s := New()
	s.Grant(1, 60)
	s.Apply(Txn{Then: []Op{{Key: "b", Lease: 1}, {Key: "a", Lease: 1}, {Key: "c", Lease: 1}}})
	s.Apply(putTxn("c", "no lease any more"))
	events, err := s.Revoke(1)
	want(t, err == nil && len(events) == 2 && events[0].KV.Key == "a" && events[1].KV.Key == "b", "in key order: %+v %v", events, err)
	want(t, events[0].KV.ModRevision == 4 && events[1].KV.ModRevision == 4 && events[0].Prev.Lease == 1, "in one revision: %+v", events)
	_, err = s.Revoke(1)
	want(t, errors.Is(err, ErrLeaseNotFound), "twice: %v", err)
	r, _ := s.Apply(Txn{Then: []Op{{Key: "x"}, {Key: "d", Lease: 1}}})
	want(t, errors.Is(r.Err, ErrLeaseNotFound) && s.Revision() == 4, "a put on a lease that is over: %+v", r)
	restored, err := DecodeSnapshot(s.Encode())
	want(t, err == nil && restored.Digest() == s.Digest(), "%v", err)
	s.Grant(2, 60)
	events, err = s.Revoke(2)
	want(t, err == nil && events == nil && s.Revision() == 4, "a lease without keys takes no revision: %v %v", events, err)
}

func TestAnEncodingOfAnotherVersionIsRefusedByName(t *testing.T) {
	old := append([]byte(snapshotMagic), 1)
	_, err := DecodeSnapshot(Seal(append(old, 1, 0, 0, 0, 0)))
	want(t, errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), "format 1 of another version of the program; this one reads format 2"), "%v", err)
}

func TestManyDeletionsInOneRevisionAreReadQuickly(t *testing.T) {
	s := New()
	const keys = 20_000
	for i := range keys {
		s.Apply(putTxn(fmt.Sprintf("/k/%05d", i), "x"))
	}
	r, events := s.Apply(Txn{Then: []Op{{Delete: true, Key: "/k/", End: PrefixEnd("/k/")}}})
	want(t, len(events) == keys && r.Revision == keys+2, "%d events at %d", len(events), r.Revision)
	// Each key's chain begins in the one revision: looking for its place there must not be a search.
	before, err := s.Range(Range{Key: "/k/", End: PrefixEnd("/k/"), Revision: keys + 1})
	want(t, err == nil && before.Count == keys, "%d keys before, %v", before.Count, err)
}
