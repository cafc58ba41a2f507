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

	"github.com/gorilla/websocket"
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

// run runs a command with client-go, by WebSocket or by SPDY.
func run(t *testing.T, s *httptest.Server, webSocket bool, in string, argv ...string) (out, errs string, err error) {
	t.Helper()
	q := url.Values{"command": argv, "stdin": {"true"}, "stdout": {"true"}, "stderr": {"true"}}
	at, _ := url.Parse(s.URL + "/?" + q.Encode())
	cfg := &rest.Config{Host: s.URL}
	by, err := remotecommand.NewSPDYExecutor(cfg, http.MethodPost, at)
	if webSocket {
		by, err = remotecommand.NewWebSocketExecutor(cfg, http.MethodGet, at.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err = by.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(in), Stdout: &o, Stderr: &e})
	return o.String(), e.String(), err
}

// ways are the two protocols that clients speak.
var ways = map[string]bool{"WebSocket": true, "SPDY": false}

func TestCommandsRunThroughTheClientLibrary(t *testing.T) {
	s := serve(t, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) { return box{}, nil })
	for name, ws := range ways {
		if out, _, err := run(t, s, ws, "some words\n", "cat"); err != nil || out != "some words\n" {
			t.Errorf("%s: cat: %v, %q", name, err, out)
		}
		_, errs, err := run(t, s, ws, "", "exit")
		var code exec.CodeExitError
		if !errors.As(err, &code) || code.Code != 3 || errs != "bye" {
			t.Errorf("%s: exit: %v, %q", name, err, errs)
		}
		if _, _, err := run(t, s, ws, "", "foo"); err == nil || !strings.HasSuffix(err.Error(), "error executing command in container: no such program") {
			t.Errorf("%s: foo: %v", name, err)
		}
	}
}

func TestARefusalOfTheKubeletIsReadByTheClient(t *testing.T) {
	s := serve(t, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) {
		return nil, &kubeapi.KubeletError{Code: 500, Message: `container not found ("c")`}
	})
	for name, ws := range ways {
		want := `unable to upgrade connection: container not found ("c")`
		if ws {
			want = "Internal error occurred: " + want
		}
		if _, _, err := run(t, s, ws, "", "cat"); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOldClientsOfWebSocketAreServed(t *testing.T) {
	s := serve(t, func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) { return box{}, nil })
	for protocol, want := range map[string][]string{
		"v4.channel.k8s.io":        {"\x01", "\x02bye", "\x03{\"metadata\":{},\"status\":\"Failure\""},
		"channel.k8s.io":           {"\x01", "\x02bye", "\x03command terminated with non-zero exit code"},
		"base64.channel.k8s.io":    {"1", "2Ynll"},
		"v4.base64.channel.k8s.io": {"1", "2Ynll"},
	} {
		conn, _, err := (&websocket.Dialer{Subprotocols: []string{protocol}}).Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/?command=exit&stdout=1&stderr=1", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			_, data, err := conn.ReadMessage()
			if err != nil || !strings.HasPrefix(string(data), w) {
				t.Errorf("%s: %v, %q, want %q", protocol, err, data, w)
			}
		}
		_ = conn.Close()
	}
}
