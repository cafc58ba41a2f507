package tui

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// lent says whether another program has the terminal: the keys that would end us are its, and it ends when the screen has to.
type lent struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	off bool
}

// out reports whether the terminal is given away. Any goroutine.
func (l *lent) out() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cmd != nil
}

// recall ends the program that has the terminal, and any that would get it later. Any goroutine.
func (l *lent) recall() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
	if l.cmd != nil {
		_ = l.cmd.Process.Kill()
	}
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

func (l *lent) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cmd = nil
}

// borrower is a program that gets the terminal as it is: Bubble Tea would put pipes in between. What it says on standard error is kept, because the screen covers it
// afterwards.
type borrower struct {
	cmd  *exec.Cmd
	out  *os.File
	lent *lent
	job  *job
	said lastWords
}

func (b *borrower) SetStdin(io.Reader)  {}
func (b *borrower) SetStdout(io.Writer) {}
func (b *borrower) SetStderr(io.Writer) {}

func (b *borrower) Run() error {
	b.cmd.Stderr = io.MultiWriter(b.out, &b.said)
	if err := b.lent.start(b.cmd); err != nil {
		return err
	}
	defer b.lent.end()
	err := b.cmd.Wait()
	b.job.said = b.said.lines()
	return err
}

// tailMax is how much of the last words of a program is kept, in bytes.
const tailMax = 4 << 10

// lastWords keeps the end of what is written.
type lastWords struct{ buf bytes.Buffer }

func (t *lastWords) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - tailMax; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *lastWords) lines() []string {
	text := strings.TrimSpace(strings.ReplaceAll(t.buf.String(), "\r", ""))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
