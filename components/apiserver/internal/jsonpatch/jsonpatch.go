// Package jsonpatch applies JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396) to documents.
//
// Imports of ours: none. Goroutines: pure functions. Time: none.
package jsonpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// OperationsMax is the most operations one patch may hold (fidelity API-7); copying is bounded besides by documentMax.
const OperationsMax = 10_000

// documentMax bounds what a patch can grow a document to, in bytes that its operations put in.
const documentMax = 16 << 20

// errMalformed marks patches that are no patches, whatever the document.
var errMalformed = errors.New("malformed patch")

// IsMalformed tells a patch that cannot be read from one that does not fit the document.
func IsMalformed(err error) bool { return errors.Is(err, errMalformed) }

type operation struct {
	Op    string          `json:"op"`
	Path  *string         `json:"path"`
	From  *string         `json:"from"`
	Value json.RawMessage `json:"value"`
}

// Apply runs a JSON Patch. Nothing of it is done when one operation fails.
func Apply(doc, patch []byte) ([]byte, error) {
	var ops []operation
	if err := json.Unmarshal(patch, &ops); err != nil {
		return nil, fmt.Errorf("%w: %v", errMalformed, err)
	}
	if len(ops) > OperationsMax {
		return nil, fmt.Errorf("%w: The allowed maximum operations in a JSON patch is %d, got %d", errMalformed, OperationsMax, len(ops))
	}
	root, err := parse(doc)
	if err != nil {
		return nil, err
	}
	budget := documentMax
	for i, op := range ops {
		if root, err = op.apply(root, &budget); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
	}
	return json.Marshal(root)
}

func parse(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}

func (op *operation) apply(root any, budget *int) (any, error) {
	if op.Path == nil {
		return nil, fmt.Errorf("%w: no path", errMalformed)
	}
	path, err := pointer(*op.Path)
	if err != nil {
		return nil, err
	}
	switch op.Op {
	case "add", "replace", "test":
		if op.Value == nil {
			return nil, fmt.Errorf("%w: no value", errMalformed)
		}
		v, err := parse(op.Value)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", errMalformed, err)
		}
		if op.Op == "test" {
			have, err := get(root, path)
			if err != nil {
				return nil, err
			}
			if !equal(have, v) {
				return nil, fmt.Errorf("testing value %s failed", *op.Path)
			}
			return root, nil
		}
		return edit(root, path, v, op.Op)
	case "remove":
		return edit(root, path, nil, op.Op)
	case "move", "copy":
		if op.From == nil {
			return nil, fmt.Errorf("%w: no from", errMalformed)
		}
		from, err := pointer(*op.From)
		if err != nil {
			return nil, err
		}
		v, err := get(root, from)
		if err != nil {
			return nil, err
		}
		if op.Op == "copy" {
			b, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			if *budget -= len(b); *budget < 0 {
				return nil, fmt.Errorf("copies exceed %d bytes", documentMax)
			}
			if v, err = parse(b); err != nil {
				return nil, err
			}
		} else {
			if *op.Path != *op.From && strings.HasPrefix(*op.Path, *op.From+"/") {
				return nil, errors.New("a value cannot move into itself")
			}
			if root, err = edit(root, from, nil, "remove"); err != nil {
				return nil, err
			}
		}
		return edit(root, path, v, "add")
	}
	return nil, fmt.Errorf("%w: unknown operation %q", errMalformed, op.Op)
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func pointer(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if s[0] != '/' {
		return nil, fmt.Errorf("%w: path %q does not begin with a slash", errMalformed, s)
	}
	parts := strings.Split(s[1:], "/")
	for i := range parts {
		parts[i] = unescape.Replace(parts[i])
	}
	return parts, nil
}

func get(v any, path []string) (any, error) {
	for _, part := range path {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[part]
			if !ok {
				return nil, fmt.Errorf("no member %q", part)
			}
			v = next
		case []any:
			i, err := index(part, len(c)-1)
			if err != nil {
				return nil, err
			}
			v = c[i]
		default:
			return nil, fmt.Errorf("%q is below a value that has no members", part)
		}
	}
	return v, nil
}

// index reads a place in a list, from 0 to last.
func index(s string, last int) (int, error) {
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i > last || (len(s) > 1 && s[0] == '0') {
		return 0, fmt.Errorf("no element %q", s)
	}
	return i, nil
}

// edit adds, replaces or removes what path names and returns the changed document.
func edit(root any, path []string, v any, op string) (any, error) {
	if len(path) == 0 {
		if op == "remove" {
			return nil, errors.New("the whole document cannot be removed")
		}
		return v, nil
	}
	part, rest := path[0], path[1:]
	switch c := root.(type) {
	case map[string]any:
		child, exists := c[part]
		if len(rest) > 0 || op != "add" {
			if !exists {
				return nil, fmt.Errorf("no member %q", part)
			}
		}
		if len(rest) == 0 && op == "remove" {
			delete(c, part)
			return c, nil
		}
		if len(rest) > 0 {
			var err error
			if v, err = edit(child, rest, v, op); err != nil {
				return nil, err
			}
		}
		c[part] = v
		return c, nil
	case []any:
		last := len(c) - 1
		if len(rest) == 0 && op == "add" {
			if part == "-" {
				return append(c, v), nil
			}
			last++
		}
		i, err := index(part, last)
		if err != nil {
			return nil, err
		}
		switch {
		case len(rest) > 0:
			if v, err = edit(c[i], rest, v, op); err != nil {
				return nil, err
			}
			c[i] = v
		case op == "add":
			c = append(c, nil)
			copy(c[i+1:], c[i:])
			c[i] = v
		case op == "remove":
			c = append(c[:i], c[i+1:]...)
		default:
			c[i] = v
		}
		return c, nil
	}
	return nil, fmt.Errorf("%q is below a value that has no members", part)
}

func equal(a, b any) bool {
	x, okx := a.(json.Number)
	y, oky := b.(json.Number)
	if okx && oky {
		p, _ := x.Float64()
		q, _ := y.Float64()
		return p == q
	}
	switch c := a.(type) {
	case map[string]any:
		d, ok := b.(map[string]any)
		if !ok || len(c) != len(d) {
			return false
		}
		for k, v := range c {
			w, ok := d[k]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		d, ok := b.([]any)
		if !ok || len(c) != len(d) {
			return false
		}
		for i := range c {
			if !equal(c[i], d[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// Merge runs a JSON Merge Patch: null removes, objects merge, everything else replaces.
func Merge(doc, patch []byte) ([]byte, error) {
	p, err := parse(patch)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errMalformed, err)
	}
	if _, ok := p.(map[string]any); !ok {
		return nil, fmt.Errorf("%w: not an object", errMalformed)
	}
	d, err := parse(doc)
	if err != nil {
		return nil, err
	}
	return json.Marshal(merge(d, p))
}

func merge(doc, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	d, ok := doc.(map[string]any)
	if !ok {
		d = map[string]any{}
	}
	for k, v := range p {
		if v == nil {
			delete(d, k)
		} else {
			d[k] = merge(d[k], v)
		}
	}
	return d
}
