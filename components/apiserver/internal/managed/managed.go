// Package managed keeps metadata.managedFields: who set which field of an object. It also merges server-side apply, which rests on that.
//
// The rules are apimachinery's (util/managedfields); this package gives them what they ask of a server: the kinds and their faces, what each subresource resets, a schema, and the
// simulated clock, where the library itself looks at the wall clock.
//
// Owns: Fields, Manager. Imports of ours: engine/kinds. Goroutines: one at a time; the schema may be read in from any. Time: simulated, as callers pass it.
package managed

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"example.com/kubeviz/engine/kinds"
)

// Fields makes managers, each when it is asked for first.
type Fields struct {
	defaults func(*kinds.Kind, kinds.Object)
	managers map[part]*Manager
	memo     memo
}

// part is what one manager looks after: a kind as it is seen under one group and version, or a subresource of it.
type part struct {
	kind        *kinds.Kind
	face        *kinds.Face
	subresource string
}

// New makes Fields; defaults fills in what an applied configuration leaves out.
func New(defaults func(*kinds.Kind, kinds.Object)) *Fields {
	return &Fields{defaults: defaults, managers: map[part]*Manager{}, memo: memo{seed: maphash.MakeSeed()}}
}

// Manager keeps the fields of one kind, as seen through one face and one subresource.
type Manager struct {
	part
	fm     *managedfields.FieldManager
	types  managedfields.TypeConverter
	fields *Fields
	plan   *plan
	number uint16 // among the managers, for shapes
}

// For gives the manager of a kind; face nil: the kind's own version.
func (f *Fields) For(k *kinds.Kind, face *kinds.Face, subresource string) (*Manager, error) {
	at := part{k, face, subresource}
	if m := f.managers[at]; m != nil {
		return m, nil
	}
	gvk := k.GVK()
	if face != nil {
		gvk = face.GVK()
	}
	c := converter{k: k}
	var conv runtime.ObjectConvertor = c
	if k.Custom != nil {
		conv = customConverter{k}
	}
	types := typesFor(k)
	fm, err := managedfields.NewDefaultFieldManager(types, conv, defaulter{f.defaults, k}, creater{k, face}, gvk, k.GVK().GroupVersion(), subresource, reset(k, subresource))
	if err != nil {
		return nil, fmt.Errorf("field manager of %s: %w", k, err)
	}
	m := &Manager{part: at, fm: fm, types: types, fields: f, number: uint16(len(f.managers))}
	if k.Custom == nil { // of values without a Go type there are no shapes
		m.plan = planOf(reflect.TypeOf(k.New()).Elem())
	}
	f.managers[at] = m
	return m, nil
}

// Types are those of the kind, for merging into its objects.
func (m *Manager) Types() managedfields.TypeConverter { return m.types }

// Update gives obj the managed fields that follow from live becoming obj by the hand of manager. live is nil for a creation; it is not changed. What obj itself says of managed
// fields counts, as it does in Kubernetes: clients may edit them, and lose them by sending an empty list.
func (m *Manager) Update(live, obj kinds.Object, manager string, now time.Time) {
	var entries []metav1.ManagedFieldsEntry
	if live != nil {
		entries = live.GetManagedFields()
	}
	key, known := uint64(0), obj.GetManagedFields() == nil
	if identical(entries, obj.GetManagedFields()) {
		obj.SetManagedFields(entries)
		known = true
	}
	if known && m.plan == nil {
		known = false
	} else if known {
		if key, known = m.shape(live, obj, entries, manager); known {
			if o, ok := m.fields.memo.get(key); ok {
				o.recall(obj, entries, now)
				return
			}
		}
	}
	m.update(live, obj, manager, now)
	if known {
		m.fields.memo.put(key, outcomeOf(entries, obj.GetManagedFields()))
	}
}

// identical reports that a client sent back the entries as they are, as nearly all do.
func identical(a, b []metav1.ManagedFieldsEntry) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y metav1.ManagedFieldsEntry) bool { return x.Time.Equal(y.Time) }) && Same(a, b)
}

func outcomeOf(before, after []metav1.ManagedFieldsEntry) outcome {
	o := outcome{entries: slices.Clone(after), from: make([]int, len(after))}
	for i := range after {
		o.entries[i].Time = nil
		o.from[i] = slices.IndexFunc(before, func(e metav1.ManagedFieldsEntry) bool { return e.Time == after[i].Time })
	}
	return o
}

// update is Update by the library.
func (m *Manager) update(live, obj kinds.Object, manager string, now time.Time) {
	from := m.live(live)
	obj.GetObjectKind().SetGroupVersionKind(m.kind.GVK())
	ages := age(from, obj)
	sent := obj.GetManagedFields()
	if _, err := m.fm.Update(from, obj, manager); err != nil {
		obj.SetManagedFields(sent) // never a reason to refuse a write; the entries stay as they are
		if len(sent) == 0 {
			obj.SetManagedFields(from.GetManagedFields())
		}
	}
	ages.settle(obj, now)
	obj.GetObjectKind().SetGroupVersionKind(noGVK)
}

// Apply merges an applied configuration into live (nil: there is none yet). The error is an answer for the client.
func (m *Manager) Apply(live kinds.Object, patch *unstructured.Unstructured, manager string, force bool, now time.Time) (kinds.Object, error) {
	from := m.live(live)
	ages := age(from)
	out, err := m.fm.Apply(from, patch, manager, force)
	if err != nil {
		return nil, err
	}
	var conv runtime.ObjectConvertor = converter{k: m.kind}
	if m.kind.Custom != nil {
		conv = customConverter{m.kind}
	}
	typed, err := conv.ConvertToVersion(out, m.kind.GVK().GroupVersion())
	if err != nil {
		return nil, err
	}
	obj := typed.(kinds.Object)
	ages.settle(obj, now)
	obj.GetObjectKind().SetGroupVersionKind(noGVK)
	return obj, nil
}

// live is a copy of the stored object, one level deep, that says what it is; an empty one where there is none.
func (m *Manager) live(obj kinds.Object) kinds.Object {
	var out kinds.Object
	if obj == nil {
		out = m.kind.New()
	} else {
		from := reflect.ValueOf(obj).Elem()
		to := reflect.New(from.Type())
		to.Elem().Set(from)
		out = to.Interface().(kinds.Object)
	}
	out.GetObjectKind().SetGroupVersionKind(m.kind.GVK())
	return out
}

// past is how far the times of present entries are moved back while the library works: it dates new entries by the wall clock and drops the oldest when there are too many.
const past = -150 * 365 * 24 * time.Hour

// ages are the times of entries, before they were moved.
type ages map[*metav1.Time]*metav1.Time

func age(objs ...kinds.Object) ages {
	moved := ages{}
	for _, obj := range objs {
		entries := slices.Clone(obj.GetManagedFields())
		for i := range entries {
			if t := entries[i].Time; t != nil {
				old := metav1.NewTime(t.Add(past))
				moved[&old], entries[i].Time = t, &old
			}
		}
		if len(entries) > 0 {
			obj.SetManagedFields(entries)
		}
	}
	return moved
}

// settle dates entries: those there were as before, new ones now.
func (a ages) settle(obj kinds.Object, now time.Time) {
	entries := obj.GetManagedFields()
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	for i := range entries {
		switch t := entries[i].Time; {
		case t == nil:
		case a[t] != nil:
			entries[i].Time = a[t]
		default:
			entries[i].Time = &at
		}
	}
	order(entries)
}

// order is the library's own, by the times as they are now.
func order(entries []metav1.ManagedFieldsEntry) {
	sort.SliceStable(entries, func(i, j int) bool {
		p, q := &entries[i], &entries[j]
		if p.Operation != q.Operation {
			return p.Operation < q.Operation
		}
		if s, t := seconds(p.Time), seconds(q.Time); s != t {
			return s < t
		}
		if p.Manager != q.Manager {
			return p.Manager < q.Manager
		}
		if p.APIVersion != q.APIVersion {
			return p.APIVersion < q.APIVersion
		}
		return p.Subresource < q.Subresource
	})
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// Same reports that two lists of entries differ in their times at most.
func Same(a, b []metav1.ManagedFieldsEntry) bool {
	return slices.EqualFunc(a, b, func(x, y metav1.ManagedFieldsEntry) bool {
		return x.Manager == y.Manager && x.Operation == y.Operation && x.APIVersion == y.APIVersion && x.FieldsType == y.FieldsType && x.Subresource == y.Subresource &&
			(x.FieldsV1 == nil) == (y.FieldsV1 == nil) && (x.FieldsV1 == nil || x.FieldsV1.Equal(*y.FieldsV1))
	})
}

// NameOf is the manager of a client that names none: what its user agent begins with (as pkg/endpoints/handlers: managerOrUserAgent).
func NameOf(userAgent string) string {
	name, _, _ := strings.Cut(userAgent, "/")
	var b strings.Builder
	for _, r := range name {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Valid reports that entries can be read back.
func Valid(entries []metav1.ManagedFieldsEntry) bool {
	return managedfields.ValidateManagedFields(entries) == nil
}

var _ runtime.ObjectConvertor = converter{}
