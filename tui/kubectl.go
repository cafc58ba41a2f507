package tui

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/child"
	"example.com/kubeviz/tui/feed"
	"example.com/kubeviz/tui/sanitize"
	"example.com/kubeviz/tui/shell"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/widget"
	"example.com/kubeviz/tui/words"
)

// Access is how programs outside reach the cluster of the screen.
type Access struct {
	// Name in the list where `kubeviz kubectl` looks; empty: it is not there.
	Name string
	// Address is HOST:PORT of the load balancer, Kubeconfig the file for other programs.
	Address, Kubeconfig string
	// Kubectl is the one inside.
	Kubectl child.Kubectl
}

// program is a kubectl at work; child.Run is one.
type program interface {
	Pull() (lines []child.Line, ended bool, code int)
	Cancel()
	Done() <-chan struct{}
}

// kubectl starts programs and asks for completions.
type kubectl interface {
	start(args []string, width, height int) (program, error)
	complete(ctx context.Context, words []string) ([]child.Offer, error)
	command(args []string) *exec.Cmd
}

// inside is the kubectl of this program, as a child of it.
type inside struct{ child.Kubectl }

func (k inside) start(args []string, width, height int) (program, error) {
	return k.Start(args, nil, width, height)
}

func (k inside) complete(ctx context.Context, words []string) ([]child.Offer, error) {
	return k.Complete(ctx, words)
}

func (k inside) command(args []string) *exec.Cmd { return k.Command(args...) }

// outside is what the screen knows of the way in for programs.
type outside struct {
	ctx     context.Context // ends with the screen
	open    func(context.Context) (Access, error)
	access  *Access // nil: not open yet
	kubectl kubectl
	in, out *os.File
	lent    *lent
}

func newOutside(o Options) outside {
	w := outside{ctx: context.Background(), open: o.Outside, in: o.In, out: o.Out, kubectl: o.kubectl, lent: &lent{}}
	if o.Access != nil {
		w.opened(*o.Access)
	}
	return w
}

func (w *outside) opened(a Access) {
	w.access = &a
	if w.kubectl == nil {
		w.kubectl = inside{a.Kubectl}
	}
}

// openedMsg says that the API is open, or why not, and what was to be done then.
type openedMsg struct {
	access Access
	err    error
	then   func() tea.Cmd
	failed func(error)
}

// withAccess does a thing once the API is open; it is opened when it is needed for the first time, beside the frames.
func (m *model) withAccess(then func() tea.Cmd, failed func(error)) tea.Cmd {
	w := &m.outside
	if w.access != nil {
		return then()
	}
	open, ctx := w.open, w.ctx
	return func() tea.Msg {
		a, err := open(ctx)
		return openedMsg{a, err, then, failed}
	}
}

func (m *model) openedOutside(msg openedMsg) tea.Cmd {
	m.touch()
	if msg.err != nil {
		msg.failed(msg.err)
		return nil
	}
	m.outside.opened(msg.access)
	return msg.then()
}

// job is one line of kubectl.
type job struct {
	line      string
	args      []string
	pipe      shell.Pipe
	full      bool    // what stands behind the pipe wants no more
	prog      program // nil: not started yet
	began     time.Time
	cancelled int
	printed   int
	second    int      // of its length on the last frame
	said      []string // on standard error, while it had the terminal
}

// startedMsg says that a job's program runs.
type startedMsg struct {
	job  *job
	prog program
	err  error
}

// isKubectl tells a line for kubectl: by its name or the short one, or by a verb of it that stands alone.
func isKubectl(line string) (named, is bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	word = strings.ToLower(word)
	if word == "kubectl" || word == "k" {
		return true, true
	}
	return false, shell.Verb(word)
}

// kubectlLine runs a line of kubectl. done is false where the line stays to be mended, with the reason under it.
func (m *model) kubectlLine(line string) (cmd tea.Cmd, done bool) {
	c := &m.console
	refuse := func(key string, args ...any) (tea.Cmd, bool) {
		c.err, c.offers = m.words.Say(key, args...), nil
		return nil, false
	}
	switch {
	case m.cluster == nil:
		return refuse("not.kubectl-recording")
	case !m.reader.Live():
		return refuse("not.past")
	case c.job != nil:
		return refuse("not.kubectl-busy")
	}
	parsed, err := shell.Parse(line)
	var wrong *shell.Error
	if errors.As(err, &wrong) {
		return refuse(wrong.Key, "word", wrong.Word)
	}
	args := parsed.Words
	if named, _ := isKubectl(line); named {
		args = args[1:]
	}
	if readsInput(args) {
		return refuse("shell.stdin")
	}
	j := &job{line: line, args: args, pipe: parsed.Pipe, began: m.clock()}
	failed := func(err error) {
		if c.job == j {
			c.job = nil
		}
		c.print(feed.Answer{Error: m.words.Say("not.kubectl-start", "error", err.Error())})
		m.touch()
	}
	c.job = j
	c.log.Begin()
	if need := child.Interactive(args); need != child.NoTerminal {
		if m.outside.out == nil {
			c.job = nil
			return refuse("not.no-terminal-child")
		}
		return m.withAccess(func() tea.Cmd { return m.lend(j, need) }, failed), true
	}
	return m.withAccess(func() tea.Cmd {
		k, w, h := m.outside.kubectl, m.w-2, m.consoleRoom()
		return func() tea.Msg {
			p, err := k.start(args, w, h)
			return startedMsg{j, p, err}
		}
	}, failed), true
}

// readsInput tells a line that reads standard input, which a console has none of.
func readsInput(args []string) bool {
	for i, a := range args {
		switch {
		case a == "--":
			return false
		case a == "-f-", a == "--filename=-", a == "-f=-":
			return true
		case a == "-" && i > 0 && (args[i-1] == "-f" || args[i-1] == "--filename"):
			return true
		}
	}
	return false
}

// started takes a program over, or ends it where nobody wants it any more.
func (m *model) started(msg startedMsg) {
	c := &m.console
	m.touch()
	switch {
	case msg.err != nil:
		if c.job == msg.job {
			c.job = nil
			c.print(feed.Answer{Error: m.words.Say("not.kubectl-start", "error", msg.err.Error())})
		}
	case c.job != msg.job:
		msg.prog.Cancel()
	default:
		msg.job.prog = msg.prog
		for range msg.job.cancelled {
			msg.prog.Cancel()
		}
	}
}

// pull takes in what kubectl has printed since the last frame.
func (m *model) pull() {
	j := m.console.job
	if j == nil {
		return
	}
	length := m.clock().Sub(j.began)
	if s := int(length / time.Second); s != j.second {
		j.second, m.dirty = s, true
	}
	if j.prog == nil {
		return
	}
	c := &m.console
	lines, ended, code := j.prog.Pull()
	show := func(all []string) {
		for _, l := range all {
			c.log.Print(l, false)
			j.printed++
		}
	}
	for _, l := range lines {
		if l.Error {
			c.log.Print(l.Text, true)
			j.printed++
			continue
		}
		if j.full {
			continue
		}
		out, more := j.pipe.Line(l.Text)
		if show(out); !more {
			j.full = true
			j.prog.Cancel() // as it would end by writing to head once that has gone
		}
	}
	if len(lines) > 0 || ended {
		m.touch()
	}
	if ended {
		c.job = nil
		if j.cancelled == 0 {
			show(j.pipe.End())
		}
		if j.full {
			code = 0
		}
		m.tellEnd(j, code, length)
	}
}

// tellEnd says how a job ended.
func (m *model) tellEnd(j *job, code int, length time.Duration) {
	style, key := theme.Dim, "shell.ended"
	switch {
	case j.cancelled > 0:
		style, key = theme.Waiting, "shell.stopped"
	case code != 0 && j.printed > 0 || code > 1:
		style, key = theme.Waiting, "shell.failed"
	case code != 0:
		style, key = theme.Failing, "shell.failed"
	case j.printed == 0:
		key = "shell.ended-empty"
	}
	m.console.log.Say(widget.Line{widget.S(m.words.Say(key, "code", code, "time", seconds(length)), style)})
}

// seconds is a length on the wall.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return words.Span(d)
}

// cancel interrupts the job; asked again, it kills it. false: there is none.
func (c *console) cancel() bool {
	if c.job == nil {
		return false
	}
	c.job.cancelled++
	if c.job.prog != nil {
		c.job.prog.Cancel()
	}
	return true
}

// abandon ends the job of a console that is left: it is interrupted, and killed if that does not end it.
func (c *console) abandon() {
	if c.job != nil && c.job.prog != nil {
		c.job.prog.Cancel()
	}
	c.job = nil
	if c.asking != nil {
		c.asking()
		c.asking = nil
	}
}

// childrenGo is how long a child may take to end when the screen does.
const childrenGo = time.Second

// end kills what still runs when the screen ends.
func (m *model) end() {
	if j := m.console.job; j != nil && j.prog != nil {
		j.prog.Cancel()
		j.prog.Cancel()
		select {
		case <-j.prog.Done():
		case <-time.After(childrenGo):
		}
	}
	m.console.abandon()
}

// offeredMsg is what kubectl offers for a line.
type offeredMsg struct {
	line   string
	n      int
	offers []child.Offer
	err    error
}

// completeTime bounds a completion on the wall.
const completeTime = 5 * time.Second

// completeKubectl asks kubectl how a line can go on, beside the frames. false: that is not for kubectl to say.
func (m *model) completeKubectl(line string) (cmd tea.Cmd, ok bool) {
	named, is := isKubectl(line)
	before, last, _, ready := shell.Last(line)
	if !is || m.outside.open == nil && m.outside.access == nil || ready && len(before) == 0 {
		return nil, false
	}
	c := &m.console
	c.err, c.offers = "", nil
	if !ready {
		return nil, true
	}
	if named {
		before = before[1:]
	}
	if c.asking != nil {
		c.asking()
	}
	ctx, stop := context.WithTimeout(m.outside.ctx, completeTime)
	c.asking = stop
	c.asked++
	n := c.asked
	return m.withAccess(func() tea.Cmd {
		k, words := m.outside.kubectl, append(append([]string{}, before...), last)
		return func() tea.Msg {
			defer stop()
			offers, err := k.complete(ctx, words)
			return offeredMsg{line, n, offers, err}
		}
	}, func(err error) { c.asking, c.err = nil, m.words.Say("not.kubectl-start", "error", err.Error()) }), true
}

// offered puts an answer of completion into the line, if it is still the one that was asked for.
func (m *model) offered(msg offeredMsg) {
	c := &m.console
	if msg.n != c.asked {
		return
	}
	c.asking = nil
	if !c.open || c.field.Value() != msg.line {
		return
	}
	m.touch()
	_, last, head, _ := shell.Last(msg.line)
	if i := strings.IndexByte(last, '='); i > 0 && strings.HasPrefix(last, "-") { // kubectl answers with the value alone
		head, last = head+last[:i+1], last[i+1:]
	}
	var offers []string
	for _, o := range msg.offers {
		if strings.HasPrefix(o.Word, last) && sanitize.Text(o.Word) == o.Word {
			offers = append(offers, o.Word)
		}
	}
	if len(offers) == 0 {
		c.err = m.words.Say("shell.no-offers")
		return
	}
	c.take(head, last, offers)
}

// lentMsg says that a program has given the terminal back.
type lentMsg struct {
	job *job
	err error
}

// lend gives the terminal to a program that needs it for itself.
func (m *model) lend(j *job, need child.Need) tea.Cmd {
	j.began = m.clock()
	return tea.Exec(m.borrow(j, need), func(err error) tea.Msg { return lentMsg{j, err} })
}

func (m *model) borrow(j *job, need child.Need) *borrower {
	w := &m.outside
	b := &borrower{cmd: w.kubectl.command(j.args), out: w.out, lent: w.lent, job: j, tells: need == child.Answers}
	b.cmd.Stdin, b.cmd.Stdout = w.in, w.out
	if need == child.Session {
		b.hello = m.words.Say("shell.session", "line", sanitize.Text(j.line))
	}
	return b
}

// returned comes back to the screen.
func (m *model) returned(msg lentMsg) tea.Cmd {
	c := &m.console
	if c.job == msg.job {
		c.job = nil
	}
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(msg.err, &exit):
		code = max(exit.ExitCode(), 1)
	case msg.err != nil:
		code = 1
		c.print(feed.Answer{Error: msg.err.Error()})
	}
	for _, l := range msg.job.said {
		c.log.Print(l, true)
		msg.job.printed++
	}
	msg.job.printed++ // what it showed, it showed on the terminal
	m.tellEnd(msg.job, code, m.clock().Sub(msg.job.began))
	return m.comeBack()
}

// comeBack draws all anew after another program had the terminal.
func (m *model) comeBack() tea.Cmd {
	m.touch()
	again := []tea.Cmd{tea.ClearScreen, tea.WindowSize()}
	if !m.noMouse {
		again = append(again, tea.EnableMouseCellMotion)
	}
	return tea.Sequence(again...)
}

// wordServe opens the API and says how programs in a shell use it.
func wordServe(m *model, args []string) (func() tea.Cmd, error) {
	switch {
	case len(args) > 0:
		return nil, errors.New("takes nothing after it")
	case m.cluster == nil:
		return func() tea.Cmd {
			m.console.add(widget.S(m.words.Say("shell.no-serve"), theme.Waiting))
			return nil
		}, nil
	case m.outside.open == nil && m.outside.access == nil:
		return nil, errors.New(m.words.Say("not.no-api"))
	}
	return func() tea.Cmd {
		return m.withAccess(func() tea.Cmd {
			a := m.outside.access
			for _, l := range []string{m.words.Say("shell.serves", "address", a.Address), "  " + a.export(), "  " + a.byName()} {
				m.console.add(widget.S(sanitize.Text(l), theme.Text))
			}
			m.touch()
			return nil
		}, func(err error) {
			m.console.print(feed.Answer{Error: m.words.Say("not.kubectl-start", "error", err.Error())})
		})
	}, nil
}

// export is the line for a shell.
func (a *Access) export() string { return "export KUBECONFIG=" + quoted(a.Kubeconfig) }

// byName is how the kubectl inside is called from a shell.
func (a *Access) byName() string {
	if a.Name == "" {
		return "kubectl get nodes"
	}
	return "kubeviz kubectl --cluster " + a.Name + " get nodes"
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.Trim(path, "/.-_+abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// copyExport puts the line for a shell on the clipboard.
func (m *model) copyExport() tea.Cmd {
	return m.withAccess(func() tea.Cmd {
		cmd := m.clip(m.outside.access.export())
		m.say(m.words.Say("toast.export", "line", m.outside.access.export()), theme.Accent)
		return cmd
	}, func(err error) { m.say(m.words.Say("not.kubectl-start", "error", err.Error()), theme.Failing) })
}
