package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/scenario"
)

// fast is the pace of clusters in tests: simulated seconds per second.
const fast = 60

// cluster is a running one with an open API, and its administrator's client.
type cluster struct {
	t    testing.TB
	e    *engine.Engine
	s    *Serving
	cfg  *rest.Config
	http *http.Client
}

// open runs a cluster for the length of a test and waits until it answers.
func open(t testing.TB, masters, workers int, manifests string) *cluster {
	t.Helper()
	return openWith(t, masters, workers, manifests, nil)
}

func openWith(t testing.TB, masters, workers int, manifests string, waits *patience) *cluster {
	t.Helper()
	return openScenario(t, scenario.Scenario{Name: "test", Cluster: scenario.Cluster{Masters: masters, Workers: workers}, Manifests: manifests}, engine.StoreMemory, waits)
}

func openScenario(t testing.TB, sc scenario.Scenario, store string, waits *patience) *cluster {
	t.Helper()
	sc.Default()
	e, err := engine.New(engine.Options{Scenario: sc, Store: store, Seed: 1, Rate: fast, Start: engine.RepeatableStart})
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, e: e}
	t.Cleanup(func() { _ = e.Close() })
	if c.s, err = Start(e, Options{Listen: "127.0.0.1:0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"), patience: waits}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(ctx) // ends when ctx does, and says just that
	}()
	t.Cleanup(func() {
		if err := c.s.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		<-ended
	})
	ready, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if err := c.s.Ready(ready); err != nil {
		t.Fatal(err)
	}
	if c.cfg, err = clientcmd.BuildConfigFromFlags("", c.s.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	c.cfg.QPS = -1
	if c.http, err = rest.HTTPClientFor(c.cfg); err != nil {
		t.Fatal(err)
	}
	return c
}

// stranger is a client that shows no certificate.
func (c *cluster) stranger() *http.Client {
	cfg, err := rest.TLSConfigFor(rest.AnonymousClientConfig(c.cfg))
	if err != nil {
		c.t.Fatal(err)
	}
	tr := &http.Transport{TLSClientConfig: cfg}
	c.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// ask is one request.
type ask struct {
	method, path string
	body         any // bytes and strings as they are, all else as JSON
	header       map[string]string
	client       *http.Client // nil: the administrator's
	host         string       // of the URL; empty: the load balancer's
}

// reply is what came back.
type reply struct {
	code   int
	header http.Header
	body   []byte
}

// object is the body as JSON.
func (r reply) object(t testing.TB) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal(r.body, &m); err != nil {
		t.Fatalf("no JSON: %v: %s", err, r.body)
	}
	return m
}

func (r reply) status(t testing.TB) (st metav1.Status) {
	t.Helper()
	if err := json.Unmarshal(r.body, &st); err != nil || st.Kind != "Status" {
		t.Fatalf("no Status: %v: %s", err, r.body)
	}
	return st
}

// request makes the HTTP request of an ask.
func (c *cluster) request(a ask) *http.Request {
	c.t.Helper()
	var body io.Reader
	switch b := a.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	case []byte:
		body = bytes.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			c.t.Fatal(err)
		}
		body = bytes.NewReader(data)
	}
	at := a.host
	if at == "" {
		at = c.s.URL
	}
	r, err := http.NewRequest(a.method, at+a.path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range a.header {
		r.Header.Set(k, v)
		if k == "Host" {
			r.Host = v
		}
	}
	return r
}

// try sends a request and reads the answer.
func (c *cluster) try(a ask) (reply, error) {
	c.t.Helper()
	client := a.client
	if client == nil {
		client = c.http
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	resp, err := client.Do(c.request(a).WithContext(ctx))
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, data}, err
}

func (c *cluster) do(a ask) reply {
	c.t.Helper()
	r, err := c.try(a)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// must is do for requests that succeed.
func (c *cluster) must(a ask) reply {
	c.t.Helper()
	r := c.do(a)
	if r.code >= 300 {
		c.t.Fatalf("%s %s: %d %s", a.method, a.path, r.code, r.body)
	}
	return r
}

func (c *cluster) get(path string) reply { c.t.Helper(); return c.do(ask{method: "GET", path: path}) }

// until asks again until fn is content.
func (c *cluster) until(what string, fn func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !fn(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			c.t.Fatalf("not within half a minute: %s", what)
		}
	}
}

// pod is a minimal one.
func pod(name string) map[string]any {
	return object("v1", "Pod", name, "spec", map[string]any{"containers": []any{map[string]any{"name": "c", "image": "nginx"}}})
}

func configMap(name string) map[string]any {
	return object("v1", "ConfigMap", name, "data", map[string]any{"a": "b"})
}

func object(apiVersion, kind, name, field string, value any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}, field: value}
}

// insecure speaks TLS without looking at the certificate, for connections by hand.
func (c *cluster) insecure(protocol string) *tls.Conn {
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.s.URL, "https://"), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// insider is a connection by hand with the administrator's certificate.
func (c *cluster) insider(protocol string) *tls.Conn {
	cfg, err := rest.TLSConfigFor(c.cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	cfg.NextProtos = []string{protocol}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.s.URL, "https://"), cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	return conn
}
