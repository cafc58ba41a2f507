package streams

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"k8s.io/client-go/rest"

	"example.com/kubeviz/components/kubeapi"
)

// web is a container in which something listens at port 80.
type web struct{ box }

func (web) Dial(port int) (io.ReadWriteCloser, error) {
	if port != 80 {
		return nil, errors.New("connect: connection refused")
	}
	here, there := net.Pipe()
	go func() {
		defer func() { _ = there.Close() }()
		line, err := bufio.NewReader(there).ReadString('\n')
		if err == nil {
			_, _ = fmt.Fprintf(there, "you said %s", line)
		}
	}()
	return here, nil
}

func TestAPortIsForwardedThroughTheClientLibrary(t *testing.T) {
	t.Run("by SPDY", func(t *testing.T) { forwardAPort(t, false) })
	t.Run("through a WebSocket", func(t *testing.T) { forwardAPort(t, true) })
}

func forwardAPort(t *testing.T, tunnelled bool) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask := func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) { return web{}, nil }
		if err := (Session{Ask: ask, Now: time.Now, Pod: "p"}).Serve(w, r, "portforward", 0); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	transport, upgrader, err := spdy.RoundTripperFor(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(s.URL)
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, at)
	if tunnelled {
		if dialer, err = portforward.NewSPDYOverWebsocketDialer(at, &rest.Config{Host: s.URL}); err != nil {
			t.Fatal(err)
		}
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:80", "0:81"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- f.ForwardPorts() }()
	t.Cleanup(func() { close(stop); <-over })
	<-ready
	ports, err := f.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	say := func(port uint16) string {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "hello\n")
		got, _ := io.ReadAll(conn)
		return string(got)
	}
	if got := say(ports[0].Local); got != "you said hello\n" {
		t.Errorf("port 80: %q", got)
	}
	if got := say(ports[1].Local); strings.Contains(got, "said") {
		t.Errorf("port 81: %q", got)
	}
}

func TestWhatAttachesReadsWhatComesFromNowOn(t *testing.T) {
	asked := 0
	ask := func(context.Context, kubeapi.ContainerQuery) (kubeapi.Container, error) {
		asked++
		return box{lines: 2 + asked, ended: asked == 3}, nil
	}
	var out nopCloser
	err := attacher{Session{Ask: ask, Now: time.Now}, box{lines: 2}}.AttachContainer(t.Context(), "", "", "c", nil, &out, nil, true, nil)
	if want := "line 2\r\nline 3\r\nline 4\r\n"; err != nil || out.String() != want {
		t.Errorf("%v, %q", err, out.String())
	}
}

type nopCloser struct{ strings.Builder }

func (*nopCloser) Close() error { return nil }
