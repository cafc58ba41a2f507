package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/shell"

	"example.com/kubeviz/components/kubectl/real"
	"example.com/kubeviz/engine"
	"example.com/kubeviz/engine/child"
	"example.com/kubeviz/engine/scenario"
	"example.com/kubeviz/engine/serve"
	"example.com/kubeviz/engine/sim"
)

var update = flag.Bool("update", false, "write the stories anew")

// TestMain makes this binary kubectl where it is called so, as main does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == real.Child {
		os.Exit(real.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// binary finds a kubectl of another version: kubectl.1.27 on the path, or beside the kubectl that is there.
func binary(version string) (string, bool) {
	if path, err := exec.LookPath("kubectl." + version); err == nil {
		return path, true
	}
	path, err := exec.LookPath("kubectl")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", false
	}
	path = filepath.Join(filepath.Dir(path), "kubectl."+version)
	_, err = os.Stat(path)
	return path, err == nil
}

// cluster serves until the test ends.
func cluster(t *testing.T) *serve.Serving {
	t.Helper()
	sc := scenario.Scenario{Name: "e2e", Cluster: scenario.Cluster{Masters: 1, Workers: 2}}
	sc.Default()
	e, err := engine.New(engine.Options{Scenario: sc, Store: engine.StoreMemory, Seed: 1, Rate: sim.RateMax, Start: engine.RepeatableStart})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	s, err := serve.Start(e, serve.Options{Listen: "127.0.0.1:0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(ctx) // ends when ctx does, and says just that
	}()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		<-ended
	})
	ready, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	if err := s.Ready(ready); err != nil {
		t.Fatal(err)
	}
	return s
}

// program is a kubectl against a cluster, with a home and a cache that nobody else has.
func program(t *testing.T, s *serve.Serving, argv ...string) child.Kubectl {
	t.Helper()
	return child.Kubectl{Program: argv, Kubeconfig: s.Kubeconfig, Cache: t.TempDir(), Home: t.TempDir(), Servers: s.Servers}
}

// say gives a line to kubectl and returns what it printed, masked.
func say(t *testing.T, k child.Kubectl, line string) string {
	t.Helper()
	args, err := shell.Fields(line, func(string) string { return "" })
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run, err := k.Start(args, nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines, code := run.Wait(ctx)
	var out, errs strings.Builder
	for _, l := range lines {
		if l.Error { // which of two pipes is read first is chance
			errs.WriteString(l.Text + "\n")
			continue
		}
		out.WriteString(l.Text + "\n")
	}
	text := masked(out.String() + errs.String())
	if code != 0 {
		text += fmt.Sprintf("[%d]\n", code)
	}
	return text
}

// masks take away what differs between two runs, in this order.
var masks = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\b10\.(?:224|9[6-9]|10\d|11[01])\.\d+\.\d+`), "IP"},
	{regexp.MustCompile(`:3\d{4}/`), ":PORT/"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b[0-9a-f]{32,64}\b`), "HEX"},
	{regexp.MustCompile(`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`(-[0-9b-df-hj-np-tv-xz]{8,10})-[0-9b-df-hj-np-tv-xz]{5}\b`), "$1-RANDOM"},
	{regexp.MustCompile(`(?m)^((?:endpointslice\.discovery\.k8s\.io/)?[a-z]+)-[0-9b-df-hj-np-tv-xz]{5}( +IPv[46]|$)`), "$1-RANDOM$2"}, // names of slices
	{regexp.MustCompile(`\bworker-\d+`), "worker-N"},
	{regexp.MustCompile(`(?i)(resource ?version: +)"?\d+"?`), "${1}REVISION"},
	{regexp.MustCompile(`(?m)(^|[ (])(?:\d+[smhdy]){1,2}( ago)?\b`), "${1}AGE$2"},
	{regexp.MustCompile(`\bin \d+(?:\.\d+)?m?s\b`), "in AGE"},
	{regexp.MustCompile(`\((?:\d+(?:\.\d+)?m?s) including`), "(AGE including"},
	{regexp.MustCompile(`[ \t]+\n`), "\n"},
	{regexp.MustCompile(` {2,}`), "  "}, // columns are as wide as what was masked
}

func masked(s string) string {
	for _, m := range masks {
		s = m.find.ReplaceAllString(s, m.put)
	}
	return s
}

// step of a story.
type step struct{ sign, line, want string }

func story(t *testing.T, path string) []step {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []step
	for line := range strings.SplitAfterSeq(string(text), "\n") {
		if len(line) > 2 && line[1] == ' ' && strings.ContainsRune("$~!", rune(line[0])) {
			all = append(all, step{sign: line[:1], line: strings.TrimSpace(line[2:])})
		} else if len(all) > 0 {
			all[len(all)-1].want += line
		}
	}
	return all
}

// patience with a "! " line: what it waits for takes seconds in the cluster, and less outside.
const patience = 30 * time.Second

// tell goes through a story with a kubectl.
func tell(t *testing.T, k child.Kubectl, path string) {
	t.Helper()
	var fresh strings.Builder
	for _, s := range story(t, path) {
		start := time.Now()
		got := say(t, k, s.line)
		for s.sign == "!" && got != s.want && !*update && time.Since(start) < patience {
			got = say(t, k, s.line)
		}
		fmt.Fprintf(&fresh, "%s %s\n", s.sign, s.line)
		switch {
		case s.sign == "~":
		case *update && s.sign == "$":
			fresh.WriteString(got)
		case got != s.want:
			fresh.WriteString(s.want)
			t.Errorf("$ kubectl %s\n%s\nwanted\n%s", s.line, got, s.want)
		default:
			fresh.WriteString(s.want)
		}
	}
	if *update && !strings.Contains(path, "versions") {
		if err := os.WriteFile(path, []byte(fresh.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheKubectlInside tells all stories, in the order of their names, to one cluster.
func TestTheKubectlInside(t *testing.T) {
	s := cluster(t)
	k := program(t, s, os.Args[0], real.Child)
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d stories, %v", len(paths), err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txt"), func(t *testing.T) { tell(t, k, p) })
	}
	if left, _ := os.ReadDir(k.Home); len(left) != 0 {
		t.Errorf("kubectl wrote into its home: %v", left)
	}
}

// TestOtherVersions: what every kubectl prints alike, with those on the machine.
func TestOtherVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("binaries are for the long run")
	}
	for _, version := range []string{"1.27", "1.30", "1.33"} {
		t.Run(version, func(t *testing.T) {
			path, ok := binary(version)
			if !ok {
				t.Skip("not on this machine")
			}
			tell(t, program(t, cluster(t), path), "testdata/versions/all.txt")
		})
	}
}
