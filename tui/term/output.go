package term

import (
	"os"
	"sync"
	"sync/atomic"
)

// Output is the terminal to write on: what is given to one Write reaches it in one piece, so a sequence that is not part of a frame never lands inside one.
type Output struct {
	*os.File
	mu sync.Mutex
	n  atomic.Int64
}

// NewOutput makes the output of a terminal's file.
func NewOutput(f *os.File) *Output { return &Output{File: f} }

// Write writes all of b before any other Write begins.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.File.Write(b)
	o.n.Add(int64(n))
	return n, err
}

// WriteString is Write for a string; without it the embedded file's own would go past the lock.
func (o *Output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }

// Written is how many bytes have been written so far.
func (o *Output) Written() int64 { return o.n.Load() }
