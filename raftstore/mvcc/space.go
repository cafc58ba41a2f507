package mvcc

// Alarms lists the alarms in force. While one is NoSpace, Apply turns down every transaction that would put something.
func (v *View) Alarms() []Alarm { return nil }

// Raise puts an alarm in force; false: it was.
func (s *Store) Raise(a Alarm) bool { return false }

// Disarm lifts all alarms and returns them.
func (s *Store) Disarm() []Alarm { return nil }

// InUse is the number of bytes that keys, values and history need, DBSize what the database has grown to: compaction makes space that is used again, Defragment gives it back.
// DBSize is this member's own and not part of the state that members agree on.
func (v *View) InUse() int64  { return v.size }
func (v *View) DBSize() int64 { return v.size }

// Defragment makes DBSize equal InUse.
func (s *Store) Defragment() (before, after int64) { return s.size, s.size }

// Digest is a checksum of all that members must agree on, kept up to date with each operation, so that asking costs nothing.
func (v *View) Digest() uint64 { return 0 }

// HashKV is etcd's: of keys, values and revisions after the last compaction up to rev (0: the present). It fails with ErrCompacted or ErrFutureRev.
func (v *View) HashKV(rev int64) (HashKV, error) { return HashKV{}, nil }

// Bump makes the state one of a later revision, with nothing of its past: revision and compaction become rev, what is present stays with the revisions it has, request ids, leases'
// time and alarms are forgotten (leases and what hangs on them stay).
func (s *Store) Bump(rev int64) {}
