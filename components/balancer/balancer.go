// Package balancer is the TCP load balancer in front of the API servers, as an HAProxy beside a kubeadm cluster works: it asks every backend's /readyz, sends new
// connections to the ready one with the fewest. While there is none it still listens: it takes a connection and closes it, so that its client reads EOF.
//
// Health: every 2 s a probe with a limit of 2 s; two failures in a row take a backend out, two successes bring it back; one that was never in needs a single success. A refused
// or unanswered connect counts as a failure too, so that clients find out before the next probe does.
//
// Connections stay where they are when a backend goes out; they end when the backend does. The balancer counts them by client program: a program that connects again
// has given up its old connection.
//
// Owns: Balancer. Imports of ours: components/kubeapi, engine/sim, engine/simnet, engine/event. Goroutines: the loop. Time: simulated.
package balancer

import (
	"errors"
	"io"
	"slices"
	"time"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Figures of the health check and of connecting.
const (
	ProbePeriod    = 2 * time.Second
	ProbeTimeout   = 2 * time.Second
	Fall           = 2 // failures in a row that take a backend out
	Rise           = 2 // successes in a row that bring it back
	ConnectTimeout = 5 * time.Second
	// dialTimeout is how long a client waits for a balancer whose machine is off (cg net.Dialer).
	dialTimeout = 30 * time.Second
)

// Backend is an API server as the balancer's configuration names it.
type Backend struct {
	Host     string
	Endpoint kubeapi.Endpoint
	// Ready answers /readyz, in a process of the server; why is for people when it is not ok.
	Ready func(p *sim.Proc) (ok bool, why string)
	// Cause is the record of the server's start: what a return to health follows from. 0: unknown.
	Cause event.Seq
}

// Config of a balancer.
type Config struct {
	Loop  *sim.Loop
	Net   *simnet.Net
	Sink  event.Sink
	Group *sim.Group
	// Addr is where it listens: host "balancer", process "haproxy".
	Addr simnet.Addr
	// Backends lists the API servers that run now, in configured order; asked each time, since a restarted server is another object. One that is missing counts as
	// refusing connections.
	Backends func() []Backend
	// Silenced tells which record keeps a host from being heard; nil or 0: none. For causes only.
	Silenced func(host string) event.Seq
}

// Balancer of one cluster.
type Balancer struct {
	cfg    Config
	states []*state // in order of first sight
	// last is the backend that got the newest connection: ties go to the next one.
	last    string
	clients map[*sim.Group]*state
}

// state of a backend by host.
type state struct {
	host        string
	healthy     bool
	ever        bool // was healthy once
	inARow      int  // successes if positive, failures if negative
	connections int
	cause       event.Seq
}

// Start makes the balancer listen and probe.
func Start(cfg Config) *Balancer {
	b := &Balancer{cfg: cfg, clients: map[*sim.Group]*state{}}
	cfg.Net.Listen(cfg.Addr, cfg.Group)
	cfg.Loop.Spawn(cfg.Group, "health checks", b.check)
	return b
}

// Healthy lists the hosts of backends that get new connections.
func (b *Balancer) Healthy() []string {
	var hosts []string
	for _, s := range b.states {
		if s.healthy {
			hosts = append(hosts, s.host)
		}
	}
	return hosts
}

// Connections counts the open connections to the backend on host, as far as the balancer knows.
func (b *Balancer) Connections(host string) int {
	for _, s := range b.states {
		if s.host == host {
			return s.connections
		}
	}
	return 0
}

// state finds or makes the state of a host.
func (b *Balancer) state(host string) *state {
	for _, s := range b.states {
		if s.host == host {
			return s
		}
	}
	s := &state{host: host}
	b.states = append(b.states, s)
	return s
}

// check starts a round of probes every period. A probe never outlasts the period, so results come in order.
func (b *Balancer) check(p *sim.Proc) {
	for {
		present := b.cfg.Backends()
		for _, be := range present {
			if be.Cause != 0 {
				b.state(be.Host).cause = be.Cause
			}
			p.Go("probe "+be.Host, func(p *sim.Proc) { b.probe(p, b.state(be.Host), be) })
		}
		for _, s := range b.states {
			if !slices.ContainsFunc(present, func(be Backend) bool { return be.Host == s.host }) {
				b.failed(s, simnet.ErrRefused.Error())
			}
		}
		p.Sleep(ProbePeriod)
	}
}

// probe asks one backend's /readyz.
func (b *Balancer) probe(p *sim.Proc, s *state, be Backend) {
	type answer struct {
		ok  bool
		why string
	}
	a, err := simnet.Call(p, b.cfg.Net, b.cfg.Addr, be.Endpoint.Addr, ProbeTimeout, func(sp *sim.Proc) answer {
		ok, why := be.Ready(sp)
		return answer{ok, why}
	})
	switch {
	case err != nil:
		b.failed(s, err.Error())
	case !a.ok:
		b.failed(s, a.why)
	default:
		b.succeeded(s)
	}
}

func (b *Balancer) failed(s *state, why string) {
	s.inARow = min(s.inARow, 0) - 1
	if s.healthy && -s.inARow >= Fall {
		b.announce(s, false, why)
	}
}

func (b *Balancer) succeeded(s *state) {
	s.inARow = max(s.inARow, 0) + 1
	if !s.healthy && (s.inARow >= Rise || !s.ever) {
		b.announce(s, true, "")
	}
}

// announce journals that a backend is in or out.
func (b *Balancer) announce(s *state, healthy bool, why string) {
	s.healthy, s.ever = healthy, true
	cause := s.cause
	if !healthy && b.cfg.Silenced != nil {
		if seq := b.cfg.Silenced(s.host); seq != 0 {
			cause = seq
		}
	}
	b.cfg.Sink.Emit(event.On(b.cfg.Addr.Process, b.cfg.Addr.Host), cause, event.BackendChanged{Backend: s.host, Healthy: healthy, Reason: why})
}

// Pick chooses a backend for a new connection of p's program and connects to it: the healthy one with the fewest connections, in turn where several have as few. A
// backend that refuses or does not answer is noted, and the next one tried.
//
// Errors: io.EOF when no backend is healthy, simnet.ErrRefused when the balancer's process is down, simnet.ErrTimeout when its machine is off.
func (b *Balancer) Pick(p *sim.Proc) (kubeapi.Endpoint, error) {
	if !b.cfg.Net.HostUp(b.cfg.Addr.Host) {
		p.Sleep(dialTimeout)
		return kubeapi.Endpoint{}, simnet.ErrTimeout
	}
	if b.cfg.Group.Dead() {
		return kubeapi.Endpoint{}, simnet.ErrRefused
	}
	b.hangUp(p.Group())
	var tried []string
	for {
		s, be, ok := b.choose(tried)
		if !ok {
			return kubeapi.Endpoint{}, io.EOF
		}
		tried = append(tried, s.host)
		b.last = s.host
		_, err := simnet.Call(p, b.cfg.Net, b.cfg.Addr, be.Endpoint.Addr, ConnectTimeout, func(*sim.Proc) struct{} { return struct{}{} })
		if err == nil {
			b.connected(p.Group(), s)
			return be.Endpoint, nil
		}
		if errors.Is(err, simnet.ErrRefused) || errors.Is(err, simnet.ErrTimeout) {
			b.failed(s, err.Error())
		}
	}
}

// choose finds the best healthy backend that was not tried yet.
func (b *Balancer) choose(tried []string) (best *state, be Backend, ok bool) {
	present := b.cfg.Backends()
	start := 0
	for i, x := range present {
		if x.Host == b.last {
			start = i + 1
		}
	}
	for i := range present {
		x := present[(start+i)%len(present)]
		s := b.state(x.Host)
		if s.healthy && !slices.Contains(tried, x.Host) && (best == nil || s.connections < best.connections) {
			best, be, ok = s, x, true
		}
	}
	return best, be, ok
}

// connected notes a connection of a client program.
func (b *Balancer) connected(client *sim.Group, s *state) {
	s.connections++
	if _, known := b.clients[client]; !known {
		client.OnKill(func() {
			b.hangUp(client)
			delete(b.clients, client)
		})
	}
	b.clients[client] = s
}

// hangUp ends the connection a client program has, if any.
func (b *Balancer) hangUp(client *sim.Group) {
	if s := b.clients[client]; s != nil {
		s.connections--
		b.clients[client] = nil
	}
}
