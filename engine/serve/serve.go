// Package serve opens the API of a running cluster on loopback addresses: one for the load balancer, one for each master, and writes the kubeconfig for them.
//
// A master's listener is closed while its API server does not listen, so that a client is refused as by a machine whose server has ended. The load balancer's stays open; where it has no
// backend a connection is taken and closed, as HAProxy does.
//
// Owns: Prepare, Start, Serving. Imports of ours: engine, components/apiserver/{gateway,httpapi,pki}. Goroutines: its own, those of net/http; Listen and Close any. Time: wall.
package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"example.com/kubeviz/components/apiserver/bootstrap"
	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/components/apiserver/gateway"
	"example.com/kubeviz/components/apiserver/httpapi"
	"example.com/kubeviz/components/apiserver/openapi"
	"example.com/kubeviz/components/apiserver/pki"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine"
)

// Limits of connections: those of the real server, and a number that bounds what a mistaken client can take.
const (
	headerMax      = 1 << 20
	connectionsMax = 1000
	streamsMax     = 100 // requests at a time on one HTTP/2 connection, watches among them; a client that has more opens another
	poll           = 20 * time.Millisecond
)

// patience is how long the front waits, on the wall: for a header, for the next request, for a body and the answer to it, and for a watcher to read (0: as httpapi does).
type patience struct{ header, idle, request, write time.Duration }

// usual is the patience of the real server.
var usual = patience{header: 32 * time.Second, idle: 90 * time.Second, request: httpapi.RequestTimeout}

// Options of Start.
type Options struct {
	// Listen is the load balancer's address, on loopback; port 0: any.
	Listen string
	// Kubeconfig to write; empty: a temporary file, removed by Close.
	Kubeconfig string

	patience *patience // nil: usual
}

// UsageError is a mistake in Options.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Serving is an open API.
type Serving struct {
	// URL of the load balancer, and the path of the kubeconfig.
	URL, Kubeconfig string
	// Servers are all URLs, the load balancer's first, and Config is what the kubeconfig holds.
	Servers []string
	Config  []byte

	e         *engine.Engine
	out       *engine.Outside
	ports     []*port
	temporary string
	cancel    context.CancelFunc
	done      sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*session
	conns    int
}

// Check looks at options without doing anything.
func (o Options) Check() error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return &UsageError{fmt.Errorf("--listen %q is not HOST:PORT, such as 127.0.0.1:0", o.Listen)}
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &UsageError{fmt.Errorf("--listen %q is not an address of this machine alone; use 127.0.0.1", o.Listen)}
	}
	return nil
}

// Way into a cluster that nobody outside uses yet. It costs next to nothing: no key is made, no address taken.
type Way struct {
	e   *engine.Engine
	out *engine.Outside
	ca  func() (*pki.Authority, error) // made when somebody needs it first
}

// Prepare lays the way in. The engine must not run yet; Listen may follow, once.
func Prepare(e *engine.Engine) *Way {
	w := &Way{e: e, out: e.Outside(), ca: sync.OnceValues(pki.NewAuthority)}
	e.SignWith(func(asked *x509.CertificateRequest, usage x509.KeyUsage, purposes []x509.ExtKeyUsage, life time.Duration) ([]byte, error) {
		ca, err := w.ca()
		if err != nil {
			return nil, err
		}
		return ca.Sign(asked, usage, purposes, life)
	})
	return w
}

// Start opens the API. The engine must not run yet; Close must follow, before the engine's.
func Start(e *engine.Engine, o Options) (*Serving, error) { return Prepare(e).Listen(o) }

// Listen opens the API, whether the engine runs already or not. Close must follow, before the engine's.
func (w *Way) Listen(o Options) (*Serving, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	ca, err := w.ca()
	if err != nil {
		return nil, err
	}
	cert, err := ca.Serving()
	if err != nil {
		return nil, err
	}
	admin, err := ca.Client(adminName, adminGroup)
	if err != nil {
		return nil, err
	}
	s := &Serving{e: w.e, out: w.out, sessions: map[string]*session{}}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	tlsConfig := &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	host, _, _ := net.SplitHostPort(o.Listen)
	waits := usual
	if o.patience != nil {
		waits = *o.patience
	}
	docs := openapi.New(httpapi.Release)
	var servers []pki.Server
	for i, d := range append([]*gateway.Door{s.out.Balancer}, s.out.Masters...) {
		at, name := o.Listen, pki.ContextPrefix
		if i > 0 {
			at, name = net.JoinHostPort(host, "0"), pki.ContextPrefix+"-"+d.Name
		}
		host := ""
		if i > 0 {
			host = d.Name
		}
		serves := httpapi.WithCustom{Set: func() *custom.Set { return s.out.Custom.Of(host) }}
		p, err := s.open(ctx, d, at, front{tlsConfig, ca.Pool(), docs.With(serves.Set), waits, serves}, i == 0)
		if err != nil {
			return nil, errors.Join(&UsageError{fmt.Errorf("--listen %s: %w", at, err)}, s.Close())
		}
		servers = append(servers, pki.Server{Name: name, URL: "https://" + p.addr})
	}
	s.URL = servers[0].URL
	for _, at := range servers {
		s.Servers = append(s.Servers, at.URL)
	}
	s.Config, err = ca.Kubeconfig(adminName, admin, servers)
	if err == nil {
		err = s.writeKubeconfig(o.Kubeconfig, s.Config)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// The administrator's identity, as kubeadm's admin.conf has it.
const (
	adminName  = "kubernetes-admin"
	adminGroup = bootstrap.Admins
)

func (s *Serving) writeKubeconfig(path string, data []byte) error {
	if path == "" {
		dir, err := os.MkdirTemp("", "kubeviz-")
		if err != nil {
			return fmt.Errorf("temporary folder of the kubeconfig: %w", err)
		}
		s.temporary, path = dir, filepath.Join(dir, "kubeconfig")
	}
	if err := pki.Write(path, data); err != nil {
		return &UsageError{fmt.Errorf("--kubeconfig %s cannot be written: %w", path, err)}
	}
	s.Kubeconfig = path
	return nil
}

// Ready waits until an API server answers through the load balancer.
func (s *Serving) Ready(ctx context.Context) error {
	c := s.out.Gateway.Enter(s.out.Balancer, gateway.Hello{ClientInfo: kubeapi.ClientInfo{UserAgent: "kubeviz"}, User: adminName})
	defer c.Leave()
	cred := &kubeapi.Credential{Certified: kubeapi.User{Name: adminName, Groups: []string{adminGroup}}}
	for {
		resp, err := c.Do(ctx, &kubeapi.Request{Verb: kubeapi.Get, Path: "/readyz", Credential: cred, Client: &kubeapi.ClientInfo{UserAgent: "kubeviz"}})
		if err == nil && resp.Err == nil && !slices.ContainsFunc(resp.Checks, func(ck kubeapi.Check) bool { return ck.Readyz && ck.Failed }) {
			return nil
		}
		if errors.Is(err, gateway.ErrClosed) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * poll):
		}
	}
}

// Close hangs up on all clients and takes back what was written for this run only.
func (s *Serving) Close() error {
	s.cancel()
	s.out.Gateway.Close()
	for _, p := range s.ports {
		p.close()
	}
	s.mu.Lock()
	for _, x := range s.sessions {
		x.client.Leave()
	}
	s.mu.Unlock()
	s.done.Wait()
	return s.Forget()
}

// Forget takes back what was written for this run only, and nothing else: for a program that ends at once.
func (s *Serving) Forget() error {
	if s.temporary != "" {
		return os.RemoveAll(s.temporary)
	}
	return nil
}

// port is one address outside.
type port struct {
	s       *Serving
	door    *gateway.Door
	addr    string // as listened on at first, with its number
	server  *http.Server
	through bool // the load balancer: stays open

	mu       sync.Mutex
	listener net.Listener
	over     bool
}

type connKey struct{}

// front is what all doors share.
type front struct {
	tls     *tls.Config
	clients *x509.CertPool
	docs    http.Handler
	waits   patience
	serves  httpapi.Resolver
}

// open begins to serve a door.
func (s *Serving) open(ctx context.Context, d *gateway.Door, at string, f front, through bool) (*port, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	p := &port{s: s, door: d, addr: l.Addr().String(), through: through}
	h := httpapi.New(httpapi.Config{Upstream: p.upstream, Resolver: f.serves, Now: s.e.Now, HangUp: hangUp, OpenAPI: f.docs, ClientCAs: f.clients, Timeout: f.waits.request, WriteTimeout: f.waits.write})
	p.server = &http.Server{Handler: h, ReadHeaderTimeout: f.waits.header, IdleTimeout: f.waits.idle, MaxHeaderBytes: headerMax, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streamsMax}, TLSConfig: f.tls.Clone(), ErrorLog: log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			ctx = context.WithValue(ctx, connKey{}, c)
			if k := under(c); k != nil {
				ctx = k.lives(ctx)
			}
			return ctx
		},
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	s.ports = append(s.ports, p)
	if through {
		p.serve(l)
		return p, nil
	}
	if err := l.Close(); err != nil { // its number is known; it opens when its server listens
		return nil, err
	}
	s.done.Go(func() { p.follow(ctx) })
	return p, nil
}

func (p *port) serve(l net.Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		_ = l.Close()
		return
	}
	p.listener = &counted{Listener: l, s: p.s, p: p}
	on := tls.NewListener(p.listener, p.server.TLSConfig)
	p.s.done.Go(func() { _ = p.server.Serve(on) }) // ends when the listener does
}

// follow keeps a master's listener as open as its API server is.
func (p *port) follow(ctx context.Context) {
	t := time.NewTicker(poll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		up := p.s.out.Gateway.Listening(ctx, p.door)
		p.mu.Lock()
		open := p.listener
		p.mu.Unlock()
		switch {
		case up && open == nil:
			if l, err := net.Listen("tcp", p.addr); err == nil { // its number may be taken for a while
				p.serve(l)
			}
		case !up && open != nil:
			p.mu.Lock()
			p.listener = nil
			p.mu.Unlock()
			_ = open.Close()
			open.(*counted).reset()
		}
	}
}

func (p *port) close() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	_ = p.server.Close()
}

// counted takes connections while there are not too many, and knows those that are open.
type counted struct {
	net.Listener
	s *Serving
	p *port

	mu    sync.Mutex
	conns map[*conn]struct{}
}

func (l *counted) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if !l.s.take() {
			_ = c.Close()
			continue
		}
		if l.p.through && !l.s.out.Gateway.Listening(context.Background(), l.p.door) {
			l.s.done.Go(func() { // no backend
				defer l.s.give()
				turnAway(c)
			})
			continue
		}
		k := &conn{Conn: c, l: l}
		l.mu.Lock()
		if l.conns == nil {
			l.conns = map[*conn]struct{}{}
		}
		l.conns[k] = struct{}{}
		l.mu.Unlock()
		return k, nil
	}
}

// turnAway closes a connection so that its client reads the end of the stream. Closed outright, with what the client has said unread, it would be reset, and kubectl would tell of that in place
// of EOF.
func turnAway(c net.Conn) {
	defer func() { _ = c.Close() }()
	if t, ok := c.(*net.TCPConn); ok && t.CloseWrite() == nil && t.SetReadDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(t, headerMax))
	}
}

// reset ends all connections as a machine does whose program has died.
func (l *counted) reset() {
	l.mu.Lock()
	all := make([]*conn, 0, len(l.conns))
	for c := range l.conns {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		c.abort()
	}
}

func (s *Serving) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns >= connectionsMax {
		return false
	}
	s.conns++
	return true
}

func (s *Serving) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns--
}

// conn is a client's connection.
type conn struct {
	net.Conn
	l    *counted
	once sync.Once

	mu   sync.Mutex
	own  []*session // that it holds
	gone bool
	end  context.CancelFunc
}

// lives is a context that ends with the connection, also when the request has taken it over (exec, attach, port-forward).
func (c *conn) lives(ctx context.Context) context.Context {
	ctx, end := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = end
	if c.gone {
		end()
	}
	return ctx
}

// abort closes the connection with a reset.
func (c *conn) abort() {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

func (c *conn) Close() error {
	c.once.Do(func() {
		c.l.mu.Lock()
		delete(c.l.conns, c)
		c.l.mu.Unlock()
		c.l.s.give()
		c.mu.Lock()
		own := c.own
		c.own, c.gone = nil, true
		if c.end != nil {
			c.end()
		}
		c.mu.Unlock()
		for _, x := range own {
			c.l.s.release(x)
		}
	})
	return c.Conn.Close()
}

// connOf is the connection that a request came on.
func connOf(r *http.Request) *conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return under(c)
}

// under is the connection below TLS.
func under(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	k, _ := c.(*conn)
	return k
}

func hangUp(r *http.Request) {
	if c := connOf(r); c != nil {
		c.abort()
	}
}

// session is a client of the model: one invocation of kubectl, or one connection of another program.
type session struct {
	key      string
	client   *gateway.Client
	distance time.Duration
	holders  int
}

// upstream finds the client behind a request. The connection holds it until it ends.
func (p *port) upstream(r *http.Request) (httpapi.Upstream, time.Duration, error) {
	c := connOf(r)
	if c == nil {
		return nil, 0, errors.New("a request without a connection")
	}
	user := ""
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		user = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	key := fmt.Sprintf("%s|%p|%s|%s", p.door.Name, c, r.UserAgent(), user)
	if id := r.Header.Get("Kubectl-Session"); id != "" {
		key = p.door.Name + "|" + id + "|" + r.UserAgent() + "|" + user
	}
	s := p.s
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil, 0, net.ErrClosed
	}
	for _, x := range c.own {
		if x.key == key {
			return upstream{x.client}, x.distance, nil
		}
	}
	s.mu.Lock()
	x := s.sessions[key]
	if x == nil {
		hello := gateway.Hello{ClientInfo: kubeapi.ClientInfo{UserAgent: r.UserAgent(), Command: r.Header.Get("Kubectl-Command"), Session: r.Header.Get("Kubectl-Session")}, User: user}
		x = &session{key: key, client: s.out.Gateway.Enter(p.door, hello), distance: time.Since(s.e.Now())}
		s.sessions[key] = x
		s.done.Go(func() { s.watchLoss(x, c) })
	}
	x.holders++
	s.mu.Unlock()
	c.own = append(c.own, x)
	return upstream{x.client}, x.distance, nil
}

// watchLoss ends the connection when the server that its client was connected to has ended.
func (s *Serving) watchLoss(x *session, c *conn) {
	select {
	case <-x.client.Lost():
		s.mu.Lock()
		if s.sessions[x.key] == x {
			delete(s.sessions, x.key)
		}
		s.mu.Unlock()
		c.abort()
		x.client.Leave()
	case <-x.client.Left():
	}
}

func (s *Serving) release(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.holders--
	if x.holders == 0 {
		if s.sessions[x.key] == x {
			delete(s.sessions, x.key)
		}
		x.client.Leave()
	}
}

// upstream is a gateway's client as the HTTP side knows it.
type upstream struct{ c *gateway.Client }

func (u upstream) Do(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error) {
	resp, err := u.c.Do(ctx, r)
	return resp, translated(err)
}

func (u upstream) Recall(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error) {
	resp, err := u.c.Recall(ctx, r)
	return resp, translated(err)
}

func (u upstream) Watch(ctx context.Context, r *kubeapi.Request) (httpapi.Events, error) {
	w, err := u.c.Watch(ctx, r)
	if err != nil {
		return nil, translated(err)
	}
	return w, nil
}

func translated(err error) error {
	switch {
	case errors.Is(err, gateway.ErrPaused):
		return httpapi.ErrPaused
	case errors.Is(err, gateway.ErrUnderWay):
		return httpapi.ErrUnderWay
	}
	return err
}
