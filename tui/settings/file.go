package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// fileMax is how large a file may be, in bytes: a table of all keys fits many times.
const fileMax = 64 << 10

// parseFile reads the settings of a file. Every mistake names the line and the field.
func parseFile(path string, data []byte) (map[string]value, error) {
	doc, err := document(path, data)
	if err != nil {
		return nil, err
	}
	out := map[string]value{}
	for _, key := range sorted(doc) {
		raw := doc[key]
		f, ok := fieldNamed(key)
		if !ok {
			return nil, &Error{Where: at(path, data, key), Field: key, Wrong: "there is no such setting", Want: "there are " + strings.Join(fieldNames(), ", ")}
		}
		if string(raw) == "null" { // "theme:" with nothing behind it
			continue
		}
		wrong := &Error{Where: at(path, data, key), Field: key, Want: "it takes " + f.takes()}
		v := value{}
		if f.kind == keyTable {
			if v, err = parseKeys(path, data, raw); err != nil {
				return nil, err
			}
		} else {
			text, serr := scalar(f, raw)
			if serr == nil {
				v, serr = f.parse(text)
			}
			if serr != nil {
				wrong.Wrong = serr.Error()
				return nil, wrong
			}
		}
		v.where = wrong.Where
		out[key] = v
	}
	return out, nil
}

// document is the top of a YAML file: one mapping, no field twice.
func document(path string, data []byte) (map[string]json.RawMessage, error) {
	if len(data) > fileMax {
		return nil, &Error{Where: path, Wrong: fmt.Sprintf("the file has more than %d bytes", fileMax), Want: "write less"}
	}
	doc := map[string]json.RawMessage{}
	if err := yaml.UnmarshalStrict(data, &doc); err != nil {
		return nil, syntax(path, err)
	}
	return doc, nil
}

var lineOf = regexp.MustCompile(`line (\d+): (.*)`)

// syntax makes a sentence of what the parser says, with the line where it says one.
func syntax(path string, err error) error {
	text := err.Error()
	if m := lineOf.FindStringSubmatch(text); m != nil {
		wrong := m[2]
		if k := regexp.MustCompile(`key "([^"]+)" already set`).FindStringSubmatch(wrong); k != nil {
			return &Error{Where: path + ":" + m[1], Field: k[1], Wrong: "it is there twice", Want: "keep one of them"}
		}
		return &Error{Where: path + ":" + m[1], Wrong: "this is not YAML: " + wrong, Want: "write \"field: value\", one on a line"}
	}
	var kindOf *json.UnmarshalTypeError
	if errors.As(err, &kindOf) {
		return &Error{Where: path, Wrong: "the file holds one " + kindOf.Value, Want: "write \"field: value\", one on a line"}
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "error converting YAML to JSON: "), "yaml: ")
	return &Error{Where: path, Wrong: "this is not YAML: " + text, Want: "write \"field: value\", one on a line"}
}

// scalar is the text of a plain value of the kind a field wants.
func scalar(f field, raw json.RawMessage) (string, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		if f.kind == boolean || f.kind == number {
			return "", fmt.Errorf("%q is a text", v)
		}
		return v, nil
	case bool:
		if f.kind != boolean {
			return "", fmt.Errorf("%t is not a value of it", v)
		}
	case float64:
		if f.kind == boolean { // 1 and 0 mean something in the environment only
			return "", fmt.Errorf("%s is not a value of it", raw)
		}
	default:
		return "", errors.New("this is a list or a table")
	}
	return string(raw), nil
}

// parseKeys reads the table of keys: an action, and its key or a list of keys.
func parseKeys(path string, data []byte, raw json.RawMessage) (value, error) {
	v := value{keys: map[string][]string{}, lines: map[string]string{}}
	table := map[string]any{}
	if err := json.Unmarshal(raw, &table); err != nil {
		return v, &Error{Where: at(path, data, "keys"), Field: "keys", Wrong: "this is not a table", Want: "write the name of an action and its keys, such as \"power: [K, f5]\""}
	}
	for action, keys := range table {
		where := at(path, data, "keys", action)
		v.lines[action] = where
		list, ok := keys.([]any)
		if !ok {
			list = []any{keys}
		}
		v.keys[action] = []string{}
		for _, k := range list {
			switch k := k.(type) {
			case string:
				v.keys[action] = append(v.keys[action], k)
			case float64: // 5 is a key as well as a number
				v.keys[action] = append(v.keys[action], fmt.Sprint(k))
			default: // y, n, on and off are words of YAML
				return v, &Error{Where: where, Field: "keys." + action, Wrong: "this is not a key", Want: "write a key in quotes, such as \"y\", or a list of them"}
			}
		}
	}
	return v, nil
}

// at is the place of a field in a file: the first line that begins with each part of its path, one below the other.
func at(path string, data []byte, field ...string) string {
	lines := strings.Split(string(data), "\n")
	n := 0
	for _, part := range field {
		form := regexp.MustCompile(`^[\s{,]*["']?` + regexp.QuoteMeta(part) + `["']?\s*:`)
		found := false
		for i := n; i < len(lines) && !found; i++ {
			if form.MatchString(lines[i]) {
				n, found = i+1, true
			}
		}
		if !found {
			break
		}
	}
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, n)
}

func fieldNamed(name string) (field, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

func fieldNames() []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name)
	}
	return out
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
