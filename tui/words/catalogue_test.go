package words

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"example.com/kubeviz/engine/command"
	"example.com/kubeviz/tui/grid"
)

// both are the catalogues as they are in their files, without what falls back.
func both() map[string]*Catalogue {
	return map[string]*Catalogue{"en": embedded("en"), "ru": embedded("ru")}
}

// madeOfNames are keys that the code puts together from a part that ends here and a name: those of "about." are the processes.
var madeOfNames = map[string][]string{"about.": {"apiserver", "etcd", "scheduler", "controller-manager", "kubelet"}}

// said collects the keys that the code says: literals that look like keys of the catalogue, and everything given to a function called say or Say. Literals that end
// in a dot or a dash are the beginnings of keys.
func said(t *testing.T, areas map[string]bool) (keys, beginnings map[string]string) {
	t.Helper()
	form := regexp.MustCompile(`^([a-z]+)\.[a-z0-9-]+$`)
	part := regexp.MustCompile(`^([a-z]+)\.([a-z0-9-]+-)?$`)
	keys, beginnings = map[string]string{}, map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		look := func(n ast.Expr, sure bool) {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				return
			}
			if m := form.FindStringSubmatch(s); m != nil && (sure || areas[m[1]]) && !strings.HasSuffix(s, "-") {
				keys[s] = path
			}
			if m := part.FindStringSubmatch(s); m != nil && areas[m[1]] {
				beginnings[s] = path
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name := ""
				switch f := n.Fun.(type) {
				case *ast.Ident:
					name = f.Name
				case *ast.SelectorExpr:
					name = f.Sel.Name
				}
				if strings.EqualFold(name, "say") && len(n.Args) > 0 {
					look(n.Args[0], true)
				}
			case ast.Expr:
				look(n, false)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys, beginnings
}

func TestNoKeyIsMissingOrUnused(t *testing.T) {
	c := English()
	areas := map[string]bool{}
	for _, k := range c.Keys() {
		area, _, _ := strings.Cut(k, ".")
		areas[area] = true
	}
	used, beginnings := said(t, areas)
	for k, path := range used {
		if !c.Has(k) {
			t.Errorf("%s says %q, which is not in the catalogue", path, k)
		}
	}
	for _, k := range c.Keys() {
		_, ok := used[k]
		for b := range beginnings {
			rest, begins := strings.CutPrefix(k, b)
			if names, few := madeOfNames[b]; begins && (!few || slices.Contains(names, rest)) {
				ok = true
			}
		}
		if !ok {
			t.Errorf("nobody says %q", k)
		}
	}
}

func TestEveryLanguageHasTheSameKeysPlacesAndForms(t *testing.T) {
	forms := map[string]int{"en": 2, "ru": 3}
	all := both()
	for code, c := range all {
		for _, k := range c.Keys() {
			for _, s := range c.texts[k] {
				if n := len(s.choices); n > 0 && n != forms[code] && !strings.HasPrefix(s.name, "@") {
					t.Errorf("%s: %s chooses from %d forms of {%s}, the language has %d", code, k, n, s.name, forms[code])
				}
			}
		}
	}
	en, ru := all["en"], all["ru"]
	for _, k := range en.Keys() {
		if !ru.Has(k) {
			t.Errorf("%s is not said in Russian", k)
			continue
		}
		if a, b := places(en, k), places(ru, k); !slices.Equal(a, b) {
			t.Errorf("%s has the places %q in English and %q in Russian", k, a, b)
		}
		if text := ru.Say(k); text == en.Say(k) && unicode.IsUpper([]rune(text + "a")[0]) && strings.Contains(text, " ") {
			t.Errorf("%s is not translated: %q", k, text)
		}
	}
	for _, k := range ru.Keys() {
		if !en.Has(k) {
			t.Errorf("%s is said in Russian only", k)
		}
	}
}

// places of a text in order of their names, each once.
func places(c *Catalogue, key string) []string {
	var out []string
	for _, s := range c.texts[key] {
		if s.name != "" && !slices.Contains(out, s.name) {
			out = append(out, s.name)
		}
	}
	slices.Sort(out)
	return out
}

func TestEveryTextCanBeDrawn(t *testing.T) {
	symbols := grid.AllSymbols()
	for _, code := range Languages() {
		names, err := os.ReadDir(code)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			data, err := os.ReadFile(code + "/" + n.Name())
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(data), "\n") {
				if strings.HasPrefix(line, "#") {
					continue
				}
				for _, r := range line {
					letter := code == "ru" && unicode.Is(unicode.Cyrillic, r)
					if grid.RuneWidth(r) != 1 || r > 0x7e && !letter && !slices.Contains(symbols, r) {
						t.Errorf("%s/%s, line %d: %q is not one cell wide or has no ASCII twin: %s", code, n.Name(), i+1, r, line)
					}
				}
			}
		}
	}
}

// typical values of places, as a busy cluster has them. A place that is not here is eight letters.
var typical = map[string]any{
	"n": 37, "alive": 2, "members": 3, "need": 2, "lose": 1, "term": 12, "revision": 12840, "seq": 48211, "masters": 3, "workers": 12, "pods": 120, "ready": 11, "running": 118,
	"want": 12, "before": 8, "w": 60, "h": 16, "width": 40, "height": 10, "since": 47 * time.Second, "age": 47 * time.Second, "in": 4*time.Minute + 38*time.Second,
	"left": 12 * time.Second, "last": 1861, "commit": 1861, "applied": 1861, "believed": 12, "votes": 2, "of": 3, "key": "ctrl+c", "at": 12*time.Minute + 7*time.Second,
	"host": "master-1", "node": "worker-12", "quorum": "", "rate": "12.5", "total": 18211, "watches": 42, "title": "ha", "factor": "1000", "ago": 12 * time.Minute, "path": "kubeviz-20260101-120000.jsonl", "max": 74994, "first": 1861, "by": "", "kind": "cut", "from": "master-2",
}

// long says a text with typical values; "by" is whoever the catalogue calls you.
func long(c *Catalogue, key string) string {
	var args []any
	for _, p := range places(c, key) {
		v, ok := typical[p]
		switch {
		case p == "by":
			v = c.Say("why.by-you")
		case p == "quorum":
			v = long(c, "quorum.well")
		case !ok:
			v = "xxxxxxxx"
		}
		args = append(args, p, v)
	}
	return c.Say(key, args...)
}

// budgets are how many cells a text may take on a screen of 80x24: of a key, or of all keys that begin so where it ends in a dot or a dash; the longest counts.
// What is wrapped where it stands has two lines and a half.
var budgets = map[string]int{
	"": 200, "foot.": 9, "view.": 10, "crumb.": 12, "ui.console": 78, "ui.small": 130,
	"head.": 20, "head.past": 22, "head.revision": 12, "head.term": 9, "head.paused-why": 24, "head.lost": 26, "quorum.well": 26, "quorum.lost": 40, "quorum.electing": 40, "quorum.edge": 73,
	"not.": 73, "toast.": 73, "key.": 64, "word.": 66, "help.": 48, "sign.": 36, "sign.queue": 72, "sign.log": 72, "sign.short": 72,
	"map.key-start": 16, "map.out": 8, "map.now": 12, "map.story": 12, "map.down": 12, "map.muted-short": 12, "map.candidate-short": 10, "map.no-leader-short": 10,
	"map.lease": 12, "map.age": 6, "map.restarts": 13, "map.judged-now": 18, "map.judged-in": 20, "map.evict-in": 24, "map.belief-short": 24, "map.disk-empty": 12, "map.silent": 12,
	"map.down-by": 16, "map.lease-over": 16, "map.pending": 11, "map.folded": 16, "map.folded-": 48, "map.no-pods": 10, "map.unregistered": 16, "map.not-ready": 10,
}

func budget(key string) int {
	best := ""
	for b := range budgets {
		all := b == "" || strings.HasSuffix(b, ".") || strings.HasSuffix(b, "-")
		if (key == b || all && strings.HasPrefix(key, b)) && len(b) >= len(best) {
			best = b
		}
	}
	return budgets[best]
}

func TestNoTextIsTooLongForASmallScreen(t *testing.T) {
	for code, c := range both() {
		for _, k := range c.Keys() {
			text := long(c, k)
			if strings.HasPrefix(k, "not.") && k != "not.now" { // said with its key before it
				text = c.Say("not.now", "key", "ctrl+c", "why", text)
			}
			if n := grid.Width(text); n > budget(k) {
				t.Errorf("%s: %s takes %d cells, at most %d: %s", code, k, n, budget(k), text)
			}
		}
	}
}

func TestEveryWordOfCommandIsExplained(t *testing.T) {
	for _, w := range command.Words() {
		for code, c := range both() {
			if !c.Has("word." + w.Name) {
				t.Errorf("%s: word.%s is missing", code, w.Name)
			}
		}
		if got := English().Say("word." + w.Name); got != w.Help {
			t.Errorf("word.%s is %q here and %q in the grammar", w.Name, got, w.Help)
		}
	}
}

func ExampleCatalogue_Say() {
	c, _ := Language("ru")
	fmt.Println(c.Say("map.restarts", "n", 3))
	// Output: 3 рестарта
}
