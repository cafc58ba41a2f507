package term

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a paste; what is longer or slower is taken for one whose end was lost.
const (
	pasteMax  = 64 << 10
	pasteTime = time.Second
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Input is the terminal as Bubble Tea reads it: pastes arrive as plain characters on one line while a text field is open and not at all otherwise, so that one
// without an end cannot swallow the keys after it, and the end of input is reported.
type Input struct {
	*os.File
	// Gone is called once when the terminal has hung up.
	Gone func(error)

	typing atomic.Bool
	gone   sync.Once
	filter pasteFilter
}

// NewInput wraps a terminal.
func NewInput(f *os.File, gone func(error)) *Input { return &Input{File: f, Gone: gone} }

// Typing says whether a text field is open.
func (i *Input) Typing(on bool) { i.typing.Store(on) }

// Read gives what was typed. It may give nothing without an error.
func (i *Input) Read(p []byte) (int, error) {
	n, err := i.File.Read(p)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		if i.Gone != nil {
			i.gone.Do(func() { i.Gone(err) })
		}
		if !errors.Is(err, io.EOF) {
			err = io.EOF // Bubble Tea ends for other errors before the terminal is given back
		}
		return n, err
	}
	return i.filter.apply(p[:n], cap(p), i.typing.Load(), time.Now()), nil
}

// pasteFilter takes the marks of bracketed paste out of a stream.
type pasteFilter struct {
	inside bool
	since  time.Time
	size   int
	held   []byte // the beginning of a mark at the end of what was read
}

// apply filters p in place and returns how much is left. room is how much p can hold, for what was held back before.
func (f *pasteFilter) apply(p []byte, room int, typing bool, now time.Time) int {
	in := append(f.held, p...)
	f.held = nil
	out := p[:0:room]
	for len(in) > 0 {
		if f.inside && (now.Sub(f.since) > pasteTime || f.size > pasteMax) {
			f.inside = false
		}
		mark := pasteStart
		if f.inside {
			mark = pasteEnd
		}
		if bytes.HasPrefix(in, mark) {
			in = in[len(mark):]
			f.inside = !f.inside
			f.since, f.size = now, 0
			continue
		}
		if len(in) >= 3 && len(in) < len(mark) && bytes.HasPrefix(mark, in) {
			f.held = append([]byte(nil), in...)
			break
		}
		c := in[0]
		in = in[1:]
		if f.inside {
			f.size++
			switch {
			case !typing:
				continue
			case c == '\n' || c == '\r' || c == '\t':
				c = ' '
			case c < 0x20 || c == 0x7f:
				continue
			}
		}
		if len(out) < room {
			out = append(out, c)
		}
	}
	return len(out)
}
