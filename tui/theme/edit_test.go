package theme

import (
	"strings"
	"testing"
)

func TestARoleCanBeGivenAnotherLook(t *testing.T) {
	for _, c := range []struct {
		spec              string
		true24, c256, c16 string
	}{
		{"#ff0000", "\x1b[38;2;255;0;0m", "\x1b[38;5;196m", "\x1b[91m"},
		{"bold #FF0000 underline", "\x1b[1;4;38;2;255;0;0m", "\x1b[1;4;38;5;196m", "\x1b[1;4;91m"},
		{"2", "\x1b[38;5;2m", "\x1b[38;5;2m", "\x1b[32m"},
		{"0 italic", "\x1b[3;38;5;16m", "\x1b[3;38;5;16m", "\x1b[3;30m"},
		{"231", "\x1b[38;5;231m", "\x1b[38;5;231m", "\x1b[97m"},
		{"dim", "\x1b[2m", "\x1b[2m", "\x1b[2m"},
		{"default bold", "\x1b[1m", "\x1b[1m", "\x1b[1m"},
	} {
		p, err := Dark.Set("ok", c.spec)
		if err != nil {
			t.Errorf("%q: %v", c.spec, err)
			continue
		}
		for d, want := range map[Depth]string{TrueColour: c.true24, Colours256: c.c256, Colours16: c.c16} {
			if got := New(p, d).Seq(OK); got != want {
				t.Errorf("%q at %s is %q, want %q", c.spec, d, got, want)
			}
		}
		if New(p, Mono).Seq(OK) != "" {
			t.Errorf("%q leaves something without colour", c.spec)
		}
	}
	if New(Dark, TrueColour).Seq(OK) == New(must(Dark.Set("ok", "#ff0000")), TrueColour).Seq(OK) {
		t.Error("the palette was not changed")
	}
}

func must(p Palette, err error) Palette {
	if err != nil {
		panic(err)
	}
	return p
}

func TestAWrongLookIsRefusedWithWhatIsAllowed(t *testing.T) {
	for _, c := range []struct{ role, spec, want string }{
		{"good", "bold", `no role is called "good"; there are text, dim,`},
		{"ok", "", "says nothing"},
		{"ok", "red", `"red" is neither a colour nor an attribute; write a colour (#rrggbb`},
		{"ok", "#12345", `"#12345" is neither`},
		{"ok", "#12345g", `"#12345g" is neither`},
		{"ok", "256", `"256" is neither`},
		{"ok", "-1", `"-1" is neither`},
		{"ok", "#ff0000 12", "two colours"},
		{"ok", "\x1b[31m", `"\x1b[31m" is neither`},
	} {
		if _, err := Dark.Set(c.role, c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q is answered %v, want …%s…", c.role, c.spec, err, c.want)
		}
	}
	if _, err := Dark.Ground("black", ""); err == nil {
		t.Error("a word is taken for a background")
	}
	if p := must(Dark.Ground("#ffffff", "#000000")); p.Background != 0xffffff || p.Foreground != 0 {
		t.Errorf("the ground is %06x under %06x", p.Background, p.Foreground)
	}
}
