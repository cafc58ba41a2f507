package userland

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// screen is what somebody sees, and lets a test wait for it.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait until a text has come; what is waited for happens on other goroutines.
func (s *screen) wait(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.String(), want); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q never came, but %q", want, s.String())
		}
	}
}

// mainOf makes a program and tells its exit code.
func mainOf(tty, once bool, argv ...string) (*Main, chan int) {
	box := container("busybox", argv...)
	box.Spec.Stdin, box.Spec.TTY, box.Spec.StdinOnce = true, tty, once
	ended := make(chan int, 1)
	return NewMain(box, argv, func(code int) { ended <- code }), ended
}

func TestAShellIsLeftAndFoundAgainByThoseWhoAttach(t *testing.T) {
	m, ended := mainOf(true, false, "sh")
	in, keys := io.Pipe()
	var out screen
	gone := make(chan struct{})
	go func() { m.Attach(t.Context(), &manual{began}, in, &out, nil); close(gone) }()
	out.wait(t, "/ # ")
	_, _ = io.WriteString(keys, "x=5; cd /etc\r")
	out.wait(t, "/etc # ")
	_ = keys.Close()
	<-gone
	select {
	case code := <-ended:
		t.Fatalf("it ended with %d when its client left", code)
	default:
	}
	in, keys = io.Pipe()
	var again screen
	go m.Attach(t.Context(), &manual{began}, in, &again, nil)
	again.wait(t, "/etc # ")
	_, _ = io.WriteString(keys, "echo x is $x\r")
	again.wait(t, "x is 5\r\n/etc # ")
	_, _ = io.WriteString(keys, "exit 3\r")
	if code := <-ended; code != 3 {
		t.Errorf("code %d", code)
	}
	lines, _ := m.Lines(0)
	if got := strings.Join(text(lines), ""); !strings.Contains(got, "x is 5\n") || strings.Contains(got, "\r") {
		t.Errorf("log %q", got)
	}
}

func TestWhatReadsItsInputEndsWithItsOnlyClient(t *testing.T) {
	for _, c := range []struct {
		argv     []string
		in, want string
		code     int
	}{
		{[]string{"cat"}, "data\n", "data\n", 0},
		{[]string{"wc", "-l"}, "a\nb\n", "2\n", 0},
		{[]string{"sh"}, "echo one\nfor i in 2 3; do\necho $i\ndone\nfalse", "one\n2\n3\n", 1},
		{[]string{"sh"}, "cat\nthis is read by cat\n", "this is read by cat\n", 0},
	} {
		m, ended := mainOf(false, true, c.argv...)
		var out screen
		m.Attach(t.Context(), &manual{began}, strings.NewReader(c.in), &out, &out)
		if code := <-ended; code != c.code || out.String() != c.want {
			t.Errorf("%v: code %d, %q", c.argv, code, out.String())
		}
	}
}

func TestAContainersEndEndsItsProgramAndLetsClientsGo(t *testing.T) {
	m, ended := mainOf(true, false, "sh")
	in, keys := io.Pipe()
	defer func() { _ = keys.Close() }()
	var out screen
	gone := make(chan struct{})
	go func() { m.Attach(t.Context(), &manual{began}, in, &out, nil); close(gone) }()
	out.wait(t, "/ # ")
	m.Close()
	<-gone
	if len(ended) > 0 {
		t.Error("it told an end of its own")
	}
}

func TestCtrlCEndsWhatRunsAndNotTheShell(t *testing.T) {
	m, ended := mainOf(true, false, "sh")
	in, keys := io.Pipe()
	var out screen
	go m.Attach(t.Context(), &manual{began}, in, &out, nil)
	out.wait(t, "/ # ")
	_, _ = io.WriteString(keys, "cat\rhello\r")
	out.wait(t, "hello\r\nhello\r\n") // as it was typed, and as cat says it
	_, _ = io.WriteString(keys, "\x03")
	out.wait(t, "^C\r\n/ # ")
	_, _ = io.WriteString(keys, "echo here\r")
	out.wait(t, "\r\nhere\r\n/ # ")
	_, _ = io.WriteString(keys, "\x03\x04")
	if code := <-ended; code != 130 {
		t.Errorf("code %d, %q", code, out.String())
	}
}
