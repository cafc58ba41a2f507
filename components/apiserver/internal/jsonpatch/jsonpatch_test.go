package jsonpatch

import (
	"fmt"
	"strings"
	"testing"
)

func TestApply(t *testing.T) {
	for _, tc := range []struct{ what, doc, patch, want string }{
		{"add a member", `{"a":1}`, `[{"op":"add","path":"/b","value":[2]}]`, `{"a":1,"b":[2]}`},
		{"add replaces a member", `{"a":1}`, `[{"op":"add","path":"/a","value":2}]`, `{"a":2}`},
		{"add into a list shifts", `{"a":[1,3]}`, `[{"op":"add","path":"/a/1","value":2}]`, `{"a":[1,2,3]}`},
		{"add behind a list", `{"a":[1]}`, `[{"op":"add","path":"/a/-","value":2}]`, `{"a":[1,2]}`},
		{"add at the end by number", `{"a":[1]}`, `[{"op":"add","path":"/a/1","value":2}]`, `{"a":[1,2]}`},
		{"add beyond the end", `{"a":[1]}`, `[{"op":"add","path":"/a/2","value":2}]`, `no element "2"`},
		{"add below nothing", `{}`, `[{"op":"add","path":"/a/b","value":2}]`, `no member "a"`},
		{"remove a member", `{"a":1,"b":2}`, `[{"op":"remove","path":"/a"}]`, `{"b":2}`},
		{"remove an element", `{"a":[1,2,3]}`, `[{"op":"remove","path":"/a/1"}]`, `{"a":[1,3]}`},
		{"remove nothing", `{}`, `[{"op":"remove","path":"/a"}]`, `no member "a"`},
		{"replace deep", `{"a":[{"b":1}]}`, `[{"op":"replace","path":"/a/0/b","value":null}]`, `{"a":[{"b":null}]}`},
		{"replace nothing", `{}`, `[{"op":"replace","path":"/a","value":1}]`, `no member "a"`},
		{"move", `{"a":{"x":1}}`, `[{"op":"move","from":"/a/x","path":"/b"}]`, `{"a":{},"b":1}`},
		{"move into itself", `{"a":{"x":1}}`, `[{"op":"move","from":"/a","path":"/a/x"}]`, `cannot move into itself`},
		{"copy is deep", `{"a":{"x":1}}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"replace","path":"/b/x","value":2}]`, `{"a":{"x":1},"b":{"x":2}}`},
		{"test passes", `{"a":{"x":[1,"y"]}}`, `[{"op":"test","path":"/a","value":{"x":[1.0,"y"]}}]`, `{"a":{"x":[1,"y"]}}`},
		{"test fails", `{"a":1}`, `[{"op":"test","path":"/a","value":2}]`, `testing value /a failed`},
		{"escapes", `{"a/b":{"c~d":1}}`, `[{"op":"replace","path":"/a~1b/c~0d","value":2}]`, `{"a/b":{"c~d":2}}`},
		{"large numbers stay", `{"a":9007199254740993}`, `[]`, `{"a":9007199254740993}`},
		{"negative index", `{"a":[1]}`, `[{"op":"remove","path":"/a/-1"}]`, `no element "-1"`},
		{"leading zero", `{"a":[1,2]}`, `[{"op":"remove","path":"/a/01"}]`, `no element "01"`},
		{"below a number", `{"a":1}`, `[{"op":"add","path":"/a/b","value":1}]`, `no members`},
		{"unknown operation", `{}`, `[{"op":"zap","path":"/a"}]`, `unknown operation "zap"`},
		{"no path", `{}`, `[{"op":"add","value":1}]`, `no path`},
		{"no value", `{}`, `[{"op":"add","path":"/a"}]`, `no value`},
		{"a path without slash", `{}`, `[{"op":"add","path":"a","value":1}]`, `does not begin with a slash`},
		{"no list", `{}`, `{}`, `malformed patch`},
	} {
		got, err := Apply([]byte(tc.doc), []byte(tc.patch))
		text := string(got)
		if err != nil {
			text = err.Error()
		}
		if text != tc.want && !(err != nil && strings.Contains(text, tc.want)) {
			t.Errorf("%s: got %s, want %s", tc.what, text, tc.want)
		}
	}
}

func TestPatchesThatGrowWithoutBoundAreRefused(t *testing.T) {
	var ops []string
	for i := range 200 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"","path":"/k%d"}`, i))
	}
	if _, err := Apply([]byte(`{"a":"`+strings.Repeat("x", 1000)+`"}`), []byte("["+strings.Join(ops, ",")+"]")); err == nil {
		t.Error("doubling 200 times is accepted")
	}
	many := "[" + strings.Repeat(`{"op":"test","path":"/a","value":1},`, OperationsMax) + `{"op":"test","path":"/a","value":1}]`
	if _, err := Apply([]byte(`{"a":1}`), []byte(many)); !IsMalformed(err) {
		t.Errorf("more than %d operations: %v", OperationsMax, err)
	}
}

func TestMerge(t *testing.T) {
	for _, tc := range []struct{ doc, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		if got, err := Merge([]byte(tc.doc), []byte(tc.patch)); err != nil || string(got) != tc.want {
			t.Errorf("%s with %s: got %s %v, want %s", tc.doc, tc.patch, got, err, tc.want)
		}
	}
	if _, err := Merge([]byte(`{}`), []byte(`[1]`)); !IsMalformed(err) {
		t.Errorf("a list as a merge patch: %v", err)
	}
}

func FuzzApply(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}]}`, `[{"op":"move","from":"/a/0","path":"/a/1/b"}]`)
	f.Fuzz(func(t *testing.T, doc, patch string) {
		Apply([]byte(doc), []byte(patch))
		Merge([]byte(doc), []byte(patch))
	})
}
