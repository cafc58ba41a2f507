// Package sanitize makes text from the cluster safe to draw: no byte of it can move the cursor, ring, reorder or hide text on a terminal.
//
// Text is the single door: every string that did not come from our own catalogue passes it before it enters a cell or is printed (CVE-2021-25743 is what
// happens otherwise). What is taken out stays visible, spelled as <U+001B>.
//
// Imports of ours: tui/grid (which runes have a width). Goroutines: pure. Time: none.
package sanitize

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"example.com/kubeviz/tui/grid"
)

// MaxBytes is how much of one string is looked at.
const MaxBytes = 4096

// Text returns s on one line: tabs and line ends are blanks, invalid UTF-8 is U+FFFD, runes that have no cell of their own are spelled out.
func Text(s string) string {
	if len(s) <= MaxBytes && clean(s) {
		return s
	}
	cut := false
	if len(s) > MaxBytes {
		s, cut = s[:MaxBytes], true
		for i := 0; i < 3 && len(s) > 0 && !utf8.ValidString(s[len(s)-1:]); i++ { // do not stop inside a rune
			r, n := utf8.DecodeLastRuneInString(s)
			if r != utf8.RuneError || n != 1 {
				break
			}
			s = s[:len(s)-1]
		}
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\t' || r == '\n' || r == '\r':
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
		case grid.RuneWidth(r) == 0:
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	if cut {
		b.WriteRune(grid.Ellipsis)
	}
	return b.String()
}

func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
