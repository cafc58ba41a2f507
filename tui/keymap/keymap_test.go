package keymap

import (
	"testing"

	"example.com/kubeviz/tui/words"
)

func TestNoTwoRowsOfAScopeTakeTheSameKey(t *testing.T) {
	taken := map[Scope]map[string]string{}
	for _, b := range Table() {
		if taken[b.Scope] == nil {
			taken[b.Scope] = map[string]string{}
		}
		for _, k := range b.Keys {
			if other, ok := taken[b.Scope][k]; ok {
				t.Errorf("%q in %s is for %s and %s", k, b.Scope, other, b.Help)
			}
			taken[b.Scope][k] = b.Help + " " + b.Label
		}
	}
}

// A view may take a key from everywhere only where it means the same kind of thing.
func TestNoViewHidesAKeyThatWorksEverywhere(t *testing.T) {
	everywhere := map[string]string{}
	for _, b := range Table() {
		if b.Scope == Everywhere {
			for _, k := range b.Keys {
				everywhere[k] = NameOf(b)
			}
		}
	}
	for _, b := range Table() {
		if b.Scope != Everywhere && b.Scope != Overlay {
			for _, k := range b.Keys {
				if name, ok := everywhere[k]; ok && name != NameOf(b) {
					t.Errorf("%q of %s hides what works everywhere", k, b.Scope)
				}
			}
		}
	}
}

func TestEveryRowCanBeExplained(t *testing.T) {
	c := words.English()
	for _, b := range Table() {
		if b.Do == nil || len(b.Keys) == 0 {
			t.Errorf("%+v does nothing", b)
		}
		if b.Label != "" && !c.Has(b.Help) {
			t.Errorf("%s: %q is not in the catalogue", b.Label, b.Help)
		}
		if b.Short != "" && !c.Has(b.Short) {
			t.Errorf("%s: %q is not in the catalogue", b.Label, b.Short)
		}
	}
}
