package registry_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/registry"
	"example.com/kubeviz/engine/kinds"
)

// rule is a line of testdata/rules.jsonl. Lines with a name are objects that a v1.37 takes; the others are such an object with one place made bad, and all that the server said of it.
type rule struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Group  string `json:"group"` // of the request, where it is not the kind's own
	Object any    `json:"object"`

	On     string   `json:"on"`
	Verb   string   `json:"verb"` // create, update (of the good object to the bad one), status
	At     []any    `json:"at"`
	To     any      `json:"to"` // nil: taken away
	Causes []string `json:"causes"`
}

func TestEveryRuleRefusesInTheWordsOfARealServer(t *testing.T) {
	reg := registry.New()
	f, err := os.Open("testdata/rules.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	rows, objects := 0, map[string]rule{}
	for sc.Scan() {
		var r rule
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Name != "" {
			objects[r.Name] = r
			continue
		}
		rows++
		on := objects[r.On]
		r.Kind, r.Group, r.Object = on.Kind, on.Group, on.Object
		t.Run(fmt.Sprintf("%s %s %v", r.Verb, r.On, r.At), func(t *testing.T) {
			k, ok := kinds.Named(r.Kind)
			if !ok {
				t.Fatalf("no kind %s", r.Kind)
			}
			good := r.decode(t, k, r.Object)
			bad := r.decode(t, k, put(r.Object, r.At, r.To))
			if got := r.refusals(reg[k], bad, good); !slices.Equal(got, r.Causes) {
				t.Errorf("says\n%q\nwant\n%q", got, r.Causes)
			}
		})
	}
	if err := sc.Err(); err != nil || rows == 0 {
		t.Fatalf("%d rows, %v", rows, err)
	}
}

func (r *rule) decode(t *testing.T, k *kinds.Kind, v any) kinds.Object {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	obj, face := k.New(), (*kinds.Face)(nil)
	for _, f := range k.Faces {
		if f.Group == r.Group {
			face, obj = f, f.New()
		}
	}
	if err := json.Unmarshal(raw, obj); err != nil {
		t.Fatal(err)
	}
	if face != nil {
		obj = face.To(obj)
	}
	return obj
}

// refusals is what the stages between defaults and store have to say, as the API server runs them.
func (r *rule) refusals(res *resource.Resource, obj, old kinds.Object) []string {
	at := field.NewPath("metadata")
	for _, o := range []kinds.Object{obj, old} {
		if res.Default != nil {
			res.Default(o)
		}
		o.SetUID("u")
		o.SetGeneration(1)
		if r.Verb != "create" {
			o.SetResourceVersion("5")
		}
	}
	sub := ""
	switch r.Verb {
	case "create":
		if res.PrepareCreate != nil {
			res.PrepareCreate(obj)
		}
	case "status":
		sub = "status"
		fallthrough
	default:
		if res.PrepareUpdate != nil {
			res.PrepareUpdate(obj, old, sub)
		}
	}
	errs := apivalidation.ValidateObjectMetaAccessor(obj, res.Kind.Namespaced, res.Name, at)
	if !res.FreeFinalizers {
		for i, f := range obj.GetFinalizers() {
			errs = append(errs, check.Finalizer(f, at.Child("finalizers").Index(i))...)
		}
	}
	if r.Verb == "create" {
		old = nil
	} else {
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, at)...)
	}
	switch rules := res.InFace[r.Group]; {
	case rules != nil:
		errs = append(errs, rules(obj, old)...)
	case old == nil:
		errs = append(errs, res.Validate(obj)...)
	default:
		if res.Validate != nil && !res.UpdateWhole && (sub != "status" || res.Spec == nil) {
			errs = append(errs, res.Validate(obj)...)
		}
		if res.ValidateUpdate != nil {
			errs = append(errs, res.ValidateUpdate(obj, old, sub)...)
		}
	}
	var out []string
	for _, e := range errs {
		if text := e.Error(); !slices.Contains(out, text) { // the server says a thing once
			out = append(out, text)
		}
	}
	return out
}

// put is a copy of v in which the value at a path is another one, or gone.
func put(v any, at []any, to any) any {
	if len(at) == 0 {
		return to
	}
	switch step := at[0].(type) {
	case string:
		m := map[string]any{}
		if was, ok := v.(map[string]any); ok {
			for k, x := range was {
				m[k] = x
			}
		}
		if len(at) == 1 && to == nil {
			delete(m, step)
		} else {
			m[step] = put(m[step], at[1:], to)
		}
		return m
	case float64:
		i, list := int(step), slices.Clone(v.([]any))
		if len(at) == 1 && to == nil {
			return slices.Delete(list, i, i+1)
		}
		list[i] = put(list[i], at[1:], to)
		return list
	}
	return v
}
