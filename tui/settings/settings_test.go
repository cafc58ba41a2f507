package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/theme"
)

const home = "/home/ann"

// machine is a Source in memory. files are by name below the configuration folder; env are pairs.
func machine(files map[string]string, flags map[string]string, env ...string) Source {
	all := map[string]string{"HOME": home, "TERM": "xterm-256color", "LANG": "en_US.UTF-8"}
	for i := 0; i+1 < len(env); i += 2 {
		all[env[i]] = env[i+1]
	}
	return Source{
		Getenv: func(k string) string { return all[k] },
		ReadFile: func(path string) ([]byte, error) {
			rel, err := filepath.Rel(home+"/.config/kubeviz", path)
			if text, ok := files[rel]; err == nil && ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		},
		Flags: flags,
	}
}

func resolve(t *testing.T, from Source) *Settings {
	t.Helper()
	s, err := Resolve(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNothingSaidGivesTheDefaults(t *testing.T) {
	s := resolve(t, machine(nil, nil))
	if s.Theme != "dark" || s.Color != "auto" || s.Depth != theme.Colours256 || s.Lang != "en" || s.ASCII || s.Still || !s.Mouse || !s.Hint || s.Rate != 0 || s.Found {
		t.Errorf("%+v", s)
	}
	if len(s.Keys) != len(keymap.Table()) {
		t.Errorf("%d rows of keys, want %d", len(s.Keys), len(keymap.Table()))
	}
	for _, f := range Fields() {
		if o := s.Origin(f.Name); o != "default" {
			t.Errorf("%s comes from %s", f.Name, o)
		}
	}
}

func TestAFlagWinsOverTheEnvironmentOverTheFile(t *testing.T) {
	file := map[string]string{"config.yaml": "# mine\ntheme: light\nmotion: reduced\nlang: ru\n"}
	for _, c := range []struct {
		from  Source
		theme string
		where string
	}{
		{machine(file, nil), "light", home + "/.config/kubeviz/config.yaml:2"},
		{machine(file, nil, "KUBEVIZ_THEME", "contrast"), "contrast", "KUBEVIZ_THEME"},
		{machine(file, map[string]string{"theme": "safe"}, "KUBEVIZ_THEME", "contrast"), "safe", "flag --theme"},
	} {
		s := resolve(t, c.from)
		if s.Theme != c.theme || s.Palette.Name != c.theme || s.Origin("theme") != c.where {
			t.Errorf("theme %s of %s from %s, want %s from %s", s.Theme, s.Palette.Name, s.Origin("theme"), c.theme, c.where)
		}
		if !s.Still || s.Lang != "ru" {
			t.Error("what only the file says is lost")
		}
	}
}

func TestEverySettingOfTheFileIsTaken(t *testing.T) {
	s := resolve(t, machine(map[string]string{"config.yaml": `
theme: contrast
lang: ru
color: 16
ascii: true
motion: reduced
mouse: false
rate: 2.5
hint: false
keys:
  power: [P, f5]
  restart: []
  step: ";"
`}, nil))
	if s.Theme != "contrast" || s.Lang != "ru" || s.Depth != theme.Colours16 || !s.ASCII || !s.Still || s.Mouse || s.Hint || s.Rate != 2.5 {
		t.Errorf("%+v", s)
	}
	if got := s.Words.Say("not.down-already"); !strings.Contains(got, "P включит") {
		t.Errorf("the sentence names the old key: %s", got)
	}
	keys := keymap.New(s.Keys)
	for _, k := range []string{"P", "f5", ";"} {
		if _, ok := keys.Find(k, keymap.Everywhere); !ok {
			t.Errorf("%s does nothing", k)
		}
	}
	for _, k := range []string{"K", "R", "."} {
		if b, ok := keys.Find(k, keymap.Everywhere); ok {
			t.Errorf("%s still does %s", k, b.Help)
		}
	}
	for _, f := range Fields() {
		if !strings.HasPrefix(s.Origin(f.Name), home) {
			t.Errorf("%s comes from %s", f.Name, s.Origin(f.Name))
		}
	}
}

func TestAWrongSettingIsToldWithPlaceFieldAndWhatIsAllowed(t *testing.T) {
	config := home + "/.config/kubeviz/config.yaml"
	for _, c := range []struct{ text, want string }{
		{"theme: light\nthme: dark", config + ":2: thme: there is no such setting; there are theme, color, lang, ascii, motion, mouse, rate, hint, keys"},
		{"lang: de", config + `:1: lang: "de" is not a value of it; it takes en or ru`},
		{"\ncolor: 8", config + `:2: color: "8" is not a value of it; it takes auto, always, never, 16, 256 or truecolor`},
		{"mouse: maybe", config + `:1: mouse: "maybe" is a text; it takes true or false`},
		{"ascii: 1", config + `:1: ascii: 1 is not a value of it; it takes true or false`},
		{"rate: 100", config + `:1: rate: "100" is not a value of it; it takes a number from 0.1 to 60`},
		{"rate: fast", config + `:1: rate: "fast" is a text; it takes a number from 0.1 to 60`},
		{"motion: [full]", config + `:1: motion: this is a list or a table; it takes full or reduced`},
		{"theme: ../dark", config + `:1: theme: "../dark" is not a value of it; it takes a name`},
		{"theme: neon", config + `:1: no theme is called "neon"; there are dark, light, contrast, safe, mono; a theme of your own is a file in ` + home + "/.config/kubeviz/themes"},
		{"theme: dark\nlang: en\ntheme: light", config + ":3: theme: it is there twice; keep one of them"},
		{"theme: dark\n  lang: en", config + ":2: this is not YAML: mapping values are not allowed in this context; write"},
		{"- theme", config + ": the file holds one array; write"},
		{"dark", config + ": the file holds one string; write"},
		{"keys: K", config + ":1: keys: this is not a table; write the name of an action"},
		{"keys:\n  power: [K, {}]", config + ":2: keys.power: this is not a key; write a key in quotes"},
		{"keys:\n  copy: y", config + ":2: keys.copy: this is not a key; write a key in quotes"},
		{"theme: dark\nkeys:\n  powr: K", config + `:3: keys.powr: no action is called that, perhaps "power" is meant; kubeviz info --keys lists them`},
		{"keys: {power: ctrl+c}", config + ":1: keys.power: ctrl+c cannot be given away; write a letter"},
		{"keys:\n  power: C", config + ":2: keys.power: C is already the key of cut; take another, or give cut other keys as well"},
		{"keys: {help: []}", config + ":1: keys.help: nobody can do without it"},
		{strings.Repeat("#", 70000), config + ": the file has more than 65536 bytes"},
	} {
		_, err := Resolve(machine(map[string]string{"config.yaml": c.text}, nil))
		var placed *Error
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !errors.As(err, &placed) {
			t.Errorf("%.40q is answered\n  %v, want\n  %s", c.text, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q is answered on more than a line", c.text)
		}
	}
	for _, c := range []struct {
		from Source
		want string
	}{
		{machine(nil, nil, "KUBEVIZ_LANG", "fr"), `KUBEVIZ_LANG: "fr" is not a value of it; it takes en or ru`},
		{machine(nil, map[string]string{"motion": "slow"}), `flag --motion: "slow" is not a value of it; it takes full or reduced`},
		{machine(nil, map[string]string{"theme": "neon"}), `flag --theme: no theme is called "neon"`},
		{machine(nil, nil, "KUBEVIZ_CONFIG", "/etc/none.yaml"), "/etc/none.yaml: the settings cannot be read: file does not exist"},
	} {
		if _, err := Resolve(c.from); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("answered %v, want %s", err, c.want)
		}
	}
}

func TestWhatIsNoFileIsNotWaitedFor(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "config.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	from := Machine(nil)
	from.Getenv = func(k string) string { return map[string]string{"HOME": folder, "KUBEVIZ_CONFIG": pipe}[k] }
	if _, err := Resolve(from); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("answered %v", err)
	}
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pipe, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Resolve(from); err == nil || !strings.Contains(err.Error(), "more than 65536 bytes") {
		t.Errorf("answered %v", err)
	}
}

func TestAnEmptyFileOrFieldSaysNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "theme:\n", "---\n"} {
		if s := resolve(t, machine(map[string]string{"config.yaml": text}, nil)); s.Theme != "dark" || !s.Found {
			t.Errorf("%q: theme %s, found %t", text, s.Theme, s.Found)
		}
	}
}

func TestTheLocaleChoosesLettersAndLanguage(t *testing.T) {
	for _, c := range []struct {
		env   []string
		ascii bool
		lang  string
	}{
		{[]string{"LANG", "C"}, true, "en"},
		{[]string{"LANG", ""}, false, "en"},
		{[]string{"LANG", "POSIX"}, true, "en"},
		{[]string{"LANG", "C.UTF-8"}, false, "en"},
		{[]string{"LANG", "ru_RU.UTF-8"}, false, "ru"},
		{[]string{"LANG", "ru_RU.utf8"}, false, "ru"},
		{[]string{"LANG", "ru_RU.KOI8-R"}, true, "en"}, // its letters cannot be drawn
		{[]string{"LANG", "en_US.UTF-8", "LC_MESSAGES", "ru_RU.UTF-8"}, false, "ru"},
		{[]string{"LANG", "ru_RU.UTF-8", "LC_ALL", "en_US.UTF-8"}, false, "en"},
		{[]string{"LANG", "ru_RU.UTF-8", "LC_CTYPE", "C"}, true, "en"},
		{[]string{"LANG", "ja_JP.EUC-JP@x"}, true, "en"},
		{[]string{"LC_CTYPE", "UTF-8"}, false, "en"},
		{[]string{"LANG", "rup_MK.UTF-8"}, false, "en"},
		{[]string{"LANG", "C", "KUBEVIZ_LANG", "ru"}, true, "ru"}, // asked for: letters stay letters
		{[]string{"LANG", "C", "KUBEVIZ_ASCII", "false"}, false, "en"},
		{[]string{"KUBEVIZ_ASCII", "1"}, true, "en"},
	} {
		s := resolve(t, machine(nil, nil, c.env...))
		if s.ASCII != c.ascii || s.Lang != c.lang {
			t.Errorf("%q: ascii %t, language %s; want %t, %s", c.env, s.ASCII, s.Lang, c.ascii, c.lang)
		}
	}
	s := resolve(t, machine(map[string]string{"config.yaml": "lang: en"}, nil, "LANG", "ru_RU.UTF-8"))
	if s.Lang != "en" {
		t.Error("the locale wins over the file")
	}
	if o := resolve(t, machine(nil, nil, "LANG", "C")).Origin("ascii"); o != "LANG=C" {
		t.Errorf("ASCII comes from %q", o)
	}
}

func TestColourIsDecidedByFlagThenEnvironmentThenFile(t *testing.T) {
	file := map[string]string{"config.yaml": "color: truecolor"}
	for _, c := range []struct {
		from  Source
		depth theme.Depth
		why   string
	}{
		{machine(file, nil), theme.TrueColour, "asked for"},
		{machine(file, nil, "NO_COLOR", "1"), theme.Mono, "NO_COLOR is set"},
		{machine(file, nil, "NO_COLOR", "1", "KUBEVIZ_COLOR", "16"), theme.Colours16, "asked for"},
		{machine(file, map[string]string{"color": "always"}, "NO_COLOR", "1"), theme.Colours256, "TERM is xterm-256color"},
		{machine(nil, nil), theme.Colours256, "TERM is xterm-256color"},
	} {
		s := resolve(t, c.from)
		if s.Depth != c.depth || s.WhyDepth != c.why {
			t.Errorf("%s because %q, want %s because %q", s.Depth, s.WhyDepth, c.depth, c.why)
		}
	}
}

func TestThemeAutoFollowsTheGround(t *testing.T) {
	for ground, want := range map[string]string{"0;15": "light", "15;0": "dark", "": "dark"} {
		if s := resolve(t, machine(nil, map[string]string{"theme": "auto"}, "COLORFGBG", ground)); s.Theme != want {
			t.Errorf("COLORFGBG=%s: %s, want %s", ground, s.Theme, want)
		}
	}
}

func TestAThemeOfOnesOwnBuildsOnAnother(t *testing.T) {
	files := map[string]string{
		"themes/mine.yaml": "base: house\nroles:\n  ok: \"#ff0000 bold\"\n  leader: 212\n",
		// a house style on top of the light palette
		"themes/house.yaml": "base: light\nbackground: \"#eeeeee\"\nroles: {failing: underline}\n",
		"themes/dark.yaml":  "roles: {text: 250}\n",
	}
	s := resolve(t, machine(files, map[string]string{"theme": "mine"}))
	th := theme.New(s.Palette, theme.TrueColour)
	for _, c := range []struct{ got, want string }{
		{th.Seq(theme.OK), "\x1b[1;38;2;255;0;0m"}, {th.Seq(theme.Leader), "\x1b[38;5;212m"}, {th.Seq(theme.Failing), "\x1b[4m"},
		{th.Seq(theme.Waiting), theme.New(theme.Light, theme.TrueColour).Seq(theme.Waiting)},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if s.Palette.Background != 0xeeeeee || s.Palette.Name != "mine" {
		t.Errorf("%s on %06x", s.Palette.Name, s.Palette.Background)
	}
	if d := resolve(t, machine(files, nil)); theme.New(d.Palette, theme.TrueColour).Seq(theme.Text) != "\x1b[38;5;250m" {
		t.Error("a theme of one's own does not take the place of one that comes with the program")
	}
	if p, err := s.Named("house"); err != nil || p.Name != "house" {
		t.Errorf("another theme is %v, %v", p.Name, err)
	}
}

func TestAWrongThemeIsToldWithFileAndRole(t *testing.T) {
	file := home + "/.config/kubeviz/themes/mine.yaml"
	for _, c := range []struct{ text, want string }{
		{"roles:\n  ok: red\n", file + `:2: roles.ok: "red" is neither a colour nor an attribute; write a colour (#rrggbb, 0 to 255, or default)`},
		{"roles:\n  good: 72\n", file + `:2: roles.good: no role is called "good"; there are text, dim,`},
		{"roles:\n  dim: dim\n  ok: #ff0000\n", file + ":3: roles.ok: it says nothing; a colour such as \"#7cc7ff\" stands in quotes"},
		{"roles: red\n", file + ":1: roles: this is not a table"},
		{"roles: {ok: [1]}\n", file + ":1: roles.ok: it says nothing; write a colour"},
		{"base: none\n", file + `:1: base: no theme is called "none"; there are dark`},
		{"base: mine\n", file + `:1: base: "mine" builds on itself; take one of dark`},
		{"base: ../x\n", file + `:1: base: "../x" is not a name`},
		{"\nbackground: black\n", file + `:2: background: "black" is not a colour such as #7cc7ff; write #rrggbb, in quotes`},
		{"foreground: #ffffff\n", file + `:1: foreground: this is not a text; write it in quotes`},
		{"colours: {}\n", file + ":1: colours: a theme has no such field; it has base, background, foreground, roles"},
	} {
		_, err := Resolve(machine(map[string]string{"themes/mine.yaml": c.text}, map[string]string{"theme": "mine"}))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q is answered\n  %v, want\n  %s", c.text, err, c.want)
		}
	}
	circle := map[string]string{"themes/a.yaml": "base: b", "themes/b.yaml": "base: a"}
	if _, err := Resolve(machine(circle, map[string]string{"theme": "a"})); err == nil || !strings.Contains(err.Error(), `b.yaml:1: base: "a" builds on itself`) {
		t.Errorf("themes in a circle are answered %v", err)
	}
}

func TestPathsFollowXDG(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": "/h"}, "/h/.config/kubeviz/config.yaml"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/kubeviz/config.yaml"},
		{map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "x"}, "/h/.config/kubeviz/config.yaml"},
		{map[string]string{"HOME": "/h", "KUBEVIZ_CONFIG": "/k.yaml"}, "/k.yaml"},
	} {
		if got := FindPaths(func(k string) string { return c.env[k] }).Config; got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}

func TestEverySettingCanBeShown(t *testing.T) {
	s := resolve(t, machine(map[string]string{"config.yaml": "rate: 3\nkeys: {power: P}"}, nil))
	var shown []string
	for _, f := range Fields() {
		shown = append(shown, s.Text(f.Name))
	}
	if want := []string{"dark", "auto", "en", "false", "full", "true", "3", "true", "1 changed"}; !slices.Equal(shown, want) {
		t.Errorf("%q, want %q", shown, want)
	}
}
