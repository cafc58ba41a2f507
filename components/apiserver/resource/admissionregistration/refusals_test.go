package admissionregistration

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

// filled is an object made of texts, each laid over those before, as the server fills it in.
func filled(t *testing.T, res *resource.Resource, texts ...string) kinds.Object {
	t.Helper()
	obj := res.Kind.New()
	for _, text := range texts {
		if err := json.Unmarshal([]byte(text), obj); err != nil {
			t.Fatal(err)
		}
	}
	res.Default(obj)
	return obj
}

func TestWhatIsRefused(t *testing.T) {
	hooks, mutating := validatingWebhookConfigurationResource(), mutatingWebhookConfigurationResource()
	policies, mutations := validatingAdmissionPolicyResource(), mutatingAdmissionPolicyResource()
	bindings, mutationBindings := validatingAdmissionPolicyBindingResource(), mutatingAdmissionPolicyBindingResource()
	const rule = `{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}`
	hook := func(text string) string {
		return `{"webhooks":[{"name":"a.example.org","clientConfig":{"service":{"namespace":"n","name":"s"}},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[` + rule + `]` + text + `}]}`
	}
	policy := func(text string) string {
		return `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[` + rule + `]}` + text + `}}`
	}
	for _, c := range []struct {
		name string
		res  *resource.Resource
		text string
		want []string
	}{
		{"a webhook", hooks, hook(""), nil},
		{"a webhook that changes things", mutating, hook(`,"reinvocationPolicy":"IfNeeded"`), nil},
		{"a webhook that says nothing", hooks, `{"webhooks":[{}]}`, []string{`webhooks[0].name: Required value`, `webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun`,
			`webhooks[0].clientConfig: Required value: exactly one of url or service is required`, `webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1`}},
		{"a short name", hooks, `{"webhooks":[{"name":"a.b","clientConfig":{"url":"https://h"},"sideEffects":"None","admissionReviewVersions":["v1"]}]}`,
			[]string{`webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots`}},
		{"one name for two", hooks, `{"webhooks":[{"name":"a.example.org","clientConfig":{"url":"https://h"},"sideEffects":"None","admissionReviewVersions":["v1"]},{"name":"a.example.org","clientConfig":{"url":"https://h"},"sideEffects":"None","admissionReviewVersions":["v1"]}]}`,
			[]string{`webhooks[1].name: Duplicate value: "a.example.org"`}},
		{"values that there are not", mutating, hook(`,"failurePolicy":"Shrug","matchPolicy":"Fuzzy","sideEffects":"Some","timeoutSeconds":31,"reinvocationPolicy":"Always","admissionReviewVersions":["v2","v2"]`), []string{
			`webhooks[0].failurePolicy: Unsupported value: "Shrug": supported values: "Fail", "Ignore"`, `webhooks[0].matchPolicy: Unsupported value: "Fuzzy": supported values: "Equivalent", "Exact"`,
			`webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`, `webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds`,
			`webhooks[0].reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"`, `webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version`,
			`webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1`}},
		{"a rule of nothing", hooks, hook(`,"rules":[{"operations":[],"apiGroups":[],"apiVersions":[],"resources":[],"scope":"Some"}]`), []string{`webhooks[0].rules[0].operations: Required value`, `webhooks[0].rules[0].apiGroups: Required value`,
			`webhooks[0].rules[0].apiVersions: Required value`, `webhooks[0].rules[0].resources: Required value`, `webhooks[0].rules[0].scope: Unsupported value: "Some": supported values: "*", "Cluster", "Namespaced"`}},
		{"a rule of everything and more", hooks, hook(`,"rules":[{"operations":["*","READ"],"apiGroups":["*","a"],"apiVersions":["*",""],"resources":["*","pods","pods/*","pods/log","*/log","a/log","*/*"]}]`), []string{
			`webhooks[0].rules[0].operations: Invalid value: ["*","READ"]: if '*' is present, must not specify other operations`,
			`webhooks[0].rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			`webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups`,
			`webhooks[0].rules[0].apiVersions: Invalid value: ["*",""]: if '*' is present, must not specify other API versions`, `webhooks[0].rules[0].apiVersions[1]: Required value`,
			`webhooks[0].rules[0].resources[3]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`, `webhooks[0].rules[0].resources[5]: Invalid value: "a/log": if '*/log' is present, must not specify a/log`,
			`webhooks[0].rules[0].resources: Invalid value: ["*","pods","pods/*","pods/log","*/log","a/log","*/*"]: if '*/*' is present, must not specify other resources`,
			`webhooks[0].rules[0].resources: Invalid value: ["*","pods","pods/*","pods/log","*/log","a/log","*/*"]: if '*' is present, must not specify other resources without subresources`}},
		{"a webhook at an address that cannot be", hooks, hook(`,"clientConfig":{"service":null,"url":"http://u@?a=b#c"}`), []string{
			`webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
			`webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`, `webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL`,
			`webhooks[0].clientConfig.url: Invalid value: "c": fragments are not permitted in the URL`, `webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL`}},
		{"a service with a path that cannot be", hooks, hook(`,"clientConfig":{"service":{"namespace":"n","name":"s","port":70000,"path":"//"}}`), []string{
			`webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`, `webhooks[0].clientConfig.service.path: Invalid value: "//": segment[0] may not be empty`}},
		{"conditions without names", hooks, hook(`,"matchConditions":[{"name":"","expression":"true"},{"name":"a","expression":" "},{"name":"a","expression":"true"}]`), []string{
			`webhooks[0].matchConditions[0].name: Required value`, `webhooks[0].matchConditions[1].expression: Required value`, `webhooks[0].matchConditions[2].name: Duplicate value: "a"`}},

		{"a policy", policies, policy(`,"validations":[{"expression":"object.spec.replicas < 5"}]`), nil},
		{"a policy of nothing", policies, `{}`, []string{`spec.matchConstraints: Required value`, `spec.validations: Required value: validations or auditAnnotations must contain at least one item`,
			`spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item`}},
		{"a policy with much that is wrong", policies, policy(`,"paramKind":{"apiVersion":"a/b/c","kind":"A b"},"variables":[{"name":"in","expression":""},{"name":" ","expression":"1"}],"validations":[{"expression":" ","message":"a\nb","reason":"Mood"}],"auditAnnotations":[{"key":"k","valueExpression":"'a'"},{"key":"k","valueExpression":""}]`), []string{
			`spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`,
			`spec.paramKind.kind: Invalid value: "A b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
			`spec.variables[0].name: Invalid value: "in": name is not a valid CEL identifier`, `spec.variables[0].expression: Required value: expression is not specified`, `spec.variables[1].name: Required value: name is not specified`,
			`spec.validations[0].expression: Required value: expression is not specified`, `spec.validations[0].message: Invalid value: "a\nb": message must not contain line breaks`,
			`spec.validations[0].reason: Unsupported value: "Mood": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"`,
			`spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified`, `spec.auditAnnotations[1].key: Duplicate value: "k"`}},
		{"a policy that changes things", mutations, policy(`,"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/x'}]"}}]`), nil},
		{"a policy that changes nothing", mutations, policy(""), []string{`spec.mutations: Required value: mutations must contain at least one item`, `spec.reinvocationPolicy: Required value`}},
		{"a change of the other sort", mutations, policy(`,"reinvocationPolicy":"Never","mutations":[{"patchType":"JSONPatch","applyConfiguration":{"expression":"Object{}"}}]`), []string{
			`spec.mutations[0].applyConfiguration: Invalid value: "": must not be specified when patchType is JSONPatch`, `spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch`}},

		{"a binding", bindings, `{"spec":{"policyName":"p","validationActions":["Deny","Audit"],"paramRef":{"name":"a","parameterNotFoundAction":"Deny"}}}`, nil},
		{"a binding of nothing", bindings, `{"spec":{"paramRef":{}}}`, []string{`spec.policyName: Required value`, `spec.paramRef: Required value: one of name or selector must be specified`,
			`spec.paramRef.parameterNotFoundAction: Required value`, `spec.validationActions: Required value: at least one validation action is required`}},
		{"a binding that says things twice", bindings, `{"spec":{"policyName":"p","validationActions":["Deny","Warn","Deny","Sigh"]}}`, []string{`spec.validationActions[2]: Duplicate value: "Deny"`,
			`spec.validationActions[3]: Unsupported value: "Sigh": supported values: "Audit", "Deny", "Warn"`,
			`spec.validationActions: Invalid value: ["Deny","Warn","Deny","Sigh"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)`}},
		{"a binding of changes", mutationBindings, `{"spec":{"policyName":"p","paramRef":{"name":"a","selector":{},"parameterNotFoundAction":"Shrug"}}}`, []string{
			`spec.paramRef.name: Forbidden: name and selector are mutually exclusive`, `spec.paramRef.selector: Forbidden: name and selector are mutually exclusive`,
			`spec.paramRef.parameterNotFoundAction: Unsupported value: "Shrug": supported values: "Deny", "Allow"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range c.res.Validate(filled(t, c.res, c.text)) {
				got = append(got, e.Error())
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestWhatWasLetInOnceMayStay(t *testing.T) {
	res := validatingWebhookConfigurationResource()
	const old = `{"webhooks":[{"name":"a.example.org","clientConfig":{"url":"https://h"},"sideEffects":"Some","admissionReviewVersions":["v0"]}]}`
	was, now := filled(t, res, old), filled(t, res, old, `{"metadata":{"labels":{"a":"b"}}}`)
	if errs := res.ValidateUpdate(now, was, ""); len(errs) > 0 {
		t.Errorf("refused: %v", errs)
	}
	fresh := filled(t, res, strings.NewReplacer("Some", "None", "v0", "v1").Replace(old))
	if errs := res.ValidateUpdate(now, fresh, ""); len(errs) != 2 {
		t.Errorf("what is worse than it was: %v", errs)
	}
}
