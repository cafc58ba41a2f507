package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/kubeviz/components/apiserver"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/sim"
	"example.com/kubeviz/engine/simnet"
)

// Host is the machine in the model on which all clients from outside run.
const Host = kubeapi.Outside

// Errors beside those of kubeapi.Transport.
var (
	// ErrPaused: time stands still and the request would change something. It was not done.
	ErrPaused = errors.New("the simulated cluster is paused")
	// ErrUnderWay: time stopped while the request was on its way. It may be done when time goes on.
	ErrUnderWay = errors.New("the simulated cluster was paused while the request was under way; it may still be done when the cluster goes on")
	// ErrClosed: the cluster has ended, or the client has.
	ErrClosed = errors.New("the simulated cluster has ended")
)

// Config of a Gateway.
type Config struct {
	Loop *sim.Loop
	Net  *simnet.Net
	Sink event.Sink
}

// Gateway of one cluster.
type Gateway struct {
	cfg     Config
	clients []*Client // present, in the order of their coming; loop only
	named   map[string]int
	// watching are the open watches; measuring: their lag is looked after. Loop only.
	watching  []*Watch
	measuring bool

	mu     sync.Mutex
	still  bool
	halted chan struct{} // closed while time stands still
	ended  chan struct{}
	over   bool
}

// New makes a gateway. Loop, or before it runs.
func New(cfg Config) *Gateway {
	g := &Gateway{cfg: cfg, named: map[string]int{}, halted: make(chan struct{}), ended: make(chan struct{})}
	cfg.Net.SetHost(Host, true)
	g.rate(cfg.Loop.Rate())
	cfg.Loop.OnRate(g.rate)
	cfg.Net.OnChange(g.serversChanged)
	return g
}

// rate follows the pace of time.
func (g *Gateway) rate(r sim.Rate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch still := r == 0; {
	case still && !g.still:
		close(g.halted)
	case !still && g.still:
		g.halted = make(chan struct{})
	}
	g.still = r == 0
}

// stopped is closed while time stands still.
func (g *Gateway) stopped() (still bool, ch chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.still, g.halted
}

// Close lets everybody go who waits; the loop may have ended. Any goroutine.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over {
		g.over = true
		close(g.ended)
	}
}

// Door is an address outside and where it leads.
type Door struct {
	// Name for people: "balancer", or the host of a master.
	Name string
	// Dial makes the connection of one client. Loop.
	Dial func(from simnet.Addr) *kubeapi.Dialer
	// Server is who answers reads while time stands still; nil: nobody does. Loop.
	Server func() *apiserver.Server
}

// Hello is what a client says of itself when it comes.
type Hello struct {
	kubeapi.ClientInfo
	// User as its certificate or its words say; for people.
	User string
}

// Client is one program outside.
type Client struct {
	g    *Gateway
	door *Door
	who  Hello

	// what follows belongs to the loop
	addr   simnet.Addr
	group  *sim.Group
	dialer *kubeapi.Dialer
	came   event.Seq

	left  atomic.Bool
	gone  chan struct{} // closed when it has left
	lost  chan struct{} // closed when the server it is connected to has gone
	lostO sync.Once
}

// Enter brings a client in. Leave must follow.
func (g *Gateway) Enter(d *Door, who Hello) *Client {
	c := &Client{g: g, door: d, who: who, lost: make(chan struct{}), gone: make(chan struct{})}
	g.cfg.Loop.Control(c.enter)
	return c
}

// enter makes the client a process of the model, once.
func (c *Client) enter() {
	if c.left.Load() || c.group != nil {
		return
	}
	g := c.g
	name := programName(c.who.UserAgent)
	g.named[name]++
	c.addr = simnet.Addr{Host: Host, Process: fmt.Sprintf("%s-%d", name, g.named[name])}
	c.group = g.cfg.Loop.NewGroup(c.addr.String())
	c.dialer = c.door.Dial(c.addr)
	g.clients = append(g.clients, c)
	c.came = g.cfg.Sink.Emit(event.On(c.addr.Process, c.addr.Host), 0, event.ClientConnected{Client: event.On(c.addr.Process, c.addr.Host), Door: c.door.Name,
		UserAgent: c.who.UserAgent, Command: c.who.Command, User: c.who.User})
}

// programName is what the model calls the program behind a user agent: the part before the first slash, if that is a name.
func programName(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, name)
	name = strings.Trim(name, "-._")
	if name == "" {
		return "client"
	}
	return name[:min(len(name), 40)]
}

// Leave ends the client: its watches, its connection, what it waits for. Any goroutine, more than once.
func (c *Client) Leave() {
	if c.left.Swap(true) {
		return
	}
	close(c.gone)
	c.g.cfg.Loop.Control(func() {
		if c.group == nil {
			return
		}
		for i, x := range c.g.clients {
			if x == c {
				c.g.clients = append(c.g.clients[:i:i], c.g.clients[i+1:]...)
				break
			}
		}
		c.dialer.HangUp()
		c.group.Kill()
		c.g.cfg.Sink.Emit(event.On(c.addr.Process, c.addr.Host), c.came, event.ClientGone{Client: event.On(c.addr.Process, c.addr.Host)})
	})
}

// Lost is closed when the server that the client was connected to has ended, which resets its connection.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Left is closed when the client has left.
func (c *Client) Left() <-chan struct{} { return c.gone }

// Listening reports whether somebody listens behind a door: a connection from outside would be taken. Any goroutine.
func (g *Gateway) Listening(ctx context.Context, d *Door) bool {
	up := make(chan bool, 1)
	g.cfg.Loop.Control(func() { up <- d.Server() != nil })
	select {
	case v := <-up:
		return v
	case <-ctx.Done():
	case <-g.ended:
	}
	return false
}

func (c *Client) lose() { c.lostO.Do(func() { close(c.lost) }) }

// serversChanged resets clients whose server has gone. One behind a cut is just silent.
func (g *Gateway) serversChanged() {
	for _, c := range g.clients {
		at, ok := c.dialer.Server()
		if ok && !g.cfg.Net.Listening(at) && g.cfg.Net.HostUp(at.Host) {
			c.lose()
		}
	}
}

// states of something handed to the loop.
const (
	waiting int32 = iota
	begun
	dropped
)

// Do carries a request to an API server and its answer back. The error is a *kubeapi.TransportError, one of this package's, or ctx's; a context that ends leaves the request to itself.
func (c *Client) Do(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error) {
	return carry(ctx, c, r, func(p *sim.Proc) (*kubeapi.Response, error) { return c.dialer.Do(p, r) })
}

// outcome of what a process of the loop did for a goroutine outside.
type outcome[T any] struct {
	value T
	err   error
}

// carry runs ask in a process of the client and waits for what comes of it.
func carry[T any](ctx context.Context, c *Client, r *kubeapi.Request, ask func(*sim.Proc) (T, error)) (T, error) {
	var zero T
	still, stopped := c.g.stopped()
	if still {
		return zero, ErrPaused
	}
	done := make(chan outcome[T], 1)
	var state atomic.Int32
	c.g.cfg.Loop.Post(func() {
		if !state.CompareAndSwap(waiting, begun) {
			return
		}
		c.enter() // what is posted may be taken before what was ordered earlier
		if c.group == nil || c.group.Dead() {
			done <- outcome[T]{err: ErrClosed}
			return
		}
		r.Cause = c.came
		p := c.g.cfg.Loop.Spawn(c.group, string(r.Verb), func(p *sim.Proc) {
			out := outcome[T]{err: ErrClosed}
			defer func() { done <- out }()
			out.value, out.err = ask(p)
		})
		p.Cause = c.came
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		state.CompareAndSwap(waiting, dropped)
		return zero, ctx.Err()
	case <-c.g.ended:
		return zero, ErrClosed
	case <-stopped:
		if state.CompareAndSwap(waiting, dropped) {
			return zero, ErrPaused
		}
		select {
		case o := <-done: // it came just now
			return o.value, o.err
		default:
			return zero, ErrUnderWay
		}
	}
}

// Recall answers a read from what a server's watch cache holds, without letting time pass.
func (c *Client) Recall(ctx context.Context, r *kubeapi.Request) (*kubeapi.Response, error) {
	done := make(chan outcome[*kubeapi.Response], 1)
	c.g.cfg.Loop.Control(func() {
		s := c.door.Server()
		if s == nil {
			done <- outcome[*kubeapi.Response]{err: &kubeapi.TransportError{Server: c.door.Name, Err: simnet.ErrRefused}}
			return
		}
		r.From = c.addr
		done <- outcome[*kubeapi.Response]{value: s.Recall(r)}
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.g.ended:
		return nil, ErrClosed
	}
}

// Still reports that time stands still. Any goroutine.
func (g *Gateway) Still() bool { still, _ := g.stopped(); return still }
