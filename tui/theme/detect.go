package theme

import (
	"fmt"
	"strconv"
	"strings"
)

// Depth is how many colours a terminal has.
type Depth int

// The depths.
const (
	Mono Depth = iota
	Colours16
	Colours256
	TrueColour
)

func (d Depth) String() string {
	return [...]string{"none", "16", "256", "truecolor"}[min(max(d, 0), TrueColour)]
}

// Modes lists what a user can ask for: the depth the environment speaks of, colours whatever NO_COLOR says, none, or a depth.
func Modes() []string { return []string{"auto", "always", "never", "16", "256", "truecolor"} }

// Detect picks the depth for a mode (see Modes; "" is auto) and says in a few words why. The environment is all that is looked at: a terminal that is asked may
// never answer.
//
// auto: NO_COLOR or CLICOLOR=0 give none; else what COLORTERM and TERM say. CLICOLOR_FORCE gives at least 16 colours where TERM promises none; it does not
// lift NO_COLOR. always: the same without NO_COLOR and CLICOLOR, and at least 16.
func Detect(mode string, getenv func(string) string) (Depth, string, error) {
	switch mode {
	case "never":
		return Mono, "asked for", nil
	case "16":
		return Colours16, "asked for", nil
	case "256":
		return Colours256, "asked for", nil
	case "truecolor":
		return TrueColour, "asked for", nil
	case "", "auto":
		if getenv("NO_COLOR") != "" {
			return Mono, "NO_COLOR is set", nil
		}
		if getenv("CLICOLOR") == "0" {
			return Mono, "CLICOLOR is 0", nil
		}
		d, why := promised(getenv)
		if force := getenv("CLICOLOR_FORCE"); d == Mono && force != "" && force != "0" {
			return Colours16, "CLICOLOR_FORCE is set", nil
		}
		return d, why, nil
	case "always":
		d, why := promised(getenv)
		if d == Mono {
			return Colours16, "colours are asked for, TERM promises none", nil
		}
		return d, why, nil
	}
	return Mono, "", fmt.Errorf("no colour mode is called %q; there are %s", mode, strings.Join(Modes(), ", "))
}

// deep are the beginnings of TERM of terminals that have 16 million colours and do not always say so.
var deep = []string{"xterm-kitty", "xterm-ghostty", "alacritty", "wezterm", "foot", "contour"}

// promised is the depth that COLORTERM and TERM speak of.
func promised(getenv func(string) string) (Depth, string) {
	term := getenv("TERM")
	ct := getenv("COLORTERM")
	if strings.HasPrefix(term, "screen") && getenv("TMUX") == "" && (ct == "truecolor" || ct == "24bit") {
		return Colours256, "TERM is " + term + ", which garbles more" // GNU screen inherits COLORTERM and cannot do it
	}
	if ct == "truecolor" || ct == "24bit" {
		return TrueColour, "COLORTERM is " + ct
	}
	if strings.HasSuffix(term, "-direct") {
		return TrueColour, "TERM is " + term
	}
	for _, t := range deep {
		if strings.HasPrefix(term, t) {
			return TrueColour, "TERM is " + term
		}
	}
	switch {
	case getenv("WT_SESSION") != "":
		return TrueColour, "WT_SESSION is set"
	case strings.Contains(term, "256color") || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
		return Colours256, "TERM is " + term
	case term == "":
		return Mono, "TERM is not set"
	case term == "dumb" || strings.HasPrefix(term, "vt"):
		return Mono, "TERM is " + term
	}
	return Colours16, "TERM is " + term
}

// Ground guesses the palette for a background from COLORFGBG, which some terminals set ("15;0"): light when the last number is that of a light colour, else dark.
func Ground(getenv func(string) string) string {
	v := getenv("COLORFGBG")
	bg, err := strconv.Atoi(v[strings.LastIndexByte(v, ';')+1:])
	if err == nil && (bg == 7 || bg >= 9 && bg <= 15) {
		return Light.Name
	}
	return Dark.Name
}
