package userland

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"
)

// Main is the program of a container that reads its standard input, a shell above all. It begins when somebody attaches for the first time, goes on while nobody does, and what it prints goes
// to all who are attached and into the container's log. Any goroutine.
type Main struct {
	box   Container
	argv  []string
	ended func(code int)

	mu       sync.Mutex
	moved    sync.Cond // anything below changed
	cancel   context.CancelFunc
	clock    Clock
	over     bool // it has ended, by itself or not
	in       []byte
	inShut   bool
	here     []*attached
	lines    []Line
	gone     int // lines that the log does not hold any more
	bytes    int // in lines
	out, err []byte
}

// attached is somebody who sees what it prints.
type attached struct {
	out, err []byte
	left     bool
}

// waitMax is how much may wait for one who is attached and does not read, before the program waits too; also for what it is given to read.
const waitMax = 256 << 10

// NewMain makes the program of a container; ended is told its exit code, unless it is closed before. It is called on a goroutine of the program's.
func NewMain(box Container, argv []string, ended func(code int)) *Main {
	m := &Main{box: box, argv: argv, ended: ended}
	m.moved.L = &m.mu
	return m
}

// Close ends it: the container has ended otherwise.
func (m *Main) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if m.cancel != nil {
		m.cancel()
	}
	m.moved.Broadcast()
}

// begin starts the program, once.
func (m *Main) begin(clock Clock) {
	if m.cancel != nil || m.over {
		return
	}
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	m.clock = clock
	go func() {
		code, err := (&Process{In: (*mainIn)(m), Out: mainOut{m, false}, Err: mainOut{m, true}, Clock: clock, Container: &m.box, Main: true, TTY: m.box.Spec.TTY}).Run(ctx, m.argv)
		m.mu.Lock()
		own := !m.over && err == nil
		m.over = true
		m.keep(&m.out, false, true)
		m.keep(&m.err, true, true)
		m.moved.Broadcast()
		m.mu.Unlock()
		m.cancel()
		if own {
			m.ended(code)
		}
	}()
}

// Attach shows what the program prints from now on, the line that it is at before all, and gives it what is read from in. It returns when the program has ended, when out takes no more, and
// when in has ended: where the container wants one client for its input (stdinOnce) and has no terminal, the program is then at the end of its input instead.
func (m *Main) Attach(ctx context.Context, clock Clock, in io.Reader, out, errs io.Writer) {
	a := &attached{}
	m.mu.Lock()
	if m.box.Spec.TTY { // as a shell does, which draws its line again when a terminal tells its size
		a.out = bytes.Clone(m.out)
	}
	m.here = append(m.here, a)
	m.begin(clock)
	m.mu.Unlock()
	leave := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		a.left = true
		m.moved.Broadcast()
	}
	defer context.AfterFunc(ctx, leave)()
	if in != nil {
		go func() {
			_, err := io.Copy(mainGive{m}, in)
			if m.box.Spec.StdinOnce && !m.box.Spec.TTY && err == nil {
				m.mu.Lock()
				m.inShut = true
				m.moved.Broadcast()
				m.mu.Unlock()
				return
			}
			leave()
		}()
	}
	for m.pass(a, out, errs) {
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a.left = true
	for i, x := range m.here {
		if x == a {
			m.here = append(m.here[:i:i], m.here[i+1:]...)
		}
	}
	m.moved.Broadcast()
}

// pass writes what has come for one who is attached, or waits for it; false: that was all.
func (m *Main) pass(a *attached, out, errs io.Writer) bool {
	m.mu.Lock()
	for len(a.out) == 0 && len(a.err) == 0 && !a.left && !m.over {
		m.moved.Wait()
	}
	more := !a.left && !m.over
	o, e := a.out, a.err
	a.out, a.err = nil, nil
	m.moved.Broadcast()
	m.mu.Unlock()
	for _, x := range []struct {
		w    io.Writer
		text []byte
	}{{out, o}, {errs, e}} {
		if x.w == nil || len(x.text) == 0 {
			continue
		}
		if _, err := x.w.Write(x.text); err != nil {
			return false
		}
	}
	return more || len(o)+len(e) > 0
}

// Lines of its log from a number on, and the number of the next.
func (m *Main) Lines(from int) ([]Line, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.gone + len(m.lines)
	if from = max(from, m.gone); from >= next {
		return nil, next
	}
	return append([]Line(nil), m.lines[from-m.gone:]...), next
}

// keep moves whole lines of what was printed into the log; all: also the last that has no end.
func (m *Main) keep(part *[]byte, stderr, all bool) {
	for len(*part) > 0 {
		n := bytes.IndexByte(*part, '\n') + 1
		switch {
		case n == 0 && len(*part) >= longestLine:
			n = longestLine
		case n == 0 && !all:
			return
		case n == 0:
			n = len(*part)
		}
		if m.bytes += n; m.bytes > fileMax {
			m.gone += len(m.lines)
			m.lines, m.bytes = nil, n
		}
		m.lines = append(m.lines, Line{At: m.now(), Stderr: stderr, Text: strings.ReplaceAll(string((*part)[:n]), "\r\n", "\n")})
		*part = (*part)[n:]
	}
}

func (m *Main) now() time.Time {
	if m.clock == nil {
		return m.box.Started
	}
	return m.clock.Now()
}

// mainOut is where the program prints.
type mainOut struct {
	m      *Main
	stderr bool
}

func (w mainOut) Write(b []byte) (int, error) {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	part := &m.out
	if w.stderr {
		part = &m.err
	}
	*part = append(*part, b...)
	m.keep(part, w.stderr, false)
	for _, a := range append([]*attached(nil), m.here...) {
		for len(a.out)+len(a.err) > waitMax && !a.left && !m.over {
			m.moved.Wait()
		}
		if w.stderr {
			a.err = append(a.err, b...)
		} else {
			a.out = append(a.out, b...)
		}
	}
	m.moved.Broadcast()
	return len(b), nil
}

// mainGive is where those who are attached write to.
type mainGive struct{ m *Main }

func (w mainGive) Write(b []byte) (int, error) {
	m := w.m
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.in) > waitMax && !m.over {
		m.moved.Wait()
	}
	if m.over || m.inShut {
		return 0, io.ErrClosedPipe
	}
	m.in = append(m.in, b...)
	m.moved.Broadcast()
	return len(b), nil
}

// mainIn is its standard input.
type mainIn Main

func (r *mainIn) Read(b []byte) (int, error) {
	m := (*Main)(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.in) == 0 && !m.inShut && !m.over {
		m.moved.Wait()
	}
	if len(m.in) == 0 || m.over {
		return 0, io.EOF
	}
	n := copy(b, m.in)
	m.in = m.in[n:]
	m.moved.Broadcast()
	return n, nil
}

// asksShell tells the command of a shell that takes its commands from its input.
func asksShell(argv []string) bool {
	if _, base := split(argv[0]); base != "sh" && base != "bash" && base != "ash" && base != "dash" {
		return false
	}
	for _, a := range argv[1:] {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") || strings.HasSuffix(a, "c") && !strings.HasPrefix(a, "--") {
			return false // a script, of the words that follow or in a file
		}
	}
	return true
}

// ReadsInput tells a command that does nothing but work on its standard input: it ends when that does.
func ReadsInput(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	_, base := split(argv[0])
	files := 0
	for _, a := range argv[1:] {
		if !strings.HasPrefix(a, "-") {
			files++
		}
	}
	switch base {
	case "cat", "wc":
		return files == 0
	case "grep":
		return files == 1
	case "head", "tail":
		_, named := count(argv[1:])
		return len(named) == 0
	}
	return asksShell(argv)
}
