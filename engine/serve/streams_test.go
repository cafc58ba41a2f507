package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
)

const web = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: app, image: "nginx:1.27"}
`

// exec runs a command in the pod web with the client library.
func (c *cluster) exec(webSocket bool, container string, argv ...string) (out string, err error) {
	c.t.Helper()
	at, err := url.Parse(c.s.URL + "/api/v1/namespaces/default/pods/web/exec?" + url.Values{"command": argv, "container": {container}, "stdout": {"true"}, "stderr": {"true"}}.Encode())
	if err != nil {
		c.t.Fatal(err)
	}
	by, err := remotecommand.NewSPDYExecutor(c.cfg, http.MethodPost, at)
	if webSocket {
		by, err = remotecommand.NewWebSocketExecutor(c.cfg, http.MethodGet, at.String())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	var o, e bytes.Buffer
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	err = by.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &o, Stderr: &e})
	return o.String(), err
}

func TestWhatLeadsIntoAPodIsReachedThroughTheFront(t *testing.T) {
	c := open(t, 1, 1, web)
	const path = "/api/v1/namespaces/default/pods/web"
	c.until("the pod runs", func() bool { return strings.Contains(string(c.get(path).body), `"ready":true`) })
	if r := c.get(path + "/log?tailLines=1"); r.code != http.StatusOK || r.header.Get("Content-Type") != "text/plain" || strings.Count(string(r.body), "\n") != 1 {
		t.Errorf("log: %d %v %q", r.code, r.header, r.body)
	}
	for name, ws := range map[string]bool{"WebSocket": true, "SPDY": false} {
		if out, err := c.exec(ws, "app", "hostname"); err != nil || out != "web\n" {
			t.Errorf("%s: %v %q", name, err, out)
		}
		var code exec.CodeExitError
		if _, err := c.exec(ws, "app", "sh", "-c", "exit 7"); !errors.As(err, &code) || code.Code != 7 {
			t.Errorf("%s: exit 7: %v", name, err)
		}
		if _, err := c.exec(ws, "nope", "ls"); err == nil || !strings.Contains(err.Error(), "container nope is not valid for pod web") {
			t.Errorf("%s: no such container: %v", name, err)
		}
	}
	if r := c.get(path + "/exec?command=ls&stdout=true"); r.code != http.StatusBadRequest || r.status(t).Message != "Upgrade request required" {
		t.Errorf("exec without an upgrade: %d %s", r.code, r.body)
	}
	// Whoever may only read exec may not run anything, though a WebSocket begins with GET.
	c.must(ask{method: "POST", path: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", body: `{"metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods/exec"],"verbs":["get"]}]}`})
	c.must(ask{method: "POST", path: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
		body: `{"metadata":{"name":"r"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"eve"}]}`})
	want := `pods "web" is forbidden: User "eve" cannot create resource "pods/exec" in API group "" in the namespace "default"`
	c.until("the reader is refused for that reason", func() bool {
		r := c.do(ask{method: "GET", path: path + "/exec?command=ls&stdout=true", header: map[string]string{"Impersonate-User": "eve"}})
		return r.code == http.StatusForbidden && r.status(t).Message == want
	})
	// A log that is followed ends with the pod.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	resp, err := c.http.Do(c.request(ask{method: "GET", path: path + "/log?follow=true"}).WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	c.must(ask{method: "DELETE", path: path, body: `{"gracePeriodSeconds":1}`})
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Errorf("followed log: %v", err)
	}
}
