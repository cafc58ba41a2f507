package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// tour is the program in a terminal that tmux keeps, played as a person would.
type tour struct {
	t      *testing.T
	socket string
}

func startTour(t *testing.T, w, h int, env []string, args ...string) *tour {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tmux is missing")
		}
		t.Skip("no tmux here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tr := &tour{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", tr.socket, "kill-server").Run() })
	line := "env -u TMUX KUBEVIZ_TOUR=1 XDG_CONFIG_HOME=" + t.TempDir() + " " + strings.Join(env, " ") + " " + self + " " + strings.Join(args, " ")
	tr.tmux("-f", "/dev/null", "new-session", "-d", "-s", "tour", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), line+"; echo ended with $?; sleep 60")
	return tr
}

func (r *tour) tmux(args ...string) string {
	r.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", r.socket}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

func (r *tour) screen() string { return r.tmux("capture-pane", "-p", "-t", "tour") }

func (r *tour) press(keys ...string) {
	for _, k := range keys {
		r.tmux("send-keys", "-t", "tour", k)
		time.Sleep(60 * time.Millisecond) // as fast as a person
	}
}

// line types a line of command; words for the screen leave the console by themselves.
func (r *tour) line(text string) {
	r.press(":")
	r.tmux("send-keys", "-t", "tour", "-l", text)
	r.press("Enter")
	time.Sleep(200 * time.Millisecond)
}

// order gives an order to the cluster and leaves the console.
func (r *tour) order(text string) {
	r.line(text)
	r.press("Escape")
	time.Sleep(600 * time.Millisecond) // an escape alone is told from a sequence by time
}

// sees waits until all texts are on the screen.
func (r *tour) sees(limit time.Duration, want ...string) string {
	r.t.Helper()
	var screen, missing string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		screen, missing = r.screen(), ""
		for _, w := range want {
			if !strings.Contains(screen, w) {
				missing = w
				break
			}
		}
		if missing == "" {
			return screen
		}
	}
	r.t.Fatalf("%q did not come within %v:\n%s", missing, limit, screen)
	return ""
}

// TestMain is the program itself when the tour starts it.
func TestMain(m *testing.M) {
	// The program runs itself again for some work ("store-check", "kubectl"), and the test binary is that program here. Without this it would run all its tests, which start it again.
	if os.Getenv("KUBEVIZ_TOUR") != "" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A walk through the screen in a real terminal: the leader is killed, a worker cut off, the chain of an eviction read, time scrubbed back and returned to now.
func TestATourOfTheScreen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	r := startTour(t, 120, 40, nil, "--rate", "30")
	r.sees(20*time.Second, "quorum 3 of 3", "4/4")

	r.order("kill leader")
	r.sees(20*time.Second, "quorum 2 of 3, can lose 0", "off, by you")
	r.press("2")
	r.sees(20*time.Second, "leader", "follower")
	r.press("1")

	r.order("cut worker-2 all")
	r.sees(30*time.Second, "Unknown")
	r.order("until TaintManagerEviction")
	r.sees(60*time.Second, "paused")

	r.press("4") // the story
	r.sees(10*time.Second, "worker-2")
	r.press("/")
	r.tmux("send-keys", "-t", "tour", "-l", "evicted")
	r.press("Enter")
	r.press("G")
	r.press("c")
	r.sees(10*time.Second, "cut worker-2 all", "worker-2")
	r.press("Escape")
	time.Sleep(600 * time.Millisecond)

	r.press("1")
	r.press("<", "<", "<")
	r.sees(10*time.Second, "past: ")
	r.line("goto +8s")
	r.sees(10*time.Second, "past: ", "quorum 3 of 3")
	r.press("K")
	r.press("0")
	r.sees(10*time.Second, "quorum 2 of 3, can lose 0")
	r.press("Space")
	for _, view := range []string{"2", "3", "5", "4", "1"} {
		r.press(view)
		time.Sleep(200 * time.Millisecond)
		if s := r.screen(); strings.Count(s, "\n") < 30 || strings.Contains(s, "crashed") {
			t.Fatalf("view %s:\n%s", view, s)
		}
	}
	r.press("?")
	r.sees(5*time.Second, "keys, signs and words")
	r.press("Escape")
	time.Sleep(600 * time.Millisecond)
	r.press("q", "q")
	r.sees(15*time.Second, "ended with 0")
}

// The console's kubectl against the cluster of the screen: a table, a watch that is stopped, an editor that gets the terminal and gives it back, and the same cluster found from a shell.
func TestATourOfKubectlInTheConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	list := t.TempDir()
	r := startTour(t, 120, 40, []string{"XDG_RUNTIME_DIR=" + list, "KUBE_EDITOR=true"}, "--rate", "10")
	r.sees(20*time.Second, "quorum 3 of 3", "4/4")
	r.line("kubectl get nodes")
	r.sees(30*time.Second, "control-plane", "done in", "api 127.0.0.1:")
	if found, err := filepath.Glob(filepath.Join(list, "kubeviz", "*", "kubeconfig")); err != nil || len(found) != 1 {
		t.Errorf("no shell finds the cluster: %v %v", found, err)
	}
	r.tmux("send-keys", "-t", "tour", "-l", "k get nodes -w")
	r.press("Enter")
	r.sees(30*time.Second, "k get nodes -w: ", "esc stops it")
	r.press("C-c")
	r.sees(15*time.Second, "stopped by you")
	r.tmux("send-keys", "-t", "tour", "-l", "k get nothing")
	r.press("Enter")
	r.sees(30*time.Second, `the server doesn't have a resource type "nothing"`, "exit code 1")
	r.tmux("send-keys", "-t", "tour", "-l", "k edit node worker-1")
	r.press("Enter")
	r.sees(30*time.Second, "Edit cancelled, no changes made.", "master-1")
	r.press("Escape")
	time.Sleep(600 * time.Millisecond)
	r.press("q", "q")
	r.sees(15*time.Second, "ended with 0")
	if left, _ := filepath.Glob(filepath.Join(list, "kubeviz", "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheScreenInATerminalWithoutColours(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	r := startTour(t, 80, 24, []string{"NO_COLOR=1", "LC_ALL=C"}, "--preset", "single")
	r.sees(20*time.Second, "master-1")
	coloured := r.tmux("capture-pane", "-p", "-e", "-t", "tour")
	if found := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m`).FindString(coloured); found != "" { // 39 and 49 are the terminal's own
		t.Errorf("a colour is on the screen: %q", found)
	}
	for _, c := range r.screen() {
		if c > 0x7e {
			t.Fatalf("%q is on a screen that only has ASCII:\n%s", c, r.screen())
		}
	}
	r.press("C-c")
	r.sees(10*time.Second, "ended with 0")
}
