package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func mutator(t *testing.T, name, resource, spec string) (*admissionregistrationv1.MutatingAdmissionPolicy, *admissionregistrationv1.MutatingAdmissionPolicyBinding) {
	t.Helper()
	p := &admissionregistrationv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.ReinvocationPolicy = admissionregistrationv1.NeverReinvocationPolicy
	p.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource}}}}}}
	if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	b := &admissionregistrationv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Spec.PolicyName = name
	return p, b
}

func TestPoliciesChangeObjects(t *testing.T) {
	const head = "mutations:\n- patchType: "
	for _, c := range []struct {
		name     string
		policies []string // p0, p1, ... over Pods
		want     map[string]string
		refused  string
	}{
		{name: "apply configurations", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'env': 'x'}}, spec: Object.spec{containers: [Object.spec.containers{name: 'c', imagePullPolicy: 'Never'}]}}"}`},
			want: map[string]string{"metadata.labels.env": "x", "spec.containers.0.image": "nginx", "spec.containers.0.imagePullPolicy": "Never", "spec.restartPolicy": "Always"}},
		{name: "JSON patches", policies: []string{head + `JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'test', path: '/spec/containers/0/name', value: 'c'}, JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a/b': 'c'}}, JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('d/e'), value: 'f'}]"}`},
			want: map[string]string{"metadata.annotations.a/b": "c", "metadata.annotations.d/e": "f"}},
		{name: "a test that fails", policies: []string{head + `JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'test', path: '/spec/containers/0/name', value: 'd'}, JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'c'}}]"}`}, want: map[string]string{"metadata.labels.a": ""}},
		{name: "a condition", policies: []string{"matchConditions: [{name: n, expression: \"object.metadata.name == 'other'\"}]\n" + head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'env': 'x'}}}"}`}, want: map[string]string{"metadata.labels.env": ""}},
		{name: "one sees what the other did", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': '1'}}}"}`, "variables: [{name: old, expression: object.metadata.labels.a}]\n" + head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'b': variables.old + '2'}}}"}`}, want: map[string]string{"metadata.labels.a": "1", "metadata.labels.b": "12"}},
		{name: "one is asked again", policies: []string{"reinvocationPolicy: IfNeeded\n" + head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'seen': has(object.metadata.labels.b) ? 'yes' : 'no'}}}"}`, head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'b': '2'}}}"}`}, want: map[string]string{"metadata.labels.seen": "yes"}},
		{name: "one is not asked again", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'seen': has(object.metadata.labels.b) ? 'yes' : 'no'}}}"}`, head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'b': '2'}}}"}`}, want: map[string]string{"metadata.labels.seen": "no"}},
		{name: "the other plugins see it again", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{serviceAccountName: 'nobody'}}"}`}, refused: `pods "a" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found`},
		{name: "an error", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': object.metadata.annotations.nope}}}"}`},
			refused: `policy 'p0' with binding 'p0' denied request: expression 'Object{metadata: Object.metadata{labels: {'a': object.metadata.annotations.nope}}}' resulted in error: no such key: annotations`},
		{name: "an error that is ignored", policies: []string{"failurePolicy: Ignore\n" + head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': object.metadata.annotations.nope}}}"}`}},
		{name: "a list that is one thing", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', args: ['x']}]}}"}`},
			refused: "policy 'p0' with binding 'p0' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args"},
		{name: "what the validation refuses", policies: []string{head + `ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{restartPolicy: 'Sometimes'}}"}`},
			refused: `Pod "a" is invalid: spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := apitest.New(t)
			h.Do(func(p *sim.Proc, client *kubeapi.Client) {
				if _, err := kubeapi.Make(p, client, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "default"}}); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Fatal(err)
				}
				for i, spec := range c.policies {
					policy, binding := mutator(t, "p"+string(rune('0'+i)), "pods", spec)
					if _, err := kubeapi.Make(p, client, policy); err != nil {
						t.Fatal(err)
					}
					if _, err := kubeapi.Make(p, client, binding); err != nil {
						t.Fatal(err)
					}
				}
				p.Sleep(time.Second)
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", Labels: map[string]string{"x": "y"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}}
				made, err := kubeapi.Make(p, client, pod)
				if c.refused != "" {
					if err == nil || err.Error() != c.refused {
						t.Fatalf("got  %v\nwant %s", err, c.refused)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made)
				if err != nil {
					t.Fatal(err)
				}
				for path, want := range c.want {
					if got := valueAt(content, strings.Split(path, ".")); got != want {
						t.Errorf("%s is %q, want %q", path, got, want)
					}
				}
			})
		})
	}
}

func valueAt(x any, path []string) string {
	for _, p := range path {
		switch v := x.(type) {
		case map[string]any:
			x = v[p]
		case []any:
			x = v[p[0]-'0']
		}
	}
	s, _ := x.(string)
	return s
}

func TestPoliciesChangeCustomObjectsByTheirSchema(t *testing.T) {
	h := apitest.New(t)
	h.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, cronTabs()); err != nil {
			t.Fatal(err)
		}
		policy, binding := mutator(t, "p", "crontabs", `
mutations:
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "Object{spec: Object.spec{replicas: object.spec.replicas + 1}}"}
- patchType: JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'n': string(object.spec.replicas)}}]"}`)
		for _, o := range []kinds.Object{policy, binding} {
			if _, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Create, Kind: kinds.MustOf(o), Object: o}); err != nil {
				t.Fatal(err)
			}
		}
		p.Sleep(3 * time.Second)
		o := kinds.NewCustom(kinds.Defined("stable.example.com", "v1", "CronTab", "crontabs", true))
		o.Name, o.Namespace = "a", "default"
		o.Content["spec"] = map[string]any{"replicas": int64(3)}
		made, err := kubeapi.Make(p, client, o)
		if err != nil {
			t.Fatal(err)
		}
		if n, _, _ := unstructured.NestedInt64(made.Content, "spec", "replicas"); n != 4 || made.Labels["n"] != "4" || valueAt(made.Content, []string{"spec", "image"}) != "my-image" {
			raw, _ := json.Marshal(made)
			t.Errorf("got %s", raw)
		}
	})
}

func TestMutationsAreCompiledWhenThePolicyIsMade(t *testing.T) {
	h := apitest.New(t)
	h.Do(func(p *sim.Proc, client *kubeapi.Client) {
		policy, _ := mutator(t, "p", "pods", `
mutations:
- patchType: ApplyConfiguration
  applyConfiguration: {expression: "1"}
- patchType: JSONPatch
  jsonPatch: {expression: "[JSONPatch{op: 1}]"}`)
		_, err := kubeapi.Make(p, client, policy)
		status, ok := err.(apierrors.APIStatus)
		if !ok || len(status.Status().Details.Causes) != 2 {
			t.Fatalf("got %v", err)
		}
		for i, want := range []string{`spec.mutations[0].applyConfiguration.expression: Invalid value: "1": must evaluate to Object but got int`,
			`spec.mutations[1].jsonPatch.expression: Invalid value: "[JSONPatch{op: 1}]": compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but provided type is 'int'`} {
			if c := status.Status().Details.Causes[i]; !strings.HasPrefix(c.Field+": "+c.Message, want) {
				t.Errorf("got %s: %s", c.Field, c.Message)
			}
		}
	})
}
