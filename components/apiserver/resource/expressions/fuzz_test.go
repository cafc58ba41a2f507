package expressions_test

import (
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"example.com/kubeviz/components/apiserver/resource/expressions"
)

// FuzzExpressions compiles whatever text comes as a rule, a message and a policy, and evaluates what compiles. Nothing may panic, nothing may go on for ever, and the same text has the same answer.
func FuzzExpressions(f *testing.F) {
	for _, seed := range []string{"self.min <= self.max", "self.list.all(a, self.list.exists_one(b, a == b))", "oldSelf.min < self.min", "self.name.matches('(a|b)*c') && self.name.find('x') == ''", "1 +",
		"((((((((((((((((self))))))))))))))))", "quantity('1Gi').asInteger() > 0", "object.spec.min > 0", "variables.x", "[1, 2].map(x, x * 2).sum() == 6", "'\\x00\\u202e'", "self.m['a'].size() > 1", "url('https://a').getHost()",
		"{'a': [self]}.a[0] == self", "type(self) == type(self)", "self.name + self.name + self.name != ''", "cidr('10.0.0.0/8').containsIP('10.1.2.3')", strings.Repeat("!", 200) + "true", strings.Repeat("[", 200),
		"authorizer.path('/').check('get').allowed()", "self.list.map(a, self.list.map(b, self.list.map(c, a + b + c))).size() > 0", "optional.none().hasValue()", "duration('1h').getHours()", "sets.contains([1], [1])"} {
		f.Add(seed)
	}
	content := map[string]any{"min": int64(1), "max": int64(2), "name": strings.Repeat("ab", 50), "m": map[string]any{"a": "b"}, "list": []any{}}
	for range 60 {
		content["list"] = append(content["list"].([]any), strings.Repeat("abc", 5))
	}
	obj := map[string]any{"apiVersion": "a/v1", "kind": "A", "metadata": map[string]any{"name": "n"}, "spec": content}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		began := time.Now()
		v1, in := read(t, "type: object\nproperties:\n  spec:\n    type: object\n    properties: {min: {type: integer}, max: {type: integer}, name: {type: string}, list: {type: array, items: {type: string}}, m: {type: object, additionalProperties: {type: string}}}\n")
		v1spec, inSpec := v1.Properties["spec"], in.Properties["spec"]
		v1spec.XValidations = apiextensionsv1.ValidationRules{{Rule: text}, {Rule: "false", MessageExpression: text}}
		inSpec.XValidations = apiextensions.ValidationRules{{Rule: text}, {Rule: "false", MessageExpression: text}}
		v1.Properties["spec"], in.Properties["spec"] = v1spec, inSpec
		once, again := texts(expressions.CheckSchema(in, field.NewPath("s"), true)), texts(expressions.CheckSchema(in, field.NewPath("s"), true))
		same(t, again, once)
		if st, err := structuralschema.NewStructural(in); err == nil { // what a check refuses may still have been stored by another version of the program
			rules := expressions.RulesOf(st, v1)
			for _, old := range []map[string]any{nil, obj} {
				once, _ := rules.Check(obj, old, nil)
				again, _ := rules.Check(obj, old, nil)
				same(t, texts(again), texts(once))
			}
		}
		policy, err := expressions.PolicyOf(&expressions.Source{Variables: []admissionregistrationv1.Variable{{Name: "x", Expression: text}},
			Validations: []admissionregistrationv1.Validation{{Expression: text, MessageExpression: text}, {Expression: "variables.x == 1"}}})
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: obj}
		gvk := schema.GroupVersionKind{Group: "a", Version: "v1", Kind: "A"}
		v := &admission.VersionedAttributes{VersionedKind: gvk, Attributes: admission.NewAttributesRecord(u, nil, gvk, "ns", "n", gvk.GroupVersion().WithResource("as"), "", admission.Create, &metav1.CreateOptions{}, false,
			&user.DefaultInfo{Name: "me"})}
		v.VersionedObject.Set(u)
		r := &expressions.Request{Attributes: v, Left: expressions.Budget}
		policy.Validate(r, nil)
		if r.Left < 0 || r.Left > expressions.Budget {
			t.Errorf("%d are left", r.Left)
		}
		if took := time.Since(began); took > 20*time.Second { // whatever else the machine does meanwhile
			t.Errorf("took %v", took)
		}
	})
}
