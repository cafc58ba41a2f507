package columns

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"example.com/kubeviz/engine/kinds"
)

var customResourceDefinitions = []Column{
	name,
	text("Scope", "Cluster/Namespaced", func(d *apiextensionsv1.CustomResourceDefinition) string { return string(d.Spec.Scope) }),
	text("Versions", "Served versions", func(d *apiextensionsv1.CustomResourceDefinition) string {
		var versions []string
		for _, v := range d.Spec.Versions {
			switch {
			case v.Served && v.Storage:
				versions = append(versions, v.Name+"(storage)")
			case v.Served:
				versions = append(versions, v.Name)
			}
		}
		slices.Sort(versions)
		return strings.Join(versions, ",")
	}),
	created,
	wide(text("Group", "API group", func(d *apiextensionsv1.CustomResourceDefinition) string { return d.Spec.Group })),
	wide(text("Kind", "CustomResource kind", func(d *apiextensionsv1.CustomResourceDefinition) string { return d.Spec.Names.Kind })),
	wide(text("ShortNames", "Short names", func(d *apiextensionsv1.CustomResourceDefinition) string {
		return strings.Join(d.Spec.Names.ShortNames, ",")
	})),
	wide(boolean("Established", "Established status", func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
		})
	})),
}

// Custom makes the columns of a version of a custom resource: the name, and what the version's additionalPrinterColumns say, or the age where they say nothing.
// The error names the first column whose path cannot be read; the columns before it are returned with it, and a server shows those.
func Custom(v *apiextensionsv1.CustomResourceDefinitionVersion) ([]Column, error) {
	more := v.AdditionalPrinterColumns
	if len(more) == 0 {
		more = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", Description: docs["creationTimestamp"], JSONPath: ".metadata.creationTimestamp"}}
	}
	out := []Column{name}
	for _, d := range more {
		path := jsonpath.New(d.Name).AllowMissingKeys(true)
		if err := path.Parse("{" + d.JSONPath + "}"); err != nil {
			return out, fmt.Errorf("unrecognized column definition %q", d.JSONPath)
		}
		c := of(d.Name, d.Type, orElse(d.Description, "Custom resource definition column (in JSONPath format): "+d.JSONPath), func(o kinds.Object, now time.Time) any {
			return customCell(path, d.Type, o, now)
		}, func(o kinds.Object) Rank { return customRank(path, d.Type, o) })
		c.Format, c.Priority = d.Format, d.Priority
		out = append(out, c)
	}
	return out, nil
}

// found is what a path leads to: the first of it, nil when it leads nowhere.
func found(path *jsonpath.JSONPath, o kinds.Object) (v any, ok bool) {
	content := map[string]any(nil)
	if u, is := o.(runtime.Unstructured); is {
		content = u.UnstructuredContent()
	} else {
		var err error
		if content, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o); err != nil {
			return nil, false
		}
	}
	results, err := path.FindResults(content)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return nil, false
	}
	return results[0][0].Interface(), true
}

// customCell is nil for a value that is not there or not of the column's type. A string is whatever stands there, written out.
func customCell(path *jsonpath.JSONPath, typ string, o kinds.Object, now time.Time) any {
	v, ok := found(path, o)
	if !ok {
		return nil
	}
	switch typ {
	case "string":
		var b bytes.Buffer
		if err := path.PrintResults(&b, []reflect.Value{reflect.ValueOf(v)}); err != nil {
			return nil
		}
		return b.String()
	case "integer":
		switch n := v.(type) {
		case int64:
			return n
		case float64:
			return int64(n)
		case json.Number:
			if i, err := n.Int64(); err == nil {
				return i
			}
		}
	case "number":
		if n, ok := numeric(v); ok {
			return n
		}
	case "boolean":
		if b, ok := v.(bool); ok {
			return b
		}
	case "date":
		if t, ok := date(v); ok {
			return since(t, now)
		}
		if _, ok := v.(string); ok {
			return "<invalid>"
		}
	}
	return nil
}

func customRank(path *jsonpath.JSONPath, typ string, o kinds.Object) Rank {
	v, _ := found(path, o)
	switch typ {
	case "integer", "number":
		n, _ := numeric(v)
		return Rank{Number: n}
	case "date":
		t, _ := date(v)
		return newest(t)
	}
	s, _ := customCell(path, typ, o, time.Time{}).(string)
	return Rank{Text: s}
}

func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		n, err := v.Float64()
		return n, err == nil
	}
	return 0, false
}

// date reads a time as the fields of objects hold it; "" and "null" are the zero time, whose age is unknown.
func date(v any) (time.Time, bool) {
	s, ok := v.(string)
	if !ok {
		return time.Time{}, false
	}
	var t metav1.Time
	if err := t.UnmarshalQueryParameter(s); err != nil {
		return time.Time{}, false
	}
	return t.Time, true
}
