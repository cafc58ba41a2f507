package sanitize

import (
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/kubeviz/tui/grid"
)

func TestTextTakesOutWhatActsOnATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"nginx":                   "nginx",
		"\x1b[31mred":             "<U+001B>[31mred",
		"a\tb\nc":                 "a b c",
		"bell\a":                  "bell<U+0007>",
		"c1\u009b2J":              "c1<U+009B>2J",
		"right\u202eleft":         "right<U+202E>left",
		"zero\u200bwidth":         "zero<U+200B>width",
		"bad\xff":                 "bad\ufffd",
		"grün, Ärger":             "grün, Ärger",
		"日本語":                     "日本語",
		"\U0001F600":              "<U+1F600>",
		"warn\u26a0\ufe0f":        "warn\u26a0<U+FE0F>",
		"e\u0301":                 "e<U+0301>",
		strings.Repeat("x", 5000): strings.Repeat("x", 4096) + "…",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%.40q) = %.60q, want %.60q", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a\x1b]0;x\a", "\u202e", "日\xe6\x97", strings.Repeat("é", 3000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) {
			t.Fatalf("not UTF-8: %q", got)
		}
		n := 0
		for _, r := range got {
			w := grid.RuneWidth(r)
			if w == 0 {
				t.Fatalf("%q lets %U through", s, r)
			}
			n += w
		}
		if n != grid.Width(got) {
			t.Fatalf("width of %q is %d, want %d", got, grid.Width(got), n)
		}
		if Text(got) != got && len(got) <= MaxBytes {
			t.Fatalf("%q is not stable", got)
		}
	})
}
