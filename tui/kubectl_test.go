package tui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.com/kubeviz/engine/child"
	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/shell"
)

// fakeRun is a program that prints what a test puts in.
type fakeRun struct {
	lines     []child.Line
	ended     bool
	code      int
	cancelled int
}

func (r *fakeRun) Pull() ([]child.Line, bool, int) {
	l := r.lines
	r.lines = nil
	return l, r.ended, r.code
}
func (r *fakeRun) Cancel() { r.cancelled++ }
func (r *fakeRun) Done() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (r *fakeRun) prints(wrong bool, text string) {
	for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		r.lines = append(r.lines, child.Line{Text: l, Error: wrong})
	}
}

func (r *fakeRun) ends(code int) { r.ended, r.code = true, code }

// fakeKubectl starts fakes and remembers what they were started with.
type fakeKubectl struct {
	runs   []*fakeRun
	args   [][]string
	asked  [][]string
	offers []child.Offer
	fails  error
}

func (k *fakeKubectl) start(args []string, _, _ int) (program, error) {
	if k.fails != nil {
		return nil, k.fails
	}
	k.args = append(k.args, args)
	k.runs = append(k.runs, &fakeRun{})
	return k.runs[len(k.runs)-1], nil
}

func (k *fakeKubectl) complete(_ context.Context, words []string) ([]child.Offer, error) {
	k.asked = append(k.asked, words)
	return k.offers, nil
}

func (k *fakeKubectl) command([]string) *exec.Cmd { return exec.Command("true") }

// kubectlScreen is a screen over a calm cluster whose kubectl is a fake.
func kubectlScreen(t *testing.T, w, h int) (*model, *fakeKubectl) {
	t.Helper()
	k := &fakeKubectl{}
	opened := 0
	m := still(recording(t, "calm"), Still{W: w, H: h, kubectl: k, outside: func(context.Context) (Access, error) {
		opened++
		return Access{Name: "ha", Address: "127.0.0.1:42383", Kubeconfig: "/tmp/kubeviz-1/kubeconfig"}, nil
	}})
	if opened != 0 {
		t.Fatal("the API is opened before anybody asks for it")
	}
	return m, k
}

// TestAVerbOfKubectlIsNoWordOfTheConsole: a word means one thing, with the word kubectl in front or without it.
func TestAVerbOfKubectlIsNoWordOfTheConsole(t *testing.T) {
	for _, w := range screenWords() {
		if shell.Verb(w.name) {
			t.Errorf("%q is a word of the screen and of kubectl", w.name)
		}
	}
	for a := range aliases {
		if shell.Verb(a) {
			t.Errorf("%q is a word of the screen and of kubectl", a)
		}
	}
	for _, w := range command.Words() {
		if shell.Verb(w.Name) {
			t.Errorf("%q is a command and a word of kubectl", w.Name)
		}
	}
}

// give presses keys and does what they lead to, as the terminal library does.
func give(m *model, keys ...string) {
	for _, k := range keys {
		_, cmd := m.Update(keyMsg(k))
		follow(m, cmd)
	}
}

func follow(m *model, cmd tea.Cmd) {
	for cmd != nil {
		msg := cmd()
		if msg == nil {
			return
		}
		_, cmd = m.Update(msg)
	}
}

// typeLine types a line of the console.
func typeLine(m *model, line string) {
	give(m, ":")
	m.console.field.SetValue(line)
	m.console.field.CursorEnd()
	give(m, "enter")
}

func plainScreen(m *model) string {
	m.draw()
	return m.grid.Render(nil, false) + "\n"
}

const somePods = `NAMESPACE     NAME                                 READY   STATUS             RESTARTS      AGE
default       nginx-6d4cf56db6-dcgw6               1/1     Running            0             13m
default       web-7f9c8d4b5d-s649s                 0/1     CrashLoopBackOff   3 (20s ago)   13m
kube-system   etcd-master-1                        1/1     Running            0             14m
kube-system   kube-apiserver-master-1              1/1     Running            0             14m`

func TestFramesOfKubectlInTheConsoleAreAsTheyWere(t *testing.T) {
	for _, s := range sizes {
		size := fmt.Sprintf("-%dx%d.txt", s.w, s.h)
		m, k := kubectlScreen(t, s.w, s.h)
		typeLine(m, "kubectl get pods -A -w")
		k.runs[0].prints(false, somePods)
		m.tick()
		golden(t, "kubectl-running"+size, plainScreen(m))
		give(m, "esc")
		golden(t, "kubectl-stopping"+size, plainScreen(m))
		k.runs[0].ends(130)
		m.tick()
		golden(t, "kubectl-stopped"+size, plainScreen(m))
		give(m, "/", "w", "e", "b")
		golden(t, "kubectl-filtered"+size, plainScreen(m))
		give(m, "esc")
		m.console.field.SetValue("k get nothing")
		give(m, "enter")
		k.runs[1].prints(true, `error: the server doesn't have a resource type "nothing"`)
		k.runs[1].ends(1)
		m.tick()
		golden(t, "kubectl-error"+size, plainScreen(m))
	}
}

func TestALineOfKubectlIsRunByTheRealOne(t *testing.T) {
	for line, want := range map[string][]string{
		"kubectl get pods -l 'a in (b)'": {"get", "pods", "-l", "a in (b)"},
		"k get pods":                     {"get", "pods"},
		"get pods":                       {"get", "pods"},
	} {
		m, k := kubectlScreen(t, 120, 40)
		typeLine(m, line)
		if len(k.args) != 1 || !slices.Equal(k.args[0], want) {
			t.Errorf("%s: started with %q", line, k.args)
		}
		if !strings.Contains(plainScreen(m), "api 127.0.0.1:42383") {
			t.Errorf("%s: the header does not say where the API is", line)
		}
	}
}

func TestLinesThatTheConsoleCannotRunStayWithTheReason(t *testing.T) {
	for line, want := range map[string]string{
		"kubectl apply -f -":          "shell.stdin",
		"kubectl apply -f - <<E":      "shell.stdin",
		"kubectl get pods > x":        "shell.redirect",
		"kubectl get 'pods":           "shell.quote",
		"kubectl get pods | jq .":     "shell.pipe",
		"kubectl get pods; echo done": "shell.only",
	} {
		m, k := kubectlScreen(t, 120, 40)
		typeLine(m, line)
		var wrong *shell.Error
		if _, err := shell.Parse(line); errors.As(err, &wrong) && wrong.Key != want {
			want = wrong.Key
		}
		head, _, _ := strings.Cut(m.words.Say(want, "word", ">"), " ")
		if len(k.runs) != 0 || m.console.field.Value() != line || !strings.HasPrefix(m.console.err, head) || m.console.job != nil {
			t.Errorf("%s: %q %q %d", line, m.console.err, m.console.field.Value(), len(k.runs))
		}
	}
}

func TestARecordingHasNoClusterForKubectl(t *testing.T) {
	m := still(recording(t, "calm"), Still{Recording: true})
	typeLine(m, "kubectl get pods")
	if want := m.words.Say("not.kubectl-recording"); m.console.err != want {
		t.Errorf("%q", m.console.err)
	}
	m.console.field.SetValue("serve")
	give(m, "enter")
	if s := plainScreen(m); !strings.Contains(s, "kubeviz serve in a shell starts a live cluster") || m.console.err != "" {
		t.Errorf("%q\n%s", m.console.err, s)
	}
}

func TestEscapeStopsKubectlThenKillsItAndLeavingEndsIt(t *testing.T) {
	m, k := kubectlScreen(t, 120, 40)
	typeLine(m, "k get pods -w")
	give(m, "esc", "ctrl+c")
	if k.runs[0].cancelled != 2 || !m.console.open {
		t.Errorf("cancelled %d times, open %v", k.runs[0].cancelled, m.console.open)
	}
	k.runs[0].ends(137)
	m.tick()
	now := m.clock()
	m.clock = func() time.Time { return now }
	if give(m, "esc"); !m.console.open {
		t.Error("the esc that was meant for kubectl leaves")
	}
	give(m, "ctrl+c", "ctrl+c")
	if !m.console.open || m.console.err != m.words.Say("shell.ctrl-c") {
		t.Errorf("ctrl+c leaves, or says %q", m.console.err)
	}
	if give(m, "esc"); m.console.open {
		t.Error("esc does not leave")
	}
	typeLine(m, "k get pods -w")
	m.console.field.SetValue("k get nodes")
	give(m, "enter")
	if len(k.runs) != 2 || m.console.err != m.words.Say("not.kubectl-busy") {
		t.Errorf("%d started, %q", len(k.runs), m.console.err)
	}
	m.closeConsole()
	if k.runs[1].cancelled != 1 || m.console.job != nil {
		t.Error("leaving the console does not end what it runs")
	}
	typeLine(m, "k logs -f x")
	m.end()
	if k.runs[2].cancelled < 2 {
		t.Error("the end of the screen does not kill what runs")
	}
}

func TestAProgramThatStartsAfterTheConsoleWasLeftIsEnded(t *testing.T) {
	m, _ := kubectlScreen(t, 120, 40)
	give(m, ":")
	m.console.field.SetValue("k get pods -w")
	_, cmd := m.Update(keyMsg("enter"))
	m.closeConsole()
	late := &fakeRun{}
	m.started(startedMsg{job: &job{}, prog: late})
	if follow(m, cmd); late.cancelled != 1 {
		t.Error("it runs on")
	}
}

func TestGrepLeavesLinesAndErrorsPass(t *testing.T) {
	m, k := kubectlScreen(t, 120, 40)
	typeLine(m, "k get pods -A | grep -i WEB")
	k.runs[0].prints(false, somePods)
	k.runs[0].prints(true, "Warning: something")
	k.runs[0].ends(0)
	m.tick()
	if s := plainScreen(m); strings.Contains(s, "etcd-master-1  ") || !strings.Contains(s, "web-7f9c8d4b5d") || !strings.Contains(s, "Warning: something") {
		t.Error(s)
	}
}

func TestCompletionIsKubectlsAndOldAnswersAreDropped(t *testing.T) {
	m, k := kubectlScreen(t, 120, 40)
	give(m, ":")
	k.offers = []child.Offer{{Word: "nginx-1", About: "x"}, {Word: "nginx-2"}, {Word: "evil\x1b[2J"}}
	m.console.field.SetValue("kubectl get pod ng")
	give(m, "tab")
	if got := m.console.field.Value(); got != "kubectl get pod nginx-" || !slices.Equal(k.asked[0], []string{"get", "pod", "ng"}) || len(m.console.offers) != 2 {
		t.Errorf("%q %q %q", got, k.asked, m.console.offers)
	}
	k.offers = []child.Offer{{Word: "kube-system"}}
	m.console.field.SetValue("k get pod --namespace=ku")
	m.console.field.CursorEnd()
	give(m, "tab")
	if got := m.console.field.Value(); got != "k get pod --namespace=kube-system " {
		t.Errorf("%q", got)
	}
	m.console.field.SetValue("k get n")
	_, cmd := m.Update(keyMsg("tab"))
	m.console.field.SetValue("k get no")
	follow(m, cmd)
	if got := m.console.field.Value(); got != "k get no" {
		t.Errorf("an old answer changed the line to %q", got)
	}
}

func TestTheLineForAShellIsCopiedAndTheAPIOpenedForIt(t *testing.T) {
	m, _ := kubectlScreen(t, 120, 40)
	var clip strings.Builder
	m.saver.terminal = &clip
	give(m, "y")
	if s := plainScreen(m); !strings.Contains(s, "for kubectl in a shell") {
		t.Error(s)
	}
	give(m, "esc")
	follow(m, m.act(intent.ExportLine{}))
	if s := plainScreen(m); !strings.Contains(s, "export KUBECONFIG=/tmp/kubeviz-1/kubeconfig") || !strings.Contains(s, "api 127.0.0.1:42383") {
		t.Error(s)
	}
	typeLine(m, "serve")
	if s := plainScreen(m); !strings.Contains(s, "kubeviz kubectl --cluster ha get nodes") {
		t.Error(s)
	}
}
