// Package term takes the terminal and gives it back, whatever happens in between: its saved state, signals, panics in any goroutine, a hang-up, text on file
// descriptor 2, pastes that never end.
//
// Bubble Tea restores the terminal when all goes well. This package is for when it does not, and it never waits for the program: restoring is a few bytes and one
// system call.
//
// Imports nothing of ours. Goroutines: all functions are safe on any. Time: wall.
package term

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	xterm "github.com/charmbracelet/x/term"
)

// NoTerminalError says that there is no terminal to draw on. Exit code 2.
type NoTerminalError struct{ Why string }

func (e *NoTerminalError) Error() string {
	return "no screen without a terminal: " + e.Why + "; `kubeviz run` works without one"
}

// Terminal that was taken.
type Terminal struct {
	In, Out *os.File
	state   *xterm.State
	once    sync.Mutex
}

// Open checks that there is a terminal and remembers its state. It changes nothing.
func Open(in, out *os.File, getenv func(string) string) (*Terminal, error) {
	switch {
	case !xterm.IsTerminal(in.Fd()):
		return nil, &NoTerminalError{"standard input is not one"}
	case !xterm.IsTerminal(out.Fd()):
		return nil, &NoTerminalError{"standard output is not one"}
	case getenv("TERM") == "dumb" || getenv("TERM") == "":
		return nil, &NoTerminalError{fmt.Sprintf("TERM is %q", getenv("TERM"))}
	}
	state, err := xterm.GetState(in.Fd())
	if err != nil {
		return nil, &NoTerminalError{fmt.Sprintf("its state cannot be read (%v)", err)}
	}
	return &Terminal{In: in, Out: out, state: state}, nil
}

// giveBack ends mouse reports, bracketed paste, focus reports and the alternate screen, shows the cursor and ends all attributes.
const giveBack = "\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[?1049l\x1b[?25h\x1b[0m"

// Restore gives the terminal back as it was. It may be called any number of times and does not wait for a terminal that is stalled.
func (t *Terminal) Restore() {
	t.once.Lock()
	defer t.once.Unlock()
	_ = xterm.Restore(t.In.Fd(), t.state) // first: it cannot block
	done := make(chan struct{})
	go func() { // bare on purpose: two calls that cannot panic, and nobody waits for them long
		defer close(done)
		_, _ = io.WriteString(t.Out, giveBack)
	}()
	select {
	case <-done:
	case <-time.After(300 * time.Millisecond):
		discardOutput(t.Out)
	}
}
