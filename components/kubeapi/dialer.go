package kubeapi

import (
	"errors"
	"fmt"
	"io"

	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Dialer carries requests of one process to an API server. It keeps one connection, as an HTTP/2 client does: the server once picked is used until a call
// fails on the network; then the next call picks anew.
type Dialer struct {
	Net  *simnet.Net
	From simnet.Addr
	// Pick chooses a server for a new connection: the local one, or what the load balancer says. It may park.
	Pick func(p *sim.Proc) (Endpoint, error)
	// Via is the load balancer on the way, nil for a direct connection. It hides which server answers.
	Via *simnet.Addr

	conn *Endpoint
	line simnet.Conn // what is open on conn
}

// TransportError is a failure of the network, not an answer of an API server.
type TransportError struct {
	Server string // host:process as the client knows it
	Err    error
}

func (e *TransportError) Error() string {
	if errors.Is(e.Err, io.EOF) { // there was a connection
		return e.Err.Error()
	}
	return fmt.Sprintf("dial tcp %s: %v", e.Server, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

func (d *Dialer) connect(p *sim.Proc) (Endpoint, error) {
	if d.conn != nil {
		return *d.conn, nil
	}
	ep, err := d.Pick(p)
	if err != nil {
		return ep, d.fail(ep, err)
	}
	d.conn = &ep
	return ep, nil
}

func (d *Dialer) fail(ep Endpoint, err error) error {
	d.conn = nil
	name := ep.Addr
	if d.Via != nil {
		name = *d.Via
	}
	return &TransportError{Server: name.String(), Err: err}
}

// HangUp closes all connections, as a kubelet does when its heartbeats fail again and again: calls and watches in flight end now, the next call picks anew.
func (d *Dialer) HangUp() {
	d.conn = nil
	d.line.HangUp()
}

// Connected names the host of the server in use; empty when there is no connection.
func (d *Dialer) Connected() string {
	if d.conn == nil {
		return ""
	}
	return d.conn.Addr.Host
}

// Server is the address of the server in use; ok is false when there is no connection.
func (d *Dialer) Server() (at simnet.Addr, ok bool) {
	if d.conn == nil {
		return simnet.Addr{}, false
	}
	return d.conn.Addr, true
}

// Do carries a request there and its answer back.
func (d *Dialer) Do(p *sim.Proc, r *Request) (*Response, error) {
	r.From = d.From
	ep, err := d.connect(p)
	if err != nil {
		return nil, err
	}
	resp, err := relay(p, d, ep, r, func(sp *sim.Proc) *Response { return ep.Server.Serve(sp, r) })
	if err != nil {
		return nil, d.fail(ep, err)
	}
	return resp, nil
}

// Watch opens a watch; its stream ends by itself when the connection breaks.
func (d *Dialer) Watch(p *sim.Proc, r *Request) (*WatchStream, error) {
	r.From = d.From
	ep, err := d.connect(p)
	if err != nil {
		return nil, err
	}
	type opened struct {
		stream *WatchStream
		err    error
	}
	res, err := relay(p, d, ep, r, func(sp *sim.Proc) opened {
		s, err := ep.Server.Watch(sp, r, d.Via)
		return opened{s, err}
	})
	if err != nil {
		return nil, d.fail(ep, err)
	}
	if res.err == nil {
		simnet.Carry(&d.line, res.stream)
		if d.Net.Listening(ep.Addr) {
			res.stream.OnClose(func() {
				if !d.Net.Listening(ep.Addr) || !d.Net.Reachable(d.From, ep.Addr) {
					d.conn = nil
				}
			})
		}
	}
	return res.stream, res.err
}

// relay calls the server, through the load balancer where there is one.
func relay[T any](p *sim.Proc, d *Dialer, ep Endpoint, r *Request, serve func(*sim.Proc) T) (T, error) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	if d.Via == nil {
		return simnet.CallOn(p, d.Net, &d.line, d.From, ep.Addr, timeout, serve)
	}
	type relayed struct {
		value T
		err   error
	}
	out, err := simnet.CallOn(p, d.Net, &d.line, d.From, *d.Via, timeout, func(bp *sim.Proc) relayed {
		v, err := simnet.Call(bp, d.Net, *d.Via, ep.Addr, timeout, serve)
		return relayed{v, err}
	})
	if err != nil {
		return out.value, err
	}
	return out.value, out.err
}
