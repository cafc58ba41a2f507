package keymap

import (
	"errors"
	"strings"
	"testing"

	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/words"
)

// rows of a small table, so that the tests do not change with the real one.
func rows() []Binding {
	return []Binding{
		{Scope: "raft", Keys: []string{"s"}, Label: "s", Help: "key.slow", Do: intent.Option{Name: "slow"}},
		{Scope: Overlay, Keys: []string{"up", "k"}, Label: "↑ k", Help: "key.up", Do: intent.Move{DY: -1}},
		{Scope: Overlay, Keys: []string{"esc", "q"}, Label: "esc", Help: "key.close", Do: intent.Back{}},
		{Scope: Everywhere, Keys: []string{"up", "k"}, Label: "↑ k", Help: "key.up", Do: intent.Move{DY: -1}},
		{Scope: Everywhere, Keys: []string{"K"}, Label: "K", Help: "key.power", Do: intent.Power{}},
		{Scope: Everywhere, Keys: []string{"R"}, Label: "R", Help: "key.restart", Do: intent.Restart{}},
		{Scope: Everywhere, Keys: []string{"["}, Label: "[ ]", Help: "key.speed", Do: intent.Faster{By: -1}},
		{Scope: Everywhere, Keys: []string{"]"}, Do: intent.Faster{By: 1}},
		{Scope: Everywhere, Keys: []string{"?"}, Label: "?", Help: "key.help", Do: intent.Help{}},
		{Scope: Everywhere, Keys: []string{"q"}, Label: "q", Help: "key.quit", Do: intent.Quit{}},
		{Scope: Everywhere, Keys: []string{"ctrl+c"}, Label: "ctrl+c", Help: "key.quit-now", Do: intent.Quit{Now: true}},
	}
}

func TestRemapGivesKeysAndLabels(t *testing.T) {
	for _, c := range []struct {
		what   string
		keys   map[string][]string
		press  string
		scope  Scope
		help   string // of what it does; "" nothing
		labels string // of the action's line
	}{
		{"another key", map[string][]string{"power": {"P"}}, "P", Everywhere, "key.power", "P"},
		{"two keys", map[string][]string{"power": {"f5", "P"}}, "P", Everywhere, "key.power", "f5 P"},
		{"the old one is free", map[string][]string{"power": {"P"}}, "K", Everywhere, "", ""},
		{"one more beside the old", map[string][]string{"power": {"K", "P"}}, "K", Everywhere, "key.power", "K P"},
		{"keys change places", map[string][]string{"power": {"R"}, "restart": {"K"}}, "R", Everywhere, "key.power", "R"},
		{"in all scopes where it means the same", map[string][]string{"up": {"i"}}, "i", Overlay, "key.up", "i"},
		{"one of two directions", map[string][]string{"slower": {"z"}}, "z", Everywhere, "key.speed", "z ]"},
		{"the other direction", map[string][]string{"faster": {"x"}}, "[", Everywhere, "key.speed", "[ x"},
		{"what one view has", map[string][]string{"raft.slow": {"space"}}, " ", "raft", "key.slow", "space"},
		{"what lies on top may hide what is below", map[string][]string{"restart": {"esc"}}, "esc", Overlay, "key.close", "esc"},
		{"no key at all", map[string][]string{"restart": {}}, "R", Everywhere, "", ""},
		{"names in any case", map[string][]string{"power": {"Ctrl+T"}}, "ctrl+t", Everywhere, "key.power", "ctrl+t"},
		{"a key twice", map[string][]string{"power": {"P", "P"}}, "P", Everywhere, "key.power", "P"},
	} {
		out, err := Remap(rows(), c.keys)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		b, ok := New(out).Find(c.press, c.scope)
		switch {
		case !ok && c.help != "" || ok && b.Help != c.help:
			t.Errorf("%s: %q does %+v", c.what, c.press, b)
		case ok && b.Label != c.labels:
			t.Errorf("%s: it is called %q, want %q", c.what, b.Label, c.labels)
		}
	}
	if before, after := rows(), rows(); true {
		if _, err := Remap(after, map[string][]string{"power": {"P"}}); err != nil || after[4].Keys[0] != before[4].Keys[0] {
			t.Error("the rows given were changed")
		}
	}
}

func TestRemapRefusesInWordsWithBothActions(t *testing.T) {
	for _, c := range []struct {
		keys map[string][]string
		want string
	}{
		{map[string][]string{"power": {"R"}}, "power: R is already the key of restart; take another, or give restart other keys as well"},
		{map[string][]string{"restart": {"K"}}, "restart: K is already the key of power;"},
		{map[string][]string{"power": {"x"}, "restart": {"x"}}, "power: x is already the key of restart;"},
		{map[string][]string{"raft.slow": {"K"}}, "raft.slow: K is already the key of power;"},
		{map[string][]string{"power": {"s"}}, "power: s is already the key of raft.slow;"},
		{map[string][]string{"close": {"k"}}, "close: k is already the key of up;"},
		{map[string][]string{"faster": {"["}}, "faster: [ is already the key of slower;"},
		{map[string][]string{"pwer": {"x"}}, `pwer: no action is called that, perhaps "power" is meant;`},
		{map[string][]string{"nonsense": {"x"}}, "nonsense: no action is called that; kubeviz info --keys lists them"},
		{map[string][]string{"quit": {}}, "quit: nobody can do without it;"},
		{map[string][]string{"help": {}}, "help: nobody can do without it;"},
		{map[string][]string{"quit-now": {"x"}}, "quit-now: this is always on ctrl+c; leave it out"},
		{map[string][]string{"power": {"ctrl+c"}}, "power: ctrl+c cannot be given away;"},
		{map[string][]string{"power": {"ctrl+i"}}, "power: ctrl+i cannot be given away;"},
		{map[string][]string{"power": {""}}, `power: "" is not a key;`},
		{map[string][]string{"power": {"hyper+x"}}, `power: "hyper+x" is not a key;`},
		{map[string][]string{"power": {"\x1b"}}, `power: "\x1b" is not a key that can be typed;`},
		{map[string][]string{"power": {"\u202e"}}, `power: "\u202e" is not a key that can be typed;`},
	} {
		_, err := Remap(rows(), c.keys)
		var wrong *RemapError
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.As(err, &wrong) {
			t.Errorf("%v is answered\n  %v, want\n  %s", c.keys, err, c.want)
		}
	}
}

// What the real table must hold so that every action of it can be named.
func TestEveryActionHasANameOfItsOwn(t *testing.T) {
	seen := map[string]map[Scope]intent.Intent{}
	for _, b := range Table() {
		name := NameOf(b)
		if name == "" || strings.HasSuffix(name, ".") {
			t.Errorf("%q in %s has no name", b.Keys, b.Scope)
		}
		if seen[name] == nil {
			seen[name] = map[Scope]intent.Intent{}
		}
		if _, twice := seen[name][b.Scope]; twice {
			t.Errorf("two rows of %s are called %s", b.Scope, name)
		}
		seen[name][b.Scope] = b.Do
	}
	for name := range needed {
		if seen[name] == nil {
			t.Errorf("nothing is called %s", name)
		}
	}
	for _, a := range Actions(Table()) {
		if a.Help == "" {
			t.Errorf("%s has no help", a.Name)
		}
		if a.Fixed {
			continue
		}
		if _, err := Remap(Table(), map[string][]string{a.Name: a.Keys}); err != nil && !strings.Contains(err.Error(), "given away") {
			t.Errorf("%s cannot have the keys it has: %v", a.Name, err)
		}
	}
}

func TestSentencesNameTheKeysThatActionsHave(t *testing.T) {
	labels := Labels(Table())
	for _, code := range words.Languages() {
		c, err := words.Language(code)
		if err != nil {
			t.Fatal(err)
		}
		for action, key := range c.KeysNamed() {
			has := false
			for _, a := range Actions(Table()) {
				for _, k := range a.Keys {
					has = has || a.Name == action && Label(k) == key
				}
			}
			if !has {
				t.Errorf("%s: a sentence says that %s is on %s; it is on %s", code, action, key, labels[action])
			}
		}
	}
}

func TestAKeyOfTheRussianLayoutIsTheLatinOneBelowIt(t *testing.T) {
	for typed, want := range map[string]string{"л": "k", "Л": "K", "й": "q", "х": "[", "Ъ": "}", "ж": ";", "б": ",", "ю": ".", "k": "k", "ctrl+c": "ctrl+c", "": "", "ё": "ё"} {
		if got := Latin(typed); got != want {
			t.Errorf("%s: %s, want %s", typed, got, want)
		}
	}
	if len(jcuken) != 64 {
		t.Errorf("%d letters", len(jcuken))
	}
}

// In a footer two keys that are offered together must not be called the same.
func TestKeysOfferedTogetherHaveDifferentNames(t *testing.T) {
	for _, code := range words.Languages() {
		c, err := words.Language(code)
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range New(Table()).Scopes() {
			seen := map[string]string{}
			for _, b := range Table() {
				if b.Short == "" || b.Scope != Everywhere && b.Scope != scope || b.Short == "foot.step-back" { // that one stands beside "step"
					continue
				}
				word := c.Say(b.Short)
				if other, ok := seen[word]; ok && other != b.Help {
					t.Errorf("%s, %s: %s and %s are both called %q", code, scope, b.Help, other, word)
				}
				seen[word] = b.Help
			}
		}
	}
}
