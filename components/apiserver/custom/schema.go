package custom

import (
	"sort"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/engine/kinds"
)

// below is the schema of a member; nil: it has none.
func below(s *structuralschema.Structural, name string) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

func items(s *structuralschema.Structural) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	return s.Items
}

// noNull reports a null where the schema allows none.
func noNull(x any, s *structuralschema.Structural) bool { return x == nil && s != nil && !s.Nullable }

// dropNulls takes out nulls that may not be there and that no default replaces.
func dropNulls(x any, s *structuralschema.Structural) {
	switch x := x.(type) {
	case map[string]any:
		for name, v := range x {
			if sub := below(s, name); noNull(v, sub) && sub.Default.Object == nil {
				delete(x, name)
			} else {
				dropNulls(v, sub)
			}
		}
	case []any:
		for _, v := range x {
			dropNulls(v, items(s))
		}
	}
}

// fill writes defaults.
func fill(x any, s *structuralschema.Structural) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if p.Default.Object == nil {
				continue
			}
			if v, has := x[name]; !has || noNull(v, &p) {
				x[name] = runtime.DeepCopyJSONValue(p.Default.Object)
			}
		}
		for name := range x {
			sub := below(s, name)
			if _, own := s.Properties[name]; !own && noNull(x[name], sub) {
				x[name] = runtime.DeepCopyJSONValue(sub.Default.Object)
			}
			fill(x[name], sub)
		}
	case []any:
		for i := range x {
			if noNull(x[i], s.Items) {
				x[i] = runtime.DeepCopyJSONValue(s.Items.Default.Object)
			}
			fill(x[i], s.Items)
		}
	}
}

// coerce brings metadata of embedded objects into its form and drops what is unknown in it. The object's own is read before.
func coerce(x any, s *structuralschema.Structural, path string) (unknown []string, err error) {
	if s == nil {
		return nil, nil
	}
	switch x := x.(type) {
	case map[string]any:
		for name, v := range x {
			at := name
			if path != "" {
				at = path + "." + name
			}
			if s.XEmbeddedResource && name == "metadata" && v != nil {
				var meta metav1.ObjectMeta
				found, err := kinds.TakeMeta(v, &meta, at, true)
				if err != nil {
					return unknown, field.Invalid(field.NewPath(at), v, err.Error())
				}
				unknown = append(unknown, found...)
				plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&meta)
				if err != nil {
					return unknown, err
				}
				if meta.CreationTimestamp.IsZero() {
					delete(plain, "creationTimestamp")
				}
				x[name] = plain
			}
			found, err := coerce(x[name], below(s, name), at)
			unknown = append(unknown, found...)
			if err != nil {
				return unknown, err
			}
		}
	case []any:
		for _, v := range x {
			found, err := coerce(v, s.Items, path)
			unknown = append(unknown, found...)
			if err != nil {
				return unknown, err
			}
		}
	}
	sort.Strings(unknown)
	return unknown, nil
}

// embedded checks what embedded objects say they are.
func embedded(path *field.Path, x any, s *structuralschema.Structural) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	switch x := x.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			errs = append(errs, checkEmbedded(path, x)...)
		}
		for _, name := range sorted(x) {
			errs = append(errs, embedded(path.Child(name), x[name], below(s, name))...)
		}
	case []any:
		for i, v := range x {
			errs = append(errs, embedded(path.Index(i), v, s.Items)...)
		}
	}
	return errs
}

func checkEmbedded(path *field.Path, x map[string]any) (errs field.ErrorList) {
	for _, name := range []string{"apiVersion", "kind"} {
		v, found := x[name]
		s, ok := v.(string)
		at := path.Child(name)
		switch {
		case !found:
			errs = append(errs, field.Required(at, ""))
		case !ok:
			errs = append(errs, field.Invalid(at, v, "must be a string"))
		case s == "":
			errs = append(errs, field.Invalid(at, s, "must not be empty"))
		case name == "apiVersion":
			if _, err := schema.ParseGroupVersion(s); err != nil {
				errs = append(errs, field.Invalid(at, s, err.Error()))
			}
		default:
			if bad := utilvalidation.IsDNS1035Label(strings.ToLower(s)); len(bad) > 0 {
				errs = append(errs, field.Invalid(at, s, "may have mixed case, but should otherwise match: "+strings.Join(bad, ",")))
			}
		}
	}
	if v, found := x["metadata"]; found && v != nil {
		var meta metav1.ObjectMeta
		if _, err := kinds.TakeMeta(v, &meta, "", false); err != nil {
			return append(errs, field.Invalid(path.Child("metadata"), v, err.Error()))
		}
		if meta.Name == "" {
			meta.Name = "fakename" // it may be without
		}
		errs = append(errs, apivalidation.ValidateObjectMetaAccessor(&meta, meta.Namespace != "", apivalidation.NameIsDNSSubdomain, path.Child("metadata"))...)
	}
	return errs
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
