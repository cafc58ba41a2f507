package openapi

import (
	"encoding/json"
	"strings"
	"testing"

	openapiv3 "github.com/google/gnostic-models/openapiv3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/engine/kinds"
)

func cronTabs(t *testing.T, description string) []*kinds.Kind {
	t.Helper()
	keep := true
	d := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "crontabs.stable.example.com"}}
	d.Spec.Group, d.Spec.Scope = "stable.example.com", apiextensionsv1.NamespaceScoped
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "crontabs", Singular: "crontab", Kind: "CronTab", ListKind: "CronTabList"}
	d.Status.AcceptedNames = d.Spec.Names
	d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
		Subresources:     &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.image"}},
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Description: description, Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"image":    {Type: "string", Nullable: true},
				"template": {Type: "object", XEmbeddedResource: true, XPreserveUnknownFields: &keep}}},
		}}}}}
	got, err := custom.Define(d)
	if err != nil {
		t.Fatal(err)
	}
	return got.Kinds
}

func TestADefinedKindHasItsDocumentWhileItIsServed(t *testing.T) {
	var rows []*kinds.Kind
	h := New("v1.37.2").With(func() *custom.Set { return custom.NewSet(rows) })
	const path = "/openapi/v3/apis/stable.example.com/v1"
	index := func() string { return get(t, h, "/openapi/v3").Body.String() }
	if w := get(t, h, path); w.Code != 404 || strings.Contains(index(), "stable.example.com") {
		t.Fatalf("before its definition: %d", w.Code)
	}
	before := index()
	rows = cronTabs(t, "What is wanted.")
	w := get(t, h, path)
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct {
					Ref         string `json:"$ref"`
					Description string
					Properties  map[string]struct {
						Nullable   bool
						Properties map[string]any
					}
				}
				GVK       []map[string]string `json:"x-kubernetes-group-version-kind"`
				Selection []map[string]string `json:"x-kubernetes-selectable-fields"`
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	m := doc.Components.Schemas["com.example.stable.v1.CronTab"]
	switch {
	case m.Properties["spec"].Description != "What is wanted.", !m.Properties["spec"].Properties["image"].Nullable, m.Properties["spec"].Properties["template"].Properties["kind"] == nil:
		t.Errorf("the schema came out as %+v", m.Properties["spec"])
	case m.Properties["metadata"].Ref != "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", m.Properties["apiVersion"].Description == "":
		t.Errorf("what all objects have came out as %+v", m.Properties)
	case len(m.GVK) != 1 || m.GVK[0]["kind"] != "CronTab", len(m.Selection) != 1 || m.Selection[0]["fieldPath"] != "spec.image":
		t.Errorf("extensions are %v %v", m.GVK, m.Selection)
	}
	if len(doc.Components.Schemas["com.example.stable.v1.CronTabList"].Properties) != 4 || doc.Components.Schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"].Properties == nil {
		t.Error("the list or the metadata has no model")
	}
	patch := string(doc.Paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]["patch"])
	if !strings.Contains(patch, "merge-patch") || strings.Contains(patch, "strategic") || strings.Contains(patch, "protobuf") || doc.Paths["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}/status"] == nil {
		t.Errorf("patch takes %s", patch)
	}
	if _, err := openapiv3.ParseDocument(w.Body.Bytes()); err != nil {
		t.Errorf("it has no protobuf form: %v", err)
	}
	first := index()
	if !strings.Contains(first, "apis/stable.example.com/v1") || !strings.Contains(first, "apis/apps/v1") {
		t.Errorf("the index is %s", first)
	}
	rows = cronTabs(t, "What somebody wants.")
	if index() == first {
		t.Error("another schema has the same tag")
	}
	rows = nil
	if w := get(t, h, path); w.Code != 404 || index() != before {
		t.Errorf("after its definition: %d", w.Code)
	}
}

// TestVersionTwoTellsWhatOldClientsUnderstand: they would refuse members that they are not told of.
func TestVersionTwoTellsWhatOldClientsUnderstand(t *testing.T) {
	rows := cronTabs(t, "What is wanted.")
	h := New("v1.37.2").With(func() *custom.Set { return custom.NewSet(rows) })
	w := get(t, h, "/openapi/v2")
	var doc struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Properties map[string]map[string]any }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	spec := doc.Definitions["com.example.stable.v1.CronTab"].Properties["spec"].Properties
	if spec["image"]["type"] != nil || spec["image"]["nullable"] != nil || spec["template"]["properties"] != nil {
		t.Errorf("a member that may be null, and one that keeps what is unknown, came out as %v", spec)
	}
	if w := get(t, h, "/openapi/v2", "Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"); w.Code != 200 {
		t.Errorf("as protobuf: %d %s", w.Code, w.Body)
	}
}
