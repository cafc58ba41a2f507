package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/engine/kinds"
)

// With is a handler that tells of defined kinds beside those of the table. defined is asked at each request; what follows from it is kept until its rows change.
func (h *Handler) With(defined func() *custom.Set) http.Handler {
	w := &withDefined{Handler: h, defined: defined}
	w.third, w.second = h.third, h.second
	return w
}

type withDefined struct {
	*Handler
	defined func() *custom.Set

	mu            sync.Mutex
	rows          []*kinds.Kind
	third, second func() (*index, error)
}

// ServeHTTP implements http.Handler.
func (w *withDefined) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	third, second := w.documents()
	serve(third, second, out, r)
}

// documents are those of the kinds as they are now.
func (w *withDefined) documents() (third, second func() (*index, error)) {
	rows := w.defined().Kinds
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(rows, w.rows) {
		w.rows = rows
		w.third = sync.OnceValues(func() (*index, error) { return w.Handler.thirdWith(rows) })
		w.second = sync.OnceValues(func() (*index, error) { return w.Handler.secondWith(rows) })
	}
	return w.third, w.second
}

// thirdWith adds a document for each group version of the rows.
func (h *Handler) thirdWith(rows []*kinds.Kind) (*index, error) {
	base, err := h.third()
	if err != nil || len(rows) == 0 {
		return base, err
	}
	d, err := h.definitions()
	if err != nil {
		return nil, err
	}
	if d, err = d.with(rows); err != nil {
		return nil, err
	}
	by := map[schema.GroupVersion][]resource{}
	for _, k := range rows {
		gv := k.GVK().GroupVersion()
		by[gv] = append(by[gv], definedResource(k))
	}
	x := &index{groups: maps.Clone(base.groups)}
	for gv, served := range by {
		doc, err := h.groupVersion(d, gv, served)
		if err != nil {
			return nil, err
		}
		x.groups[root(gv)] = doc
	}
	return x, x.list()
}

// secondWith is the one document of version 2, with the rows in it.
func (h *Handler) secondWith(rows []*kinds.Kind) (*index, error) {
	if len(rows) == 0 {
		return h.second()
	}
	d, err := h.definitions()
	if err != nil {
		return nil, err
	}
	if d, err = d.with(rows); err != nil {
		return nil, err
	}
	all := resources()
	for _, k := range rows {
		all = append(all, definedResource(k))
	}
	return h.swagger(d, all)
}

func definedResource(k *kinds.Kind) resource {
	return resource{gvk: k.GVK(), name: k.Resource, namespaced: k.Namespaced, verbs: everyVerb, subresources: k.Subresources, defined: true}
}

// with adds the models of defined kinds.
func (d *definitions) with(rows []*kinds.Kind) (*definitions, error) {
	out := &definitions{Modules: d.Modules, V3: maps.Clone(d.V3), V2: maps.Clone(d.V2), names: maps.Clone(d.names)}
	for _, k := range rows {
		if k.Custom.Version == nil {
			return nil, fmt.Errorf("no definition of %s is at hand", k)
		}
		group := strings.Split(k.Group, ".")
		slices.Reverse(group)
		name := strings.Join(append(group, k.Version, k.Kind), ".")
		out.names[k.GVK()] = name
		for _, x := range []struct {
			into map[string]json.RawMessage
			refs string
			two  bool
		}{{out.V3, "#/components/schemas/", false}, {out.V2, "#/definitions/", true}} {
			model, err := modelOf(k, x.refs, x.two)
			if err != nil {
				return nil, fmt.Errorf("OpenAPI of %s: %w", k, err)
			}
			for n, s := range map[string]*spec.Schema{name: model, name + "List": listOf(k, name, x.refs)} { // operations name lists so, whatever the kind of list
				if x.into[n], err = json.Marshal(s); err != nil {
					return nil, fmt.Errorf("OpenAPI of %s: %w", k, err)
				}
			}
		}
	}
	return out, nil
}

const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

func typeMeta(s *spec.Schema) {
	s.SetProperty("apiVersion", *spec.StringProperty().WithDescription("APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: " + conventions + "#resources"))
	s.SetProperty("kind", *spec.StringProperty().WithDescription("Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: " + conventions + "#types-kinds"))
}

// modelOf is the model of a defined kind: its schema, and what all objects have (apiextensions-apiserver pkg/controller/openapi/builder). Where unknown members stay, version 2 tells nothing
// but that it is an object: kubectl would take a list of members for all that there are.
func modelOf(k *kinds.Kind, refs string, two bool) (*spec.Schema, error) {
	structural, err := custom.Structural(k.Custom.Version)
	if err != nil {
		return nil, err
	}
	s := (&spec.Schema{}).Typed("object", "")
	if structural != nil && (!two || !structural.XPreserveUnknownFields) {
		if two {
			structural = openapiv2.ToStructuralOpenAPIV2(structural)
		}
		s = structural.ToKubeOpenAPI()
		objectMeta(s, refs)
		typeMeta(s)
		embedded(s, refs, two)
	}
	s.AddExtension(gvkExtension, []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}})
	if fields := k.Custom.Version.SelectableFields; len(fields) > 0 {
		var paths []any
		for _, f := range fields {
			paths = append(paths, map[string]any{"fieldPath": strings.TrimPrefix(f.JSONPath, ".")})
		}
		s.AddExtension("x-kubernetes-selectable-fields", paths)
	}
	return s, nil
}

func objectMeta(s *spec.Schema, refs string) {
	s.SetProperty("metadata", *spec.RefSchema(refs + meta + "ObjectMeta").WithDescription("Standard object's metadata. More info: " + conventions + "#metadata"))
}

// embedded adds what embedded objects have.
func embedded(s *spec.Schema, refs string, two bool) {
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		embedded(&p, refs, two)
		s.Properties[name] = p
	}
	if s.Items != nil {
		embedded(s.Items.Schema, refs, two)
	}
	if s.AdditionalProperties != nil {
		embedded(s.AdditionalProperties.Schema, refs, two)
	}
	if keeps, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); keeps && two {
		return
	}
	if is, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); !is {
		return
	}
	objectMeta(s, refs)
	typeMeta(s)
	for _, name := range []string{"apiVersion", "kind"} {
		if !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

func listOf(k *kinds.Kind, model, refs string) *spec.Schema {
	s := (&spec.Schema{}).Typed("object", "").WithDescription(k.Custom.ListKind + " is a list of " + k.Kind).WithRequired("items")
	s.SetProperty("items", *spec.ArrayProperty(spec.RefSchema(refs + model)).WithDescription("List of " + k.Resource + ". More info: " + conventions))
	s.SetProperty("metadata", *spec.RefSchema(refs + meta + "ListMeta").WithDescription("Standard list metadata. More info: " + conventions + "#types-kinds"))
	typeMeta(s)
	s.AddExtension(gvkExtension, []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Custom.ListKind}})
	return s
}
