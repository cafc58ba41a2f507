package words

import (
	"testing"
	"time"
)

func TestSay(t *testing.T) {
	c, err := Parse("a = {n} {n|pod|pods} of {who}\nb = off {since}, in {in}\nc = plain\nd = press {@power|K} or {@cut|C}", func(n int) int { return min(max(n-1, 0), 1) })
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{
		"1 pod of x":             c.Say("a", "n", 1, "who", "x"),
		"3 pods of <U+001B>[31m": c.Say("a", "n", 3, "who", "\x1b[31m"),
		"off 3m, in 4m38s":       c.Say("b", "since", 3*time.Minute+9*time.Second, "in", 4*time.Minute+38*time.Second),
		"plain":                  c.Say("c"),
		"press K or C":           c.Say("d"),
		"press f5 or C":          c.WithKeys(map[string]string{"power": "f5"}).Say("d"),
		"{nothing.here}":         c.Say("nothing.here"),
		"2 pods of {who}":        c.Say("a", "n", 2),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, bad := range []string{"no equals sign", "k = {open", "k = {n|one}", "k = {@power}", "k = {@power|a|b}", "k = 1\nk = 2"} {
		if _, err := Parse(bad, nil); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestWhatALanguageLacksIsSaidInEnglish(t *testing.T) {
	ru, err := Parse("a = да", pluralRussian)
	if err != nil {
		t.Fatal(err)
	}
	if ru.fallback, err = Parse("a = yes\nb = press {@power|K}", pluralEnglish); err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]string{"да": ru.Say("a"), "press K": ru.Say("b"), "press x": ru.WithKeys(map[string]string{"power": "x"}).Say("b")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, err := Language("de"); err == nil {
		t.Error("any two letters are a language")
	}
}

func TestRussianCountsInThreeForms(t *testing.T) {
	c, err := Parse("k = {n|под|пода|подов}", pluralRussian)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{0: "подов", 1: "под", 2: "пода", 4: "пода", 5: "подов", 11: "подов", 12: "подов", 14: "подов", 21: "под", 22: "пода", 25: "подов", 101: "под", 111: "подов", -1: "под"} {
		if got := c.Say("k", "n", n); got != want {
			t.Errorf("%d %s, want %s", n, got, want)
		}
	}
}

func TestSizesAreInBinaryUnits(t *testing.T) {
	for bytes, want := range map[int64]string{-1: "0 B", 0: "0 B", 512: "512 B", 20 << 10: "20.0 KiB", 8 << 20: "8.0 MiB", 8<<20 + 100<<10: "8.1 MiB", 2 << 30: "2.0 GiB", 3 << 40: "3.0 TiB", 1<<20 - 1: "1.0 MiB"} {
		if got := Size(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}
