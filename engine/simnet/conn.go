package simnet

import "slices"

// Conn is a client's connection: calls and streams that are open on it end together when it is hung up. The zero value is ready to use, a nil *Conn hangs
// up nothing.
type Conn struct{ open []*onHangUp }

type onHangUp struct{ end func() }

// add registers what to end; the function it returns takes it back.
func (c *Conn) add(end func()) (forget func()) {
	if c == nil {
		return func() {}
	}
	h := &onHangUp{end}
	c.open = append(c.open, h)
	return func() {
		if i := slices.Index(c.open, h); i >= 0 {
			c.open = slices.Delete(c.open, i, i+1)
		}
	}
}

// Carry makes a stream end with the connection.
func Carry[T any](c *Conn, s *Stream[T]) { s.OnClose(c.add(func() { s.Close(ErrClosed) })) }

// HangUp closes the connection from the client's side: what is open on it ends with ErrClosed, in the order in which it was opened.
func (c *Conn) HangUp() {
	open := c.open
	c.open = nil
	for _, h := range open {
		h.end()
	}
}
