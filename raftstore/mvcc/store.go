package mvcc

import (
	"bytes"
	"cmp"

	"github.com/tidwall/btree"

	"example.com/kubeviz/raftstore/internal/planted"
)

// firstRevision is the revision of the empty store, as in etcd: the first change is revision 2, and no client ever sees revision 0,
// which means "whatever you have" to Kubernetes.
const firstRevision = 1

// Store is the state machine. The zero value is not usable; call New.
type Store struct {
	View
	// byID finds the place of a request id among the answers; attached the present keys of a lease. Both follow from the View.
	byID     map[string]int64
	attached map[LeaseID]map[string]struct{}
	// sought is the writer's own key to look for, so that looking costs no memory.
	sought version
}

// New returns the empty state at revision 1.
func New() *Store {
	return &Store{
		View:     View{revision: firstRevision, present: newTree(), gone: newTree(), leases: btree.NewMap[LeaseID, lease](0)},
		byID:     make(map[string]int64),
		attached: make(map[LeaseID]map[string]struct{}),
	}
}

// Snapshot returns a frozen view in constant time: the trees copy on write, and the slices only ever grow behind the view's end.
func (s *Store) Snapshot() *View {
	v := s.View
	v.present, v.gone, v.leases = s.present.copy(), s.gone.copy(), s.leases.Copy()
	v.history = s.history.frozen()
	v.answers.all = v.answers.all[:len(v.answers.all):len(v.answers.all)]
	return &v
}

// Apply runs t and returns its answer and the events it caused, in the order of its operations and of keys. The events are shared and immutable, and so are
// the values of t from now on. Applying a request id again returns the first answer and no events, also when that was a refusal.
func (s *Store) Apply(t Txn) (TxnResult, []Event) {
	if t.ID != "" {
		if r, seen := s.answered(t.ID); seen {
			if planted.Is(planted.ApplyRequestTwice) {
				return s.run(&t)
			}
			return r, nil
		}
	}
	result, events := s.run(&t)
	if t.ID != "" {
		s.remember(t.ID, result)
	}
	return result, events
}

func (s *Store) run(t *Txn) (TxnResult, []Event) {
	if s.noSpace() && (puts(t.Then) || puts(t.Else)) {
		return TxnResult{Revision: s.revision, Err: ErrNoSpace}, nil
	}
	result := TxnResult{Succeeded: s.hold(t.If)}
	ops, read := t.Then, t.ReadThen
	if !result.Succeeded {
		ops, read = t.Else, t.Read
	}
	for i := range ops {
		if id := ops[i].Lease; id != 0 && !ops[i].Delete {
			if _, ok := s.leases.Get(id); !ok {
				return TxnResult{Revision: s.revision, Err: ErrLeaseNotFound}, nil
			}
		}
	}
	events := s.change(ops)
	for _, key := range read {
		if v, ok := s.find(key); ok {
			result.Read = append(result.Read, v.KV)
		}
	}
	result.Changed = len(events) > 0
	result.Revision = s.revision
	return result, events
}

func puts(ops []Op) bool {
	for i := range ops {
		if !ops[i].Delete {
			return true
		}
	}
	return false
}

// find looks for a key that is present.
func (s *Store) find(key string) (*version, bool) {
	s.sought.Key = key
	return s.present.Get(&s.sought)
}

func (s *Store) hold(compares []Compare) bool {
	for i := range compares {
		v, ok := s.find(compares[i].Key)
		if !ok {
			v = nil
		}
		if !compares[i].holds(v) {
			return false
		}
	}
	return true
}

// holds compares with a key that is present, or nil.
func (c *Compare) holds(have *version) bool {
	var kv KV
	if have != nil {
		kv = have.KV
	}
	var order int
	switch c.Target {
	case ModRevision:
		order = cmp.Compare(kv.ModRevision, c.Value)
	case CreateRevision:
		order = cmp.Compare(kv.CreateRevision, c.Value)
	case Version:
		order = cmp.Compare(kv.Version, c.Value)
	case LeaseOf:
		order = cmp.Compare(int64(kv.Lease), c.Value)
	default:
		if have == nil {
			return false
		}
		order = bytes.Compare(kv.Value, c.Bytes)
	}
	switch c.Relation {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Greater:
		return order > 0
	default:
		return order < 0
	}
}

// change applies ops as one revision, if any of them changes anything.
func (s *Store) change(ops []Op) []Event {
	began := len(s.history.changes)
	for i := range ops {
		if op := &ops[i]; op.Delete {
			s.delete(spanOf(op.Key, op.End), began)
		} else {
			s.put(op, began)
		}
	}
	return s.commit(began)
}

// commit makes the changes from began on a revision and tells what they are; nil: there are none.
func (s *Store) commit(began int) []Event {
	made := s.history.changes[began:]
	if len(made) == 0 {
		return nil
	}
	if next := s.next(began); next != s.revision {
		s.revision = next
		s.history.starts = append(s.history.starts, uint32(began))
	}
	s.dbSize = max(s.dbSize, s.size)
	events := make([]Event, len(made))
	for i := range made {
		events[i] = made[i].event()
	}
	return events
}

// next is the revision that the changes from began on make.
func (s *Store) next(began int) int64 {
	if planted.Is(planted.ReuseRevision) && began%50 == 49 {
		return s.revision // on all members alike
	}
	return s.revision + 1
}

func (s *Store) put(op *Op, began int) {
	next := s.next(began)
	v := &version{KV: KV{Key: op.Key, Value: op.Value, CreateRevision: next, ModRevision: next, Version: 1, Lease: op.Lease}}
	before, exists := s.present.Set(v)
	if exists {
		// The first key string is kept, so that a key updated a thousand times is held once.
		v.Key, v.CreateRevision, v.Version = before.Key, before.CreateRevision, before.Version+1
		if before.Lease != v.Lease {
			s.detach(before)
			s.attach(v)
		}
	} else {
		if s.gone.Len() > 0 {
			before, _ = s.gone.Delete(v)
		}
		s.attach(v)
	}
	v.sum = sumKV(ofVersion, &v.KV)
	s.record(change{after: v, before: before}, began)
}

func (s *Store) delete(within span, began int) {
	if within.one {
		if v, ok := s.find(within.first); ok {
			s.bury(v, began)
		}
		return
	}
	var found []*version
	within.ascend(&s.present, func(v *version) bool { found = append(found, v); return true })
	for _, v := range found {
		s.bury(v, began)
	}
}

// bury deletes a version that is present.
func (s *Store) bury(v *version, began int) {
	mark := &version{KV: KV{Key: v.Key, ModRevision: s.next(began), CreateRevision: int64(len(s.history.changes) - began)}}
	mark.sum = sumKV(ofTombstone, &mark.KV)
	s.present.Delete(v)
	s.gone.Set(mark)
	s.detach(v)
	s.record(change{after: mark, before: v}, began)
}

func (s *Store) record(c change, began int) {
	s.sum += c.after.sum + sumChange(c.after, len(s.history.changes)-began)
	s.size += weight(c.after)
	s.history.changes = append(s.history.changes, c)
}

func sumChange(v *version, place int) uint64 { return sumWord(sumWord(ofChange, v.sum), uint64(place)) }

// versionBytes is about what etcd's file takes for a version besides key and value: the revision as key, the numbers, and bolt's own.
const versionBytes = 64

// weight is the size a version counts for.
func weight(v *version) int64 { return int64(len(v.Key)+len(v.Value)) + versionBytes }

// Compact drops all history up to and including rev; the state at rev stays readable. It fails with ErrCompacted when that was done before
// and with ErrFutureRev when rev does not exist yet.
func (s *Store) Compact(rev int64) error {
	if rev <= s.compacted {
		return ErrCompacted
	}
	if rev > s.revision {
		return ErrFutureRev
	}
	if planted.Is(planted.CompactTooMuch) && rev < s.revision {
		rev++
	}
	if n := rev - s.floor(); n > 0 {
		s.forget(n)
		s.history.drop(n)
	}
	s.compacted = rev
	return nil
}

// forget takes away what the first n revisions of history alone hold: the versions they replaced, and their tombstones.
func (s *Store) forget(n int64) {
	for i := range n {
		from, to := s.history.at(i + 1)
		for place, c := range s.history.changes[from:to] {
			s.sum -= sumChange(c.after, place)
			if c.before != nil && !c.before.tombstone() {
				s.sum -= c.before.sum
				s.size -= weight(c.before)
			}
			if c.after.tombstone() {
				s.sum -= c.after.sum
				s.size -= weight(c.after)
				if mark, ok := s.gone.Get(c.after); ok && mark == c.after {
					s.gone.Delete(mark)
				}
			}
		}
	}
}
