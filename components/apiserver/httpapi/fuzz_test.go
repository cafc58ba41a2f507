package httpapi

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/httpapi/shift"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// echo is an API server that gives back what it was sent, and lists nothing.
type echo struct{ last *kubeapi.Request }

func (e *echo) Do(_ context.Context, r *kubeapi.Request) (*kubeapi.Response, error) {
	e.last = r
	switch {
	case r.Object != nil:
		return &kubeapi.Response{Object: r.Object}, nil
	case r.Verb == kubeapi.List || r.Verb == kubeapi.DeleteCollection:
		return &kubeapi.Response{ResourceVersion: "1"}, nil
	}
	return &kubeapi.Response{Status: &metav1.Status{Status: metav1.StatusSuccess}}, nil
}

func (e *echo) Recall(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error) {
	return e.Do(ctx, r)
}

func (e *echo) Watch(_ context.Context, r *kubeapi.Request) (Events, error) {
	e.last = r
	return ended{}, nil
}

type ended struct{}

func (ended) Next(context.Context) ([]kubeapi.WatchEvent, error) { return nil, io.EOF }
func (ended) Close()                                             {}
func (ended) Drop()                                              {}

// front is a handler before an echo; times are moved, as in a cluster that runs fast.
func front() (http.Handler, *echo) {
	e := &echo{}
	return New(Config{Upstream: func(*http.Request) (Upstream, time.Duration, error) { return e, 90 * time.Minute, nil }, Now: time.Now, HangUp: func(*http.Request) {}}), e
}

// answered checks what holds of every answer: it is no 500, and a refusal reached nobody.
func answered(t *testing.T, h http.Handler, e *echo, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	r.Host = "localhost"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	switch {
	case w.Code >= 500:
		t.Errorf("%s %s: %d %s", r.Method, r.URL, w.Code, w.Body)
	case w.Code >= 400 && e.last != nil:
		t.Errorf("%s %s: refused with %d, but sent on: %+v", r.Method, r.URL, w.Code, e.last)
	case w.Code < 300 && e.last == nil:
		t.Errorf("%s %s: answered with %d by nobody", r.Method, r.URL, w.Code)
	}
	return w
}

func FuzzBodies(f *testing.F) {
	for _, s := range []string{`{}`, `{"metadata":{"name":"a"},"data":{"a":"b"}}`, `{"kind":"Pod","apiVersion":"v1"}`, `{"apiVersion":"v1beta7","kind":"ConfigMap"}`, `null`, `[]`, `{"metadata":{"creationTimestamp":"x"}}`,
		"a: &a [1]\nb: *a\n", "---\n---\n", "k8s\x00", "k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x07\n\x05\n\x01a\x12\x00", strings.Repeat(`{"a":`, 200), `{"data":{"a":"1","a":"2"}}`, "\xff\xfe"} {
		for _, media := range []string{typeJSON, typeYAML, typeProto, "text/plain", ""} {
			f.Add([]byte(s), media, "Strict")
			f.Add([]byte(s), media, "")
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, media, validation string) {
		h, e := front()
		r := httptest.NewRequest(http.MethodPost, "/api/v1/namespaces/default/configmaps?fieldValidation="+url.QueryEscape(validation), strings.NewReader(string(body)))
		r.Header.Set("Content-Type", media)
		answered(t, h, e, r)
	})
}

func FuzzDeleteOptions(f *testing.F) {
	for _, s := range []string{"", `{}`, `{"propagationPolicy":"Background"}`, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":-1}`, `{"kind":"Pod","apiVersion":"v1"}`, `{"preconditions":{"uid":"x"}}`,
		`{"dryRun":["None"]}`, `{"orphanDependents":true,"propagationPolicy":"Orphan"}`, "k8s\x00", `[`} {
		f.Add([]byte(s), "dryRun=All", typeJSON)
		f.Add([]byte(s), "gracePeriodSeconds=x", typeProto)
	}
	f.Fuzz(func(t *testing.T, body []byte, query, media string) {
		h, e := front()
		r := httptest.NewRequest(http.MethodDelete, "/api/v1/namespaces/default/pods/a", strings.NewReader(string(body)))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", media)
		answered(t, h, e, r)
	})
}

func FuzzPatches(f *testing.F) {
	for _, s := range []string{`{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}`, `[{"op":"replace","path":"/metadata/creationTimestamp","value":"2026-01-01T00:00:00Z"}]`, `{"status":{"startTime":null}}`, `[`, ``, `null`,
		"metadata:\n  creationTimestamp: 2026-01-01T00:00:00Z\n", `{"status":{"conditions":[{"lastTransitionTime":1}]}}`, `[{"op":"test"}]`, `[1]`, `{"a":&`} {
		for _, media := range patchTypes {
			f.Add([]byte(s), string(media))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, media string) {
		h, e := front()
		r := httptest.NewRequest(http.MethodPatch, "/api/v1/namespaces/default/pods/a?fieldManager=f", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", media)
		answered(t, h, e, r)
		if still := shift.By(0).Patch(body, kinds.Pods.New()); string(still) != string(body) {
			t.Errorf("a clock that moves nothing changed %q to %q", body, still)
		}
	})
}

func FuzzListQueries(f *testing.F) {
	for _, s := range []string{"", "labelSelector=a%3Db", "labelSelector=a+in+(b,c),!d", "labelSelector=a==b==c", "fieldSelector=spec.nodeName!=x", "fieldSelector==", "limit=-1", "limit=abc", "continue=" + base64.RawURLEncoding.EncodeToString([]byte(`{"v":"meta.k8s.io/v1","rv":1,"start":"a"}`)),
		"continue=abc&resourceVersion=1", "resourceVersionMatch=Exact", "watch=1&sendInitialEvents=true", "watch=true&timeoutSeconds=-5", "watch=true&timeoutSeconds=99999999999", "timeout=1x", "allowWatchBookmarks=2", "%zz", "a=b;c=d", "pretty=1", "includeObject=All"} {
		f.Add(s, "application/json")
		f.Add(s, asTable)
	}
	f.Fuzz(func(t *testing.T, query, accept string) {
		h, e := front()
		r := httptest.NewRequest(http.MethodGet, "/apis/events.k8s.io/v1/namespaces/default/events", nil)
		r.URL.RawQuery = query
		r.Header.Set("Accept", accept)
		answered(t, h, e, r)
	})
}

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

func FuzzPaths(f *testing.F) {
	for _, s := range []string{"/", "/api", "/api/v1/pods", "/api/v1/namespaces/a/pods/b/log", "/apis/apps/v1/namespaces/x/deployments/y/scale", "/api/v1/watch/pods", "/api/v1/namespaces//pods", "//", "/healthz/etcd", "/api/v1/namespaces/a/status", "/openapi/v3",
		"/api/v1/nodes/x/proxy/a/b", "/apis/../api/v1/pods"} {
		f.Add("GET", s)
		f.Add("POST", s)
		f.Add("DELETE", s)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		h, _ := front()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Method, r.URL.Path, r.Host = method, path, "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%q %q: %d %s", method, path, w.Code, w.Body)
		}
	})
}

// A selector in the names of a face reaches the server in those of the kind.
func TestFieldsOfAFaceAreThoseOfTheKind(t *testing.T) {
	for query, want := range map[string]string{"regarding.name=x": "involvedObject.name=x", "metadata.name=a": "metadata.name=a", "involvedObject.name=x": ""} {
		h, e := front()
		r := httptest.NewRequest(http.MethodGet, "/apis/events.k8s.io/v1/events?fieldSelector="+url.QueryEscape(query), nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		switch {
		case want == "" && (w.Code != http.StatusBadRequest || e.last != nil || !strings.Contains(w.Body.String(), "field label not supported: involvedObject.name")):
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		case want != "" && (e.last == nil || e.last.Fields.String() != want):
			t.Errorf("%s: %d %+v", query, w.Code, e.last)
		}
	}
}
