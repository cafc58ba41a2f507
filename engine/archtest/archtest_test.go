// Package archtest holds the rules of who may import whom, each with its reason. It has no code of its own.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

const module = "example.com/kubeviz/"

// rule allows a package (or a folder, ending in "/...") to import others of ours.
type rule struct {
	who   string
	may   []string
	since string // the reason
}

// vocabulary is what everything above may speak: facts, commands, kinds and time.
var vocabulary = []string{"engine/event", "engine/command", "engine/kinds", "engine/kinds/columns", "engine/kinds/quota", "engine/fault", "engine/clock"}

var rules = []rule{
	{".", []string{"tui/cli"}, "main is the command line"},
	{"tui/cli", []string{"tui", "tui/...", "engine", "engine/...", "presets", "components/kubectl/real"}, "wires flags to the screen, a run, a replay or the list of presets, and is kubectl as a child of itself"},
	{"presets", []string{"engine/scenario"}, "presets are scenarios as data"},

	{"engine/clock", nil, "time knows nobody"},
	{"engine/fault", nil, "faults are data"},
	{"engine/kinds", nil, "the table of kinds stands on k8s.io alone"},
	{"engine/kinds/quota", []string{"engine/kinds"}, "what objects use of quotas"},
	{"engine/kinds/columns", []string{"engine/kinds"}, "what is shown of each kind"},
	{"engine/command", []string{"raftstore/failure"}, "orders are words; what can fail in a store has its names there"},
	{"engine/event", []string{"engine/fault", "engine/kinds"}, "facts name faults and objects"},
	{"engine/sim", []string{"engine/clock", "engine/event"}, "a process carries the cause of what it does"},
	{"engine/simnet", []string{"engine/clock", "engine/sim", "engine/event", "engine/fault"}, "packets travel in simulated time through what is broken"},
	{"engine/journal", []string{"engine/event", "engine/kinds"}, "records hold facts and objects"},
	{"engine/world", []string{"engine/event", "engine/fault", "engine/kinds"}, "the fold sees records only"},
	{"engine/trace", []string{"engine/event", "engine/kinds"}, "an index sees records only"},
	{"engine/world/worldtest", append([]string{"engine/world", "engine/journal"}, vocabulary...), "records for tests of what stands on the fold"},
	{"engine/acceptance", nil, "only tests"},
	{"engine/timeline", []string{"engine/world", "engine/journal", "engine/event"}, "a place in a journal and the world there"},
	{"engine/scenario", []string{"engine/command"}, "steps are commands"},
	{"engine/serve", []string{"engine", "engine/kinds", "components/kubeapi", "components/apiserver/bootstrap", "components/apiserver/custom", "components/apiserver/gateway", "components/apiserver/httpapi", "components/apiserver/openapi", "components/apiserver/pki"}, "opens the API of an engine on addresses outside"},
	{"engine/serve/e2e", []string{"engine", "engine/child", "engine/scenario", "engine/serve", "engine/sim", "components/kubectl/real"}, "the whole way, from kubectl to the kubelets, judged by what kubectl prints"},
	{"engine/headless", []string{"engine", "engine/..."}, "a run without a screen assembles an engine and folds its journal"},
	{"engine/archtest", nil, "only tests"},
	{"engine/acceptance", nil, "only tests"},
	{"engine", []string{"engine/...", "components/...", "raftstore", "raftstore/..."}, "the assembly, and only it, wires components, network and store"},

	{"raftstore", []string{"raftstore/..."}, "the store knows nothing of what stands on it"},
	{"raftstore/failure", nil, "failures are data"},
	{"raftstore/...", []string{"raftstore", "raftstore/..."}, "the store knows nothing of what stands on it"},

	{"components/kubeapi", append([]string{"engine/sim", "engine/simnet"}, vocabulary...), "the contract that components meet through"},
	{"components/kubeapi/...", append([]string{"engine/sim", "engine/simnet", "components/kubeapi", "components/kubeapi/..."}, vocabulary...), "parts of the contract"},
	{"components/reconcile", append([]string{"engine/sim", "components/kubeapi"}, vocabulary...), "the shape of controllers"},
	{"components/apiserver", append([]string{"engine/sim", "engine/simnet", "components/kubeapi", "components/apiserver/authn", "components/apiserver/authz", "components/apiserver/bootstrap", "components/apiserver/custom", "components/apiserver/flowcontrol", "components/apiserver/internal/...", "components/apiserver/metrics", "components/apiserver/resource", "components/apiserver/resource/admissionregistration", "components/apiserver/resource/apiextensions", "components/apiserver/resource/certificates", "components/apiserver/resource/check", "components/apiserver/resource/core", "components/apiserver/resource/expressions", "components/apiserver/resource/registry", "raftstore", "raftstore/mvcc"}, vocabulary...), "the only component that sees the store"},
	{"components/apiserver/resource/...", []string{"engine/kinds", "components/apiserver/resource", "components/apiserver/resource/..."}, "descriptions of kinds are pure"},
	{"components/apiserver/...", append([]string{"engine/sim", "engine/simnet", "engine/journal", "components/kubeapi", "components/apiserver", "components/apiserver/...", "raftstore", "raftstore/..."}, vocabulary...), "its parts, and the harness that tests of components stand on"},
	{"components/controller", append([]string{"engine/sim", "components/kubeapi", "components/kubeapi/...", "components/reconcile", "components/controller/..."}, vocabulary...), "the controller manager starts the controllers"},
	{"components/controller/...", append([]string{"engine/sim", "components/kubeapi", "components/kubeapi/...", "components/reconcile", "components/controller/informers", "components/controller/podcondition", "components/controller/claim"}, vocabulary...), "controllers meet through the API; they share informers"},
	{"components/scheduler", append([]string{"engine/sim", "components/kubeapi", "components/kubeapi/...", "components/scheduler/..."}, vocabulary...), "meets others through the API"},
	{"components/scheduler/...", append([]string{"engine/sim", "components/kubeapi", "components/scheduler/..."}, vocabulary...), "its parts"},
	{"components/kubelet", append([]string{"engine/sim", "components/kubeapi", "components/kubeapi/...", "components/kubelet/..."}, vocabulary...), "the only one that touches the runtime"},
	{"components/kubelet/...", append([]string{"engine/sim", "components/kubelet/..."}, vocabulary...), "the runtime knows no API"},
	{"components/balancer", append([]string{"engine/sim", "engine/simnet", "components/kubeapi"}, vocabulary...), "stands before the API servers"},
	{"components/kubectl/real", []string{"components/kubectl/real/words"}, "kubectl itself, in a process of its own: it meets the cluster over HTTP"},
	{"components/kubectl/real/words", nil, "initialised before kubectl, so it stands on nothing"},
	{"engine/child", nil, "a program that is started knows nobody"},
	{"engine/running", nil, "a list of files"},
	{"components/kubectl", append([]string{"engine/sim", "components/kubeapi"}, vocabulary...), "a client like any other"},

	{"tui", append([]string{"tui/...", "engine/child", "engine/world", "engine/journal", "engine/timeline", "engine/trace"}, vocabulary...), "the screen sees the fold and gives commands, nothing else"},
	{"tui/...", append([]string{"tui", "tui/...", "engine/world", "engine/journal", "engine/timeline", "engine/trace"}, vocabulary...), "the screen sees the fold and gives commands, nothing else"},
}

func TestImportsPointDown(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for pkg, imports := range imports(t, root) {
		r := ruleFor(pkg)
		if r == nil {
			t.Errorf("package %s has no rule; add a row that says what it may import and why", pkg)
			continue
		}
		for _, imp := range imports {
			found++
			if !allowed(r, imp) {
				t.Errorf("%s imports %s: not allowed (%s)", pkg, imp, r.since)
			}
		}
	}
	if found < 20 {
		t.Fatalf("only %d imports found; the walk is broken", found)
	}
}

// ruleFor finds the row of a package: its own, else the longest folder's.
func ruleFor(pkg string) *rule {
	var best *rule
	for i := range rules {
		r := &rules[i]
		if r.who == pkg {
			return r
		}
		if dir, ok := strings.CutSuffix(r.who, "/..."); ok && strings.HasPrefix(pkg, dir+"/") && (best == nil || len(r.who) > len(best.who)) {
			best = r
		}
	}
	return best
}

func allowed(r *rule, imp string) bool {
	for _, m := range r.may {
		if m == imp {
			return true
		}
		if dir, ok := strings.CutSuffix(m, "/..."); ok && strings.HasPrefix(imp, dir+"/") {
			return true
		}
	}
	return false
}

// ofItsOwn reports that a folder is a module of its own: another program, which this one does not hold.
func ofItsOwn(root, dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && dir != root
}

// TestOnlyTheProgramPrints keeps words that were meant for a developer off the screen: standard output and error belong to the command line.
func TestOnlyTheProgramPrints(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && ofItsOwn(root, path) {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Dir(path) == filepath.Join(root, "tui", "cli") {
			return err
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := call.Fun.(type) {
			case *ast.Ident:
				if f.Name == "println" || f.Name == "print" {
					t.Errorf("%s: %s", set.Position(n.Pos()), f.Name)
				}
			case *ast.SelectorExpr:
				if x, ok := f.X.(*ast.Ident); ok && (x.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Print") || x.Name == "log" && f.Sel.Name != "New") {
					t.Errorf("%s: %s.%s", set.Position(n.Pos()), x.Name, f.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// imports lists, per package of ours, the packages of ours that its code (not its tests) imports.
func imports(t *testing.T, root string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata") || ofItsOwn(root, path) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		out[pkg] = append(out[pkg], nil...)
		for _, i := range f.Imports {
			if p, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ok {
				out[pkg] = append(out[pkg], p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, imports := range out {
		sort.Strings(imports)
	}
	return out
}
