package mvcc

import (
	"errors"
	"fmt"

	"github.com/tidwall/btree"
)

// answersKept is how many request ids, with their answers, the state remembers.
const answersKept = 10_000

// firstRevision is the revision of the empty store, as in etcd: the first change is revision 2, and no client ever sees revision 0,
// which means "whatever you have" to Kubernetes.
const firstRevision = 1

// Store is the state machine. The zero value is not usable; call New.
type Store struct {
	View
	// byID finds the answer of a request id; it mirrors View.answers, which is what snapshots carry.
	byID map[string]TxnResult
}

// answer is what a request id was answered.
type answer struct {
	id     string
	result TxnResult
}

// revision is the change that made one revision. Its number follows from its place in View.history.
type revision struct {
	events []Event
}

// New returns the empty state at revision 1.
func New() *Store {
	return &Store{
		View: View{revision: firstRevision, present: btree.NewMap[string, *KV](0)},
		byID: make(map[string]TxnResult),
	}
}

// Snapshot returns a frozen view in constant time: the tree copies on write, and the slices only ever grow behind the view's end.
func (s *Store) Snapshot() *View {
	v := s.View
	v.present = s.present.Copy()
	v.history = s.history[:len(s.history):len(s.history)]
	v.answers = s.answers[:len(s.answers):len(s.answers)]
	return &v
}

// Apply runs t and returns its answer and the events it caused, in the order of its operations. The events are shared and immutable, and so are
// the values of t from now on. Applying a request id again returns the first answer and no events.
func (s *Store) Apply(t Txn) (TxnResult, []Event) {
	if t.ID != "" {
		if r, seen := s.byID[t.ID]; seen {
			return r, nil
		}
	}
	result := TxnResult{Succeeded: s.holds(t.If)}
	ops := t.Then
	if !result.Succeeded {
		ops = t.Else
		for _, key := range t.Read {
			if kv, ok := s.present.Get(key); ok {
				result.Read = append(result.Read, *kv)
			}
		}
	}
	events := s.change(ops)
	result.Changed = len(events) > 0
	result.Revision = s.revision
	if t.ID != "" {
		s.remember(answer{id: t.ID, result: result})
	}
	return result, events
}

func (s *Store) holds(compares []Compare) bool {
	for _, c := range compares {
		var have int64
		if kv, ok := s.present.Get(c.Key); ok {
			switch c.Target {
			case ModRevision:
				have = kv.ModRevision
			case CreateRevision:
				have = kv.CreateRevision
			case Version:
				have = kv.Version
			}
		}
		if have != c.Value {
			return false
		}
	}
	return true
}

// change applies ops as one revision, if any of them changes anything.
func (s *Store) change(ops []Op) []Event {
	var events []Event
	next := s.revision + 1
	for _, op := range ops {
		prev, exists := s.present.Get(op.Key)
		if op.Delete && !exists {
			continue
		}
		e := Event{Deleted: op.Delete, Prev: prev}
		if op.Delete {
			e.KV = KV{Key: prev.Key, ModRevision: next}
			s.present.Delete(op.Key)
		} else {
			kv := &KV{Key: op.Key, Value: op.Value, CreateRevision: next, ModRevision: next, Version: 1}
			if exists {
				// The first key string is kept, so that a key updated a thousand times is held once.
				kv.Key, kv.CreateRevision, kv.Version = prev.Key, prev.CreateRevision, prev.Version+1
			}
			e.KV = *kv
			s.present.Set(kv.Key, kv)
		}
		s.size += weight(e.KV)
		events = append(events, e)
	}
	if len(events) > 0 {
		s.revision = next
		s.history = append(s.history, revision{events: events})
	}
	return events
}

// weight is the size a version counts for.
func weight(kv KV) int64 { return int64(len(kv.Key) + len(kv.Value)) }

func (s *Store) remember(a answer) {
	s.answers = append(s.answers, a)
	s.byID[a.id] = a.result
	if n := len(s.answers) - answersKept; n > 0 {
		delete(s.byID, s.answers[n-1].id)
		// Copying only every answersKept requests keeps this constant on average; frozen views keep the old array.
		if n >= answersKept {
			s.answers = append([]answer(nil), s.answers[n:]...)
		}
	}
}

// recentAnswers are the ones that still count; the slice may hold older ones in front.
func (v *View) recentAnswers() []answer {
	return v.answers[max(0, len(v.answers)-answersKept):]
}

// Compact drops all history up to and including rev; the state at rev stays readable. It fails with ErrCompacted when that was done before
// and with ErrFutureRev when rev does not exist yet.
func (s *Store) Compact(rev int64) error {
	if rev <= s.compacted {
		return ErrCompacted
	}
	if rev > s.revision {
		return ErrFutureRev
	}
	drop := max(0, rev-s.floor())
	for _, r := range s.history[:drop] {
		for _, e := range r.events {
			if e.Prev != nil {
				s.size -= weight(*e.Prev)
			}
			if e.Deleted {
				s.size -= weight(e.KV)
			}
		}
	}
	s.history = append([]revision(nil), s.history[drop:]...)
	s.compacted = rev
	return nil
}

// Errors of Validate.
var (
	errEmptyKey     = errors.New("etcdserver: key is not provided")
	errDuplicateKey = errors.New("etcdserver: duplicate key given in txn request")
)

// Validate tells whether t is a transaction this state machine accepts: keys not empty, one operation per key and branch, targets known.
// Apply itself does not check, so that members never disagree.
func Validate(t Txn) error {
	for _, ops := range [2][]Op{t.Then, t.Else} {
		var seen map[string]bool
		for i, op := range ops {
			if op.Key == "" {
				return errEmptyKey
			}
			if len(ops) == 1 {
				continue
			}
			if seen == nil {
				seen = make(map[string]bool, len(ops))
			}
			if seen[op.Key] {
				return errDuplicateKey
			}
			seen[ops[i].Key] = true
		}
	}
	for _, c := range t.If {
		if c.Key == "" {
			return errEmptyKey
		}
		if c.Target > Version {
			return fmt.Errorf("compare of %q: unknown target %d", c.Key, c.Target)
		}
	}
	return nil
}
