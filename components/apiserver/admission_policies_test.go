package apiserver_test

import (
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// onConfigMaps is a policy over ConfigMaps and its binding; spec and bound are what they hold beside that.
func onConfigMaps(t *testing.T, spec, bound string) (*admissionregistrationv1.ValidatingAdmissionPolicy, *admissionregistrationv1.ValidatingAdmissionPolicyBinding) {
	t.Helper()
	p := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	p.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}}}}}}
	if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	b.Spec.PolicyName, b.Spec.ValidationActions = "p", []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	if err := yaml.UnmarshalStrict([]byte(bound), &b.Spec); err != nil {
		t.Fatal(err)
	}
	return p, b
}

func TestPoliciesRefuseWhatTheyForbid(t *testing.T) {
	const denied = `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `
	for _, c := range []struct {
		name, spec, bound, want string
		code                    int32
		warning                 string
		change                  func(*corev1.ConfigMap)
	}{
		{name: "a validation that holds", spec: `validations: [{expression: "object.data.x == '1'"}]`},
		{name: "one that does not", spec: `validations: [{expression: "object.data.x == '2'"}]`, want: denied + "failed expression: object.data.x == '2'", code: 422},
		{name: "its message and reason", spec: `validations: [{expression: "false", message: refused, reason: Forbidden}]`, want: denied + "refused", code: 403},
		{name: "a message that is worked out", spec: "variables: [{name: name, expression: object.metadata.name}]\nvalidations: [{expression: \"variables.name == 'b'\", messageExpression: \"'not ' + variables.name\", message: refused}]",
			want: denied + "not a", code: 422},
		{name: "a match condition", spec: "matchConditions: [{name: b, expression: \"object.metadata.name == 'b'\"}]\nvalidations: [{expression: 'false'}]"},
		{name: "an error", spec: `validations: [{expression: "object.data.nope == '1'"}]`, want: denied + "expression 'object.data.nope == '1'' resulted in error: no such key: nope", code: 422},
		{name: "an error that is ignored", spec: "failurePolicy: Ignore\nvalidations: [{expression: \"object.data.nope == '1'\"}]"},
		{name: "warnings", spec: `validations: [{expression: "false", message: refused}]`, bound: "validationActions: [Warn]", warning: "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': refused"},
		{name: "audit alone", spec: `validations: [{expression: "false"}]`, bound: "validationActions: [Audit]"},
		{name: "another namespace", spec: `validations: [{expression: "false"}]`, bound: "matchResources: {namespaceSelector: {matchLabels: {a: b}}}"},
		{name: "this namespace", spec: `validations: [{expression: "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'other'"}]`,
			bound: "matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}}", want: denied + "failed expression: namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'other'", code: 422},
		{name: "labels of the object", spec: `validations: [{expression: "false"}]`, bound: "matchResources: {objectSelector: {matchLabels: {a: b}}}"},
		{name: "an excluded rule", spec: `validations: [{expression: "false"}]`,
			bound: `matchResources: {excludeResourceRules: [{apiGroups: [""], apiVersions: ["*"], resources: [configmaps], operations: [CREATE], resourceNames: [a]}]}`},
		{name: "the request", spec: `validations: [{expression: "request.operation == 'CREATE' && request.namespace == 'default' && request.resource.resource == 'configmaps' && oldObject == null && object.kind == 'ConfigMap'"}]`},
		{name: "authorization", spec: `validations: [{expression: "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"}, {expression: "!authorizer.serviceAccount('default', 'default').group('').resource('secrets').check('get').allowed()"}]`},
		{name: "parameters", spec: "paramKind: {apiVersion: v1, kind: ConfigMap}\nvalidations: [{expression: \"object.data.x == params.data.x\", message: not as params}]",
			bound: "paramRef: {name: params, namespace: kube-system, parameterNotFoundAction: Deny}", want: denied + "not as params", code: 422},
		{name: "parameters that are not there", spec: "paramKind: {apiVersion: v1, kind: ConfigMap}\nvalidations: [{expression: 'true'}]", bound: "paramRef: {name: nope, parameterNotFoundAction: Deny}",
			want: denied + "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction", code: 422},
		{name: "parameters that may be missing", spec: "paramKind: {apiVersion: v1, kind: ConfigMap}\nvalidations: [{expression: 'false'}]", bound: "paramRef: {name: nope, parameterNotFoundAction: Allow}"},
		{name: "parameters of no kind", spec: "paramKind: {apiVersion: a.b/v1, kind: Nope}\nvalidations: [{expression: 'true'}]",
			want: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'a.b/v1, Kind=Nope'`, code: 422},
		{name: "what costs too much", spec: "variables: [{name: l, expression: \"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]\"}]\n" +
			`validations: [{expression: "variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, variables.l.all(e, a + b + c + d + e >= 0)))))"}]`,
			want: denied + "expression 'variables.l.all(a, variables.l.all(b, variables.l.all(c, variables.l.all(d, variables.l.all(e, a + b + c + d + e >= 0)))))' resulted in error: operation cancelled: actual cost limit exceeded", code: 422},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := apitest.New(t)
			h.Do(func(p *sim.Proc, client *kubeapi.Client) {
				params := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "params"}, Data: map[string]string{"x": "5"}}
				if _, err := kubeapi.Make(p, client, params); err != nil {
					t.Fatal(err)
				}
				policy, binding := onConfigMaps(t, c.spec, c.bound)
				if _, err := kubeapi.Make(p, client, policy); err != nil {
					t.Fatal(err)
				}
				if _, err := kubeapi.Make(p, client, binding); err != nil {
					t.Fatal(err)
				}
				p.Sleep(time.Second)
				resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.ConfigMaps, Namespace: "default",
					Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"x": "1"}}})
				if c.want == "" {
					if err != nil {
						t.Fatal(err)
					}
					if got := strings.Join(resp.Warnings, "\n"); got != c.warning {
						t.Errorf("warned of %q, want %q", got, c.warning)
					}
					return
				}
				status, ok := err.(apierrors.APIStatus)
				if !ok {
					t.Fatalf("got %v, want %s", err, c.want)
				}
				if s := status.Status(); s.Message != c.want || s.Code != c.code || len(s.Details.Causes) != 1 || !strings.HasSuffix(s.Message, s.Details.Causes[0].Message) {
					t.Errorf("got %d %s %+v\nwant %d %s", s.Code, s.Message, s.Details.Causes, c.code, c.want)
				}
			})
		})
	}
}

func TestPoliciesSeeUpdatesAndDeletions(t *testing.T) {
	h := apitest.New(t)
	h.Do(func(p *sim.Proc, client *kubeapi.Client) {
		policy, binding := onConfigMaps(t, `validations: [{expression: "request.operation != 'UPDATE' || object.data.x >= oldObject.data.x", message: must not shrink}, {expression: "request.operation != 'DELETE' || oldObject.data.x != '2'", message: stays}]`, "")
		for _, o := range []kinds.Object{policy, binding, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"x": "1"}}} {
			if _, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.MustOf(o), Namespace: o.GetNamespace(), Object: o}); err != nil {
				t.Fatal(err)
			}
		}
		p.Sleep(time.Second)
		set := func(x string) error {
			_, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Update, Kind: kinds.ConfigMaps, Namespace: "default", Name: "a",
				Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"x": x}}})
			return err
		}
		if err := set("0"); err == nil || !strings.HasSuffix(err.Error(), "must not shrink") {
			t.Errorf("got %v", err)
		}
		if err := set("2"); err != nil {
			t.Error(err)
		}
		remove := &kubeapi.Request{Verb: kubeapi.Delete, Kind: kinds.ConfigMaps, Namespace: "default", Name: "a"}
		if _, err := client.Do(p, remove); err == nil || !strings.HasSuffix(err.Error(), "stays") {
			t.Errorf("got %v", err)
		}
		if err := set("3"); err != nil {
			t.Error(err)
		}
		if _, err := client.Do(p, remove); err != nil {
			t.Error(err)
		}
	})
}

func TestPoliciesAreCompiledWhenTheyAreMade(t *testing.T) {
	h := apitest.New(t)
	h.Do(func(p *sim.Proc, client *kubeapi.Client) {
		policy, _ := onConfigMaps(t, `
matchConditions: [{name: a, expression: variables.x}]
variables: [{name: x, expression: "1 +"}]
validations: [{expression: "1 + 1", messageExpression: "1"}, {expression: "authorizer.path('/x').check('get').allowed()", messageExpression: "string(authorizer)"}]
auditAnnotations: [{key: k, valueExpression: "1"}]`, "")
		_, err := kubeapi.Make(p, client, policy)
		status, ok := err.(apierrors.APIStatus)
		if !ok {
			t.Fatalf("got %v", err)
		}
		var got []string
		for _, c := range status.Status().Details.Causes {
			got = append(got, c.Field+": "+strings.ReplaceAll(c.Message, "\n", "\\n"))
		}
		want := []string{
			`spec.matchConditions[0].expression: Invalid value: "variables.x": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.x\n | ^`,
			`spec.variables[0].expression: Invalid value: "1 +": compilation failed: ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^`,
			`spec.validations[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int`,
			`spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int`,
			`spec.validations[1].messageExpression: Invalid value: "string(authorizer)": compilation failed: ERROR: <input>:1:8: undeclared reference to 'authorizer' (in container '')\n | string(authorizer)\n | .......^`,
			`spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
