package theme

import "testing"

func TestTheEnvironmentChoosesTheDepth(t *testing.T) {
	for _, c := range []struct {
		what, mode string
		env        func(string) string
		want       Depth
	}{
		{"NO_COLOR wins over what the terminal can", "auto", env("TERM", "xterm-256color", "NO_COLOR", "1", "COLORTERM", "truecolor"), Mono},
		{"an empty NO_COLOR says nothing", "auto", env("TERM", "xterm", "NO_COLOR", ""), Colours16},
		{"CLICOLOR=0 asks for none", "auto", env("TERM", "xterm", "CLICOLOR", "0"), Mono},
		{"CLICOLOR_FORCE asks for some where none are promised", "auto", env("TERM", "vt100", "CLICOLOR_FORCE", "1"), Colours16},
		{"CLICOLOR_FORCE=0 asks for nothing", "auto", env("TERM", "vt100", "CLICOLOR_FORCE", "0"), Mono},
		{"CLICOLOR_FORCE takes no depth away", "auto", env("TERM", "xterm-256color", "CLICOLOR_FORCE", "1"), Colours256},
		{"NO_COLOR wins over CLICOLOR_FORCE", "auto", env("TERM", "xterm", "NO_COLOR", "1", "CLICOLOR_FORCE", "1"), Mono},
		{"COLORTERM promises 16 million", "", env("TERM", "xterm", "COLORTERM", "truecolor"), TrueColour},
		{"and under its other name", "auto", env("TERM", "xterm", "COLORTERM", "24bit"), TrueColour},
		{"tmux passes on what COLORTERM says", "auto", env("TERM", "screen-256color", "TMUX", "/tmp/t", "COLORTERM", "truecolor"), TrueColour},
		{"GNU screen inherits COLORTERM and cannot do it", "auto", env("TERM", "screen-256color", "COLORTERM", "truecolor"), Colours256},
		{"tmux has 256", "auto", env("TERM", "tmux-256color"), Colours256},
		{"kitty has all", "auto", env("TERM", "xterm-kitty"), TrueColour},
		{"a direct terminal has all", "auto", env("TERM", "xterm-direct"), TrueColour},
		{"Windows Terminal has all", "auto", env("TERM", "xterm-256color", "WT_SESSION", "x"), TrueColour},
		{"any other has 16", "auto", env("TERM", "xterm"), Colours16},
		{"a VT100 has none", "auto", env("TERM", "vt100"), Mono},
		{"no TERM, none", "auto", env(), Mono},
		{"always lifts NO_COLOR", "always", env("TERM", "xterm-256color", "NO_COLOR", "1"), Colours256},
		{"always has 16 at least", "always", env("TERM", "vt100"), Colours16},
		{"never has none", "never", env("TERM", "xterm-kitty", "CLICOLOR_FORCE", "1"), Mono},
		{"a depth is taken as given", "16", env("TERM", "xterm-kitty", "NO_COLOR", "1"), Colours16},
		{"a depth is taken as given", "256", env("TERM", "vt100"), Colours256},
		{"a depth is taken as given", "truecolor", env("TERM", "vt100"), TrueColour},
	} {
		got, why, err := Detect(c.mode, c.env)
		if err != nil || got != c.want || why == "" {
			t.Errorf("%s: %s because %q (%v), want %s", c.what, got, why, err, c.want)
		}
	}
	for _, m := range Modes() {
		if _, _, err := Detect(m, env()); err != nil {
			t.Errorf("mode %s: %v", m, err)
		}
	}
	if _, _, err := Detect("sometimes", env()); err == nil {
		t.Error("any word is a colour mode")
	}
}

func TestTheGroundIsReadFromTheEnvironment(t *testing.T) {
	for v, want := range map[string]string{"": "dark", "15;0": "dark", "0;15": "light", "0;default;15": "light", "12;8": "dark", "0;7": "light", "x;y": "dark", "0;": "dark", "0;11": "light", "0;999": "dark"} {
		if got := Ground(env("COLORFGBG", v)); got != want {
			t.Errorf("COLORFGBG=%q: %s, want %s", v, got, want)
		}
	}
}
