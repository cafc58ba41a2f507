package check

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// GoForm shows a value of the Kubernetes API the way the API server prints it in errors. There the value is of an internal type, which has the same fields but no JSON names: its JSON
// has the names of the Go fields, and nothing is left out. Types of apimachinery (selectors, quantities, times) are not internal and keep their own form.
func GoForm(v any) any { return goForm{reflect.ValueOf(v)} }

type goForm struct{ v reflect.Value }

func (g goForm) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	err := writeGoForm(&b, g.v)
	return []byte(b.String()), err
}

// internal reports a type that has an internal twin in the API server.
func internal(t reflect.Type) bool { return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") }

func writeGoForm(b *strings.Builder, v reflect.Value) error {
	switch {
	case !v.IsValid():
		b.WriteString("null")
		return nil
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return writeGoForm(b, v.Elem())
	case v.Kind() == reflect.Struct && internal(v.Type()):
		b.WriteByte('{')
		if _, err := writeFields(b, v, true); err != nil {
			return err
		}
		b.WriteByte('}')
		return nil
	case v.Kind() == reflect.Slice && !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeGoForm(b, v.Index(i)); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case v.Kind() == reflect.Map && !v.IsNil() && v.Type().Key().Kind() == reflect.String:
		return writeMap(b, v)
	}
	raw, err := json.Marshal(v.Interface())
	b.Write(raw)
	return err
}

func writeMap(b *strings.Builder, v reflect.Value) error {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(k.String()) + ":")
		if err := writeGoForm(b, v.MapIndex(k)); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeFields writes the members of a struct without the braces; those of embedded structs stand among them.
func writeFields(b *strings.Builder, v reflect.Value, first bool) (bool, error) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			var err error
			if internal(f.Type) {
				first, err = writeFields(b, v.Field(i), first)
			} else {
				first, err = writeOwnMembers(b, v.Field(i), first)
			}
			if err != nil {
				return first, err
			}
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.WriteString(strconv.Quote(f.Name) + ":")
		if err := writeGoForm(b, v.Field(i)); err != nil {
			return first, err
		}
	}
	return first, nil
}

// writeOwnMembers writes the members of an embedded struct of apimachinery (ObjectMeta, TypeMeta) under their JSON names.
func writeOwnMembers(b *strings.Builder, v reflect.Value, first bool) (bool, error) {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return first, err
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(string(raw), "{"), "}")
	if inner == "" {
		return first, nil
	}
	if !first {
		b.WriteByte(',')
	}
	b.WriteString(inner)
	return false, nil
}
