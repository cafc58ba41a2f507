package managed

import (
	"encoding/json"
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A shape is all of two versions of an object that decides who manages what after the second has replaced the first: which members, keys and items each has, and which of those both have
// differ. Values as such do not matter, but for those that name items of lists. It is a hash; two pairs of one shape have the same outcome. Where more would have to be known, there is no shape.
//
// Items of lists are matched by the values of the members that serve as keys of any list of that name. That may be finer than the schema's own keys; so where both sides have items without a match, nobody knows from here which of them the schema would match.
type shaper struct {
	h  maphash.Hash
	no bool // there is no shape
}

// Marks in the hash.
const (
	markAbsent byte = iota
	markGone
	markNew
	markEqual
	markDiffers
	markZeroOld
	markZeroNew
	markList
	markMap
	markStruct
	markEnd
)

// unmanaged are the members of metadata that nobody ever manages; a change of them is nobody's.
var unmanaged = []string{"name", "namespace", "creationTimestamp", "selfLink", "uid", "generation", "managedFields", "resourceVersion"}

// plan says how values of one Go type are looked at.
type plan struct {
	kind   planKind
	elem   *plan       // of pointers, lists and maps
	fields []planField // of structs
	keys   []planField // of lists of structs: the members that name an item
	equal  func(a, b reflect.Value) bool
}

type planKind uint8

const (
	planLeaf planKind = iota
	planPointer
	planList
	planMap
	planStruct
	planUnknown
)

type planField struct {
	name  string
	index []int
	plan  *plan
}

var (
	timeType      = reflect.TypeFor[metav1.Time]()
	microTimeType = reflect.TypeFor[metav1.MicroTime]()
	durationType  = reflect.TypeFor[metav1.Duration]()
	quantityType  = reflect.TypeFor[resource.Quantity]()
	intstrType    = reflect.TypeFor[intstr.IntOrString]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	metaType      = reflect.TypeFor[metav1.ObjectMeta]()
	typeMetaType  = reflect.TypeFor[metav1.TypeMeta]()
)

// plans are made once per type of the table of kinds, and never change.
var plans struct {
	sync.Mutex
	by map[reflect.Type]*plan
}

func planOf(t reflect.Type) *plan {
	plans.Lock()
	defer plans.Unlock()
	if plans.by == nil {
		plans.by = map[reflect.Type]*plan{}
	}
	return makePlan(t)
}

// at is where a value lies, or where a copy of it does: values of maps have no place of their own.
func at[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	x := v.Interface().(T)
	return &x
}

func makePlan(t reflect.Type) *plan {
	if p := plans.by[t]; p != nil {
		return p
	}
	p := &plan{}
	plans.by[t] = p
	switch t {
	case timeType:
		p.equal = func(a, b reflect.Value) bool {
			return at[metav1.Time](a).Equal(at[metav1.Time](b))
		}
		return p
	case microTimeType:
		p.equal = func(a, b reflect.Value) bool {
			return at[metav1.MicroTime](a).Equal(at[metav1.MicroTime](b))
		}
		return p
	case quantityType:
		p.equal = func(a, b reflect.Value) bool {
			x, y := a.Interface().(resource.Quantity), b.Interface().(resource.Quantity)
			return x.Format == y.Format && x.Cmp(y) == 0
		}
		return p
	case intstrType, durationType:
		p.equal = func(a, b reflect.Value) bool { return a.Interface() == b.Interface() }
		return p
	}
	if t.Kind() != reflect.Pointer && (t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType)) {
		p.kind = planUnknown
		return p
	}
	switch t.Kind() {
	case reflect.Pointer:
		p.kind, p.elem = planPointer, makePlan(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			p.equal = func(a, b reflect.Value) bool { return string(a.Bytes()) == string(b.Bytes()) }
			break
		}
		p.kind, p.elem = planList, makePlan(t.Elem())
	case reflect.Map:
		p.kind, p.elem = planMap, makePlan(t.Elem())
		if t.Key().Kind() != reflect.String {
			p.kind = planUnknown
		}
	case reflect.Struct:
		p.kind = planStruct
		p.members(t, nil)
	case reflect.String:
		p.equal = func(a, b reflect.Value) bool { return a.String() == b.String() }
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		p.equal = func(a, b reflect.Value) bool { return a.Equal(b) }
	default:
		p.kind = planUnknown
	}
	return p
}

// members adds the fields of a struct; those of an inlined one as its own.
func (p *plan) members(t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == typeMetaType || name == "-" || !f.IsExported():
			continue
		case name == "" && (f.Anonymous || strings.Contains(rest, "inline")) && f.Type.Kind() == reflect.Struct:
			p.members(f.Type, index)
			continue
		case t == metaType && slices.Contains(unmanaged, name):
			continue
		}
		field := planField{name, index, makePlan(f.Type)}
		if field.plan.kind == planList && field.plan.elem.kind == planStruct {
			list := *field.plan // one of its own: what names its items hangs on what it is called
			list.keys = list.elem.named(keyNames()[name])
			field.plan = &list
		}
		p.fields = append(p.fields, field)
	}
}

// keyNames are the members by which lists tell their items apart, by the name of the list.
var keyNames = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, t := range parser().Schema.Types {
		if t.Map == nil {
			continue
		}
		for _, f := range t.Map.Fields {
			if f.Type.Inlined.List != nil {
				for _, k := range f.Type.Inlined.List.Keys {
					if !slices.Contains(out[f.Name], k) {
						out[f.Name] = append(out[f.Name], k)
					}
				}
			}
		}
	}
	return out
})

// pair looks at one place in both versions; an invalid value: that version does not have the place.
func (s *shaper) pair(p *plan, a, b reflect.Value) {
	if s.no {
		return
	}
	switch {
	case !a.IsValid() && !b.IsValid():
		s.h.WriteByte(markAbsent)
		return
	case !a.IsValid():
		s.h.WriteByte(markNew)
	case !b.IsValid():
		s.h.WriteByte(markGone)
	}
	switch p.kind {
	case planUnknown:
		if a.IsValid() && !a.IsZero() || b.IsValid() && !b.IsZero() {
			s.no = true
		}
	case planLeaf:
		s.zero(a, b)
		if a.IsValid() && b.IsValid() {
			if p.equal(a, b) {
				s.h.WriteByte(markEqual)
			} else {
				s.h.WriteByte(markDiffers)
			}
		}
	case planPointer:
		s.pair(p.elem, deref(a), deref(b))
	case planStruct:
		s.h.WriteByte(markStruct)
		for i := range p.fields {
			f := &p.fields[i]
			s.pair(f.plan, member(a, f.index), member(b, f.index))
		}
		s.h.WriteByte(markEnd)
	case planMap:
		s.maps(p, a, b)
	case planList:
		s.lists(p, a, b)
	}
}

// named finds members that can be keys: plain strings and numbers.
func (p *plan) named(names []string) []planField {
	var out []planField
	for _, f := range p.fields {
		if slices.Contains(names, f.name) && f.plan.kind == planLeaf {
			out = append(out, f)
		}
	}
	return out
}

func (s *shaper) zero(a, b reflect.Value) {
	if a.IsValid() && a.IsZero() {
		s.h.WriteByte(markZeroOld)
	}
	if b.IsValid() && b.IsZero() {
		s.h.WriteByte(markZeroNew)
	}
}

func deref(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.IsNil() {
		return reflect.Value{}
	}
	return v.Elem()
}

func member(v reflect.Value, index []int) reflect.Value {
	if !v.IsValid() {
		return v
	}
	if len(index) == 1 {
		return v.Field(index[0])
	}
	return v.FieldByIndex(index)
}

func (s *shaper) maps(p *plan, a, b reflect.Value) {
	s.h.WriteByte(markMap)
	s.zero(a, b)
	var keys []string
	for _, m := range []reflect.Value{a, b} {
		if m.IsValid() {
			for _, k := range m.MapKeys() {
				keys = append(keys, k.String())
			}
		}
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		s.text(k)
		s.pair(p.elem, item(a, k), item(b, k))
	}
	s.h.WriteByte(markEnd)
}

// item is a value of a map, made addressable where that is asked of values.
func item(m reflect.Value, key string) reflect.Value {
	if !m.IsValid() {
		return m
	}
	return m.MapIndex(reflect.ValueOf(key).Convert(m.Type().Key()))
}

func (s *shaper) text(v string) {
	s.h.WriteString(v)
	s.h.WriteByte(0)
}

func (s *shaper) lists(p *plan, a, b reflect.Value) {
	s.h.WriteByte(markList)
	s.zero(a, b)
	an, bn := length(a), length(b)
	names, was := p.names(b, bn), p.names(a, an)
	if names == nil && bn > 0 || was == nil && an > 0 {
		s.no = true
		return
	}
	s.h.WriteByte(markEnd)
	for _, n := range was {
		s.text(n)
	}
	s.h.WriteByte(markEnd)
	for _, n := range names {
		s.text(n)
	}
	if p.elem.kind == planLeaf {
		s.h.WriteByte(markEnd) // their values are their names
		return
	}
	var added, removed bool
	for i, n := range names {
		j := i
		if j >= an || was[j] != n {
			j = slices.Index(was, n)
		}
		if j < 0 {
			added = true
			s.pair(p.elem, reflect.Value{}, b.Index(i))
			continue
		}
		s.pair(p.elem, a.Index(j), b.Index(i))
	}
	for j, n := range was {
		if !slices.Contains(names, n) {
			removed = true
			s.pair(p.elem, a.Index(j), reflect.Value{})
		}
	}
	s.no = s.no || added && removed
	s.h.WriteByte(markEnd)
}

func length(v reflect.Value) int {
	if !v.IsValid() {
		return 0
	}
	return v.Len()
}

// names are what tells the items of a list apart; nil where two have the same name.
func (p *plan) names(list reflect.Value, n int) []string {
	out := make([]string, 0, n)
	for i := range n {
		v := list.Index(i)
		var name string
		switch p.elem.kind {
		case planLeaf:
			switch {
			case v.Kind() == reflect.String:
				name = v.String()
			case v.CanInt():
				name = strconv.FormatInt(v.Int(), 10)
			default:
				return nil
			}
		case planStruct:
			switch len(p.keys) {
			case 0:
				name = strconv.Itoa(i)
			case 1:
				name = keyText(v, p.keys[0])
			default:
				var b strings.Builder
				for _, k := range p.keys {
					b.WriteString(keyText(v, k))
					b.WriteByte('\n')
				}
				name = b.String()
			}
		default:
			return nil
		}
		if slices.Contains(out, name) {
			return nil
		}
		out = append(out, name)
	}
	return out
}

func keyText(item reflect.Value, k planField) string {
	f := member(item, k.index)
	switch {
	case f.Kind() == reflect.String:
		return f.String()
	case f.CanInt():
		return strconv.FormatInt(f.Int(), 10)
	}
	return ""
}
