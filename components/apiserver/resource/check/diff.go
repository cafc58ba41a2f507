package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// diffContext is how many equal lines stand around a difference.
const diffContext = 3

// Diff is the unified diff of two structs written as indented JSON with Go field names, as Kubernetes prints refused changes. Which of equal lines stay together is the library's choice, and
// shows; so it is the one that Kubernetes uses.
func Diff(a, b any) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines(plain(reflect.ValueOf(a), "")), B: difflib.SplitLines(plain(reflect.ValueOf(b), "")), Context: diffContext})
	if err != nil {
		return fmt.Sprintf("error generating diff: %v", err)
	}
	return text
}

// plain writes v as JSON with one space of indentation, ignoring json tags of Kubernetes' own structs but not those types that encode themselves.
func plain(v reflect.Value, indent string) string {
	if v.CanInterface() {
		if m, ok := v.Interface().(json.Marshaler); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
			if b, err := json.Marshal(m); err == nil {
				return string(b)
			}
		}
	}
	in := indent + " "
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return "null"
		}
		return plain(v.Elem(), indent)
	case reflect.Struct:
		if !internal(v.Type()) {
			break // types of apimachinery are not internal and keep their own names
		}
		var lines []string
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.PkgPath != "" {
				continue
			}
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				if inner := strings.TrimSuffix(strings.TrimPrefix(plain(v.Field(i), indent), "{\n"), "\n"+indent+"}"); inner != "{}" {
					lines = append(lines, inner)
				}
				continue
			}
			lines = append(lines, fmt.Sprintf("%s%q: %s", in, f.Name, plain(v.Field(i), in)))
		}
		return bracket("{", "}", lines, indent)
	case reflect.Slice:
		if v.IsNil() {
			return "null"
		}
		var lines []string
		for i := range v.Len() {
			lines = append(lines, in+plain(v.Index(i), in))
		}
		return bracket("[", "]", lines, indent)
	case reflect.Map:
		if v.IsNil() {
			return "null"
		}
	}
	b, err := json.MarshalIndent(v.Interface(), indent, " ")
	if err != nil {
		return fmt.Sprintf("%q", err)
	}
	return string(b)
}

func bracket(open, end string, lines []string, indent string) string {
	if len(lines) == 0 {
		return open + end
	}
	return open + "\n" + strings.Join(lines, ",\n") + "\n" + indent + end
}
