package info

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/settings"
	"example.com/kubeviz/tui/words"
)

func place(env map[string]string, files ...string) Place {
	return Place{Getenv: func(k string) string { return env[k] }, Files: func(string) []string { return files }, Temp: "/tmp"}
}

func report(t *testing.T, env map[string]string, config string, files ...string) Report {
	t.Helper()
	s, err := settings.Resolve(settings.Source{Getenv: func(k string) string { return env[k] }, ReadFile: func(path string) ([]byte, error) {
		if strings.HasSuffix(path, "config.yaml") && config != "" {
			return []byte(config), nil
		}
		return nil, fs.ErrNotExist
	}})
	return Collect("1.2.3", s, err, place(env, files...))
}

func text(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := WriteText(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var ann = map[string]string{"HOME": "/home/ann", "TERM": "tmux-256color", "TMUX": "/tmp/tmux", "SSH_TTY": "/dev/pts/1", "LANG": "ru_RU.UTF-8"}

func TestTheReportSaysWhatIsFoundAndWhereItComesFrom(t *testing.T) {
	got := text(t, report(t, ann, "theme: light\n", "mine.yaml", "notes.txt"))
	for _, want := range []string{
		"kubeviz 1.2.3 (go", "settings   /home/ann/.config/kubeviz/config.yaml\n", "TERM       tmux-256color", "inside     tmux, ssh", "COLORTERM  -",
		"colours    256: TERM is tmux-256color", "locale     LANG=ru_RU.UTF-8", "here       no",
		"  theme      light                        /home/ann/.config/kubeviz/config.yaml:1\n",
		"  lang       ru                           LANG=ru_RU.UTF-8\n",
		"  mouse      true                         default\n",
		"dark, light, contrast, safe, mono, mine\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if got := text(t, report(t, ann, "")); !strings.Contains(got, "config.yaml (not there)") {
		t.Errorf("a file that is not there is not told:\n%s", got)
	}
}

func TestWrongSettingsAreToldAndTheRestIsStillThere(t *testing.T) {
	r := report(t, ann, "theme: neon\n")
	got := text(t, r)
	if r.Problem == "" || r.Settings != nil || !strings.Contains(got, "config.yaml:1: no theme is called") || !strings.Contains(got, "tmux-256color") {
		t.Errorf("%s", got)
	}
}

func TestTheEnvironmentCannotWriteToTheTerminal(t *testing.T) {
	got := text(t, report(t, map[string]string{"HOME": "/h", "TERM": "x\x1b]0;owned\x07", "COLORTERM": "\x1b[31m", "LANG": "\u202eC"}, ""))
	if strings.ContainsAny(got, "\x1b\x07\u202e") {
		t.Errorf("%q", got)
	}
}

func TestTheReportIsJSON(t *testing.T) {
	data, err := json.Marshal(report(t, ann, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"config":"/home/ann/.config/kubeviz/config.yaml"`, `"utf8":true`, `"language":"ru"`, `"colors":"256"`, `{"name":"lang","value":"ru","from":"LANG=ru_RU.UTF-8"}`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}

func TestTheTableOfKeysHasEveryAction(t *testing.T) {
	ru, err := words.Language("ru")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*words.Catalogue{words.English(), ru} {
		keys := Keys(keymap.Table(), c)
		if len(keys) != len(keymap.Actions(keymap.Table())) {
			t.Errorf("%d lines", len(keys))
		}
		var b strings.Builder
		if err := WriteKeys(&b, keys); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"\npower ", " K ", "\npause ", " space ", c.Say("key.power")} {
			if !strings.Contains("\n"+b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}
