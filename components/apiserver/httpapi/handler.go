package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/apiserver/httpapi/shift"
	"example.com/kubeviz/components/kubeapi"
)

// Upstream is the way of one client to an API server. The errors of Do and Watch are an answer of the server (Watch), one of Errors, or whatever means that there was no answer: then the
// connection is given up.
type Upstream interface {
	Do(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error)
	// Recall answers a read while time stands still.
	Recall(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error)
	Watch(ctx context.Context, r *kubeapi.Request) (Events, error)
}

// Events is an open watch: Next waits for changes and returns all there are; after the last one the error that ended it, io.EOF for an orderly end.
type Events interface {
	Next(ctx context.Context) ([]kubeapi.WatchEvent, error)
	Close()
	// Drop is Close for a client that does not read what it is sent.
	Drop()
}

// Errors that an Upstream gives when time stands still: nothing was done, or it is not known whether it was.
var (
	ErrPaused   = errors.New("the simulated cluster is paused")
	ErrUnderWay = errors.New("the simulated cluster was paused while the request was under way")
)

// Config of a Handler.
type Config struct {
	// Upstream finds the way of the client behind a request, and the distance of the clocks that holds for it: what is added to simulated times.
	Upstream func(r *http.Request) (Upstream, time.Duration, error)
	// Now is the simulated instant; any goroutine.
	Now func() time.Time
	// HangUp ends the connection that a request came on.
	HangUp func(r *http.Request)
	// Resolver knows what is served; nil: the table of kinds.
	Resolver Resolver
	// OpenAPI answers /openapi/...; nil: there is none.
	OpenAPI http.Handler
	// ClientCAs signed the certificates of clients; nil: none count.
	ClientCAs *x509.CertPool
	// Timeout of requests, on the wall; 0: RequestTimeout.
	Timeout time.Duration
	// WriteTimeout is how long one write to a watch may take, on the wall, before its client counts as gone; 0: half a minute.
	WriteTimeout time.Duration
}

// RequestTimeout is how long a request that is no watch may take (pkg/server/config.go).
const RequestTimeout = 60 * time.Second

// Handler answers HTTP requests to the API servers of one cluster.
type Handler struct {
	cfg Config
}

// New makes a Handler.
func New(cfg Config) *Handler {
	if cfg.Resolver == nil {
		cfg.Resolver = Table{}
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = RequestTimeout
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = writeTimeout
	}
	return &Handler{cfg: cfg}
}

// call is one HTTP request on its way.
type call struct {
	h     *Handler
	w     http.ResponseWriter
	r     *http.Request
	up    Upstream
	shift shift.Clock
	query url.Values
	// prefer is what the client wants to read, best first; settled by negotiate.
	out output
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{h: h, w: w, r: r, out: plainJSON}
	defer c.recovered()
	if err := fromHere(r); err != nil {
		c.fail(err)
		return
	}
	up, distance, err := h.cfg.Upstream(r)
	if err != nil {
		h.cfg.HangUp(r)
		panic(http.ErrAbortHandler)
	}
	c.up, c.shift = up, shift.By(distance)
	if c.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		c.fail(apierrors.NewBadRequest(err.Error()))
		return
	}
	w.Header().Set("Cache-Control", "no-cache, private")
	c.route()
}

// recovered keeps a panic to its request, as Kubernetes' outermost handler does.
func (c *call) recovered() {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	c.fail(apierrors.NewInternalError(fmt.Errorf("panic in HTTP request: %v", v)))
}

// fromHere refuses what a web page may have sent: a name that is not of this machine (DNS rebinding), or an Origin of another site.
func fromHere(r *http.Request) error {
	if !loopbackName(r.Host) {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{},
			Message: fmt.Sprintf("forbidden: host %q is not a name of this machine; use 127.0.0.1 or localhost", r.Host)}}
	}
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || !loopbackName(u.Host) {
			return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{},
				Message: fmt.Sprintf("forbidden: requests of the web page %q are not taken", o)}}
		}
	}
	return nil
}

// loopbackName reports whether a host of a URL, with or without a port, is this machine.
func loopbackName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// request begins a kubeapi.Request for this call.
func (c *call) request() *kubeapi.Request {
	return &kubeapi.Request{Credential: c.h.credential(c.r), Client: client(c.r)}
}

// context bounds the call: the server's limit, or the client's own ("timeout" of its URL), whichever is less.
func (c *call) context() (context.Context, context.CancelFunc, error) {
	limit := c.h.cfg.Timeout
	if t := c.query.Get("timeout"); t != "" {
		d, err := time.ParseDuration(t)
		if err != nil {
			return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - time: invalid duration %q", t))
		}
		if d > 0 && d < limit {
			limit = d
		}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), limit)
	return ctx, cancel, nil
}

// do carries a request up and back. Without an answer the call ends here.
func (c *call) do(r *kubeapi.Request) *kubeapi.Response {
	ctx, cancel, err := c.context()
	if err != nil {
		return &kubeapi.Response{Err: err}
	}
	defer cancel()
	resp, err := c.up.Do(ctx, r)
	if reads := r.Verb == kubeapi.Get || r.Verb == kubeapi.List; reads && (errors.Is(err, ErrPaused) || errors.Is(err, ErrUnderWay)) {
		if resp, err = c.up.Recall(ctx, r); err == nil {
			c.warn("the simulated cluster is paused: this is its state as an API server last knew it")
		}
	}
	if err != nil {
		return &kubeapi.Response{Err: c.unanswered(ctx, err)}
	}
	for _, w := range resp.Warnings {
		c.warn(w)
	}
	return resp
}

// unanswered is what a client hears when its request got no answer. Where its connection broke it hears nothing: this does not return.
func (c *call) unanswered(ctx context.Context, err error) error {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		return err
	case errors.Is(err, ErrPaused):
		return apierrors.NewServiceUnavailable("the simulated cluster is paused and answers reads only; let its time go on (resume) and ask again")
	case errors.Is(err, ErrUnderWay):
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGatewayTimeout, Reason: metav1.StatusReasonTimeout, Details: &metav1.StatusDetails{},
			Message: "the simulated cluster was paused while the request was under way; it may still be done when its time goes on (resume)"}}
	case c.r.Context().Err() != nil: // the client hung up
		panic(http.ErrAbortHandler)
	case ctx.Err() != nil:
		return apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	}
	c.h.cfg.HangUp(c.r)
	panic(http.ErrAbortHandler)
}

// warn adds a Warning header (RFC 7234 as apimachinery writes it).
func (c *call) warn(text string) {
	if h, err := warningHeader(text); err == nil {
		c.w.Header().Add("Warning", h)
	}
}

// client is what a client says of itself.
func client(r *http.Request) *kubeapi.ClientInfo {
	return &kubeapi.ClientInfo{UserAgent: r.UserAgent(), Command: r.Header.Get("Kubectl-Command"), Session: r.Header.Get("Kubectl-Session")}
}

// credential is what a client shows for itself.
func (h *Handler) credential(r *http.Request) *kubeapi.Credential {
	cred := &kubeapi.Credential{}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		shown := r.TLS.PeerCertificates
		o := x509.VerifyOptions{Roots: h.cfg.ClientCAs, Intermediates: x509.NewCertPool(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
		for _, c := range shown[1:] {
			o.Intermediates.AddCert(c)
		}
		if _, err := shown[0].Verify(o); err != nil || h.cfg.ClientCAs == nil {
			cred.Foreign = true
		} else {
			cred.Certified = kubeapi.User{Name: shown[0].Subject.CommonName, Groups: slices.Clone(shown[0].Subject.Organization),
				Extra: map[string][]string{"authentication.kubernetes.io/credential-id": {fmt.Sprintf("X509SHA256=%x", sha256.Sum256(shown[0].Raw))}}}
		}
	}
	if kind, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "bearer") {
		cred.Token = strings.TrimSpace(token)
	}
	cred.Impersonate = kubeapi.User{Name: r.Header.Get("Impersonate-User"), UID: r.Header.Get("Impersonate-Uid"), Groups: r.Header.Values("Impersonate-Group")}
	for name, values := range r.Header {
		if key, ok := strings.CutPrefix(name, "Impersonate-Extra-"); ok {
			if cred.Impersonate.Extra == nil {
				cred.Impersonate.Extra = map[string][]string{}
			}
			key = strings.ToLower(key)
			if plain, err := url.PathUnescape(key); err == nil {
				key = plain
			}
			cred.Impersonate.Extra[key] = append(cred.Impersonate.Extra[key], values...)
		}
	}
	return cred
}

// bodyMax is the most that a body may hold (fidelity API-1; pkg/server/config.go: MaxRequestBodyBytes).
const bodyMax = 3 << 20

// body reads the whole body.
func (c *call) body() ([]byte, error) {
	if c.r.Body == nil {
		return nil, nil
	}
	to := http.NewResponseController(c.w)
	_ = to.SetReadDeadline(time.Now().Add(c.h.cfg.Timeout)) // where there is none to set, the server's own limits hold
	data, err := io.ReadAll(io.LimitReader(c.r.Body, bodyMax+1))
	if err == nil {
		_ = to.SetReadDeadline(time.Time{})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) { // the deadline stays, lest the server waits for the rest before it answers
		return nil, apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)
	}
	if err != nil {
		if c.r.Context().Err() != nil {
			panic(http.ErrAbortHandler)
		}
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if len(data) > bodyMax {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", bodyMax))
	}
	return data, nil
}
