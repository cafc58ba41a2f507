package streams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	"k8s.io/utils/exec"

	"example.com/kubeviz/components/kubeapi"
)

// Limits of an open stream, on the wall (pkg/kubelet/server: streamingConnectionIdleTimeout and the default of its creation).
const (
	idleTimeout     = 4 * time.Hour
	creationTimeout = 30 * time.Second
)

// Session is one request for a command or a port.
type Session struct {
	Ask Ask
	// Now is the simulated instant; any goroutine.
	Now func() time.Time
	// Pod is its name.
	Pod string
}

// upgrade finds the container and refuses what cannot be served here, before anything is upgraded. false: it was answered, or err says why not.
func (s Session) upgrade(w http.ResponseWriter, r *http.Request, q kubeapi.ContainerQuery) (c kubeapi.Container, ok bool, err error) {
	c, err = s.Ask(r.Context(), q)
	var refused *kubeapi.KubeletError
	switch {
	case errors.As(err, &refused) && wsstream.IsWebSocketRequestWithStreamCloseProtocol(r): // the API server speaks to the client itself, and to the kubelet behind it
		overWebSocket(w, r, &remotecommand.Options{}, func(*channels) error { return notUpgraded{refused} })
		return nil, false, nil
	case errors.As(err, &refused): // the kubelet's own words pass through as they are
		http.Error(w, refused.Message, refused.Code)
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case c == nil:
		http.Error(w, "the simulated cluster is paused", http.StatusServiceUnavailable)
		return nil, false, nil
	case !wsstream.IsWebSocketRequest(r) && !strings.EqualFold(r.Header.Get("Upgrade"), spdy.HeaderSpdy31):
		return nil, false, apierrors.NewBadRequest("Upgrade request required")
	}
	return c, true, nil
}

// options translates the names of parameters: those of the API are not those between an API server and a runtime.
func options(query url.Values) (*remotecommand.Options, error) {
	o := &remotecommand.Options{Stdin: truth(query, "stdin"), Stdout: truth(query, "stdout"), Stderr: truth(query, "stderr"), TTY: truth(query, "tty")}
	if o.TTY {
		o.Stderr = false // a terminal has one output
	}
	if !o.Stdin && !o.Stdout && !o.Stderr {
		return nil, errors.New("you must specify at least 1 of stdin, stdout, stderr")
	}
	return o, nil
}

// Exec answers a request to run a command. An error means that nothing was written yet.
func (s Session) Exec(w http.ResponseWriter, r *http.Request, query url.Values) error {
	o, err := options(query)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	c, ok, err := s.upgrade(w, r, kubeapi.ContainerQuery{Name: query.Get("container")})
	if !ok {
		return err
	}
	if wsstream.IsWebSocketRequest(r) {
		overWebSocket(w, r, o, func(ch *channels) error {
			return executor{s, c}.ExecInContainer(r.Context(), "", "", "", query["command"], ch.in, ch.out, ch.err, o.TTY, ch.resize, 0)
		})
		return nil
	}
	remotecommand.ServeExec(w, r, executor{s, c}, s.Pod, "", query.Get("container"), query["command"], o, idleTimeout, creationTimeout, remotecommand.SupportedStreamingProtocols)
	return nil
}

// Attach answers a request to be connected to the container's own process. Where that reads no input, it is what it prints from now on, and nothing reads what is typed.
func (s Session) Attach(w http.ResponseWriter, r *http.Request, query url.Values) error {
	o, err := options(query)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil
	}
	c, ok, err := s.upgrade(w, r, kubeapi.ContainerQuery{Name: query.Get("container")})
	if !ok {
		return err
	}
	if wsstream.IsWebSocketRequest(r) {
		overWebSocket(w, r, o, func(ch *channels) error {
			return attacher{s, c}.AttachContainer(r.Context(), "", "", query.Get("container"), ch.in, ch.out, ch.err, o.TTY, ch.resize)
		})
		return nil
	}
	remotecommand.ServeAttach(w, r, attacher{s, c}, s.Pod, "", query.Get("container"), o, idleTimeout, creationTimeout, remotecommand.SupportedStreamingProtocols)
	return nil
}

// PortForward answers a request to lead connections into the pod.
func (s Session) PortForward(w http.ResponseWriter, r *http.Request) error {
	c, ok, err := s.upgrade(w, r, kubeapi.ContainerQuery{})
	if !ok {
		return err
	}
	if tunnelled(r) {
		t, inside, ok := openTunnel(w, r)
		if !ok {
			return nil
		}
		w, r = t, inside
	}
	portforward.ServePortForward(w, r, forwarder{c}, s.Pod, "", &portforward.V4Options{}, idleTimeout, creationTimeout, portforward.SupportedProtocols)
	return nil
}

type executor struct {
	s Session
	c kubeapi.Container
}

// ExecInContainer implements remotecommand.Executor.
func (e executor) ExecInContainer(ctx context.Context, _, _, _ string, argv []string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize,
	_ time.Duration) error {
	go drain(resize)
	cmd := kubeapi.Command{Argv: argv, In: in, TTY: tty, Now: e.s.Now, Sleep: e.s.sleep}
	if out != nil {
		cmd.Out = out
	}
	if errs != nil {
		cmd.Err = errs
	}
	code, err := e.c.Exec(ctx, cmd)
	if err == nil && code != 0 {
		return exec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
	}
	return err
}

// drain takes in sizes of the terminal, which nobody here needs.
func drain(resize <-chan remotecommand.TerminalSize) {
	for more := resize != nil; more; {
		_, more = <-resize
	}
}

// sleepStep is how often a command that sleeps looks at the simulated clock, on the wall.
const sleepStep = 20 * time.Millisecond

// sleep waits in simulated time.
func (s Session) sleep(ctx context.Context, d time.Duration) error {
	for until := s.Now().Add(d); s.Now().Before(until); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(sleepStep):
		}
	}
	return ctx.Err()
}

type attacher struct {
	s Session
	c kubeapi.Container
}

// AttachContainer implements remotecommand.Attacher.
func (a attacher) AttachContainer(ctx context.Context, _, _, container string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go drain(resize)
	cmd := kubeapi.Command{In: in, TTY: tty, Now: a.s.Now, Sleep: a.s.sleep}
	if out != nil { // a nil of its type is something else than none
		cmd.Out = out
	}
	if errs != nil {
		cmd.Err = errs
	}
	if a.c.Attach(ctx, cmd) {
		return nil
	}
	if in != nil {
		go func() {
			_, err := io.Copy(io.Discard, in)
			if err != nil || tty { // the client has gone
				cancel()
			}
		}()
	}
	from := a.c.OpenLog()
	defer from.Close()
	early := from.Next(a.c)
	if !a.c.Early() {
		early = nil // only what comes from now on
	}
	if !show(early, out, errs, tty) {
		return nil
	}
	for c := a.c; !c.Finished(); {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pollEvery):
		}
		now, err := a.s.Ask(ctx, kubeapi.ContainerQuery{Name: container})
		switch {
		case err != nil:
			return nil // it has ended, or its kubelet does not answer
		case now == nil:
			continue
		case now.ID() != c.ID():
			return nil
		}
		c = now
		if !show(from.Next(c), out, errs, tty) {
			return nil
		}
	}
	return nil
}

// show writes lines to who is attached; false: they have gone.
func show(lines []kubeapi.LogLine, out, errs io.Writer, tty bool) bool {
	for _, l := range lines {
		to := out
		if l.Stderr && errs != nil {
			to = errs
		}
		if to == nil {
			continue
		}
		text := l.Text
		if tty {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		if _, err := io.WriteString(to, text); err != nil {
			return false
		}
	}
	return true
}

type forwarder struct{ c kubeapi.Container }

// PortForward implements portforward.PortForwarder: one connection.
func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	conn, err := f.c.Dial(int(port))
	if err != nil {
		return fmt.Errorf("failed to execute portforward in network namespace: failed to connect to localhost:%d inside namespace, IPv4: %w", port, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, stream)
		_ = conn.Close()
	}()
	_, _ = io.Copy(stream, conn)
	return nil
}
