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
		{"remove a member", `{"a":1,"b":2}`, `[{"op":"remove","path":"/a"}]`, `{"b":2}`},
		{"replace deep", `{"a":[{"b":1}]}`, `[{"op":"replace","path":"/a/0/b","value":null}]`, `{"a":[{"b":null}]}`},
		{"move", `{"a":{"x":1}}`, `[{"op":"move","from":"/a/x","path":"/b"}]`, `{"a":{},"b":1}`},
		{"copy is deep", `{"a":{"x":1}}`, `[{"op":"copy","from":"/a","path":"/b"},{"op":"replace","path":"/b/x","value":2}]`, `{"a":{"x":1},"b":{"x":2}}`},
		{"test passes", `{"a":{"x":[1,"y"]}}`, `[{"op":"test","path":"/a","value":{"x":[1,"y"]}}]`, `{"a":{"x":[1,"y"]}}`},
		{"escapes", `{"a/b":{"c~d":1}}`, `[{"op":"replace","path":"/a~1b/c~0d","value":2}]`, `{"a/b":{"c~d":2}}`},
		{"large numbers stay", `{"a":9007199254740993}`, `[]`, `{"a":9007199254740993}`},
		{"text is not escaped for HTML", `{"a":"<b>&"}`, `[{"op":"copy","from":"/a","path":"/c"}]`, `{"a":"<b>&","c":"<b>&"}`},
	} {
		if got, err := Apply([]byte(tc.doc), []byte(tc.patch)); err != nil || string(got) != tc.want {
			t.Errorf("%s: got %s %v, want %s", tc.what, got, err, tc.want)
		}
	}
}

func TestPatchesThatDoNotFitAreRefused(t *testing.T) {
	for what, tc := range map[string]struct{ doc, patch string }{
		"add beyond the end":         {`{"a":[1]}`, `[{"op":"add","path":"/a/2","value":2}]`},
		"add below nothing":          {`{}`, `[{"op":"add","path":"/a/b","value":2}]`},
		"remove nothing":             {`{}`, `[{"op":"remove","path":"/a"}]`},
		"replace nothing":            {`{}`, `[{"op":"replace","path":"/a","value":1}]`},
		"a test that fails":          {`{"a":1}`, `[{"op":"test","path":"/a","value":2}]`},
		"an index counted backwards": {`{"a":[1]}`, `[{"op":"remove","path":"/a/-1"}]`},
		"an unknown operation":       {`{}`, `[{"op":"zap","path":"/a"}]`},
		"no path":                    {`{}`, `[{"op":"add","value":1}]`},
		"no list":                    {`{}`, `{}`},
	} {
		if got, err := Apply([]byte(tc.doc), []byte(tc.patch)); err == nil {
			t.Errorf("%s: gave %s", what, got)
		}
	}
}

func TestPatchesThatGrowWithoutBoundAreRefused(t *testing.T) {
	var ops []string
	for i := range 200 {
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"","path":"/k%d"}`, i))
	}
	if got, err := Apply([]byte(`{"a":"`+strings.Repeat("x", 1000)+`"}`), []byte("["+strings.Join(ops, ",")+"]")); err == nil && len(got) > 2*copiedMax {
		t.Errorf("doubling 200 times is accepted and gives %d bytes", len(got))
	}
	ops = nil
	for i := range 40 { // each copies all that was copied before
		ops = append(ops, fmt.Sprintf(`{"op":"copy","from":"/a","path":"/a/k%d"}`, i))
	}
	if got, err := Apply([]byte(`{"a":{"x":"`+strings.Repeat("x", 1000)+`"}}`), []byte("["+strings.Join(ops, ",")+"]")); err == nil {
		t.Errorf("doubling 40 times is accepted and gives %d bytes", len(got))
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
