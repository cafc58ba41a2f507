package expressions_test

import (
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/apiserver/resource/expressions"
)

// read makes a schema of YAML, in the forms in which the API has it.
func read(t testing.TB, text string) (*apiextensionsv1.JSONSchemaProps, *apiextensions.JSONSchemaProps) {
	t.Helper()
	s, in := &apiextensionsv1.JSONSchemaProps{}, &apiextensions.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, in, nil); err != nil {
		t.Fatal(err)
	}
	return s, in
}

func texts(errs field.ErrorList) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d:\n%s\nwant %d:\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got\n%s\nwant\n%s", got[i], want[i])
		}
	}
}

// spec wraps rules and properties of spec into a schema.
func spec(rules, properties string) string {
	indent := func(s, by string) string { return by + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+by) }
	return "type: object\nproperties:\n  spec:\n    type: object\n    x-kubernetes-validations:\n" + indent(rules, "    ") + "\n    properties:\n" + indent(properties, "      ")
}

func TestRulesOfADefinitionAreCompiledWhenItIsMade(t *testing.T) {
	const numbers = "min: {type: integer}\nmax: {type: integer}\nname: {type: string, maxLength: 20}\n"
	at := "schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]."
	for _, c := range []struct {
		name, schema string
		want         []string
	}{
		{"a rule that is right", spec(`- rule: self.min <= self.max`, numbers), nil},
		{"with all that may be said", spec(`- {rule: "self.min <= self.max", message: m, messageExpression: "'min of ' + self.name", reason: FieldValueForbidden, fieldPath: .min}`, numbers), nil},
		{"no rule", spec(`- rule: " "`, numbers), []string{at + "rule: Required value: rule is not specified"}},
		{"an empty message", spec(`- {rule: "true", message: " "}`, numbers), []string{at + `message: Invalid value: " ": must be non-empty if specified`}},
		{"a message of two lines", spec(`- {rule: "true", message: "a\nb"}`, numbers), []string{at + `message: Invalid value: "a\nb": must not contain line breaks`}},
		{"a rule of two lines and no message", spec(`- {rule: "true &&\nfalse"}`, numbers), []string{at + "message: Required value: message must be specified if rule contains line breaks"}},
		{"an empty message expression", spec(`- {rule: "true", messageExpression: " "}`, numbers), []string{at + "messageExpression: Required value: messageExpression must be non-empty if specified"}},
		{"an unknown reason", spec(`- {rule: "true", reason: Nope}`, numbers), []string{at + `reason: Unsupported value: "Nope": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`}},
		{"a path that leads nowhere", spec(`- {rule: "true", fieldPath: .nope}`, numbers), []string{at + `fieldPath: Invalid value: ".nope": must be a valid path`}},
		{"an unknown field", spec(`- rule: self.most > 1`, numbers), []string{at +
			`rule: Invalid value: {"Rule":"self.most \u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'most'` +
			"\n | self.most > 1\n | ....^"}},
		{"no bool", spec(`- rule: self.min + self.max`, numbers), []string{at +
			`rule: Invalid value: {"Rule":"self.min + self.max","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: cel expression must evaluate to a bool`}},
		{"a message that is no text", spec(`- {rule: "true", messageExpression: self.min}`, numbers), []string{at +
			`messageExpression: Invalid value: {"Rule":"true","Message":"","MessageExpression":"self.min","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string`}},
		{"optionalOldSelf without oldSelf", spec(`- {rule: "self.min > 0", optionalOldSelf: true}`, numbers), []string{at + "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule"}},
		{"a transition of items that have no keys", `
type: object
properties:
  list:
    type: array
    maxItems: 3
    items:
      type: integer
      x-kubernetes-validations:
      - rule: self >= oldSelf
`, []string{`schema.openAPIV3Schema.properties[list].items.x-kubernetes-validations[0].rule: Invalid value: "self >= oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within schema.openAPIV3Schema.properties[list]`}},
		{"a rule that may cost too much", spec(`- rule: self.list.all(x, self.list.all(y, x == y))`, "list: {type: array, items: {type: string}}"), []string{
			at + "rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)",
			at + "rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
			"schema.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"}},
		{"the same with a bound", spec(`- rule: self.list.all(x, self.list.all(y, x == y))`, "list: {type: array, maxItems: 10, items: {type: string, maxLength: 10}}"), nil},
		{"the name of the object and a library", "type: object\nx-kubernetes-validations:\n- rule: self.metadata.name.startsWith('a') && quantity('1Gi').isGreaterThan(quantity('1Mi'))\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, in := read(t, c.schema)
			same(t, texts(expressions.CheckSchema(in, field.NewPath("schema", "openAPIV3Schema"), true)), c.want)
		})
	}
}

func TestRulesAreBoundedInSize(t *testing.T) {
	_, in := read(t, spec(`- rule: "true"`, "a: {type: string}"))
	sub := in.Properties["spec"]
	sub.XValidations[0].Rule = strings.Repeat("true && ", expressions.SourceMost/8) + "true"
	in.Properties["spec"] = sub
	same(t, texts(expressions.CheckSchema(in, field.NewPath("s"), true)), []string{"s: Too long: may not be more than 65536 bytes"})
}

func TestObjectsAreHeldToTheRules(t *testing.T) {
	rules := `
- {rule: "self.min <= self.max", message: min must not be above max, fieldPath: .min}
- {rule: "!has(self.name) || self.name != 'x'", reason: FieldValueForbidden, messageExpression: "'not ' + self.name"}
- {rule: "self.max >= oldSelf.max", message: max must not shrink}
- {rule: "oldSelf.hasValue() || self.max < 100", optionalOldSelf: true}
`
	v1, in := read(t, spec(rules, "min: {type: integer}\nmax: {type: integer}\nname: {type: string, maxLength: 50}\nlist: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}}"))
	st, err := structuralschema.NewStructural(in)
	if err != nil {
		t.Fatal(err)
	}
	of := func(min, max int64, more ...any) map[string]any {
		s := map[string]any{"min": min, "max": max}
		for i := 0; i < len(more); i += 2 {
			s[more[i].(string)] = more[i+1]
		}
		return map[string]any{"apiVersion": "a/v1", "kind": "A", "metadata": map[string]any{"name": "n"}, "spec": s}
	}
	for _, c := range []struct {
		name       string
		now, was   map[string]any
		faults     field.ErrorList
		want, warn []string
	}{
		{name: "all is well", now: of(1, 2)},
		{name: "a rule with a path", now: of(3, 2), want: []string{"spec.min: Invalid value: min must not be above max"}},
		{name: "a message that is worked out", now: of(1, 2, "name", "x"), want: []string{"spec: Forbidden: not x"}},
		{name: "no message", now: of(1, 200), want: []string{"spec: Invalid value: failed rule: oldSelf.hasValue() || self.max < 100"}},
		{name: "a transition", now: of(1, 2), was: of(1, 3), want: []string{"spec: Invalid value: max must not shrink"}},
		{name: "a transition needs what was before", now: of(1, 2)},
		{name: "old faults stay", now: map[string]any{"apiVersion": "a/v1", "kind": "A", "metadata": map[string]any{"name": "n", "labels": map[string]any{"a": "b"}}, "spec": of(3, 2)["spec"]}, was: of(3, 2),
			warn: []string{"spec.min: Invalid value: min must not be above max"}},
		{name: "items", now: of(1, 2, "list", []any{int64(1), int64(0)}), want: []string{"spec.list[1]: Invalid value: 0: failed rule: self > 0"}},
		{name: "a member that is missing", now: map[string]any{"metadata": map[string]any{"name": "n"}, "spec": map[string]any{"min": int64(1)}}, want: []string{
			`spec: Invalid value: "object": no such key: max evaluating rule: min must not be above max`,
			`spec: Invalid value: "object": no such key: max evaluating rule: oldSelf.hasValue() || self.max < 100`}},
		{name: "what is wrong otherwise comes first", now: of(3, 2), faults: field.ErrorList{field.Required(field.NewPath("spec", "a"), "")},
			want: []string{"<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			errs, warnings := expressions.RulesOf(st, v1).Check(c.now, c.was, c.faults)
			same(t, texts(errs), c.want)
			same(t, warnings, c.warn)
		})
	}
}

func TestSchemasWithoutRulesCostNothing(t *testing.T) {
	v1, in := read(t, "type: object\nproperties: {a: {type: string}}")
	st, _ := structuralschema.NewStructural(in)
	if r := expressions.RulesOf(st, v1); r != nil {
		t.Errorf("got %v", r)
	}
}
