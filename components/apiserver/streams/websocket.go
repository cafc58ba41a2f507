package streams

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	gorilla "github.com/gorilla/websocket"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	"k8s.io/utils/exec"

	"example.com/kubeviz/components/kubeapi"
)

// The subprotocols of WebSocket that lead into containers: version 5 is what kubectl speaks, the tunnel is how it forwards ports. The older versions are for other clients.
const (
	v5Protocol     = remotecommand.StreamProtocolV5Name
	v4Protocol     = remotecommand.StreamProtocolV4Name
	v4Base64       = "v4." + wsstream.Base64ChannelWebSocketProtocol
	tunnelProtocol = "SPDY/3.1+portforward.k8s.io"
)

// channels are the streams of one command in the order of their numbers.
type channels struct {
	in       io.Reader
	out, err io.WriteCloser
	status   io.Writer
	resize   chan remotecommand.TerminalSize
	close    func()
}

// openChannels upgrades the request and opens what was asked for; false: it was answered.
func openChannels(w http.ResponseWriter, r *http.Request, o *remotecommand.Options) (*channels, bool) {
	kind := func(wanted bool, kind wsstream.ChannelType) wsstream.ChannelType {
		if wanted {
			return kind
		}
		return wsstream.IgnoreChannel
	}
	list := []wsstream.ChannelType{kind(o.Stdin, wsstream.ReadChannel), kind(o.Stdout, wsstream.WriteChannel), kind(o.Stderr, wsstream.WriteChannel), wsstream.WriteChannel, wsstream.ReadChannel}
	protocols := map[string]wsstream.ChannelProtocolConfig{}
	for name, binary := range map[string]bool{"": true, v5Protocol: true, v4Protocol: true, v4Base64: false, wsstream.ChannelWebSocketProtocol: true, wsstream.Base64ChannelWebSocketProtocol: false} {
		protocols[name] = wsstream.ChannelProtocolConfig{Binary: binary, Channels: list}
	}
	conn := wsstream.NewConn(protocols)
	conn.SetIdleTimeout(idleTimeout)
	protocol, s, err := conn.Open(w, r)
	if err != nil {
		return nil, false
	}
	c := &channels{status: s[remotecommand.StreamErr], resize: make(chan remotecommand.TerminalSize), close: func() { _ = conn.Close() }}
	if protocol != v5Protocol && protocol != v4Protocol && protocol != v4Base64 {
		c.status = plainStatus{c.status}
	}
	first := s[remotecommand.StreamErr]
	if o.Stdin {
		c.in = s[remotecommand.StreamStdIn]
	}
	if o.Stderr {
		c.err, first = s[remotecommand.StreamStdErr], s[remotecommand.StreamStdErr]
	}
	if o.Stdout {
		c.out, first = s[remotecommand.StreamStdOut], s[remotecommand.StreamStdOut]
	}
	_, _ = first.Write(nil) // tells the client that the connection stands
	go func() {
		defer close(c.resize)
		sizes := json.NewDecoder(s[remotecommand.StreamResize])
		for {
			var size remotecommand.TerminalSize
			if sizes.Decode(&size) != nil {
				return
			}
			select {
			case c.resize <- size:
			case <-r.Context().Done():
				return
			}
		}
	}()
	return c, true
}

// plainStatus writes how a command ended in the way of the oldest protocols: the message of a failure, nothing else.
type plainStatus struct{ w io.Writer }

func (p plainStatus) Write(data []byte) (int, error) {
	var st metav1.Status
	if err := json.Unmarshal(data, &st); err != nil || st.Status == metav1.StatusSuccess {
		return len(data), err
	}
	if _, err := io.WriteString(p.w, st.Message); err != nil {
		return 0, err
	}
	return len(data), nil
}

// overWebSocket runs something over the channels and tells how it ended.
func overWebSocket(w http.ResponseWriter, r *http.Request, o *remotecommand.Options, run func(c *channels) error) {
	c, ok := openChannels(w, r, o)
	if !ok {
		return
	}
	defer c.close()
	data, err := json.Marshal(ending(run(c)))
	if err == nil {
		_, _ = c.status.Write(data) // a client that has gone does not read it
	}
}

// ending is how a command ended, as clients read it (as k8s.io/cri-streaming writes it over SPDY).
func ending(err error) metav1.Status {
	var code exec.CodeExitError
	var refused notUpgraded
	switch {
	case err == nil:
		return metav1.Status{Status: metav1.StatusSuccess}
	case errors.As(err, &refused):
		return apierrors.NewInternalError(err).Status()
	case errors.As(err, &code):
		return metav1.Status{Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason, Message: fmt.Sprintf("command terminated with non-zero exit code: %v", err),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: fmt.Sprint(code.Code)}}}}
	}
	return metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError,
		Message: fmt.Sprintf("Internal error occurred: error executing command in container: %v", err)}
}

// notUpgraded is a kubelet's refusal as an API server tells of it whose own client is connected already.
type notUpgraded struct{ by *kubeapi.KubeletError }

func (n notUpgraded) Error() string { return "unable to upgrade connection: " + n.by.Message }

// tunnelled reports that SPDY is to run inside a WebSocket.
func tunnelled(r *http.Request) bool {
	for _, p := range gorilla.Subprotocols(r) {
		if p == tunnelProtocol {
			return true
		}
	}
	return false
}

// tunnel is a response whose connection is the inside of a WebSocket: what answers SPDY finds it upgraded.
type tunnel struct {
	header http.Header
	conn   net.Conn
}

// openTunnel upgrades the request and gives what stands for it inside; false: it was answered.
func openTunnel(w http.ResponseWriter, r *http.Request) (*tunnel, *http.Request, bool) {
	up := gorilla.Upgrader{Subprotocols: []string{tunnelProtocol}, CheckOrigin: func(*http.Request) bool { return true }} // whose page it comes from was looked at before
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return nil, nil, false
	}
	inside := r.Clone(r.Context())
	for _, h := range []string{"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Extensions", wsstream.WebSocketProtocolHeader} {
		inside.Header.Del(h)
	}
	inside.Header.Set(httpstream.HeaderConnection, httpstream.HeaderUpgrade)
	inside.Header.Set(httpstream.HeaderUpgrade, spdy.HeaderSpdy31)
	inside.Header.Set(httpstream.HeaderProtocolVersion, "portforward.k8s.io")
	_ = conn.SetReadDeadline(time.Time{})
	return &tunnel{header: http.Header{}, conn: portforward.NewTunnelingConnection("server", conn)}, inside, true
}

// Header implements http.ResponseWriter.
func (t *tunnel) Header() http.Header { return t.header }

// WriteHeader implements http.ResponseWriter; the upgrade is done.
func (t *tunnel) WriteHeader(int) {}

// Write implements http.ResponseWriter; nothing but the upgrade is answered here.
func (t *tunnel) Write(data []byte) (int, error) { return len(data), nil }

// Hijack implements http.Hijacker.
func (t *tunnel) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return t.conn, bufio.NewReadWriter(bufio.NewReader(t.conn), bufio.NewWriter(t.conn)), nil
}
