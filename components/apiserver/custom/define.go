package custom

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/expressions"
	"example.com/kubeviz/engine/kinds"
)

// Definition is what an established CustomResourceDefinition makes the server serve.
type Definition struct {
	Prefix    string
	Kinds     []*kinds.Kind
	Resources []*resource.Resource // of Kinds, in their order
}

// Structural reads the schema of a version; nil: there is none.
func Structural(v *apiextensionsv1.CustomResourceDefinitionVersion) (*structuralschema.Structural, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	in := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, in, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(in)
}

// Define reads a definition whose names are accepted.
func Define(crd *apiextensionsv1.CustomResourceDefinition) (*Definition, error) {
	names := crd.Status.AcceptedNames
	d := &Definition{}
	storage := ""
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			storage = v.Name
		}
	}
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if !v.Served {
			continue
		}
		s, err := Structural(v)
		if err != nil {
			return nil, fmt.Errorf("schema of version %s: %w", v.Name, err)
		}
		k := kinds.Defined(crd.Spec.Group, v.Name, names.Kind, names.Plural, crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
		k.Singular, k.Short, k.Categories = names.Singular, names.ShortNames, names.Categories
		k.Custom.Storage, k.Custom.ListKind, k.Custom.Version = storage, names.ListKind, v
		if v.Deprecated {
			k.Deprecated = fmt.Sprintf("%s %s is deprecated", k.APIVersion(), k.Kind)
			if v.DeprecationWarning != nil {
				k.Deprecated = *v.DeprecationWarning
			}
		}
		if sub := v.Subresources; sub != nil {
			if sub.Scale != nil {
				k.Subresources = append(k.Subresources, kinds.ScaleSubresource())
			}
			if sub.Status != nil {
				k.Subresources = append(k.Subresources, kinds.StatusSubresource())
			}
		}
		preserve := crd.Spec.PreserveUnknownFields || s == nil
		k.Custom.Fit = func(content map[string]any) ([]string, error) { return fit(content, s, preserve) }
		k.Custom.Fill = func(content map[string]any) {
			dropNulls(content, s)
			fill(content, s)
		}
		d.Prefix = k.Prefix
		d.Kinds = append(d.Kinds, k)
		d.Resources = append(d.Resources, describe(k, v, s))
	}
	if len(d.Kinds) == 0 {
		d.Prefix = kinds.Defined(crd.Spec.Group, storage, names.Kind, names.Plural, true).Prefix
	}
	return d, nil
}

// fit drops what the schema does not know.
func fit(content map[string]any, s *structuralschema.Structural, preserve bool) ([]string, error) {
	unknown, err := coerce(content, s, "")
	if err != nil || preserve {
		return unknown, err
	}
	return append(unknown, pruning.PruneWithOptions(content, s, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...), nil
}

// describe is a version to the pipeline.
func describe(k *kinds.Kind, v *apiextensionsv1.CustomResourceDefinitionVersion, s *structuralschema.Structural) *resource.Resource {
	_, status := k.Subresource("status")
	res := &resource.Resource{Kind: k, Name: apivalidation.NameIsDNSSubdomain, Versioned: true, Generation: true, UpdateWhole: true, FreeFinalizers: true}
	res.Default = resource.Typed(func(o *kinds.Custom) {
		if o.Content == nil {
			o.Content = map[string]any{}
		}
		_, _ = k.Custom.Fit(o.Content) // what is wrong with embedded metadata is told by the validation
		k.Custom.Fill(o.Content)
	})
	res.PrepareCreate = resource.Typed(func(o *kinds.Custom) {
		if status {
			delete(o.Content, "status")
		}
	})
	res.PrepareUpdate = resource.TypedUpdate(func(o, old *kinds.Custom, sub string) {
		switch {
		case sub == "status":
			now, has := o.Content["status"]
			kept := old.DeepCopyObject().(*kinds.Custom)
			if delete(kept.Content, "status"); has {
				kept.Content["status"] = now
			}
			version := o.ResourceVersion
			o.ObjectMeta, o.Content = kept.ObjectMeta, kept.Content
			o.ResourceVersion = version
		case status:
			delete(o.Content, "status")
			if was, has := old.DeepCopyObject().(*kinds.Custom).Content["status"]; has {
				o.Content["status"] = was
			}
		}
	})
	res.Spec = resource.TypedSpec(func(o *kinds.Custom) any {
		out := map[string]any{}
		for name, value := range o.Content {
			if name != "status" || !status {
				out[name] = value
			}
		}
		return out
	})
	check := checker{root: s}
	var rules *expressions.Rules
	if s != nil {
		rules = expressions.RulesOf(s, v.Schema.OpenAPIV3Schema)
	}
	// heard are the warnings of the update that was looked at last, for Warn, which is asked right after. All that happens on the loop.
	heard := struct {
		of       *kinds.Custom
		warnings []string
	}{}
	ruled := func(o, old *kinds.Custom, faults field.ErrorList) field.ErrorList {
		if rules == nil {
			return faults
		}
		now, was := entire(k, o), map[string]any(nil)
		if old != nil {
			was = entire(k, old)
		}
		errs, warnings := rules.Check(now, was, faults)
		heard.of, heard.warnings = o, warnings
		return append(faults, errs...)
	}
	if rules != nil {
		res.Warn = func(obj, _ kinds.Object) []string {
			of, warnings := heard.of, heard.warnings
			if heard.of, heard.warnings = nil, nil; of != obj {
				return nil
			}
			return warnings
		}
	}
	res.Validate = resource.TypedCheck(func(o *kinds.Custom) field.ErrorList {
		errs := check.value(o.Content, nil)
		errs = append(errs, embedded(nil, o.Content, s)...)
		errs = append(errs, checkScale(v, o.Content)...)
		return ruled(o, nil, append(errs, listtype.ValidateListSetsAndMaps(nil, s, o.Content)...))
	})
	res.ValidateUpdate = resource.TypedCheckUpdate(func(o, old *kinds.Custom, sub string) field.ErrorList {
		if sub == "status" {
			return ruled(o, old, append(check.part("status", o.Content, old.Content), checkScale(v, o.Content)...))
		}
		errs := check.value(o.Content, old.Content)
		errs = append(errs, embedded(nil, o.Content, s)...)
		errs = append(errs, checkScale(v, o.Content)...)
		if sets := listtype.ValidateListSetsAndMaps(nil, s, o.Content); len(sets) > len(listtype.ValidateListSetsAndMaps(nil, s, old.Content)) {
			errs = append(errs, sets...)
		}
		return ruled(o, old, errs)
	})
	for _, f := range v.SelectableFields {
		path := strings.Split(strings.TrimPrefix(f.JSONPath, "."), ".")
		if res.Fields == nil {
			res.Fields = map[string]func(kinds.Object) string{}
		}
		res.Fields[strings.Join(path, ".")] = resource.TypedValue(func(o *kinds.Custom) string {
			x, ok := at(o.Content, path)
			if !ok || x == nil {
				return ""
			}
			return fmt.Sprint(x)
		})
	}
	if v.Subresources != nil && v.Subresources.Scale != nil {
		res.Scale = scaleOf(v.Subresources.Scale)
	}
	return res
}

// entire is an object as rules see it.
func entire(k *kinds.Kind, o *kinds.Custom) map[string]any {
	m, err := o.Whole()
	if err != nil { // metadata is always JSON
		m = map[string]any{"metadata": map[string]any{"name": o.Name}}
	}
	m["apiVersion"], m["kind"] = k.APIVersion(), k.Kind
	return m
}

// at is the value that a path leads to.
func at(content map[string]any, path []string) (any, bool) {
	var x any = content
	for _, p := range path {
		m, ok := x.(map[string]any)
		if !ok {
			return nil, false
		}
		if x, ok = m[p]; !ok {
			return nil, false
		}
	}
	return x, true
}

func dotted(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// scaleOf shows an object to the subresource of that name.
func scaleOf(s *apiextensionsv1.CustomResourceSubresourceScale) func(kinds.Object) resource.Scale {
	return func(obj kinds.Object) resource.Scale {
		o := obj.(*kinds.Custom)
		out := resource.Scale{Path: dotted(s.SpecReplicasPath)}
		if n, ok := at(o.Content, out.Path); ok {
			if n, ok := n.(int64); ok {
				wanted := int32(max(math.MinInt32, min(n, math.MaxInt32)))
				w := &wanted
				out.Wanted = &w
			}
		}
		out.Set = func(n int32) {
			m := o.Content
			for _, p := range out.Path[:len(out.Path)-1] {
				next, ok := m[p].(map[string]any)
				if !ok {
					next = map[string]any{}
					m[p] = next
				}
				m = next
			}
			m[out.Path[len(out.Path)-1]] = int64(n)
		}
		if n, ok := at(o.Content, dotted(s.StatusReplicasPath)); ok {
			if n, ok := n.(int64); ok {
				out.Have = int32(max(math.MinInt32, min(n, math.MaxInt32)))
			}
		}
		if s.LabelSelectorPath != nil && *s.LabelSelectorPath != "" {
			if sel, ok := at(o.Content, dotted(*s.LabelSelectorPath)); ok {
				out.Selector, _ = sel.(string)
			}
		}
		return out
	}
}

// checkScale looks at the numbers of replicas.
func checkScale(v *apiextensionsv1.CustomResourceDefinitionVersion, content map[string]any) field.ErrorList {
	if v.Subresources == nil || v.Subresources.Scale == nil {
		return nil
	}
	var errs field.ErrorList
	for _, path := range []string{v.Subresources.Scale.SpecReplicasPath, v.Subresources.Scale.StatusReplicasPath} {
		x, ok := at(content, dotted(path))
		if !ok {
			continue
		}
		n, ok := x.(int64)
		switch at := field.NewPath(strings.TrimPrefix(path, ".")); {
		case !ok:
			errs = append(errs, field.Invalid(at, x, fmt.Sprintf("%s accessor error: %v is of the type %T, expected int64", path, x, x)))
		case n < 0:
			errs = append(errs, field.Invalid(at, n, "should be a non-negative integer"))
		case n > math.MaxInt32:
			errs = append(errs, field.Invalid(at, n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)))
		}
	}
	return errs
}
