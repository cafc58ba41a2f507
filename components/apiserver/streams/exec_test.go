package streams

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"example.com/kubeviz/components/kubeapi"
)

// serve answers exec requests on loopback as an API server does.
func serve(t *testing.T, ask Ask) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := Session{Ask: ask, Now: time.Now, Pod: "p"}.Exec(w, r, r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// run runs a command with client-go, by WebSocket with SPDY to fall back on, as kubectl does.
func run(t *testing.T, s *httptest.Server, in string, argv ...string) (out, errs string, err error) {
	t.Helper()
	q := url.Values{"command": argv, "stdin": {"true"}, "stdout": {"true"}, "stderr": {"true"}}
	at, _ := url.Parse(s.URL + "/?" + q.Encode())
	cfg := &rest.Config{Host: s.URL}
	spdy, err := remotecommand.NewSPDYExecutor(cfg, http.MethodPost, at)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := remotecommand.NewWebSocketExecutor(cfg, http.MethodGet, at.String())
	if err != nil {
		t.Fatal(err)
	}
	both, err := remotecommand.NewFallbackExecutor(ws, spdy, func(error) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err = both.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(in), Stdout: &o, Stderr: &e})
	return o.String(), e.String(), err
}

func TestCommandsRunThroughTheClientLibrary(t *testing.T) {
	s := serve(t, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) { return box{}, nil })
	if out, _, err := run(t, s, "some words\n", "cat"); err != nil || out != "some words\n" {
		t.Errorf("cat: %v, %q", err, out)
	}
	_, errs, err := run(t, s, "", "exit")
	var code exec.CodeExitError
	if !errors.As(err, &code) || code.Code != 3 || errs != "bye" {
		t.Errorf("exit: %v, %q", err, errs)
	}
	if _, _, err := run(t, s, "", "foo"); err == nil || !strings.HasSuffix(err.Error(), "error executing command in container: no such program") {
		t.Errorf("foo: %v", err)
	}
}

func TestARefusalOfTheKubeletIsReadByTheClient(t *testing.T) {
	s := serve(t, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) {
		return nil, &kubeapi.KubeletError{Code: 500, Message: `container not found ("c")`}
	})
	if _, _, err := run(t, s, "", "cat"); err == nil || !strings.Contains(err.Error(), `unable to upgrade connection: container not found ("c")`) {
		t.Errorf("%v", err)
	}
}
