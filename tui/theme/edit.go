package theme

import (
	"fmt"
	"strconv"
	"strings"
)

// SpecForm says how a look is written, for messages and documentation.
const SpecForm = "a colour (#rrggbb, 0 to 255, or default) and any of bold, dim, italic, underline, such as \"#7cc7ff bold\""

// Set gives a role another look: a colour, attributes, or both, in any order (see SpecForm). It replaces the look the role had; what has no colour is drawn in
// the terminal's own. For fewer colours than the terminal needs the nearest are taken.
func (p Palette) Set(role, spec string) (Palette, error) {
	at := -1
	for i, n := range roleNames {
		if n == role {
			at = i
		}
	}
	if at < 0 {
		return p, fmt.Errorf("no role is called %q; there are %s", role, strings.Join(roleNames[:], ", "))
	}
	l := look{rgb: p.Foreground}
	words := strings.Fields(spec)
	if len(words) == 0 {
		return p, fmt.Errorf("it says nothing; write %s", SpecForm)
	}
	coloured := false
words:
	for _, w := range words {
		for _, a := range attrs {
			if w == a.name {
				l.attr |= a.bit
				continue words
			}
		}
		if coloured {
			return p, fmt.Errorf("%q has two colours; write %s", spec, SpecForm)
		}
		coloured = true
		if w == "default" {
			continue
		}
		if n, err := strconv.Atoi(w); err == nil && n >= 0 && n <= 255 {
			l.c256, l.rgb, l.fixed = n, xterm(n), true
			if n == 0 { // number 0 stands for the terminal's own; 16 is black as well
				l.c256 = 16
			}
			if n < 16 {
				l.c16 = sgr16(n)
			} else {
				l.c16 = sgr16(nearest(l.rgb, 0, 16))
			}
			continue
		}
		c, err := hex(w)
		if err != nil {
			return p, fmt.Errorf("%q is neither a colour nor an attribute; write %s", w, SpecForm)
		}
		l.rgb, l.c256, l.c16 = c, nearest(c, 16, 256), sgr16(nearest(c, 0, 16))
	}
	p.looks[at] = l
	return p, nil
}

// Ground sets the colours of background and plain text that pictures of the screen are drawn with, as #rrggbb; "" leaves one as it is.
func (p Palette) Ground(background, foreground string) (Palette, error) {
	for _, g := range []struct {
		text string
		to   *uint32
	}{{background, &p.Background}, {foreground, &p.Foreground}} {
		if g.text == "" {
			continue
		}
		c, err := hex(g.text)
		if err != nil {
			return p, err
		}
		*g.to = c
	}
	return p, nil
}
