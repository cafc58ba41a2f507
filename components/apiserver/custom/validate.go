package custom

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checker checks values against a schema, in the words of kube-openapi's validator as the API server turns them into causes. What an update leaves as it was is not looked at again, though
// it may be wrong by now.
type checker struct{ root *structuralschema.Structural }

func (c checker) value(content, old map[string]any) field.ErrorList {
	if c.root == nil {
		return nil
	}
	var was any
	if old != nil {
		was = old
	}
	root := *c.root
	root.Properties = map[string]structuralschema.Structural{}
	for name, p := range c.root.Properties { // those of the object itself are checked by everybody's rules
		if name != "metadata" && name != "apiVersion" && name != "kind" {
			root.Properties[name] = p
		}
	}
	if v := root.ValueValidation; v != nil {
		v = v.DeepCopy()
		kept := v.Required[:0]
		for _, r := range v.Required {
			if r != "metadata" && r != "apiVersion" && r != "kind" {
				kept = append(kept, r)
			}
		}
		v.Required = kept
		root.ValueValidation = v
	}
	return check("", map[string]any(content), was, was != nil, &root)
}

// part is value of one member alone.
func (c checker) part(name string, content, old map[string]any) field.ErrorList {
	s := below(c.root, name)
	v, has := content[name]
	if s == nil || !has {
		return nil
	}
	was, had := old[name]
	return check(name, v, was, had, s)
}

// pathOf is where an error is; the root has no name.
func pathOf(at string) *field.Path {
	if at = strings.TrimPrefix(at, "."); at == "" {
		return nil
	}
	return field.NewPath(at)
}

func typeOf(x any) string {
	switch x.(type) {
	case bool:
		return "boolean"
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "null"
}

func whole(f float64) bool { return f == math.Trunc(f) && math.Abs(f) < 1<<53 }

// is reports that a value is of a type.
func is(x any, typ string) bool {
	have := typeOf(x)
	if f, ok := x.(float64); ok && typ == "integer" {
		return whole(f)
	}
	return have == typ || have == "integer" && typ == "number"
}

func wrongType(at, want string, x any) *field.Error {
	return field.TypeInvalid(pathOf(at), shown(x), fmt.Sprintf("%s in body must be of type %s: %q", at, want, typeOf(x)))
}

// shown is a value in an error: absent ones as the empty string.
func shown(x any) any {
	if x == nil {
		return ""
	}
	return x
}

func check(at string, x, old any, had bool, s *structuralschema.Structural) (errs field.ErrorList) {
	if had && apiequality.Semantic.DeepEqual(x, old) {
		return nil
	}
	want := s.Type
	if s.XIntOrString {
		want = "integer,string"
	}
	if x == nil {
		if want != "" && !s.Nullable {
			return field.ErrorList{field.TypeInvalid(pathOf(at), "null", fmt.Sprintf("%s in body must be of type %s: %q", at, want, "null"))}
		}
		return checkEnum(at, x, s.ValueValidation)
	}
	switch {
	case s.XIntOrString && !is(x, "integer") && !is(x, "string"), want != "" && !s.XIntOrString && !is(x, want):
		errs = append(errs, field.TypeInvalid(pathOf(at), typeOf(x), fmt.Sprintf("%s in body must be of type %s: %q", at, want, typeOf(x))))
		return errs
	}
	errs = append(errs, checkValue(at, x, s.ValueValidation, s.Type)...)
	switch x := x.(type) {
	case map[string]any:
		was, _ := old.(map[string]any)
		for _, name := range sorted(x) {
			sub := below(s, name)
			if sub == nil {
				continue
			}
			w, h := was[name]
			errs = append(errs, check(joined(at, name), x[name], w, h, sub)...)
		}
	case []any:
		if s.Items == nil {
			break
		}
		for i, v := range x {
			w, h := counterpart(s, v, old)
			errs = append(errs, check(fmt.Sprintf("%s[%d]", at, i), v, w, h, s.Items)...)
		}
	}
	return errs
}

func joined(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// counterpart is the item of a list as it was, where its keys tell which that is.
func counterpart(s *structuralschema.Structural, v, old any) (any, bool) {
	list, ok := old.([]any)
	m, isMap := v.(map[string]any)
	if !ok || !isMap || s.XListType == nil || *s.XListType != "map" {
		return nil, false
	}
	for _, o := range list {
		w, ok := o.(map[string]any)
		same := ok
		for _, k := range s.XListMapKeys {
			same = same && reflect.DeepEqual(w[k], m[k])
		}
		if same {
			return w, true
		}
	}
	return nil, false
}

func checkEnum(at string, x any, v *structuralschema.ValueValidation) field.ErrorList {
	if v == nil || len(v.Enum) == 0 {
		return nil
	}
	var names []string
	for _, e := range v.Enum {
		if reflect.DeepEqual(e.Object, x) {
			return nil
		}
		if a, ok := number(e.Object); ok {
			if b, ok := number(x); ok && a == b {
				return nil
			}
		}
		if s, ok := e.Object.(string); ok {
			names = append(names, s)
		} else {
			raw, _ := json.Marshal(e.Object)
			names = append(names, string(raw))
		}
	}
	return field.ErrorList{field.NotSupported(pathOf(at), shown(x), names)}
}

func number(x any) (float64, bool) {
	switch x := x.(type) {
	case int64:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// checkValue checks a value whose type is right.
func checkValue(at string, x any, v *structuralschema.ValueValidation, typ string) (errs field.ErrorList) {
	if v == nil {
		return nil
	}
	bad := func(text string, args ...any) {
		errs = append(errs, field.Invalid(pathOf(at), shown(x), fmt.Sprintf("%s in body %s", at, fmt.Sprintf(text, args...))))
	}
	for i := range v.AllOf {
		if e := nested(at, x, &v.AllOf[i]); len(e) > 0 {
			errs = append(errs, e...)
			errs = append(errs, field.Invalid(pathOf(""), "", fmt.Sprintf("%q must validate all the schemas (allOf)", at)))
		}
	}
	if len(v.AnyOf) > 0 {
		errs = append(errs, alternatives(at, x, v.AnyOf, func(valid int) string {
			if valid == 0 {
				return fmt.Sprintf("%q must validate at least one schema (anyOf)", at)
			}
			return ""
		})...)
	}
	if len(v.OneOf) > 0 {
		errs = append(errs, alternatives(at, x, v.OneOf, func(valid int) string {
			switch valid {
			case 0:
				return fmt.Sprintf("%q must validate one and only one schema (oneOf). Found none valid", at)
			case 1:
				return ""
			}
			return fmt.Sprintf("%q must validate one and only one schema (oneOf). Found %d valid alternatives", at, valid)
		})...)
	}
	if v.Not != nil && len(nested(at, x, v.Not)) == 0 {
		errs = append(errs, field.Invalid(pathOf(""), "", fmt.Sprintf("%q must not validate the schema (not)", at)))
	}
	switch x := x.(type) {
	case string:
		n := int64(utf8.RuneCountInString(x))
		if v.MaxLength != nil && n > *v.MaxLength {
			errs = append(errs, field.TooLong(pathOf(at), "", int(*v.MaxLength)))
		}
		if v.MinLength != nil && n < *v.MinLength {
			bad("should be at least %d chars long", *v.MinLength)
		}
		if v.Pattern != "" {
			if re, err := regexp.Compile(v.Pattern); err != nil {
				bad("should match '%s', but pattern is invalid: %v", v.Pattern, err)
			} else if !re.MatchString(x) {
				bad("should match '%s'", v.Pattern)
			}
		}
		if typ == "" || typ == "string" {
			if ok, known := validFormat(v.Format, x); known && !ok {
				bad("must be of type %s: %q", v.Format, x)
			}
		}
	case int64, float64:
		n, _ := number(x)
		if v.MultipleOf != nil && *v.MultipleOf > 0 && !whole(n / *v.MultipleOf) {
			bad("should be a multiple of %v", *v.MultipleOf)
		}
		if m := v.Maximum; m != nil && (n > *m || v.ExclusiveMaximum && n == *m) {
			if v.ExclusiveMaximum {
				bad("should be less than %v", *m)
			} else {
				bad("should be less than or equal to %v", *m)
			}
		}
		if m := v.Minimum; m != nil && (n < *m || v.ExclusiveMinimum && n == *m) {
			if v.ExclusiveMinimum {
				bad("should be greater than %v", *m)
			} else {
				bad("should be greater than or equal to %v", *m)
			}
		}
		if i, ok := x.(int64); ok && v.Format == "int32" && (i > math.MaxInt32 || i < math.MinInt32) {
			errs = append(errs, field.Invalid(nil, "", fmt.Sprintf("Checked value must be of type integer with format int32 in %s", at)))
		}
	case []any:
		if v.MinItems != nil && int64(len(x)) < *v.MinItems {
			errs = append(errs, field.Invalid(pathOf(at), len(x), fmt.Sprintf("%s in body should have at least %d items", at, *v.MinItems)))
		}
		if v.MaxItems != nil && int64(len(x)) > *v.MaxItems {
			errs = append(errs, field.TooMany(pathOf(at), len(x), int(*v.MaxItems)))
		}
		if v.UniqueItems && !unique(x) {
			errs = append(errs, field.Invalid(pathOf(at), "", fmt.Sprintf("%s in body shouldn't contain duplicates", at)))
		}
	case map[string]any:
		if v.MinProperties != nil && int64(len(x)) < *v.MinProperties {
			errs = append(errs, field.Invalid(pathOf(at), len(x), fmt.Sprintf("%s in body should have at least %d properties", at, *v.MinProperties)))
		}
		if v.MaxProperties != nil && int64(len(x)) > *v.MaxProperties {
			errs = append(errs, field.TooMany(pathOf(at), len(x), int(*v.MaxProperties)))
		}
		missing := []string{}
		for _, r := range v.Required {
			if _, ok := x[r]; !ok {
				missing = append(missing, r)
			}
		}
		sort.Strings(missing)
		for _, r := range missing {
			errs = append(errs, field.Required(pathOf(joined(at, r)), ""))
		}
	}
	return append(errs, checkEnum(at, x, v)...)
}

func unique(list []any) bool {
	seen := map[string]bool{}
	for _, x := range list {
		raw, _ := json.Marshal(x)
		if seen[string(raw)] {
			return false
		}
		seen[string(raw)] = true
	}
	return true
}

// alternatives counts the schemas that hold, and adds what is wrong with the nearest where the count is not right.
func alternatives(at string, x any, all []structuralschema.NestedValueValidation, verdict func(valid int) string) (errs field.ErrorList) {
	valid, nearest := 0, field.ErrorList(nil)
	for i := range all {
		e := nested(at, x, &all[i])
		if len(e) == 0 {
			valid++
		} else if nearest == nil || len(e) < len(nearest) {
			nearest = e
		}
	}
	text := verdict(valid)
	if text == "" {
		return nil
	}
	errs = append(errs, field.Invalid(pathOf(""), "", text))
	if valid == 0 {
		errs = append(errs, nearest...)
	}
	return errs
}

func nested(at string, x any, v *structuralschema.NestedValueValidation) (errs field.ErrorList) {
	if t := v.ForbiddenGenerics.Type; t != "" && !is(x, t) {
		return field.ErrorList{wrongType(at, t, x)}
	}
	errs = append(errs, checkValue(at, x, &v.ValueValidation, v.ForbiddenGenerics.Type)...)
	switch x := x.(type) {
	case map[string]any:
		for _, name := range sorted(x) {
			if p, ok := v.Properties[name]; ok {
				errs = append(errs, nested(joined(at, name), x[name], &p)...)
			} else if v.AdditionalProperties != nil {
				errs = append(errs, nested(joined(at, name), x[name], v.AdditionalProperties)...)
			}
		}
	case []any:
		if v.Items != nil {
			for i, y := range x {
				errs = append(errs, nested(fmt.Sprintf("%s[%d]", at, i), y, v.Items)...)
			}
		}
	}
	return errs
}
