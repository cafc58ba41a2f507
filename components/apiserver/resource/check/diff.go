package check

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// diffContext is how many equal lines stand around a difference.
const diffContext = 3

// Diff is the unified diff of two structs written as indented JSON with Go field names, as Kubernetes prints refused changes.
func Diff(a, b any) string {
	return unified(strings.Split(plain(reflect.ValueOf(a), ""), "\n"), strings.Split(plain(reflect.ValueOf(b), ""), "\n"))
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

// unified compares two texts by their longest common subsequence. The texts are a pod's spec, some hundreds of lines.
func unified(a, b []string) string {
	type edit struct {
		op   byte
		line string
		i, j int // lines of a and b before it
	}
	lcs := make([][]int, len(a)+1)
	for i := range lcs {
		lcs[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				lcs[i][j] = lcs[i+1][j+1] + 1
			} else {
				lcs[i][j] = max(lcs[i+1][j], lcs[i][j+1])
			}
		}
	}
	var edits []edit
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			edits = append(edits, edit{' ', a[i], i, j})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || lcs[i+1][j] >= lcs[i][j+1]):
			edits = append(edits, edit{'-', a[i], i, j})
			i++
		default:
			edits = append(edits, edit{'+', b[j], i, j})
			j++
		}
	}
	var out strings.Builder
	for at := 0; at < len(edits); {
		if edits[at].op == ' ' {
			at++
			continue
		}
		first, last := max(0, at-diffContext), at
		for n := at; n < len(edits) && n <= last+2*diffContext; n++ {
			if edits[n].op != ' ' {
				last = n
			}
		}
		end := min(len(edits), last+diffContext+1)
		var olds, news int
		for _, e := range edits[first:end] {
			if e.op != '+' {
				olds++
			}
			if e.op != '-' {
				news++
			}
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", edits[first].i+1, olds, edits[first].j+1, news)
		for _, e := range edits[first:end] {
			out.WriteByte(e.op)
			out.WriteString(e.line + "\n")
		}
		at = end
	}
	return out.String()
}
