package aloud

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/fixture"
	"example.com/kubeviz/tui/term"
	"example.com/kubeviz/tui/words"
)

// cluster that keeps the orders it is given.
type cluster struct {
	journal *journal.Journal
	mu      sync.Mutex
	orders  []string
}

func (c *cluster) Do(o command.Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.orders = append(c.orders, o.String())
}
func (c *cluster) Journal() *journal.Journal { return c.journal }
func (c *cluster) Now() time.Time            { return fixture.Start.Add(time.Minute) }

// trouble is a journal of a cluster that something has happened to.
func trouble() *journal.Journal {
	j := journal.New(journal.Options{Capacity: 4096, Now: func() time.Time { return fixture.Start }})
	for _, r := range fixture.Trouble(3).Records {
		j.Append(r)
	}
	return j
}

// hear runs a cluster with what is typed and gives what was said.
func hear(t *testing.T, c *cluster, lang, typed string) string {
	t.Helper()
	catalogue, err := words.Language(lang)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := Run(ctx, c, catalogue, &term.Guard{}, strings.NewReader(typed), &out); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatal("it did not end")
	}
	if strings.ContainsAny(out.String(), "\x1b\r\x07") {
		t.Errorf("escape sequences: %q", out.String())
	}
	return out.String()
}

func TestTheStoryIsToldInLines(t *testing.T) {
	for lang, want := range map[string]string{"en": "master-1", "ru": "master-1"} {
		said := hear(t, &cluster{journal: trouble()}, lang, "")
		if lines := strings.Split(strings.TrimSpace(said), "\n"); len(lines) < 5 || !strings.HasPrefix(lines[1], "+") || !strings.Contains(said, want) {
			t.Errorf("%s: %s", lang, said)
		}
	}
}

func TestTypedCommandsAreGivenToTheCluster(t *testing.T) {
	c := &cluster{journal: trouble()}
	said := hear(t, c, "en", "kill master-2\n  :get pods \n\nKILL master-3\n")
	if got := strings.Join(c.orders, "; "); got != "kill master-2; kubectl get pods; kill master-3" {
		t.Errorf("the cluster was told %q\n%s", got, said)
	}
}

func TestAWrongCommandIsAnsweredWithHowToWriteIt(t *testing.T) {
	c := &cluster{journal: trouble()}
	said := hear(t, c, "en", "cut\nfrobnicate \x1b[31m\n")
	if len(c.orders) != 0 || !strings.Contains(said, "write: cut A B") || !strings.Contains(said, "frobnicate") {
		t.Errorf("orders %q, said %s", c.orders, said)
	}
}

func TestHelpStatusAndQuit(t *testing.T) {
	c := &cluster{journal: trouble()}
	said := hear(t, c, "en", "status\nhelp\nquit\nkill master-2\n")
	for _, want := range []string{"after the start", "partition A,B | C,D: cut all links", "status: where the cluster stands", "quit: "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if len(c.orders) != 0 {
		t.Errorf("after quit the cluster was told %q", c.orders)
	}
	if said := hear(t, c, "ru", "help\n"); !strings.Contains(said, "kill TARGET: обесточить") {
		t.Errorf("help in Russian:\n%s", said)
	}
}

func TestItEndsWithTheContextAndWhenNobodyReads(t *testing.T) {
	r, w := io.Pipe() // nobody types
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(300*time.Millisecond, cancel)
	var out strings.Builder
	if err := Run(ctx, &cluster{journal: trouble()}, words.English(), &term.Guard{}, r, &out); err != nil || !strings.Contains(out.String(), "+") {
		t.Errorf("%v after %s", err, out.String())
	}
	pr, pw := io.Pipe()
	pr.Close()
	if err := Run(context.Background(), &cluster{journal: trouble()}, words.English(), &term.Guard{}, r, pw); err != nil {
		t.Errorf("a reader that went away is a fault: %v", err)
	}
	full := errors.New("no space left")
	if err := Replay(trouble(), words.English(), broken{full}); !errors.Is(err, full) {
		t.Errorf("a disk that is full is answered %v", err)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestARecordingIsToldToItsEnd(t *testing.T) {
	var out strings.Builder
	if err := Replay(trouble(), words.English(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "after the start") || strings.Count(out.String(), "\n") < 8 {
		t.Errorf("%s", out.String())
	}
}
