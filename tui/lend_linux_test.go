package tui

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/engine/child"
)

// lentTo runs a script as if it had the terminal, which is a pipe here.
func lentTo(t *testing.T, l *lent, script string, tells bool) (b *borrower, shown func() string, ended chan error) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b = &borrower{cmd: exec.Command("sh", "-c", script), out: to, lent: l, job: &job{}, tells: tells}
	b.cmd.Stdout, b.cmd.Env = to, os.Environ()
	ended = make(chan error, 1)
	go func() { ended <- b.Run() }()
	return b, func() string {
		_ = to.Close()
		text, _ := io.ReadAll(from)
		return string(text)
	}, ended
}

func TestTheScreensEndEndsTheEditorWithKubectl(t *testing.T) {
	for _, deaf := range []string{"", `trap "" HUP; `} {
		dir := t.TempDir()
		// The shell is kubectl, the one in it the editor.
		l := &lent{}
		_, _, ended := lentTo(t, l, `sh -c '`+deaf+`echo $$ > `+dir+`/pid.new; mv `+dir+`/pid.new `+dir+`/pid; sleep 600 & wait; sleep 600'; true`, false)
		var pid string
		for until := time.Now().Add(5 * time.Second); pid == ""; time.Sleep(time.Millisecond) {
			if data, err := os.ReadFile(dir + "/pid"); err == nil {
				pid = strings.TrimSpace(string(data))
			}
			if time.Now().After(until) {
				t.Fatal("the editor does not start")
			}
		}
		l.recall()
		select {
		case <-ended:
		case <-time.After(watchdog):
			t.Fatalf("%q: it does not end before the watchdog bites", deaf)
		}
		if data, err := os.ReadFile("/proc/" + pid + "/stat"); err == nil && !strings.Contains(string(data), ") Z ") {
			t.Errorf("%q: the editor runs on: %s", deaf, data)
		}
		if err := l.start(exec.Command("true")); err == nil {
			t.Error("another gets the terminal after that")
		}
	}
}

func TestTheLastWordsOfALentTerminalAreKept(t *testing.T) {
	b, shown, ended := lentTo(t, &lent{}, `echo edited; eval "echo edited >&$KUBEVIZ_TELL_FD"; echo a warning >&2`, true)
	b.hello = ""
	if err := <-ended; err != nil {
		t.Error(err)
	}
	slices.Sort(b.job.said)
	if want := []string{"a warning", "edited"}; !slices.Equal(b.job.said, want) {
		t.Errorf("%q", b.job.said)
	}
	if got := shown(); got != "edited\na warning\r\n" {
		t.Errorf("the terminal showed %q", got)
	}
}

func TestHowToComeBackIsSaidBeforeASession(t *testing.T) {
	m, _ := kubectlScreen(t, 80, 24)
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m.outside.out = to
	j := &job{line: "exec -it web -- sh"}
	for _, need := range []child.Need{child.Session, child.Answers} {
		if err := m.borrow(j, need).Run(); err != nil {
			t.Error(err)
		}
	}
	_ = to.Close()
	text, _ := io.ReadAll(from)
	if want := m.words.Say("shell.session", "line", j.line) + "\r\n"; string(text) != want {
		t.Errorf("%q, want %q", text, want)
	}
}
