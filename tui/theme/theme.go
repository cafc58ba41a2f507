// Package theme says what the roles of the screen look like: one palette per background, in 16, 256 and 16 million colours, and one without colour.
//
// Code names roles, never colours. Meaning is carried by shape, letters and weight first; a palette only adds to it. The colours keep apart for eyes that do not
// tell red from green: good is blue-green, bad is orange-red, and they differ in brightness.
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

// Depth is how many colours a terminal has.
type Depth int

// The depths.
const (
	Mono Depth = iota
	Colours16
	Colours256
	TrueColour
)

// look of a role.
type look struct {
	c16  int // SGR foreground, 0: the terminal's own
	c256 int
	rgb  uint32
	bold bool
	dim  bool // faint, for palettes without colour
}

// Palette is the looks of all roles on one background.
type Palette struct {
	Name       string
	Background uint32
	Foreground uint32
	looks      [roleCount]look
}

// Dark is the default.
var Dark = Palette{Name: "dark", Background: 0x14171c, Foreground: 0xd5dae1, looks: [roleCount]look{
	Text:    {0, 0, 0xd5dae1, false, false},
	Dim:     {90, 245, 0x858f9c, false, false},
	Frame:   {90, 240, 0x4b535f, false, false},
	Accent:  {96, 117, 0x7cc7ff, true, false},
	OK:      {36, 72, 0x5fae97, false, false},
	Busy:    {94, 111, 0x8fb4ff, false, false},
	Waiting: {33, 179, 0xe0b458, false, false},
	Failing: {91, 209, 0xff7f5c, true, false},
	Unknown: {95, 176, 0xd08fd6, true, false},
	Leader:  {93, 221, 0xffd75e, true, false},
	Fault:   {35, 212, 0xff87c3, true, false},
	Cause:   {96, 159, 0xaee7ee, false, false},
	Title:   {97, 255, 0xf2f5f8, true, false},
	Key:     {96, 117, 0x7cc7ff, false, false},
}}

// Light is for bright backgrounds.
var Light = Palette{Name: "light", Background: 0xfbfaf7, Foreground: 0x24292f, looks: [roleCount]look{
	Text:    {0, 0, 0x24292f, false, false},
	Dim:     {90, 243, 0x6b737d, false, false},
	Frame:   {37, 250, 0xb9bec6, false, false},
	Accent:  {34, 25, 0x0b5cad, true, false},
	OK:      {36, 29, 0x1d7a63, false, false},
	Busy:    {34, 26, 0x2f62c9, false, false},
	Waiting: {33, 130, 0x8f5f00, false, false},
	Failing: {31, 160, 0xc22f12, true, false},
	Unknown: {35, 90, 0x7d2d8f, true, false},
	Leader:  {33, 136, 0x9a6a00, true, false},
	Fault:   {35, 162, 0xb8126e, true, false},
	Cause:   {36, 30, 0x0d7480, false, false},
	Title:   {30, 232, 0x0c0f12, true, false},
	Key:     {34, 25, 0x0b5cad, false, false},
}}

// Contrast is for tired eyes and projectors.
var Contrast = Palette{Name: "contrast", Background: 0x000000, Foreground: 0xffffff, looks: [roleCount]look{
	Text:    {97, 231, 0xffffff, false, false},
	Dim:     {37, 252, 0xd0d0d0, false, false},
	Frame:   {37, 250, 0xbcbcbc, false, false},
	Accent:  {96, 51, 0x00ffff, true, false},
	OK:      {96, 80, 0x5fd7d7, false, false},
	Busy:    {94, 117, 0x87d7ff, false, false},
	Waiting: {93, 226, 0xffff00, false, false},
	Failing: {91, 208, 0xff8700, true, false},
	Unknown: {95, 219, 0xffafff, true, false},
	Leader:  {93, 226, 0xffff00, true, false},
	Fault:   {95, 213, 0xff87ff, true, false},
	Cause:   {96, 159, 0xafffff, false, false},
	Title:   {97, 231, 0xffffff, true, false},
	Key:     {96, 51, 0x00ffff, true, false},
}}

// plain has weight only.
var plain = Palette{Name: "mono", Background: 0x14171c, Foreground: 0xd5dae1, looks: [roleCount]look{
	Dim: {dim: true}, Frame: {dim: true}, Accent: {bold: true}, Failing: {bold: true}, Unknown: {bold: true}, Leader: {bold: true}, Fault: {bold: true},
	Title: {bold: true}, Key: {bold: true},
}}

// Palettes lists the palettes a user can name.
func Palettes() []Palette { return []Palette{Dark, Light, Contrast} }

// Named finds a palette; "" is the dark one.
func Named(name string) (Palette, error) {
	if name == "" {
		return Dark, nil
	}
	var names []string
	for _, p := range Palettes() {
		if strings.EqualFold(p.Name, name) {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Palette{}, fmt.Errorf("no theme is called %q; there are %s", name, strings.Join(names, ", "))
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
		for attr := range 4 {
			t.seq[attr][role] = sequence(p.looks[role], d, attr&1 != 0, attr&2 != 0)
		}
	}
	return t
}

// FromEnv picks the depth a terminal has from its environment (NO_COLOR, COLORTERM, TERM).
func FromEnv(getenv func(string) string) Depth {
	term := getenv("TERM")
	switch colours := getenv("COLORTERM"); {
	case getenv("NO_COLOR") != "":
		return Mono
	case colours == "truecolor" || colours == "24bit":
		return TrueColour
	case strings.Contains(term, "256color") || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen"):
		return Colours256
	case term == "" || term == "dumb" || strings.HasPrefix(term, "vt"):
		return Mono
	}
	return Colours16
}

// Seq is the escape sequence that starts a style; "" for plain text.
func (t *Theme) Seq(s grid.Style) string {
	attr := 0
	if s&grid.Bold != 0 {
		attr |= 1
	}
	if s&grid.Reverse != 0 {
		attr |= 2
	}
	role := s & grid.RoleMask
	if role >= roleCount {
		role = Text
	}
	return t.seq[attr][role]
}

// Colours of a style as 0xRRGGBB, for pictures; reverse already applied.
func (t *Theme) Colours(s grid.Style) (fg, bg uint32, bold bool) {
	role := s & grid.RoleMask
	if role >= roleCount {
		role = Text
	}
	l := t.palette.looks[role]
	fg, bg = l.rgb, t.palette.Background
	if t.depth == Mono || fg == 0 {
		fg = t.palette.Foreground
		if l.dim {
			fg = 0x8a929c
		}
	}
	if s&grid.Reverse != 0 {
		fg, bg = bg, fg
	}
	return fg, bg, l.bold || s&grid.Bold != 0
}

// Background of the palette as 0xRRGGBB.
func (t *Theme) Background() uint32 { return t.palette.Background }

func sequence(l look, d Depth, bold, reverse bool) string {
	var codes []string
	if l.bold || bold {
		codes = append(codes, "1")
	} else if l.dim {
		codes = append(codes, "2")
	}
	if reverse {
		codes = append(codes, "7")
	}
	switch d {
	case Colours16:
		if l.c16 != 0 {
			codes = append(codes, fmt.Sprint(l.c16))
		}
	case Colours256:
		if l.c256 != 0 {
			codes = append(codes, fmt.Sprintf("38;5;%d", l.c256))
		}
	case TrueColour:
		if l.c256 != 0 { // text keeps the terminal's own colour
			codes = append(codes, fmt.Sprintf("38;2;%d;%d;%d", l.rgb>>16, l.rgb>>8&0xff, l.rgb&0xff))
		}
	}
	if len(codes) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}
