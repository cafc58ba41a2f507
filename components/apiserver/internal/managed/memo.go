package managed

import (
	"hash/maphash"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
)

// memoMax is how many outcomes are remembered. A cluster at work has a few hundred: what controllers and kubelets write is alike from object to object.
const memoMax = 4096

// entriesMax is from how many entries on the library may merge old ones, which hangs on their times.
const entriesMax = 10

// memo remembers what became of managed fields, by the shape of the change.
type memo struct {
	seed maphash.Seed
	by   map[uint64]outcome
	// full holds the outcomes of the time before, so that what is in use outlives the others.
	full map[uint64]outcome
}

// outcome is a list of entries; those at from >= 0 keep the time of the entry at that place of the list before.
type outcome struct {
	entries []metav1.ManagedFieldsEntry
	from    []int
}

func (m *memo) get(key uint64) (outcome, bool) {
	o, ok := m.by[key]
	if !ok {
		if o, ok = m.full[key]; ok {
			m.put(key, o)
		}
	}
	return o, ok
}

func (m *memo) put(key uint64, o outcome) {
	if m.by == nil || len(m.by) >= memoMax {
		m.by, m.full = map[uint64]outcome{}, m.by
	}
	m.by[key] = o
}

// shape is the key of a change; ok is false where there is none.
func (m *Manager) shape(live, obj kinds.Object, entries []metav1.ManagedFieldsEntry, manager string) (key uint64, ok bool) {
	if len(entries) >= entriesMax {
		return 0, false
	}
	var s shaper
	s.h.SetSeed(m.fields.memo.seed)
	s.h.WriteByte(byte(m.number))
	s.h.WriteByte(byte(m.number >> 8))
	s.text(manager)
	for i := range entries {
		e := &entries[i]
		if e.Time == nil || e.FieldsV1 == nil {
			return 0, false
		}
		s.text(e.Manager)
		s.text(string(e.Operation))
		s.text(e.APIVersion)
		s.text(e.FieldsType)
		s.text(e.Subresource)
		s.h.Write(e.FieldsV1.GetRawBytes())
	}
	s.h.WriteByte(markEnd)
	to := reflect.ValueOf(obj).Elem()
	var from reflect.Value
	if live != nil {
		from = reflect.ValueOf(live).Elem()
		s.h.WriteByte(markEqual)
	}
	s.pair(m.plan, from, to)
	return s.h.Sum64(), !s.no
}

// recall gives obj the entries of an outcome.
func (o outcome) recall(obj kinds.Object, entries []metav1.ManagedFieldsEntry, now time.Time) {
	if len(o.entries) == 0 {
		obj.SetManagedFields(nil)
		return
	}
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	out := make([]metav1.ManagedFieldsEntry, len(o.entries))
	copy(out, o.entries)
	for i, from := range o.from {
		out[i].Time = &at
		if from >= 0 {
			out[i].Time = entries[from].Time
		}
	}
	order(out)
	obj.SetManagedFields(out)
}
