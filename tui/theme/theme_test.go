package theme

import (
	"strings"
	"testing"

	"example.com/kubeviz/tui/grid"
)

func env(pairs ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestWithoutColourThereAreNoColourCodes(t *testing.T) {
	th := New(Dark, Mono)
	for role := range roleCount {
		for _, attr := range []grid.Style{0, grid.Bold, grid.Reverse} {
			s := th.Seq(role | attr)
			if strings.Contains(s, "3") || strings.Contains(s, "9") {
				t.Errorf("role %d has a colour: %q", role, s)
			}
		}
	}
	if th.Seq(Failing) == th.Seq(OK) {
		t.Error("what fails has the weight of what is well")
	}
}

func TestEveryPaletteTellsItsRolesApart(t *testing.T) {
	for _, p := range []Palette{Dark, Light, Contrast, Safe} {
		for _, d := range []Depth{Colours16, Colours256, TrueColour} {
			th := New(p, d)
			for _, pair := range [][2]grid.Style{{OK, Failing}, {OK, Waiting}, {Failing, Unknown}, {Failing, Waiting}, {Fault, Failing}, {Dim, Text}, {Leader, OK}, {Accent, Text}} {
				if th.Seq(pair[0]) == th.Seq(pair[1]) {
					t.Errorf("%s at depth %d: roles %d and %d look the same", p.Name, d, pair[0], pair[1])
				}
			}
		}
	}
}

func TestMonoHasNoColourAtAnyDepth(t *testing.T) {
	for _, d := range []Depth{Mono, Colours16, Colours256, TrueColour} {
		th := New(plain, d)
		for role := range roleCount {
			if s := th.Seq(role); s != "" && s != "\x1b[1m" && s != "\x1b[2m" {
				t.Errorf("%s at %s is drawn %q", roleNames[role], d, s)
			}
		}
	}
}

func TestAPaletteIsFoundByItsName(t *testing.T) {
	for _, name := range []string{"", "dark", "Light", "contrast", "safe", "mono"} {
		if _, err := Named(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := Named("neon"); err == nil || !strings.Contains(err.Error(), "dark, light, contrast, safe, mono") {
		t.Errorf("an unknown theme is answered %v", err)
	}
}

func TestEveryRoleHasAName(t *testing.T) {
	seen := map[string]bool{}
	for i, n := range Roles() {
		if n == "" || seen[n] {
			t.Errorf("role %d is called %q", i, n)
		}
		seen[n] = true
	}
}
