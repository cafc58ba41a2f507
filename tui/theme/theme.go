// Package theme says what the roles of the screen look like: palettes for dark and light backgrounds, for eyes that need contrast, for eyes that do not tell
// all colours apart, and one without colour; each in 16, 256 and 16 million colours.
//
// Code names roles, never colours. Meaning is carried by shape, letters and weight first; a palette only adds to it. Users may change a palette role by role
// (Palette.Set); how many colours a terminal has is read from its environment and never asked of the terminal (Detect).
//
// Imports of ours: tui/grid (the style numbers). Goroutines: a Theme is immutable. Time: none.
package theme

import (
	"fmt"
	"strings"

	"example.com/kubeviz/tui/grid"
)

// The roles.
const (
	Text    grid.Style = iota
	Dim                // secondary words, healthy detail
	Frame              // thin lines
	Accent             // selection, keys
	OK                 // well
	Busy               // at work, starting
	Waiting            // waiting, degraded, soon something happens
	Failing            // broken
	Unknown            // nobody knows
	Leader             // who leads
	Fault              // made by the user
	Cause              // the chain of the selected thing
	Title              // names of things
	Key                // a key to press
	roleCount
)

// roleNames are the roles as users write them.
var roleNames = [roleCount]string{"text", "dim", "frame", "accent", "ok", "busy", "waiting", "failing", "unknown", "leader", "fault", "cause", "title", "key"}

// Roles lists the names of the roles in the order of their numbers.
func Roles() []string { return roleNames[:] }

// attr are attributes of a look.
type attr uint8

const (
	bold attr = 1 << iota
	dim
	italic
	underline
)

// attrs are the attributes by name, with their SGR numbers, in the order they are written.
var attrs = []struct {
	name string
	bit  attr
	sgr  string
}{{"bold", bold, "1"}, {"dim", dim, "2"}, {"italic", italic, "3"}, {"underline", underline, "4"}}

// look of a role.
type look struct {
	c16  int    // SGR foreground, 0: the terminal's own
	c256 int    // number in the palette of 256, 0: the terminal's own
	rgb  uint32 // as 0xRRGGBB
	attr attr
	// fixed: the user gave a number, so the terminal's own idea of it counts and not rgb.
	fixed bool
}

// Palette is the looks of all roles on one background.
type Palette struct {
	Name       string
	Background uint32 // 0xRRGGBB, for pictures and for the measure of contrast
	Foreground uint32
	looks      [roleCount]look
}

// Theme is a palette at a depth of colour, ready to draw with.
type Theme struct {
	palette Palette
	depth   Depth
	seq     [4][roleCount]string // by bold and reverse
}

// New makes the theme of a palette at a depth.
func New(p Palette, d Depth) *Theme {
	if d == Mono {
		p.looks = plain.looks
	}
	t := &Theme{palette: p, depth: d}
	for role := range roleCount {
		for a := range 4 {
			t.seq[a][role] = sequence(p.looks[role], d, a&1 != 0, a&2 != 0)
		}
	}
	return t
}

// Name of the palette.
func (t *Theme) Name() string { return t.palette.Name }

// Depth of colour it is drawn at.
func (t *Theme) Depth() Depth { return t.depth }

// Seq is the escape sequence that starts a style; "" for plain text.
func (t *Theme) Seq(s grid.Style) string {
	a := 0
	if s&grid.Bold != 0 {
		a |= 1
	}
	if s&grid.Reverse != 0 {
		a |= 2
	}
	role := s & grid.RoleMask
	if role >= roleCount {
		role = Text
	}
	return t.seq[a][role]
}

// Colours of a style as 0xRRGGBB, for pictures; reverse already applied.
func (t *Theme) Colours(s grid.Style) (fg, bg uint32, heavy bool) {
	role := s & grid.RoleMask
	if role >= roleCount {
		role = Text
	}
	l := t.palette.looks[role]
	fg, bg = l.rgb, t.palette.Background
	if t.depth == Mono || l.c256 == 0 {
		fg = t.palette.Foreground
		if l.attr&dim != 0 {
			fg = mix(t.palette.Foreground, t.palette.Background, 0.42)
		}
	}
	if s&grid.Reverse != 0 {
		fg, bg = bg, fg
	}
	return fg, bg, l.attr&bold != 0 || s&grid.Bold != 0
}

// Background of the palette as 0xRRGGBB.
func (t *Theme) Background() uint32 { return t.palette.Background }

func sequence(l look, d Depth, heavy, reverse bool) string {
	var codes []string
	a := l.attr
	if heavy {
		a = a&^dim | bold
	}
	for _, x := range attrs {
		if a&x.bit != 0 {
			codes = append(codes, x.sgr)
		}
	}
	if reverse {
		codes = append(codes, "7")
	}
	switch {
	case d == Colours16 && l.c16 != 0:
		codes = append(codes, fmt.Sprint(l.c16))
	case l.c256 == 0: // the terminal's own colour
	case d == Colours256 || d == TrueColour && l.fixed:
		codes = append(codes, fmt.Sprintf("38;5;%d", l.c256))
	case d == TrueColour:
		codes = append(codes, fmt.Sprintf("38;2;%d;%d;%d", l.rgb>>16, l.rgb>>8&0xff, l.rgb&0xff))
	}
	if len(codes) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}
