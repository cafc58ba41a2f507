// Package aloud is kubeviz without a screen: the story of a cluster as plain lines, for screen readers, braille lines and pipes, and commands as lines that are
// typed. It writes no escape sequences and never moves the cursor.
//
// Imports of ours: engine/command, engine/journal, tui/narrate, tui/sanitize, tui/term, tui/words; no component, no store, not the assembly. Goroutines: Run has
// one of its own that reads; all else is on the caller's. Time: simulated in what is told, wall between looks at the journal.
package aloud

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"time"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/engine/journal"
	"example.com/kubeviz/tui/narrate"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/term"
	"example.com/kubeviz/tui/words"
)

// Cluster is what is told about and commanded.
type Cluster interface {
	Do(command.Command)
	Journal() *journal.Journal
	Now() time.Time
}

// look is how often the journal is looked at, in wall time.
const look = 200 * time.Millisecond

// lineMax bounds a line that is typed, in bytes.
const lineMax = 8 << 10

// Run tells the story of a cluster until the user says quit, the input ends, or the context does; nil in all three cases. A reader of the output that goes away
// ends it as well.
func Run(ctx context.Context, cluster Cluster, c *words.Catalogue, guard *term.Guard, in io.Reader, out io.Writer) error {
	n := narrate.New(c, cluster.Journal())
	typed := make(chan string)
	ended := make(chan struct{})
	defer close(ended)
	guard.Go("the input", func() {
		defer close(typed)
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, lineMax)
		for lines.Scan() {
			select {
			case typed <- lines.Text():
			case <-ended:
				return
			}
		}
	})
	tick := time.NewTicker(look)
	defer tick.Stop()
	if err := write(out, []string{c.Say("ui.aloud-start")}); err != nil {
		return gone(err)
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return gone(write(out, n.Flush()))
		case <-tick.C:
			err = write(out, n.Lines())
		case line, more := <-typed:
			if !more || quits(line) {
				return gone(write(out, n.Flush()))
			}
			err = write(out, append(n.Flush(), answer(line, cluster, c, n)...))
		}
		if err != nil {
			return gone(err)
		}
	}
}

// Replay tells a recording from its beginning to its end, and where the cluster stands then.
func Replay(j *journal.Journal, c *words.Catalogue, out io.Writer) error {
	n := narrate.New(c, j)
	lines := n.Flush()
	return gone(write(out, append(lines, narrate.Status(c, n.World(), n.World().At)...)))
}

func quits(line string) bool {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "quit", "exit", "q":
		return true
	}
	return false
}

// answer carries out what was typed; what the cluster says to it comes with the story.
func answer(line string, cluster Cluster, c *words.Catalogue, n *narrate.Narrator) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), ":")
	switch strings.ToLower(line) {
	case "":
		return nil
	case "help", "?":
		return help(c)
	case "status":
		return narrate.Status(c, n.World(), cluster.Now())
	}
	order, err := command.Parse(line)
	if err != nil {
		return []string{sanitize.Text(err.Error())}
	}
	cluster.Do(order)
	return nil
}

func help(c *words.Catalogue) []string {
	out := []string{c.Say("ui.aloud-words")}
	for _, w := range command.Words() {
		out = append(out, w.Usage+": "+c.Say("word."+w.Name))
	}
	return append(out, "status: "+c.Say("ui.aloud-status"), "help: "+c.Say("ui.aloud-help"), "quit: "+c.Say("ui.aloud-quit"))
}

func write(out io.Writer, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := io.WriteString(out, strings.Join(lines, "\n")+"\n")
	return err
}

// gone makes nothing of it that nobody reads any more.
func gone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
