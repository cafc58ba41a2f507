package tui

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"example.com/kubeviz/engine/child"
)

// lent says whether another program has the terminal: the keys that would end us are its, and it ends when the screen has to.
type lent struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	off   bool
	ended chan struct{} // closed when the program and all that it started have been ended; nil: nobody asked for that
}

// lendGrace is how long what has the terminal may take to end after the hang-up: an editor keeps what was written, and puts the terminal right. With pipesGo it has to
// fit into the watchdog.
const lendGrace = 800 * time.Millisecond

// pipesGo is how long something that outlives the program may hold its standard error.
const pipesGo = time.Second

// out reports whether the terminal is given away. Any goroutine.
func (l *lent) out() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cmd != nil
}

// recall ends the program that has the terminal with all that it has started (an editor is kubectl's child), and any that would get it later. Any goroutine.
func (l *lent) recall() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off = true; l.cmd == nil || l.ended != nil {
		return
	}
	of, ended := l.cmd.Process, make(chan struct{})
	l.ended = ended
	go func() {
		defer close(ended)
		child.EndTree(of, lendGrace)
	}()
}

func (l *lent) start(cmd *exec.Cmd) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		return os.ErrClosed
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	l.cmd = cmd
	return nil
}

// end is after the program has ended; what it has started has then ended too, if that was asked for.
func (l *lent) end() {
	l.mu.Lock()
	ended := l.ended
	l.cmd = nil
	l.mu.Unlock()
	if ended != nil {
		<-ended
	}
}

// borrower is a program that gets the terminal as it is: Bubble Tea would put pipes in between. What it says in the end is kept, because the screen covers it afterwards:
// its standard error, and what it would print as its answer (deployment.apps/web edited), which it tells once more by a way of its own.
type borrower struct {
	cmd  *exec.Cmd
	out  *os.File
	lent *lent
	job  *job
	said lastWords
	// hello is shown before it starts.
	hello string
	// tells: it has that way.
	tells bool
}

func (b *borrower) SetStdin(io.Reader)  {}
func (b *borrower) SetStdout(io.Writer) {}
func (b *borrower) SetStderr(io.Writer) {}

func (b *borrower) Run() error {
	b.cmd.Stderr = io.MultiWriter(returns{b.out}, &b.said)
	b.cmd.WaitDelay = pipesGo
	if b.hello != "" {
		_, _ = io.WriteString(b.out, b.hello+"\r\n")
	}
	told := func() {}
	if b.tells {
		told = child.Tell(b.cmd, &b.said)
	}
	if err := b.lent.start(b.cmd); err != nil {
		told()
		return err
	}
	defer b.lent.end()
	err := b.cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) { // it has ended well, and something that it started holds on
		err = nil
	}
	told()
	b.job.said = b.said.lines()
	return err
}

// returns begins each line at the left edge, also in a terminal that the program has made raw by the time its words come through.
type returns struct{ to io.Writer }

func (r returns) Write(p []byte) (int, error) {
	if _, err := r.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// tailMax is how much of the last words of a program is kept, in bytes.
const tailMax = 4 << 10

// lastWords keeps the end of what is written.
type lastWords struct {
	mu  sync.Mutex // two streams come in here
	buf bytes.Buffer
}

func (t *lastWords) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if over := t.buf.Len() - tailMax; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *lastWords) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ReplaceAll(t.buf.String(), "\r", ""))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
