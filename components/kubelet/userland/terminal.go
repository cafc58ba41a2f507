package userland

import (
	"bufio"
	"bytes"
	"context"
	"io"
)

// crlf writes to a terminal in raw mode, where a new line needs a carriage return.
type crlf struct{ w io.Writer }

func (c crlf) Write(b []byte) (int, error) {
	if _, err := c.w.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// lineMax bounds a line that is typed; what goes beyond is not taken, as a terminal's driver does.
const lineMax = 4096

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

// terminal is the shell of somebody who types: a line discipline of its own, because the terminal at the other end is in raw mode and sends single keys.
type terminal struct {
	p    *Process
	in   *bufio.Reader
	out  io.Writer // in raw mode
	last int       // exit code of the last line
}

// interact runs a shell until it is left; its code is that of the last command.
func (p *Process) interact(ctx context.Context, std stdio) int {
	t := &terminal{p: p, in: bufio.NewReader(std.in), out: p.Out}
	for ctx.Err() == nil {
		text, ok := t.line(t.prompt())
		if !ok {
			return t.last
		}
		if text == "exit" || text == "logout" {
			return t.last
		}
		if text == "" {
			continue
		}
		left := false
		t.last, left = p.typed(ctx, text, stdio{bytes.NewReader(nil), std.out, std.err, std.env})
		if left {
			return t.last
		}
	}
	return 137
}

// prompt is what shells of common images print.
func (t *terminal) prompt() string {
	if busybox(t.p.Container.Repository) {
		return t.p.cwd + " # "
	}
	return "root@" + t.p.Container.Hostname() + ":" + t.p.cwd + "# "
}

func (t *terminal) write(s string) { _, _ = io.WriteString(t.out, s) }

// line reads one line, echoing what is typed; ok is false at the end of input.
func (t *terminal) line(prompt string) (text string, ok bool) {
	t.write(prompt)
	var typed []byte
	for {
		c, err := t.in.ReadByte()
		if err != nil {
			return "", false
		}
		switch {
		case c == '\r' || c == '\n':
			t.write("\r\n")
			return string(bytes.TrimSpace(typed)), true
		case c == ctrlC:
			t.write("^C\r\n")
			t.last = 130
			return "", true
		case c == ctrlD && len(typed) == 0:
			t.write("\r\n")
			return "", false
		case c == ctrlL:
			t.write("\x1b[H\x1b[2J" + prompt + string(typed))
		case c == ctrlU:
			for range typed {
				t.write("\b \b")
			}
			typed = nil
		case (c == del || c == backspace) && len(typed) > 0:
			for len(typed) > 0 { // a letter may be several bytes
				b := typed[len(typed)-1]
				typed = typed[:len(typed)-1]
				if b < 0x80 || b >= 0xc0 {
					break
				}
			}
			t.write("\b \b")
		case c == escape: // an arrow, or another key that is not known here
			if next, err := t.in.ReadByte(); err == nil && next == '[' {
				for next, err = t.in.ReadByte(); err == nil && (next < 0x40 || next > 0x7e); next, err = t.in.ReadByte() {
				}
			}
		case c >= 0x20 && c != del && len(typed) < lineMax:
			typed = append(typed, c)
			t.write(string([]byte{c}))
		}
	}
}
