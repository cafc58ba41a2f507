package real

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// TestMain makes this binary kubectl where it is called so, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Child {
		os.Exit(Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// child runs kubectl with a home that holds poison: a kubeconfig and a kuberc that must not be read, in a folder that must not be written.
func child(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{Child}, args...)...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "KUBECONFIG=" + home + "/config", "KUBECACHEDIR=" + home + "/cache", "KUBECTL_KUBERC=false", "PATH=" + os.Getenv("PATH")}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestVersionNeedsNoLinker(t *testing.T) {
	out, stderr, code := child(t, "version", "--client")
	if code != 0 || stderr != "" || !strings.HasPrefix(out, "Client Version: "+Version()+"\n") || !strings.HasPrefix(Version(), "v1.3") {
		t.Errorf("exit %d, %q, %q", code, out, stderr)
	}
	out, _, _ = child(t, "version", "--client", "-o", "yaml")
	for _, want := range []string{"gitVersion: " + Version(), `major: "1"`, `minor: "` + strings.Split(Version(), ".")[1] + `"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}

func TestVendoredIsWhatGoModSays(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "\t"+module+" "+vendored+" ") {
		t.Errorf("go.mod does not have %s %s", module, vendored)
	}
}

// TestNoWayOut: whatever would reach another cluster, run a program of somebody else or listen to the network is refused with a sentence.
func TestNoWayOut(t *testing.T) {
	for line, want := range map[string]string{
		"get pods --kubeconfig /tmp/x":            "reaches the simulated cluster only",
		"get pods --kubeconfig=/tmp/x":            "reaches the simulated cluster only",
		"--kubeconfig=/tmp/x config view":         "reaches the simulated cluster only",
		"config view --kubeconfig=/tmp/x":         "reaches the simulated cluster only",
		"get pods --server https://example.com":   "reaches the simulated cluster only",
		"get pods -s https://example.com":         "reaches the simulated cluster only",
		"get pods -As https://example.com":        "reaches the simulated cluster only",
		"version --server https://example.com":    "reaches the simulated cluster only",
		"plugin list":                             "runs no plugins",
		"proxy --address 0.0.0.0":                 "listens on loopback only",
		"port-forward pod/a 80 --address ::":      "listens on loopback only",
		"port-forward a 80 --address=localhost,x": "listens on loopback only",
	} {
		_, stderr, code := child(t, strings.Fields(line)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, %q", line, code, stderr)
		}
	}
}

func TestWhatIsRefusedIsNotOffered(t *testing.T) {
	for _, line := range []string{"__complete get --", "__complete config set-cluster a --", "options"} {
		out, _, _ := child(t, strings.Fields(line)...)
		if !strings.Contains(out, "--namespace") || strings.Contains(out, "--kubeconfig") || strings.Contains(out, "--server\t") || strings.Contains(out, "--server=") {
			t.Errorf("%s: %s", line, out)
		}
	}
}

func TestAnswersAreToldOnceMore(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], Child, "version", "--client")
	cmd.Env, cmd.ExtraFiles = []string{Tell + "=3"}, []*os.File{to}
	out, err := cmd.Output()
	_ = to.Close()
	told, _ := io.ReadAll(from)
	if err != nil || len(out) == 0 || !bytes.Equal(out, told) {
		t.Errorf("%v: %q, told %q", err, out, told)
	}
}

func TestUnknownCommandsAreNotLookedForOnPath(t *testing.T) {
	dir := t.TempDir()
	mark := dir + "/ran"
	for _, name := range []string{"kubectl-hello", "kubectl_complete-hello"} {
		if err := os.WriteFile(dir+"/"+name, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if _, stderr, code := child(t, "hello"); code != 1 || !strings.Contains(stderr, `unknown command "hello"`) {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if out, _, _ := child(t, "__complete", "hel"); strings.Contains(out, "hello") {
		t.Errorf("completion offers plugins: %q", out)
	}
	_, _, _ = child(t, "__complete", "hello", "")
	if _, err := os.Stat(mark); err == nil {
		t.Error("a plugin was run")
	}
}

// TestStartIsCheap: a start that is no kubectl does not read kubectl's catalogue. What is counted is bytes, not time.
func TestStartIsCheap(t *testing.T) {
	bytesOf := func(args ...string) (sum int) {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "HOME="+t.TempDir())
		trace, _ := cmd.CombinedOutput()
		for lines := bufio.NewScanner(bytes.NewReader(trace)); lines.Scan(); {
			// init PACKAGE @T ms, D ms clock, N bytes, M allocs
			f := strings.Fields(lines.Text())
			if len(f) > 7 && f[0] == "init" && strings.HasPrefix(f[1], "k8s.io/kubectl/") {
				n, err := strconv.Atoi(f[7])
				if err != nil {
					t.Fatalf("%q: %v", lines.Text(), err)
				}
				sum += n
			}
		}
		return sum
	}
	plain, kubectl := bytesOf("-test.run=^$"), bytesOf(Child, "version", "--client")
	t.Logf("the packages of kubectl allocate %d bytes in a start, %d in a child", plain, kubectl)
	if plain == 0 || plain > kubectl/3 {
		t.Errorf("the packages of kubectl allocate %d bytes at every start, %d in a child that reads the catalogue", plain, kubectl)
	}
}

// TestKubeconfigLeadsNowhereElse: what config set-cluster and set-credentials made of the file is seen before a byte is sent or a program started.
func TestKubeconfigLeadsNowhereElse(t *testing.T) {
	var asked atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	dir := t.TempDir()
	mark := dir + "/ran"
	run := func(args ...string) string {
		cmd := exec.Command(os.Args[0], append([]string{Child}, args...)...)
		cmd.Env = []string{"HOME=" + dir, "KUBECONFIG=" + dir + "/config", "KUBECACHEDIR=" + dir + "/cache", "KUBECTL_KUBERC=false", Servers + "=https://127.0.0.1:1,https://127.0.0.1:2"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := run("config", "set-cluster", "a", "--server", elsewhere.URL); !strings.Contains(out, "reaches the simulated cluster only") {
		t.Errorf("set-cluster: %q", out)
	}
	run("config", "set", "clusters.a.server", elsewhere.URL)
	run("config", "set", "clusters.b.server", "https://127.0.0.1:2")
	run("config", "set-credentials", "p", "--exec-command", "/usr/bin/touch", "--exec-arg", mark, "--exec-api-version", "client.authentication.k8s.io/v1", "--exec-interactive-mode", "Never")
	run("config", "set-context", "a", "--cluster", "a")
	run("config", "set-context", "p", "--cluster", "b", "--user", "p")
	for line, want := range map[string]string{
		"--context a get pods":                       "reaches the simulated cluster only",
		"--context a version":                        "reaches the simulated cluster only",
		"--context a get --raw /":                    "reaches the simulated cluster only",
		"--context a api-resources":                  "reaches the simulated cluster only",
		"--context a apply -f /dev/null":             "reaches the simulated cluster only",
		"--context a proxy --port 0":                 "reaches the simulated cluster only",
		"--cluster a get pods":                       "reaches the simulated cluster only",
		"get pods":                                   "reaches the simulated cluster only", // no context: localhost:8080 of old
		"--context p get pods":                       "starts no program",
		"--cluster b --token x get --raw / --v 0":    "127.0.0.1:2",
		"--context a __complete get pods --cluster ": "",
	} {
		if out := run(strings.Fields(line)...); !strings.Contains(out, want) {
			t.Errorf("%s: %q", line, out)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("another server was asked %d times", n)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program was started for credentials")
	}
}
