package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/apiserver/internal/managed"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// No patch of any type ends in a panic or in an error that is the server's own, and none touches the stored object.
func FuzzPatches(f *testing.F) {
	for i, seed := range []string{
		`[{"op":"replace","path":"/spec/replicas","value":3}]`, `[{"op":"copy","from":"/spec","path":"/spec/template"}]`, `{"spec":{"replicas":null,"template":{"spec":{"containers":[]}}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"c","$patch":"delete"}],"$setElementOrder/containers":[{"name":"d"}]}}}}`, `{"$patch":"replace","spec":{}}`,
		`{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}`, `{"spec":"x"}`, `{"metadata":{"labels":[1]}}`, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}",
	} {
		f.Add(uint8(i), seed)
	}
	old := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "u", ResourceVersion: "5"}}
	old.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	old.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "nginx"}, {Name: "d", Image: "redis"}}
	before, _ := json.Marshal(old)
	fields := managed.New(nil)
	m, err := fields.For(kinds.Deployments, nil, "")
	if err != nil {
		f.Fatal(err)
	}
	kinded := []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType}
	f.Fuzz(func(t *testing.T, how uint8, patch string) {
		rq := &request{Request: &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Deployments, Namespace: "default", Name: "web", Manager: "m", PatchType: kinded[how%4], Patch: []byte(patch)}}
		rq.FieldValidation = []string{"", kubeapi.FieldsStrict, kubeapi.FieldsWarn}[how/4%3]
		err := rq.checkPatch()
		if err == nil && rq.PatchType == types.ApplyPatchType {
			u, e := rq.configuration()
			if err = e; e == nil {
				_, _ = m.Apply(old, u, "m", true, metav1.Now().Time) // refusals of the library have no code, as in Kubernetes
			}
		} else if err == nil {
			_, err = rq.patched(old)
		}
		if err != nil && statusOf(err).Code >= http.StatusInternalServerError {
			t.Errorf("%s %q: %v", rq.PatchType, patch, err)
		}
		if after, _ := json.Marshal(old); string(after) != string(before) {
			t.Fatalf("%s %q changed the stored object to %s", rq.PatchType, patch, after)
		}
	})
}

// No token leads out of the part of the registry that a list is for.
func FuzzContinueTokens(f *testing.F) {
	f.Add(pageAfter("/registry/pods/default/a", "/registry/pods/default/", 7))
	for _, raw := range []string{`{"v":"meta.k8s.io/v1","rv":1,"start":"../../secrets/x"}`, `{"v":"meta.k8s.io/v1","rv":-1,"start":"/a"}`, `{"v":"v0","rv":1,"start":"a"}`, `{}`, `[`} {
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(raw)))
	}
	f.Fuzz(func(t *testing.T, token string) {
		pg, err := decodePage(token)
		if err != nil {
			if c := statusOf(err).Code; c != http.StatusBadRequest {
				t.Errorf("%q: code %d", token, c)
			}
			return
		}
		if pg.RV == 0 || pg.Start == "" || strings.HasPrefix(pg.Start, "/") || strings.HasPrefix(pg.Start, "../") || strings.Contains(pg.Start, "/../") {
			t.Errorf("%q is accepted as %+v", token, pg)
		}
	})
}
