package userland

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// crlf writes to a terminal in raw mode, where a new line needs a carriage return.
type crlf struct{ w io.Writer }

func (c crlf) Write(b []byte) (int, error) {
	if _, err := c.w.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

const (
	lineMax    = 4096         // bytes of a line that is typed; what goes beyond is not taken, as a terminal's driver does
	aheadMax   = 16 * lineMax // bytes typed ahead of who reads them; more waits at the other end
	historyMax = 100
)

// Keys of a terminal.
const (
	ctrlC     = 0x03
	ctrlD     = 0x04
	backspace = 0x08
	ctrlL     = 0x0c
	ctrlU     = 0x15
	escape    = 0x1b
	del       = 0x7f
)

// terminal is the line discipline between somebody's keys and the programs that read them: the terminal at the other end is in raw mode and sends single keys. A shell edits its lines itself;
// what it has started reads whole lines, which are echoed, and is ended by ctrl-c.
type terminal struct {
	out io.Writer // in raw mode

	mu     sync.Mutex
	moved  sync.Cond // keys, shut or broken changed
	keys   []byte
	shut   bool   // there are no more keys
	front  func() // ends what runs in the foreground; nil: nothing does
	broken bool   // it was ended by a key

	line []byte // that a program has begun to read
}

// openTerminal begins to take keys; it is shut when they end, or with ctx.
func openTerminal(ctx context.Context, in io.Reader, out io.Writer) *terminal {
	t := &terminal{out: out}
	t.moved.L = &t.mu
	context.AfterFunc(ctx, t.close)
	go func() {
		defer t.close()
		buf := make([]byte, 1024)
		for {
			n, err := in.Read(buf)
			for _, c := range buf[:n] {
				if !t.put(c) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return t
}

func (t *terminal) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut = true
	t.moved.Broadcast()
}

// put takes one key; false: nobody reads any more.
func (t *terminal) put(c byte) bool {
	t.mu.Lock()
	for len(t.keys) >= aheadMax && !t.shut {
		t.moved.Wait()
	}
	interrupt := c == ctrlC && t.front != nil
	if interrupt { // what was typed ahead goes with it
		t.keys, t.broken = nil, true
		t.front()
	} else if !t.shut {
		t.keys = append(t.keys, c)
	}
	open := !t.shut
	t.moved.Broadcast()
	t.mu.Unlock()
	if interrupt {
		t.write("^C\r\n")
	}
	return open
}

// key waits for the next one; false: there is none.
func (t *terminal) key() (byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.keys) == 0 && !t.shut && !t.broken {
		t.moved.Wait()
	}
	if len(t.keys) == 0 || t.broken {
		return 0, false
	}
	c := t.keys[0]
	t.keys = t.keys[1:]
	t.moved.Broadcast()
	return c, true
}

// foreground runs something that ctrl-c ends; broken says that it did.
func (t *terminal) foreground(ctx context.Context, run func(context.Context)) (broken bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	t.front = cancel
	t.mu.Unlock()
	run(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	broken, t.front, t.broken, t.line = t.broken, nil, false, nil
	return broken
}

// Read gives a program in the foreground the lines that are typed.
func (t *terminal) Read(b []byte) (int, error) {
	for len(t.line) == 0 {
		text, ended := t.cooked()
		if t.line = text; len(text) == 0 && ended {
			return 0, io.EOF
		}
	}
	n := copy(b, t.line)
	t.line = t.line[n:]
	return n, nil
}

// cooked reads a line with its end and echoes it; ended: there is no more, for now.
func (t *terminal) cooked() (typed []byte, ended bool) {
	for {
		c, ok := t.key()
		switch {
		case !ok:
			return nil, true
		case c == '\r' || c == '\n':
			t.write("\r\n")
			return append(typed, '\n'), false
		case c == ctrlD:
			return typed, true
		case c == ctrlU:
			t.erase(typed)
			typed = nil
		case c == del || c == backspace:
			typed = t.shorten(typed)
		case (c >= 0x20 || c == '\t') && len(typed) < lineMax:
			typed = append(typed, c)
			t.write(string([]byte{c}))
		}
	}
}

func (t *terminal) write(s string) { _, _ = io.WriteString(t.out, s) }

// erase takes a line off the screen.
func (t *terminal) erase(typed []byte) {
	for len(typed) > 0 {
		typed = t.shorten(typed)
	}
}

// shorten takes the last letter back, which may be several bytes.
func (t *terminal) shorten(typed []byte) []byte {
	if len(typed) == 0 {
		return typed
	}
	for len(typed) > 0 {
		b := typed[len(typed)-1]
		typed = typed[:len(typed)-1]
		if b < 0x80 || b >= 0xc0 {
			break
		}
	}
	t.write("\b \b")
	return typed
}

// edit reads one line for a shell, echoing what is typed; ok is false at the end of input, and interrupted says that the line was given up.
func (t *terminal) edit(prompt string, history []string) (text string, interrupted, ok bool) {
	t.write(prompt)
	var typed []byte
	at := len(history)
	for {
		c, more := t.key()
		if !more {
			return "", false, false
		}
		switch {
		case c == '\r' || c == '\n':
			t.write("\r\n")
			return string(bytes.TrimSpace(typed)), false, true
		case c == ctrlC:
			t.write("^C\r\n")
			return "", true, true
		case c == ctrlD && len(typed) == 0:
			t.write("\r\n")
			return "", false, false
		case c == ctrlL:
			t.write("\x1b[H\x1b[2J" + prompt + string(typed))
		case c == ctrlU:
			t.erase(typed)
			typed = nil
		case c == del || c == backspace:
			typed = t.shorten(typed)
		case c == escape:
			to := at
			switch t.sequence() {
			case "A":
				to = max(at-1, 0)
			case "B":
				to = min(at+1, len(history))
			}
			if to == at {
				continue
			}
			t.erase(typed)
			typed = nil
			if at = to; at < len(history) {
				typed = []byte(history[at])
			}
			t.write(string(typed))
		case c >= 0x20 && len(typed) < lineMax:
			typed = append(typed, c)
			t.write(string([]byte{c}))
		}
	}
}

// sequence reads what follows an escape.
func (t *terminal) sequence() string {
	var seq []byte
	next, ok := t.key()
	if !ok || next != '[' {
		return ""
	}
	for next, ok = t.key(); ok; next, ok = t.key() {
		if seq = append(seq, next); next >= 0x40 && next <= 0x7e {
			return string(seq)
		}
	}
	return ""
}
