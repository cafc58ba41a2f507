package apiserver_test

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/apitest"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

func cronTabs() *apiextensionsv1.CustomResourceDefinition {
	most := 10.0
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "crontabs.stable.example.com"}}
	d.Spec.Group, d.Spec.Scope = "stable.example.com", apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "crontabs", Kind: "CronTab"}
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"image":    {Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"my-image"`)}},
				"replicas": {Type: "integer", Maximum: &most}}},
			"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}}},
		}}}}}
	return d
}

func TestADefinitionMakesAKindThatIsServedUntilItGoes(t *testing.T) {
	c := apitest.New(t)
	row := kinds.Defined("stable.example.com", "v1", "CronTab", "crontabs", true)
	one := func() *kinds.Custom {
		o := kinds.NewCustom(row)
		o.Name, o.Namespace = "a", "default"
		o.Content["spec"] = map[string]any{"replicas": int64(3), "unknown": "x"}
		return o
	}
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		if _, err := kubeapi.Make(p, client, one()); !apierrors.IsNotFound(err) {
			t.Errorf("before its definition: %v", err)
		}
		if _, err := kubeapi.Make(p, client, cronTabs()); err != nil {
			t.Fatal(err)
		}
		p.Sleep(time.Second)
		d, err := kubeapi.Fetch[*apiextensionsv1.CustomResourceDefinition](p, client, kinds.CustomResourceDefinitions, "", "crontabs.stable.example.com")
		if err != nil || len(d.Status.Conditions) != 2 || d.Status.Conditions[1].Reason != "InitialNamesAccepted" || d.Status.AcceptedNames.Singular != "crontab" {
			t.Fatalf("%v %+v", err, d.Status)
		}
		made, err := kubeapi.Make(p, client, one())
		if err != nil {
			t.Fatal(err)
		}
		if spec := made.Content["spec"].(map[string]any); spec["image"] != "my-image" || spec["unknown"] != nil || made.Generation != 1 || len(made.ManagedFields) != 1 {
			t.Errorf("stored %v, generation %d, managed %v", spec, made.Generation, made.ManagedFields)
		}
		patch := func(sub, body string) (*kinds.Custom, error) {
			resp, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: row, Namespace: "default", Name: "a", Subresource: sub, PatchType: types.MergePatchType, Patch: []byte(body)})
			if err != nil {
				return nil, err
			}
			return resp.Object.(*kinds.Custom), nil
		}
		if _, err := patch("", `{"spec":{"replicas":40}}`); err == nil || !strings.Contains(err.Error(), `CronTab.stable.example.com "a" is invalid: spec.replicas: Invalid value: 40: spec.replicas in body should be less than or equal to 10`) {
			t.Error(err)
		}
		if got, err := patch("", `{"spec":{"replicas":4},"status":{"replicas":9}}`); err != nil || got.Generation != 2 || got.Content["status"] != nil {
			t.Errorf("%v %+v", err, got)
		}
		if got, err := patch("status", `{"spec":{"replicas":1},"status":{"replicas":9}}`); err != nil || got.Generation != 2 || got.Content["spec"].(map[string]any)["replicas"] != int64(4) {
			t.Errorf("%v %+v", err, got)
		}
		if err := func() error {
			_, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Delete, Kind: kinds.CustomResourceDefinitions, Name: "crontabs.stable.example.com"})
			return err
		}(); err != nil {
			t.Fatal(err)
		}
		p.Sleep(20 * time.Second)
		for _, k := range []*kinds.Kind{row, kinds.CustomResourceDefinitions} {
			name, ns := "a", "default"
			if k == kinds.CustomResourceDefinitions {
				name, ns = "crontabs.stable.example.com", ""
			}
			if _, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Get, Kind: k, Namespace: ns, Name: name}); !apierrors.IsNotFound(err) {
				t.Errorf("after its end, %s: %v", k, err)
			}
		}
	})
}

func TestRulesOfADefinitionHoldForItsObjects(t *testing.T) {
	c := apitest.New(t)
	row := kinds.Defined("stable.example.com", "v1", "CronTab", "crontabs", true)
	c.Do(func(p *sim.Proc, client *kubeapi.Client) {
		bad := cronTabs()
		spec := bad.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		spec.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.replica > 0"}}
		bad.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		if _, err := kubeapi.Make(p, client, bad); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: ") ||
			!strings.Contains(err.Error(), "undefined field 'replica'") {
			t.Errorf("a rule that does not compile: %v", err)
		}
		good := cronTabs()
		spec.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.replicas % 2 == 1", Message: "replicas must be odd", FieldPath: ".replicas"}, {Rule: "self.replicas >= oldSelf.replicas", Message: "replicas must not shrink"}}
		good.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		status := good.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
		status.XValidations = apiextensionsv1.ValidationRules{{Rule: "self.replicas < 100"}}
		good.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = status
		good.Spec.Versions[0].Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}
		if _, err := kubeapi.Make(p, client, good); err != nil {
			t.Fatal(err)
		}
		p.Sleep(time.Second)
		one := func(replicas int64) *kinds.Custom {
			o := kinds.NewCustom(row)
			o.Name, o.Namespace = "a", "default"
			o.Content["spec"] = map[string]any{"replicas": replicas}
			return o
		}
		_, err := kubeapi.Make(p, client, one(4))
		if !apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), `CronTab.stable.example.com "a" is invalid: spec.replicas: Invalid value: replicas must be odd`) {
			t.Errorf("got %v", err)
		} else if refused := err.(apierrors.APIStatus); len(refused.Status().Details.Causes) != 1 || refused.Status().Details.Causes[0].Field != "spec.replicas" || refused.Status().Details.Causes[0].Type != metav1.CauseTypeFieldValueInvalid {
			t.Errorf("causes %+v", refused.Status().Details.Causes)
		}
		if _, err := kubeapi.Make(p, client, one(3)); err != nil {
			t.Fatal(err)
		}
		patch := func(sub, body string) error {
			_, err := client.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: row, Namespace: "default", Name: "a", Subresource: sub, PatchType: types.MergePatchType, Patch: []byte(body)})
			return err
		}
		for _, c := range []struct{ sub, body, want string }{
			{"", `{"spec":{"replicas":1}}`, "spec: Invalid value: replicas must not shrink"},
			{"status", `{"status":{"replicas":100}}`, "status: Invalid value: failed rule: self.replicas < 100"},
			{"scale", `{"spec":{"replicas":6}}`, "spec.replicas: Invalid value: replicas must be odd"},
			{"", `{"spec":{"replicas":5}}`, ""},
			{"scale", `{"spec":{"replicas":7}}`, ""},
		} {
			if err := patch(c.sub, c.body); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v", c.sub, c.body, err)
			}
		}
	})
}
