package kinds

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// Kinds that CustomResourceDefinitions define are in no table. Each version of one is a Kind of its own, made from the definition or, where that is not at hand, from what an object tells of
// itself; such rows are immutable as all are, but there may be several of one kind: compare them by Same.

// CustomVersion is what the row of a defined kind has beside the others.
type CustomVersion struct {
	// Storage is the version that is written into the store.
	Storage string
	// ListKind is the kind of lists.
	ListKind string
	// Version is what the definition says of the version; nil: the row was made from an object.
	Version *apiextensionsv1.CustomResourceDefinitionVersion
	// Fit drops what the schema does not know and tells which fields that were; an error is one of metadata within the object. nil: everything stays.
	Fit func(content map[string]any) (unknown []string, err error)
	// Fill writes the defaults of the schema; nil: there are none.
	Fill func(content map[string]any)
}

// Defined makes a row of a kind as its objects tell of it.
func Defined(group, version, kind, resource string, namespaced bool) *Kind {
	k := &Kind{Group: group, Version: version, Kind: kind, Resource: resource, Singular: strings.ToLower(kind), Namespaced: namespaced, Prefix: registry + group + "/" + resource + "/",
		Custom: &CustomVersion{Storage: version, ListKind: kind + "List"}}
	k.New = func() Object { return NewCustom(k) }
	return k
}

// Same reports that two rows are of one kind in one version.
func Same(a, b *Kind) bool {
	return a == b || a != nil && b != nil && a.Custom != nil && b.Custom != nil && a.GVK() == b.GVK() && a.Resource == b.Resource && a.Namespaced == b.Namespaced
}

// Custom is an object of a kind that a CustomResourceDefinition defines. Copies one level deep are safe: whoever changes Content replaces it, or copies the object first.
type Custom struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// Content are the members beside apiVersion, kind and metadata, as JSON values with int64 and float64 for numbers.
	Content map[string]any `json:"-"`

	kind *Kind
}

// NewCustom makes an empty object of a kind.
func NewCustom(k *Kind) *Custom { return &Custom{kind: k, Content: map[string]any{}} }

// Is makes the object one of that kind: the same, in another version.
func (c *Custom) Is(k *Kind) { c.kind = k }

// Row is the object's kind.
func (c *Custom) Row() *Kind { return c.kind }

// DeepCopyObject implements runtime.Object.
func (c *Custom) DeepCopyObject() runtime.Object {
	out := &Custom{TypeMeta: c.TypeMeta, kind: c.kind}
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if c.Content != nil {
		out.Content = runtime.DeepCopyJSON(c.Content)
	}
	return out
}

// Whole is the object as JSON values: a new map, whose members but metadata are the object's own.
func (c *Custom) Whole() (map[string]any, error) {
	m := make(map[string]any, len(c.Content)+3)
	maps.Copy(m, c.Content)
	delete(m, "apiVersion")
	delete(m, "kind")
	if c.APIVersion != "" {
		m["apiVersion"] = c.APIVersion
	}
	if c.Kind != "" {
		m["kind"] = c.Kind
	}
	meta, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&c.ObjectMeta)
	if err != nil {
		return nil, fmt.Errorf("metadata of %s: %w", c.Name, err)
	}
	m["metadata"] = meta
	return m, nil
}

// MarshalJSON implements json.Marshaler.
func (c *Custom) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(c.Content)+3)
	maps.Copy(m, c.Content)
	delete(m, "apiVersion")
	delete(m, "kind")
	if c.APIVersion != "" {
		m["apiVersion"] = c.APIVersion
	}
	if c.Kind != "" {
		m["kind"] = c.Kind
	}
	m["metadata"] = &c.ObjectMeta
	return json.Marshal(m)
}

// UnmarshalJSON implements json.Unmarshaler. Unknown members of metadata are dropped.
func (c *Custom) UnmarshalJSON(data []byte) error {
	m := map[string]any{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &m); err != nil {
		return err
	}
	_, err := c.Take(m, false)
	return err
}

// Take makes the object what the map says, which is the object's from then on. With strict, unknown tells what of metadata is not known.
func (c *Custom) Take(m map[string]any, strict bool) (unknown []string, err error) {
	c.TypeMeta, c.ObjectMeta = metav1.TypeMeta{}, metav1.ObjectMeta{}
	for name, into := range map[string]*string{"apiVersion": &c.APIVersion, "kind": &c.Kind} {
		if v, ok := m[name]; ok {
			s, ok := v.(string)
			if !ok {
				return nil, fmt.Errorf("%s: must be a string", name)
			}
			*into = s
		}
		delete(m, name)
	}
	if v, ok := m["metadata"]; ok {
		if unknown, err = TakeMeta(v, &c.ObjectMeta, "metadata", strict); err != nil {
			return nil, err
		}
		delete(m, "metadata")
	}
	c.Content = m
	return unknown, nil
}

// TakeMeta reads metadata that is a JSON value; at is where it stands. With strict, unknown tells which of its members are none of metadata.
func TakeMeta(v any, into *metav1.ObjectMeta, at string, strict bool) (unknown []string, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if !strict {
		return nil, kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
	}
	found, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if f, ok := e.(kjson.FieldError); ok {
			unknown = append(unknown, at+"."+f.FieldPath())
		}
	}
	return unknown, nil
}

// customKey takes the store key of an object of a defined kind apart. Groups of such kinds have a dot, which the first part of no other key has that is not in the table.
func customKey(key string) (group, resource, namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(key, registry)
	if !ok {
		return
	}
	parts := strings.Split(rest, "/")
	if ok = (len(parts) == 3 || len(parts) == 4) && strings.Contains(parts[0], "."); !ok {
		return
	}
	for _, p := range parts {
		if p == "" {
			return "", "", "", "", false
		}
	}
	group, resource, name = parts[0], parts[1], parts[len(parts)-1]
	if len(parts) == 4 {
		namespace = parts[2]
	}
	return
}

// CustomPrefix is the prefix of the kind that a store key belongs to, where that is one that a CustomResourceDefinition defines; ok is false for all others.
func CustomPrefix(key string) (prefix string, ok bool) {
	if _, built := ForKey(key); built {
		return "", false
	}
	group, resource, _, _, ok := customKey(key)
	return registry + group + "/" + resource + "/", ok
}

// RefOfKey names the object of a defined kind that lives at a store key.
func RefOfKey(key string) (ref ObjectRef, ok bool) {
	if _, built := ForKey(key); built {
		return ObjectRef{}, false
	}
	group, resource, namespace, name, ok := customKey(key)
	return ObjectRef{Resource: resource + "." + group, Namespace: namespace, Name: name}, ok
}

// DecodeCustom reads what the store holds at a key of a defined kind. row finds the row of its kind.
func DecodeCustom(key string, value []byte, row func(group, version, kind, resource string, namespaced bool) *Kind) (*Custom, error) {
	group, resource, namespace, _, ok := customKey(key)
	if !ok {
		return nil, fmt.Errorf("key %s belongs to no known kind", key)
	}
	c := &Custom{}
	if err := c.UnmarshalJSON(value); err != nil {
		return nil, fmt.Errorf("decode %s: %w", key, err)
	}
	gvk := c.GroupVersionKind()
	if gvk.Group != group || gvk.Kind == "" {
		return nil, fmt.Errorf("value of %s is a %s", key, gvk)
	}
	c.kind = row(group, gvk.Version, gvk.Kind, resource, namespace != "")
	c.TypeMeta = metav1.TypeMeta{}
	return c, nil
}

// Stored is the object as the store holds it, without resourceVersion.
func (c *Custom) Stored() ([]byte, error) {
	out := *c
	out.TypeMeta = metav1.TypeMeta{APIVersion: c.kind.Group + "/" + c.kind.Custom.Storage, Kind: c.kind.Kind}
	out.ResourceVersion = ""
	return out.MarshalJSON()
}
