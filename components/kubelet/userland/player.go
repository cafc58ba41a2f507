package userland

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// player runs a container's own command in a time of its own, as far as somebody wants to read, and keeps what it prints. Its clock stands between reads.
type player struct {
	cancel context.CancelFunc

	mu     sync.Mutex
	moved  sync.Cond // until, lines or done changed
	now    time.Time
	until  time.Time
	asleep bool // beyond until
	done   bool
	lines  []Line
	bytes  int // in lines
}

// fileMax is where the kubelet begins a new file of a log; what was in the one before is not read any more (containerLogMaxSize).
const fileMax = 10 << 20

// add keeps a line.
func (p *player) add(stderr bool, text []byte) {
	if p.bytes += len(text); p.bytes > fileMax {
		p.lines, p.bytes = nil, len(text)
	}
	p.lines = append(p.lines, Line{At: p.now, Stderr: stderr, Text: string(text)})
}

// spawn is how long the start of a command takes.
const spawn = 1200 * time.Microsecond

// play starts a command of a container at the instant the container started; it stands before the first step.
func play(c *Container, argv []string) *player {
	ctx, cancel := context.WithCancel(context.Background())
	p := &player{cancel: cancel, now: c.Started, until: c.Started, asleep: true}
	p.moved.L = &p.mu
	go func() {
		out, err := &lineWriter{p: p}, &lineWriter{p: p, stderr: true}
		if p.Sleep(ctx, spawn) == nil {
			_, _ = (&Process{Out: out, Err: err, Clock: p, Container: c, Main: true}).Run(ctx, argv) // what it ends with is the runtime's to say
		}
		out.flush()
		err.flush()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done = true
		p.moved.Broadcast()
	}()
	return p
}

// next lets the command run until an instant and returns what it printed before it.
func (p *player) next(until time.Time) []Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.until) {
		p.until = until
		p.asleep = false
		p.moved.Broadcast()
	}
	for !p.done && !p.asleep {
		p.moved.Wait()
	}
	out := p.lines
	p.lines, p.bytes = nil, 0
	return out
}

// close ends the command.
func (p *player) close() {
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = true
	p.moved.Broadcast()
}

// Now is the command's own time.
func (p *player) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// Sleep moves the command's time on, as far as it is wanted; then it waits to be wanted further.
func (p *player) Sleep(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	target := p.now.Add(d + spawn)
	for !target.Before(p.until) && !p.done {
		p.asleep = true
		p.moved.Broadcast()
		p.moved.Wait()
	}
	if ctx.Err() == nil && target.After(p.now) {
		p.now = target
	}
	return ctx.Err()
}

// longestLine is where the runtime cuts a line in two (containerd: max_container_log_line_size).
const longestLine = 16 << 10

type lineWriter struct {
	p      *player
	stderr bool
	rest   []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.rest = append(w.rest, b...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		switch {
		case i < 0 && len(w.rest) < longestLine:
			return len(b), nil
		case i < 0:
			i = longestLine - 1
		}
		w.p.add(w.stderr, w.rest[:i+1])
		w.rest = w.rest[i+1:]
	}
}

func (w *lineWriter) flush() {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	if len(w.rest) > 0 {
		w.p.add(w.stderr, w.rest)
		w.rest = nil
	}
}
