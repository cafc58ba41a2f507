package openapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
)

func get(t *testing.T, h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestEveryResourceHasItsDefinitionAndOperations(t *testing.T) {
	h := New("v1.37.2")
	x, err := h.third()
	if err != nil {
		t.Fatal(err)
	}
	d, _ := h.definitions()
	type op struct {
		GVK        map[string]string `json:"x-kubernetes-group-version-kind"`
		Parameters []struct{ Name string }
		Body       struct{ Content map[string]any } `json:"requestBody"`
	}
	for _, r := range resources() {
		if d.names[r.gvk] == "" {
			t.Errorf("%s has no definition", r.gvk)
		}
		doc := x.groups[root(r.gvk.GroupVersion())]
		var parsed struct {
			Paths      map[string]map[string]json.RawMessage
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal([]byte(doc.text), &parsed); err != nil {
			t.Fatal(err)
		}
		if parsed.Components.Schemas[d.names[r.gvk]] == nil {
			t.Errorf("%s is not in its document", r.gvk)
		}
		found := false
		for path, item := range parsed.Paths {
			for method, raw := range item {
				var o op
				if method == "parameters" {
					continue
				}
				if err := json.Unmarshal(raw, &o); err != nil {
					t.Fatalf("%s %s: %v", method, path, err)
				}
				found = found || o.GVK["kind"] == r.gvk.Kind
				if method == "patch" {
					if _, ok := o.Body.Content["application/strategic-merge-patch+json"]; !ok && !strings.Contains(path, "/proxy") {
						t.Errorf("patch %s does not name strategic merge", path)
					}
					names := ""
					for _, p := range o.Parameters {
						names += p.Name + " "
					}
					if !strings.Contains(path, "/proxy") && names != "force dryRun fieldManager fieldValidation " {
						t.Errorf("patch %s has parameters %s", path, names)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s has no operation", r.gvk)
		}
	}
}

func TestVersionsAgree(t *testing.T) {
	d, err := readDefinitions()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for module, version := range d.Modules {
		if i := strings.Index(string(text), "\t"+module+" "); i >= 0 && !strings.HasPrefix(string(text)[i+len(module)+2:], version) {
			t.Errorf("definitions are of %s %s, go.mod has another version: go generate ./components/apiserver/openapi", module, version)
		}
	}
}

func TestHandler(t *testing.T) {
	h := New("v1.37.2")
	w := get(t, h, "/openapi/v3")
	var x struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	u := x.Paths["apis/apps/v1"].ServerRelativeURL
	w = get(t, h, u)
	if w.Code != 200 || w.Header().Get("Cache-Control") != "public, immutable" {
		t.Fatal(w.Code, w.Header())
	}
	if w := get(t, h, u, "If-None-Match", w.Header().Get("Etag")); w.Code != 304 {
		t.Error("unchanged:", w.Code)
	}
	if w := get(t, h, "/openapi/v3/apis/apps/v1?hash=old"); w.Code != 301 || w.Header().Get("Location") != u {
		t.Error("another hash:", w.Code, w.Header())
	}
	for name, p := range x.Paths {
		if w := get(t, h, p.ServerRelativeURL, "Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"); w.Code != 200 {
			t.Errorf("%s as protobuf: %d %s", name, w.Code, w.Body)
		}
	}
	w = get(t, h, "/openapi/v2", "Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" {
		t.Fatal(w.Code, w.Header(), w.Body.String())
	}
	if err := proto.Unmarshal(w.Body.Bytes(), &openapiv2.Document{}); err != nil {
		t.Error(err)
	}
	if w := get(t, h, "/openapi/v2", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" {
		t.Error("not compressed")
	}
	if w := get(t, h, "/openapi/v2", "Accept", "text/html"); w.Code != 406 {
		t.Error("html:", w.Code)
	}
	if w := get(t, h, "/openapi/v3/apis/none/v1"); w.Code != 404 {
		t.Error("no such group:", w.Code)
	}
}

func BenchmarkFirstThird(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		x, err := New("v1.37.2").third()
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, d := range x.groups {
			n += len(d.text)
		}
		b.ReportMetric(float64(n), "bytes")
	}
}

func BenchmarkFirstSecond(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		d, err := New("v1.37.2").second()
		if err != nil {
			b.Fatal(err)
		}
		p, err := d.binary()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(p)), "bytes")
	}
}

// The ids are those of a real server's documents.
func TestOperationIDs(t *testing.T) {
	x, err := New("v1.37.2").third()
	if err != nil {
		t.Fatal(err)
	}
	for group, ids := range map[string][]string{
		"apis/apps/v1": {"deleteAppsV1CollectionNamespacedDeployment", "listAppsV1DeploymentForAllNamespaces", "readAppsV1NamespacedDeploymentStatus", "getAppsV1APIResources"},
		"api/v1":       {"connectCoreV1GetNamespacedPodAttach", "createCoreV1NamespacedPodEviction", "patchCoreV1Node", "readCoreV1NamespacedPodLog"},
	} {
		for _, id := range ids {
			if !strings.Contains(x.groups[group].text, `"operationId":"`+id+`"`) {
				t.Errorf("%s has no operation %s", group, id)
			}
		}
	}
}
