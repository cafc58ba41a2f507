// Package child runs the real kubectl as a child process of this program: for the console inside the screen, for `kubeviz kubectl` in a shell, for tests.
//
// Kubectl says which program to start and against which cluster; its environment keeps the user's own clusters, caches and preferences out of reach whatever is typed.
// Start gives a Run whose lines are pulled, as a frame pulls records; a slow reader holds the child back, not the other way round. Cancel is Ctrl+C, twice is a kill.
// Complete asks kubectl's own completion, in bounded time. Interactive tells what wants the terminal for itself: that is for the caller to run, with Command, and to end, with EndTree.
//
// What comes out is as kubectl wrote it, tidied by nobody: who draws it sanitises it.
//
// Imports of ours: none. Goroutines: one per pipe and one that waits; methods are safe anywhere. Time: wall.
package child

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kubectl is how to run it.
type Kubectl struct {
	Program []string // this program, and the word that makes it kubectl
	// Kubeconfig, Cache and Home are those of the cluster; UserHome is given back to an editor.
	Kubeconfig, Cache, Home, UserHome string
	// Servers are the addresses that the cluster answers at: the child speaks to no other, whatever becomes of the kubeconfig.
	Servers []string
}

// ours are variables that the child has from us, or that it must not have.
var ours = map[string]bool{"KUBECONFIG": true, "KUBECACHEDIR": true, "KUBECTL_KUBERC": true, "KUBERC": true, "HOME": true, "KUBERNETES_SERVICE_HOST": true, "KUBERNETES_SERVICE_PORT": true,
	"POD_NAMESPACE": true, "KUBEVIZ_USER_HOME": true, "KUBEVIZ_SERVERS": true, "KUBERNETES_MASTER": true, "KUBEVIZ_TELL_FD": true}

// Environment of a child: the given one (os.Environ) with what leads to other clusters replaced.
func (k Kubectl) Environment(given []string) []string {
	out := make([]string, 0, len(given)+6)
	for _, kv := range given {
		name, _, _ := strings.Cut(kv, "=")
		if !ours[strings.ToUpper(name)] {
			out = append(out, kv)
		}
	}
	return append(out, "KUBECONFIG="+k.Kubeconfig, "KUBECACHEDIR="+k.Cache, "HOME="+k.Home, "KUBEVIZ_USER_HOME="+k.UserHome, "KUBEVIZ_SERVERS="+strings.Join(k.Servers, ","), "KUBECTL_KUBERC=false", "KUBERC=off")
}

// Command is a child that has the terminal to itself: an editor, a shell in a container.
func (k Kubectl) Command(args ...string) *exec.Cmd {
	argv := append(append([]string{}, k.Program...), args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = k.Environment(os.Environ())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// Line of output.
type Line struct {
	Text  string
	Error bool // standard error
}

const (
	heldMax = 2000             // lines that wait to be pulled before the child is held back
	lineMax = 64 << 10         // bytes of one line; the rest follows as the next
	grace   = 3 * time.Second  // between the interrupt and the kill
	drain   = 10 * time.Second // for pipes that somebody else holds open after the child's end
)

// Run is a child at work.
type Run struct {
	cmd *exec.Cmd

	mu        sync.Mutex
	room      *sync.Cond
	held      []Line
	ended     bool
	code      int
	cancelled int
	done      chan struct{}
}

// Start starts kubectl with these arguments. Without stdin it reads nothing. Width and height are those of the pane, 0 if there is none.
func (k Kubectl) Start(args []string, stdin io.Reader, width, height int) (*Run, error) {
	cmd := k.Command(args...)
	cmd.Stdin, cmd.WaitDelay = stdin, drain
	if width > 0 {
		cmd.Env = append(cmd.Env, "COLUMNS="+strconv.Itoa(width), "LINES="+strconv.Itoa(height))
	}
	ownGroup(cmd)
	r := &Run{cmd: cmd, done: make(chan struct{})}
	r.room = sync.NewCond(&r.mu)
	out, errs := &lines{run: r}, &lines{run: r, error: true}
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		err := cmd.Wait()
		out.flush()
		errs.flush()
		r.mu.Lock()
		r.ended, r.code = true, code(err, cmd)
		r.mu.Unlock()
		close(r.done)
	}()
	return r, nil
}

// code is the exit code as a shell has it.
func code(err error, cmd *exec.Cmd) int {
	if cmd.ProcessState == nil {
		return 1
	}
	if n := signalOf(cmd.ProcessState); n != 0 {
		return 128 + n
	}
	if c := cmd.ProcessState.ExitCode(); c != 0 || err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return c
	}
	return 1
}

// Pull takes the lines that have come since; ended with the exit code once the last is taken.
func (r *Run) Pull() (lines []Line, ended bool, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines, r.held = r.held, nil
	r.room.Broadcast()
	return lines, r.ended, r.code
}

// Done is closed when the child has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Cancel interrupts the child and all that it started, as Ctrl+C does; what does not end then, or is cancelled again, is killed.
func (r *Run) Cancel() {
	r.mu.Lock()
	r.cancelled++
	n := r.cancelled
	ended := r.ended
	r.room.Broadcast() // nobody reads any more: what is said goes nowhere
	r.mu.Unlock()
	if ended {
		return
	}
	if n > 1 {
		kill(r.cmd)
		return
	}
	interrupt(r.cmd)
	go func() {
		select {
		case <-r.done:
		case <-time.After(grace):
			kill(r.cmd)
		}
	}()
}

// Wait runs to the end and returns all lines.
func (r *Run) Wait(ctx context.Context) (all []Line, code int) {
	for {
		some, ended, code := r.Pull()
		all = append(all, some...)
		if ended {
			return all, code
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			r.Cancel()
			<-r.done
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// lines cuts a stream. Write is called by one goroutine, flush after it.
type lines struct {
	run   *Run
	error bool
	part  []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.part = append(l.part, p...)
			p = nil
		} else {
			l.part = append(l.part, p[:i]...)
			p = p[i+1:]
			l.give()
			continue
		}
		for len(l.part) > lineMax {
			rest := append([]byte(nil), l.part[lineMax:]...)
			l.part = l.part[:lineMax]
			l.give()
			l.part = rest
		}
	}
	return n, nil
}

func (l *lines) give() {
	line := Line{Text: strings.TrimSuffix(string(l.part), "\r"), Error: l.error}
	l.part = l.part[:0]
	r := l.run
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.held) >= heldMax && r.cancelled == 0 {
		r.room.Wait()
	}
	if len(r.held) < heldMax {
		r.held = append(r.held, line)
	}
}

func (l *lines) flush() {
	if len(l.part) > 0 {
		l.give()
	}
}

// Offer of a completion.
type Offer struct{ Word, About string }

// Complete asks kubectl what may stand for the last of the words; "" asks for a new one. It takes as long as ctx allows.
func (k Kubectl) Complete(ctx context.Context, words []string) ([]Offer, error) {
	run, err := k.Start(append([]string{"__complete"}, words...), nil, 0, 0)
	if err != nil {
		return nil, err
	}
	all, _ := run.Wait(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, l := range all {
		if !l.Error {
			text.WriteString(l.Text + "\n")
		}
	}
	return offers(text.String()), nil
}

// directives of cobra's protocol that make the words something else than words.
const directiveError, directiveFilter, directiveDirs = 1, 8, 16

// offers reads the answer of __complete: a word and a tab and its description a line, then a colon and a number.
func offers(text string) []Offer {
	var out []Offer
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if n, ok := strings.CutPrefix(s.Text(), ":"); ok {
			if d, err := strconv.Atoi(n); err == nil {
				if d&(directiveError|directiveFilter|directiveDirs) != 0 {
					return nil
				}
				return out
			}
		}
		word, about, _ := strings.Cut(s.Text(), "\t")
		if word != "" && !strings.HasPrefix(word, "_activeHelp_") {
			out = append(out, Offer{Word: word, About: about})
		}
	}
	return nil // cut short: not to be trusted
}

// valued are flags of all commands whose value is the next word.
var valued = map[string]bool{"-n": true, "--namespace": true, "--context": true, "--cluster": true, "--user": true, "--as": true, "--as-group": true, "--as-uid": true, "--token": true, "-v": true,
	"--v": true, "--request-timeout": true, "--container": true, "--image": true, "--filename": true, "--selector": true, "--output": true, "--labels": true}

// Need is what a line wants of the terminal.
type Need int

const (
	// NoTerminal: its output is all there is to see of it.
	NoTerminal Need = iota
	// Answers: it asks, or starts an editor; afterwards its last words tell what has come of it.
	Answers
	// Session: somebody works in a container until they leave it.
	Session
)

// Interactive tells whether a line wants the terminal for itself.
func Interactive(args []string) Need {
	verb, rest := "", args
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			verb, rest = args[i], args[i+1:]
			break
		}
		if valued[args[i]] {
			i++
		}
	}
	switch verb {
	case "edit":
		return Answers
	case "apply", "config", "create", "set":
		for _, a := range rest {
			if a == "edit-last-applied" || a == "edit" || a == "--edit" || a == "--edit=true" {
				return Answers
			}
		}
	case "delete":
		if wanted(rest, "i", "interactive") {
			return Answers
		}
	case "exec", "attach", "run", "debug":
		if wanted(rest, "it", "stdin", "tty") {
			return Session
		}
	}
	return NoTerminal
}

// letterValued are the short flags of interactive commands that take a value: what follows in the same word is that, or else the next word.
const letterValued = "cfklnosv"

// wanted tells whether one of some flags without values is given: letters are their short names, alone or among others in one word (-itc NAME).
func wanted(args []string, letters string, names ...string) (on bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return on
		case strings.HasPrefix(a, "--"):
			name, value, has := strings.Cut(a[2:], "=")
			if slices.Contains(names, name) {
				on = on || !has || truth(value)
			} else if !has && valued[a] {
				i++
			}
		case len(a) > 1 && a[0] == '-':
			for n := 1; n < len(a); n++ {
				if strings.IndexByte(letterValued, a[n]) >= 0 {
					if n == len(a)-1 {
						i++
					}
					break
				}
				value, has := strings.CutPrefix(a[n+1:], "=")
				if strings.IndexByte(letters, a[n]) >= 0 {
					on = on || !has || truth(value)
				}
				if has {
					break
				}
			}
		}
	}
	return on
}

func truth(value string) bool {
	b, err := strconv.ParseBool(value)
	return err != nil || b
}
