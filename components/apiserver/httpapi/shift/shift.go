// Package shift moves the times in objects between the simulated clock and the clock of clients outside.
//
// What it gives out is a copy; what it takes in is changed in place. Zero times stay zero, texts are left alone but for the annotation in which a controller keeps a simulated time. A distance is of whole seconds, so that moving there
// and back gives the same time. Imports nothing of ours. Goroutines: any; what is known of types is cached. Time: both.
package shift

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Clock moves times by a fixed distance: what is added to a simulated time on its way out.
type Clock struct{ distance time.Duration }

// By makes a Clock; the distance is rounded to seconds.
func By(d time.Duration) Clock { return Clock{d.Round(time.Second)} }

// Still reports that the clock moves nothing.
func (c Clock) Still() bool { return c.distance == 0 }

// Out is obj as a client sees it: obj itself where nothing moves, else a copy.
func (c Clock) Out(obj runtime.Object) runtime.Object {
	if c.Still() || obj == nil || !holds(reflect.TypeOf(obj)) {
		return obj
	}
	out := obj.DeepCopyObject()
	walk(reflect.ValueOf(out), c.distance)
	return out
}

// Distance is what is added to simulated times.
func (c Clock) Distance() time.Duration { return c.distance }

// In moves the times of an object that a client sent.
func (c Clock) In(obj runtime.Object) {
	if !c.Still() && obj != nil {
		walk(reflect.ValueOf(obj), -c.distance)
	}
}

// triggered is the annotation that tells when that happened which endpoints were written for. Controllers write it; annotations of clients hold times of their own clock.
const triggered = corev1.EndpointsLastChangeTriggerTime

func moveText(text string, d time.Duration) string {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return text
	}
	return at.Add(d).UTC().Format(time.RFC3339Nano)
}

var (
	metaType  = reflect.TypeFor[metav1.ObjectMeta]()
	timeType  = reflect.TypeFor[metav1.Time]()
	microType = reflect.TypeFor[metav1.MicroTime]()
	known     sync.Map // reflect.Type to bool
)

// holds reports whether values of a type can hold a time. Types are trees but for JSONSchemaProps, which holds none of its own; one that is being looked at counts as without.
func holds(t reflect.Type) bool {
	if v, ok := known.Load(t); ok {
		return v.(bool)
	}
	v := look(t, map[reflect.Type]bool{})
	known.Store(t, v)
	return v
}

func look(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == timeType || t == microType {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return look(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && look(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

func walk(v reflect.Value, d time.Duration) {
	t := v.Type()
	if !holds(t) {
		return
	}
	switch t {
	case timeType:
		if x := v.Addr().Interface().(*metav1.Time); !x.IsZero() {
			x.Time = x.Add(d)
		}
		return
	case microType:
		if x := v.Addr().Interface().(*metav1.MicroTime); !x.IsZero() {
			x.Time = x.Add(d)
		}
		return
	case metaType:
		if a := v.Addr().Interface().(*metav1.ObjectMeta).Annotations; a[triggered] != "" {
			a[triggered] = moveText(a[triggered], d)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), d)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), d)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			x := reflect.New(t.Elem()).Elem()
			x.Set(v.MapIndex(k))
			walk(x, d)
			v.SetMapIndex(k, x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if t.Field(i).IsExported() {
				walk(v.Field(i), d)
			}
		}
	}
}

// Patch moves the times in a patch in JSON, a merge patch or the operations of a JSON patch, on an object of the type of like. What cannot be read is left as it is; whoever applies it says why.
func (c Clock) Patch(patch []byte, like runtime.Object) []byte {
	if c.Still() || !holds(reflect.TypeOf(like)) {
		return patch
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(patch)))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return patch
	}
	t := reflect.TypeOf(like).Elem()
	moved := false
	if ops, ok := v.([]any); ok {
		for _, op := range ops {
			m, _ := op.(map[string]any)
			path, _ := m["path"].(string)
			if x, ok := m["value"]; ok {
				if ft := along(t, strings.Split(strings.TrimPrefix(path, "/"), "/")); ft != nil {
					m["value"] = c.inJSON(x, ft, &moved)
				}
			}
		}
	} else {
		v = c.inJSON(v, t, &moved)
	}
	if !moved {
		return patch
	}
	out, err := json.Marshal(v)
	if err != nil {
		return patch
	}
	return out
}

// along is the type at a JSON pointer below t; nil: there is none.
func along(t reflect.Type, path []string) reflect.Type {
	for _, p := range path {
		t = bare(t)
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			if t = field(t, strings.NewReplacer("~1", "/", "~0", "~").Replace(p)); t == nil {
				return nil
			}
		default:
			return nil
		}
	}
	return t
}

func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// field is the type of the member of a JSON object.
func field(t reflect.Type, name string) reflect.Type {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name && tag != "" {
			return f.Type
		}
		if tag == "" && (f.Anonymous || strings.Contains(opts, "inline")) {
			if ft := bare(f.Type); ft.Kind() == reflect.Struct {
				if x := field(ft, name); x != nil {
					return x
				}
			}
		}
	}
	return nil
}

func (c Clock) inJSON(v any, t reflect.Type, moved *bool) any {
	t = bare(t)
	if !holds(t) {
		return v
	}
	switch x := v.(type) {
	case string:
		layout := time.RFC3339
		if t == microType {
			layout = metav1.RFC3339Micro
		} else if t != timeType {
			return v
		}
		at, err := time.Parse(time.RFC3339, x)
		if err != nil || at.IsZero() {
			return v
		}
		*moved = true
		return at.Add(-c.distance).UTC().Format(layout)
	case []any:
		if t.Kind() == reflect.Slice {
			for i := range x {
				x[i] = c.inJSON(x[i], t.Elem(), moved)
			}
		}
	case map[string]any:
		for k := range x {
			switch {
			case t.Kind() == reflect.Map:
				x[k] = c.inJSON(x[k], t.Elem(), moved)
			case t.Kind() == reflect.Struct && t != timeType && t != microType:
				if ft := field(t, k); ft != nil {
					x[k] = c.inJSON(x[k], ft, moved)
				}
				if a, ok := x[k].(map[string]any); ok && t == metaType && k == "annotations" {
					if text, ok := a[triggered].(string); ok {
						a[triggered], *moved = moveText(text, -c.distance), true
					}
				}
			}
		}
	}
	return v
}
