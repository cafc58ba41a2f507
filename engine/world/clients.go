package world

import (
	"time"

	"example.com/kubeviz/engine/event"
)

// Client is a program outside that is connected to the cluster.
type Client struct {
	event.ClientConnected
	At  time.Time
	Seq event.Seq // of its ClientConnected
	// Server it asked last, by host; empty: it has asked nobody yet, as far as is told.
	Server string
	// As is who the API servers take it for: the user of its last request.
	As string
	// Behind counts changes that it has not read, over all its watches.
	Behind int
	// Asked counts requests that are told one by one, Failed those answered with 400 or more, InFlight those without an answer yet, Slow watches that were ended because it read too slowly.
	Asked, Failed, InFlight, Slow int
	// LastAt is when it last asked, was answered, or a watch of it opened or ended.
	LastAt time.Time
}

// Program is what the clients of one program and user are together. It stays for ProgramLinger after the last of them has gone, so that what comes and goes many times a second does
// not flicker on a screen.
type Program struct {
	Name string
	// User and Door are those of the client that came or asked last.
	User, Door string
	// Present clients, and how many have come since the program was first there.
	Present, Came int
	Asked, Failed int
	// Behind counts changes that its clients have not read.
	Behind int
	LastAt time.Time // of anything told of it
}

// ProgramLinger is how long a program is remembered after its last client has gone, by simulated time.
const ProgramLinger = 30 * time.Second

// TooSlow is the reason of event.WatchClosed that tells of a client that did not keep up.
const TooSlow = "the client was too slow"

// Client returns the client of a name ("kubectl-1/outside") that is connected now.
func (w *World) Client(name string) (*Client, bool) {
	seq, ok := w.indexes.clients.Get(name)
	if !ok {
		return nil, false
	}
	return w.Clients.Get(seq)
}

// InFlight visits the requests of a client that have no answer yet, oldest first, by the number of their RequestReceived, until visit says no.
func (w *World) InFlight(client event.Seq, visit func(event.Seq) bool) {
	w.indexes.asking.Scan(func(request event.Seq, a ask) bool { return a.by != client || visit(request) })
}

func (w *World) clientConnected(r event.Record, e event.ClientConnected) {
	if old, ok := w.indexes.clients.Get(string(e.Client)); ok {
		w.clientLeft(r, old)
	}
	c := &Client{ClientConnected: e, At: r.At, Seq: r.Seq, LastAt: r.At}
	w.Clients.Set(r.Seq, c)
	w.indexes.clients.Set(string(e.Client), r.Seq)
	w.programs(r.At, c, func(p *Program) { p.Present++; p.Came++; p.Door = e.Door })
	w.forgetPrograms(r.At)
}

func (w *World) clientGone(r event.Record, e event.ClientGone) {
	if seq, ok := w.indexes.clients.Get(string(e.Client)); ok {
		w.clientLeft(r, seq)
	}
	w.forgetPrograms(r.At)
}

// clientLeft drops a client with its requests and watches: a server that is cut off or dead may never tell of their ends.
func (w *World) clientLeft(r event.Record, seq event.Seq) {
	c, ok := w.Clients.Delete(seq)
	if !ok {
		return
	}
	w.forgetRequests(func(a ask) bool { return a.by == seq })
	w.changeProgram(c.Program(), func(p *Program) { p.Behind -= c.Behind })
	w.indexes.clients.Delete(string(c.Client))
	var keys []string
	w.WatchesOf(c.Client, func(o *Watch) bool { keys = append(keys, watchKey(o.Server, o.Watch)); return true })
	for _, key := range keys {
		w.closeWatch(key)
	}
	w.programs(r.At, c, func(p *Program) { p.Present-- })
}

// ask is a request of a client that has no answer yet.
type ask struct {
	by     event.Seq // ClientConnected of who asked
	server string
}

// forgetRequests drops requests in flight that nobody will answer.
func (w *World) forgetRequests(lost func(ask) bool) {
	if w.indexes.asking.Len() == 0 {
		return
	}
	var gone []event.Seq
	w.indexes.asking.Scan(func(request event.Seq, a ask) bool {
		if lost(a) {
			gone = append(gone, request)
		}
		return true
	})
	for _, request := range gone {
		a, _ := w.indexes.asking.Delete(request)
		w.changeClient(a.by, func(c *Client) { c.InFlight-- })
	}
}

func (w *World) requestReceived(r event.Record, e event.RequestReceived) {
	if w.changeClient(r.Cause, func(c *Client) { c.Server, c.LastAt, c.As = e.Server, r.At, e.User; c.Asked++; c.InFlight++ }) {
		w.indexes.asking.Set(r.Seq, ask{r.Cause, e.Server})
		c, _ := w.Clients.Get(r.Cause)
		w.programs(r.At, c, func(p *Program) { p.Asked++; p.User = e.User })
	}
}

func (w *World) requestDone(r event.Record, e event.RequestDone) {
	a, received := w.indexes.asking.Delete(r.Cause)
	by := a.by
	if !received {
		by = r.Cause // what is only told when it fails follows from the coming of the client
	}
	failed := 0
	if e.Code >= 400 {
		failed = 1
	}
	ok := w.changeClient(by, func(c *Client) {
		c.Server, c.LastAt, c.As, c.Failed = e.Server, r.At, e.User, c.Failed+failed
		if received {
			c.InFlight--
		} else {
			c.Asked++
		}
	})
	if !ok {
		return
	}
	c, _ := w.Clients.Get(by)
	w.programs(r.At, c, func(p *Program) {
		p.User, p.Failed = e.User, p.Failed+failed
		if !received {
			p.Asked++
		}
	})
}

// clientWatches notes that a watch of a client opened or ended.
func (w *World) clientWatches(r event.Record, client event.Actor, server, reason string) {
	seq, ok := w.indexes.clients.Get(string(client))
	if !ok {
		return
	}
	w.changeClient(seq, func(c *Client) {
		c.LastAt, c.Server = r.At, server
		if reason == TooSlow {
			c.Slow++
		}
	})
}

// changeClient replaces a client; false: there is none of that number.
func (w *World) changeClient(seq event.Seq, change func(*Client)) bool {
	old, ok := w.Clients.Get(seq)
	if !ok {
		return false
	}
	c := *old
	change(&c)
	w.Clients.Set(seq, &c)
	return true
}

// programs replaces the program of a client.
func (w *World) programs(at time.Time, c *Client, change func(*Program)) {
	key := c.Program()
	p := Program{Name: event.ProgramName(c.Client), User: c.User}
	if old, ok := w.Programs.Get(key); ok {
		p = *old
	}
	p.LastAt = at
	change(&p)
	w.Programs.Set(key, &p)
}

// changeProgram replaces a program that is known.
func (w *World) changeProgram(key string, change func(*Program)) {
	if old, ok := w.Programs.Get(key); ok {
		p := *old
		change(&p)
		w.Programs.Set(key, &p)
	}
}

// forgetPrograms drops those whose clients have all been gone for a while.
func (w *World) forgetPrograms(now time.Time) {
	var gone []string
	w.Programs.Scan(func(key string, p *Program) bool {
		if p.Present <= 0 && now.Sub(p.LastAt) > ProgramLinger {
			gone = append(gone, key)
		}
		return true
	})
	for _, key := range gone {
		w.Programs.Delete(key)
	}
}
