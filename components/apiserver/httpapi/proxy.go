package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/proxy"

	"example.com/kubeviz/components/kubeapi"
)

// proxied carries a request on to what listens in a container, and its answer back; links in pages lead through the API server again (apimachinery's util/proxy, as in an API server).
func (c *call) proxied(r *kubeapi.Request, more []string) {
	ctx, cancel := context.WithTimeout(c.r.Context(), c.h.cfg.Timeout)
	defer cancel()
	r.Container = &kubeapi.ContainerQuery{}
	resp, err := c.up.Do(ctx, r)
	if err == nil {
		err = resp.Err
	} else {
		err = c.unanswered(ctx, err)
	}
	if err != nil {
		c.fail(err)
		return
	}
	to, err := url.Parse(resp.Location)
	if err != nil {
		c.fail(fmt.Errorf("where the request leads: %w", err))
		return
	}
	to.Path = "/" + strings.Join(more, "/")
	if len(more) == 0 && !strings.HasSuffix(c.r.URL.Path, "/") {
		to.Path = "" // is redirected to the directory
	}
	port, _ := strconv.Atoi(to.Port()) // the server made it of a number
	// An API server does not know who vouches for a pod.
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			conn, err := resp.Container.Dial(port)
			if err != nil {
				if inner := errors.Unwrap(err); inner != nil {
					err = inner
				}
				return nil, fmt.Errorf("dial tcp %s: %w", to.Host, err)
			}
			return &containerConn{conn, to.Host}, nil
		}}
	c.r.Header.Del("Authorization") // is for the API server, not for pods
	proxy.NewUpgradeAwareHandler(to, transport, true, false, answersError{c}).ServeHTTP(c.w, c.r)
}

// answersError tells a client why nothing came back.
type answersError struct{ c *call }

func (a answersError) Error(_ http.ResponseWriter, _ *http.Request, err error) { a.c.fail(err) }

// containerConn is a connection into a container as net has them. It has no limit of time of its own, as behind a real API server: it ends when
// either side hangs up.
type containerConn struct {
	io.ReadWriteCloser
	host string
}

func (n *containerConn) Network() string                { return "tcp" }
func (n *containerConn) String() string                 { return n.host }
func (n *containerConn) LocalAddr() net.Addr            { return n }
func (n *containerConn) RemoteAddr() net.Addr           { return n }
func (*containerConn) SetDeadline(time.Time) error      { return nil }
func (*containerConn) SetReadDeadline(time.Time) error  { return nil }
func (*containerConn) SetWriteDeadline(time.Time) error { return nil }
