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

func TestTheEnvironmentChoosesTheDepth(t *testing.T) {
	for want, getenv := range map[Depth]func(string) string{
		Mono: env("TERM", "xterm-256color", "NO_COLOR", "1", "COLORTERM", "truecolor"), TrueColour: env("TERM", "xterm", "COLORTERM", "truecolor"),
		Colours256: env("TERM", "tmux-256color"), Colours16: env("TERM", "xterm"),
	} {
		if got := FromEnv(getenv); got != want {
			t.Errorf("depth %d, want %d", got, want)
		}
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
	for _, p := range Palettes() {
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
