package managed

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/kubeviz/engine/kinds"
)

// customConverter is the converter of a defined kind: its versions differ by their name alone.
type customConverter struct{ k *kinds.Kind }

// ConvertToVersion is what the library calls.
func (c customConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	to, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("convert %s: no single version is asked for", c.k)
	}
	if to != c.k.GVK().GroupVersion() { // entries of other versions are dropped, as of versions that are served no more
		return nil, runtime.NewNotRegisteredErrForKind(c.k.Kind, to.WithKind(c.k.Kind))
	}
	switch o := in.(type) {
	case *kinds.Custom:
		out := *o
		out.SetGroupVersionKind(c.k.GVK())
		return &out, nil
	case *unstructured.Unstructured:
		out := kinds.NewCustom(c.k)
		if _, err := out.Take(runtime.DeepCopyJSON(o.Object), false); err != nil {
			return nil, err
		}
		out.SetGroupVersionKind(c.k.GVK())
		return out, nil
	}
	return nil, fmt.Errorf("convert %s: %T is no object of it", c.k, in)
}

// Convert and ConvertFieldLabel belong to the interface; the library of managed fields calls neither.
func (c customConverter) Convert(in, out, context any) error {
	return fmt.Errorf("convert %T into %T: not offered", in, out)
}

func (c customConverter) ConvertFieldLabel(gvk schema.GroupVersionKind, label, value string) (string, string, error) {
	return "", "", fmt.Errorf("field label %s: not offered", label)
}

// customType gives the library objects of a defined kind as the maps that they are.
type customType struct{ managedfields.TypeConverter }

func (t customType) ObjectToTyped(obj runtime.Object, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if c, ok := obj.(*kinds.Custom); ok {
		m, err := c.Whole()
		if err != nil {
			return nil, err
		}
		obj = &unstructured.Unstructured{Object: m}
	}
	return t.TypeConverter.ObjectToTyped(obj, o...)
}

// customTypes makes the types of a defined kind out of its schema; without one that can be read values are seen as they are.
func customTypes(k *kinds.Kind) managedfields.TypeConverter {
	deduced := customType{managedfields.NewDeducedTypeConverter()}
	v := k.Custom.Version
	if v == nil || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return deduced
	}
	in := &apiextensions.JSONSchemaProps{}
	if apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, in, nil) != nil {
		return deduced
	}
	s, err := structuralschema.NewStructural(in)
	if err != nil {
		return deduced
	}
	model := s.StripValueValidations().ToKubeOpenAPI()
	if model.Properties == nil {
		model.Properties = map[string]spec.Schema{}
	}
	model.Properties["apiVersion"], model.Properties["kind"], model.Properties["metadata"] = *spec.StringProperty(), *spec.StringProperty(), metadata()
	model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind}})
	types, err := managedfields.NewTypeConverter(map[string]*spec.Schema{k.GVK().String(): model}, false)
	if err != nil {
		return deduced
	}
	return customType{types}
}

// metadata is the schema of metav1.ObjectMeta, as far as merging goes.
func metadata() spec.Schema {
	list := func(item *spec.Schema, extensions spec.Extensions) spec.Schema {
		s := spec.ArrayProperty(item)
		s.Extensions = extensions
		return *s
	}
	owner := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{}},
		VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-map-type": "atomic"}}}
	for _, f := range []string{"apiVersion", "kind", "name", "uid"} {
		owner.Properties[f] = *spec.StringProperty()
	}
	owner.Properties["controller"], owner.Properties["blockOwnerDeletion"] = *spec.BoolProperty(), *spec.BoolProperty()
	entry := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}, VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-preserve-unknown-fields": true}}}
	meta := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"annotations": *spec.MapProperty(spec.StringProperty()), "labels": *spec.MapProperty(spec.StringProperty()),
		"generation": *spec.Int64Property(), "deletionGracePeriodSeconds": *spec.Int64Property(),
		"finalizers":      list(spec.StringProperty(), spec.Extensions{"x-kubernetes-list-type": "set"}),
		"ownerReferences": list(owner, spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"uid"}}),
		"managedFields":   list(entry, spec.Extensions{"x-kubernetes-list-type": "atomic"}),
	}}}
	for _, f := range []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"} {
		meta.Properties[f] = *spec.StringProperty()
	}
	return meta
}
