package openapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

//go:embed definitions.json.gz
var compressed []byte

// definitions are the schemas by model name ("io.k8s.api.core.v1.Pod"), as JSON.
type definitions struct {
	Modules map[string]string
	V3, V2  map[string]json.RawMessage
	// names of models by what they are in the API.
	names map[schema.GroupVersionKind]string
}

func readDefinitions() (*definitions, error) {
	z, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("definitions: %w", err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("definitions: %w", err)
	}
	d := &definitions{names: map[schema.GroupVersionKind]string{}}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("definitions: %w", err)
	}
	for name, s := range d.V3 {
		if !bytes.Contains(s, []byte(gvkExtension)) {
			continue
		}
		var head struct {
			GVKs []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(s, &head); err != nil {
			return nil, fmt.Errorf("definition %s: %w", name, err)
		}
		for _, gvk := range head.GVKs {
			d.names[gvk] = name
		}
	}
	return d, nil
}

var reference = regexp.MustCompile(`"\$ref":"#/(?:components/schemas|definitions)/([^"]+)"`)

// closure gives the schemas that names need, and what those need.
func closure(all map[string]json.RawMessage, names []string) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if _, ok := out[name]; ok {
			continue
		}
		s, ok := all[name]
		if !ok {
			return nil, fmt.Errorf("no definition of %s", name)
		}
		out[name] = s
		for _, m := range reference.FindAllSubmatch(s, -1) {
			names = append(names, string(m[1]))
		}
	}
	return out, nil
}
