package mvcc

import (
	"cmp"
	"slices"
)

// Alarms lists the alarms in force, by kind and member. While one is NoSpace, Apply turns down every transaction that would put something in either branch, as etcd's capped applier does.
func (v *View) Alarms() []Alarm { return slices.Clone(v.alarms) }

func (v *View) noSpace() bool {
	for _, a := range v.alarms {
		if a.Kind == NoSpace {
			return true
		}
	}
	return false
}

// Raise puts an alarm in force; false: it was.
func (s *Store) Raise(a Alarm) bool {
	at, found := slices.BinarySearchFunc(s.alarms, a, compareAlarms)
	if found {
		return false
	}
	s.alarms = slices.Insert(slices.Clone(s.alarms), at, a)
	s.sum += sumAlarm(a)
	return true
}

func compareAlarms(a, b Alarm) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Member, b.Member))
}

// Disarm lifts all alarms and returns them.
func (s *Store) Disarm() []Alarm {
	lifted := s.alarms
	for _, a := range lifted {
		s.sum -= sumAlarm(a)
	}
	s.alarms = nil
	return lifted
}

// InUse is the number of bytes that keys, values and history need, DBSize what the database has grown to: compaction makes space that is used again, Defragment gives it back.
// DBSize is this member's own and not part of the state that members agree on; a state that was decoded begins with InUse (see Grow).
func (v *View) InUse() int64  { return v.size }
func (v *View) DBSize() int64 { return v.dbSize }

// Grow makes DBSize at least size, as somebody knows it from before the state was decoded.
func (s *Store) Grow(size int64) { s.dbSize = max(s.dbSize, size) }

// Defragment makes DBSize equal InUse.
func (s *Store) Defragment() (before, after int64) {
	before, s.dbSize = s.dbSize, s.size
	return before, s.dbSize
}

// Bump makes the state one of a later revision, with nothing of its past: revision and compaction become rev (or stay, when they are later), what is present stays with the revisions it has, request
// ids and alarms are forgotten. Leases and what hangs on them stay; whoever leads counts their time anew.
func (s *Store) Bump(rev int64) {
	s.forget(int64(len(s.history.starts)))
	s.history = history{}
	s.forgetAnswers()
	s.Disarm()
	s.revision = max(s.revision, rev)
	s.compacted = s.revision
}
