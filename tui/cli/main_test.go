package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// call runs the program with its standard error kept.
func call(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = old }()
	code = run(args)
	w.Close()
	text, _ := io.ReadAll(r)
	return code, string(text)
}

func TestWrongCallsEndWithTwoAndOneSentence(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte("apiVersion: v1\nkind: Config\ncontexts: [{name: production}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"bogus", "unknown command"},
		{"run --bogus", "unknown flag"},
		{"run nosuch", "no preset is called"},
		{"run --masters 0", "0 is not between 1 and 7"},
		{"run --masters 8", "8 is not between 1 and 7"},
		{"run --workers -1", "-1 is not between 0 and 5000"},
		{"run --for 0s", "not above 0"},
		{"run --for -1s", "not above 0"},
		{"run --rate NaN", "not between"},
		{"run --store disk", "neither raft nor memory"},
		{"run --store memory --data-dir " + dir, "keeps nothing"},
		{"run -o xml", "neither text nor json"},
		{"run --do kill", "AT COMMAND"},
		{"run --start now", "not an instant"},
		{"run --size 120x40junk", "not COLUMNSxROWS"},
		{"run --size 1x1", "not COLUMNSxROWS"},
		{"run --frame x.png", "neither .svg nor .txt"},
		{"run --frame " + filepath.Join(dir, "no", "x.svg"), "--frame"},
		{"run --press 2", "need a --frame"},
		{"run --frame x.svg --at -1s", "before the start"},
		{"run --journal " + filepath.Join(dir, "no", "x"), "--journal"},
		{"replay", "takes one journal file"},
		{"replay " + filepath.Join(dir, "none"), "no such file"},
		{"serve nosuch", "no preset is called"},
		{"serve ha single", "takes one preset or file"},
		{"serve --listen 127.0.0.1", "is not HOST:PORT"},
		{"serve --listen 0.0.0.0:0", "is not an address of this machine alone"},
		{"serve single --listen 127.0.0.1:99999", "invalid port"},
		{"--listen 127.0.0.1", "is not HOST:PORT"},
		{"--listen 0.0.0.0:0", "is not an address of this machine alone"},
		{"serve --for 0s", "not above 0"},
		{"serve --rate 1000", "not between"},
		{"serve single --kubeconfig " + filepath.Join(dir, "no", "x"), "cannot be written"},
		{"serve single --kubeconfig " + foreign, "is a file of another program"},
		{"presets x", "takes no arguments"},
		{"--theme neon", `flag --theme: no theme is called "neon"`},
		{"--lang xx", `flag --lang: "xx" is not a value of it; it takes en or ru`},
		{"--color 8", "it takes auto, always, never, 16, 256 or truecolor"},
		{"--motion none", "it takes full or reduced"},
		{"replay x --color pink", "flag --color"},
		{"info x", "info takes no arguments"},
		{"info -o xml", "neither text nor json"},
		{"info --schema keys", "there are config and theme"},
		{"info --theme neon", "flag --theme"},
	} {
		code, said := call(t, strings.Fields(c.args)...)
		if code != 2 || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 {
			t.Errorf("kubeviz %s: code %d, said %q; want 2 and …%s…", c.args, code, said, c.want)
		}
	}
}

// output of the program, which must end well.
func output(t *testing.T, args ...string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	said := make(chan string)
	go func() {
		text, _ := io.ReadAll(r)
		said <- string(text)
	}()
	code := run(args)
	os.Stdout = old
	w.Close()
	text := <-said
	if code != 0 {
		t.Errorf("kubeviz %s: code %d", strings.Join(args, " "), code)
	}
	return text
}

func TestASettingOfTheFileThatIsWrongEndsTheProgramBeforeTheScreenOpens(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	file := filepath.Join(dir, "kubeviz", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("theme: dark\nmotion: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, said := call(t)
	if want := "kubeviz: " + file + ":2: motion: \"none\" is not a value of it; it takes full or reduced\n"; code != 2 || said != want {
		t.Errorf("code %d, said %q, want %q", code, said, want)
	}
	if code, said := call(t, "--motion", "full"); code != 2 || !strings.Contains(said, "motion") {
		t.Errorf("a flag hides the mistake in the file: code %d, %s", code, said)
	}
}

func TestInfoSaysWhatFlagsWouldDo(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("NO_COLOR", "")
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, c := range []struct{ args, want string }{
		{"info --theme light --reduced-motion", "  theme      light                        flag --theme\n"},
		{"info --theme light --reduced-motion", "  motion     reduced                      flag --motion\n"},
		{"info --no-color", "none: asked for"},
		{"info --no-color --color 16", "16: asked for"},
		{"info --ascii=false", "  ascii      false                        flag --ascii\n"},
		{"info --keys --lang ru", "power "},
		{"info --keys -o json", `"name": "power"`},
		{"info -o json", `"configFound": false`},
		{"info --schema config", `"title": "Settings of kubeviz"`},
		{"info --schema theme", `"title": "A theme of kubeviz"`},
	} {
		if got := output(t, strings.Fields(c.args)...); !strings.Contains(got, c.want) {
			t.Errorf("kubeviz %s lacks %q:\n%s", c.args, c.want, got)
		}
	}
}
