package theme

import (
	"math"
	"testing"

	"example.com/kubeviz/tui/grid"
)

// appearance of a role at a depth, as a terminal with xterm's sixteen colours shows it.
func appearance(p Palette, role grid.Style, d Depth) uint32 {
	l := p.looks[role]
	switch {
	case d == Colours16 && l.c16 >= 90:
		return first16[l.c16-90+8]
	case d == Colours16 && l.c16 >= 30:
		return first16[l.c16-30]
	case d == Colours16 || l.c256 == 0:
		return p.Foreground
	case d == Colours256:
		return xterm(l.c256)
	}
	return l.rgb
}

func TestTextCanBeReadOnItsBackground(t *testing.T) {
	for _, p := range []Palette{Dark, Light, Contrast, Safe, plain} {
		for _, d := range []Depth{Colours256, TrueColour} {
			for role := range roleCount {
				least := 4.5
				switch {
				case p.Name == Contrast.Name:
					least = 7
				case role == Dim:
					least = 4
				case role == Frame: // lines are no text
					least = 1.6
				}
				if got := ratio(appearance(p, role, d), p.Background); got < least {
					t.Errorf("%s at %s: %s has a contrast of %.1f, at least %.1f", p.Name, d, roleNames[role], got, least)
				}
			}
		}
	}
	for _, p := range []Palette{Dark, Contrast, Safe} { // sixteen colours on the darkest and on our own background
		for role := range roleCount {
			if got := ratio(appearance(p, role, Colours16), p.Background); got < 3 {
				t.Errorf("%s in 16 colours: %s has a contrast of %.1f, at least 3", p.Name, roleNames[role], got)
			}
		}
	}
	for role := range roleCount { // light terminals bring sixteen colours of their own; those that are pale on any of them are left alone
		if c := Light.looks[role].c16; role != Frame && (c == 37 || c == 97 || c == 92 || c == 93 || c == 96) {
			t.Errorf("light in 16 colours: %s is pale (%d)", roleNames[role], c)
		}
	}
}

// eyes that lack one kind of cone, and one that lacks none: what light of a colour they see. Source: Machado, Oliveira, Fernandes, "A Physiologically-based Model
// for Simulation of Color Vision Deficiency" (2009), severity 1.
var eyes = map[string][3][3]float64{
	"three cones":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func seen(c uint32, eye [3][3]float64) lab {
	l := linear(c)
	var out [3]float64
	for i := range out {
		out[i] = min(max(eye[i][0]*l[0]+eye[i][1]*l[1]+eye[i][2]*l[2], 0), 1)
	}
	return oklab(out)
}

// states must differ from each other: they say how a thing is.
var states = []grid.Style{OK, Busy, Waiting, Failing, Unknown, Leader, Fault}

// closest is the smallest difference between two states to any eye, and which they are.
func closest(p Palette, d Depth, pairs [][2]grid.Style) (least float64, what string) {
	least = math.Inf(1)
	for name, eye := range eyes {
		for _, pair := range pairs {
			if got := seen(appearance(p, pair[0], d), eye).distance(seen(appearance(p, pair[1], d), eye)); got < least {
				least, what = got, roleNames[pair[0]]+" and "+roleNames[pair[1]]+" to "+name
			}
		}
	}
	return least, what
}

func TestTheSafePaletteKeepsStatesApartForEveryEye(t *testing.T) {
	var all [][2]grid.Style
	for i, a := range states {
		for _, b := range states[:i] {
			all = append(all, [2]grid.Style{a, b})
		}
	}
	crucial := [][2]grid.Style{{OK, Failing}, {OK, Waiting}, {OK, Unknown}, {OK, Fault}, {Failing, Waiting}, {Busy, Failing}, {Text, Failing}, {Dim, Failing}, {Leader, Failing}}
	for _, c := range []struct {
		depth Depth
		pairs [][2]grid.Style
		least float64 // 0.02 is just noticeable side by side, 0.1 a colour of another name
	}{{TrueColour, all, 0.12}, {Colours256, all, 0.12}, {Colours16, all, 0.09}, {TrueColour, crucial, 0.125}, {Colours16, crucial, 0.12}} {
		if least, what := closest(Safe, c.depth, c.pairs); least < c.least {
			t.Errorf("at %s %s differ by %.3f only, at least %.2f", c.depth, what, least, c.least)
		}
	}
	if least, _ := closest(Dark, TrueColour, all); least >= 0.12 {
		t.Errorf("the dark palette is as safe (%.3f): then what is the other for?", least)
	}
}

func TestSixteenColoursTellTheStatesApart(t *testing.T) {
	for _, p := range []Palette{Dark, Light, Contrast, Safe} {
		looks := map[string]string{}
		th := New(p, Colours16)
		for _, role := range states {
			seq := th.Seq(role)
			if other, ok := looks[seq]; ok {
				t.Errorf("%s: %s and %s are both drawn %q", p.Name, roleNames[role], other, seq)
			}
			looks[seq] = roleNames[role]
		}
	}
}

func TestNearestColours(t *testing.T) {
	for _, n := range []int{16, 21, 66, 123, 196, 231, 240, 255} {
		if got := nearest(xterm(n), 16, 256); xterm(got) != xterm(n) {
			t.Errorf("the nearest to number %d is %d", n, got)
		}
	}
	if got := ratio(0x000000, 0xffffff); math.Abs(got-21) > 0.01 {
		t.Errorf("black on white has a contrast of %.2f", got)
	}
}

// ratio of contrast of two colours, 1 to 21. Source: WCAG 2.2, "contrast ratio".
func ratio(a, b uint32) float64 {
	light := func(c uint32) float64 {
		l := linear(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] + 0.05
	}
	x, y := light(a), light(b)
	return max(x, y) / min(x, y)
}
