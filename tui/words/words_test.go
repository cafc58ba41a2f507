package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/kubeviz/tui/grid"
)

// keyForm is how keys look in the code; nothing else there looks like it.
var keyForm = regexp.MustCompile(`^(ui|key|foot|map|story|why|about|toast|help|sign|not|head|view|crumb|chain|quorum)\.[a-z0-9-]+$`)

// made are keys that the code puts together from a part and a name.
var made = []string{"help.scope-", "view.", "about.apiserver", "about.etcd", "about.scheduler", "about.controller-manager", "about.kubelet"}

func TestNoKeyIsMissingOrUnused(t *testing.T) {
	used := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && keyForm.MatchString(s) {
					used[s] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c := English()
	for k, path := range used {
		if !c.Has(k) && !strings.HasSuffix(k, "-") {
			t.Errorf("%s says %q, which is not in the catalogue", path, k)
		}
	}
	for _, k := range c.Keys() {
		if _, ok := used[k]; ok {
			continue
		}
		together := false
		for _, m := range made {
			together = together || strings.HasPrefix(k, m)
		}
		if !together {
			t.Errorf("nobody says %q", k)
		}
	}
}

func TestEveryTextCanBeDrawn(t *testing.T) {
	data, err := os.ReadFile("en/base.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if n := grid.Width(line); n != len([]rune(line)) {
			t.Errorf("line %d holds a rune that is not one cell wide: %q", i+1, line)
		}
	}
	c := English()
	for _, k := range c.Keys() {
		limit := 160
		switch {
		case strings.HasPrefix(k, "foot."):
			limit = 10
		case strings.HasPrefix(k, "sign.") && k != "sign.queue" && k != "sign.log" && k != "sign.short": // those have a line to themselves
			limit = 36
		case strings.HasPrefix(k, "view."):
			limit = 12
		}
		if n := grid.Width(c.Say(k)); n > limit {
			t.Errorf("%s takes %d cells, at most %d", k, n, limit)
		}
	}
}

func TestSay(t *testing.T) {
	c, err := Parse("a = {n} {n|pod|pods} of {who}\nb = off {since}, in {in}\nc = plain", func(n int) int { return min(max(n-1, 0), 1) })
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{
		"1 pod of x":             c.Say("a", "n", 1, "who", "x"),
		"3 pods of <U+001B>[31m": c.Say("a", "n", 3, "who", "\x1b[31m"),
		"off 3m, in 4m38s":       c.Say("b", "since", 3*time.Minute+9*time.Second, "in", 4*time.Minute+38*time.Second),
		"plain":                  c.Say("c"),
		"{nothing.here}":         c.Say("nothing.here"),
		"2 pods of {who}":        c.Say("a", "n", 2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, bad := range []string{"no equals sign", "k = {open", "k = {n|one}", "k = 1\nk = 2"} {
		if _, err := Parse(bad, nil); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
