// Package info tells what kubeviz found around itself: where its files are, what the terminal is, which settings are in force and where each came from, and which
// keys there are. It is what a report of a fault begins with.
//
// Imports of ours: tui/grid, tui/keymap, tui/sanitize, tui/settings, tui/theme, tui/words. Goroutines: values. Time: none.
package info

import (
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	xterm "github.com/charmbracelet/x/term"

	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/settings"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// Report is all there is to tell.
type Report struct {
	Version  string    `json:"version"`
	Go       string    `json:"go"`
	Platform string    `json:"platform"`
	Paths    Paths     `json:"paths"`
	Terminal Terminal  `json:"terminal"`
	Settings []Setting `json:"settings"`
	// Themes that can be named, the user's own after those that come with the program.
	Themes []string `json:"themes"`
	// Problem is what is wrong with the settings; empty: nothing. The settings are not in force then and not listed.
	Problem string `json:"problem,omitempty"`
}

// Paths of files that kubeviz reads or writes.
type Paths struct {
	Config      string `json:"config"`
	ConfigFound bool   `json:"configFound"`
	Themes      string `json:"themes"`
	Log         string `json:"log"`
	Crash       string `json:"crash"`
	Data        string `json:"data"`
	Saves       string `json:"saves"`
}

// Terminal as its environment describes it; it is not asked.
type Terminal struct {
	Input     bool   `json:"input"`  // standard input is one
	Output    bool   `json:"output"` // standard output is one
	Width     int    `json:"width"`  // cells; 0: not known
	Height    int    `json:"height"`
	Term      string `json:"term"`
	ColorTerm string `json:"colorterm"`
	Program   string `json:"program"`
	Colors    string `json:"colors"`
	ColorsWhy string `json:"colorsWhy"`
	Locale    string `json:"locale"`
	UTF8      bool   `json:"utf8"`
	Language  string `json:"language"`
	Tmux      bool   `json:"tmux"`
	Screen    bool   `json:"screen"`
	SSH       bool   `json:"ssh"`
	Mouse     bool   `json:"mouse"`
}

// Setting in force.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// Place is what is asked about.
type Place struct {
	Getenv  func(string) string
	In, Out *os.File
	// Files lists the names in a folder.
	Files func(folder string) []string
	Temp  string
}

// Here is the place this process is in.
func Here() Place {
	return Place{Getenv: os.Getenv, In: os.Stdin, Out: os.Stdout, Temp: os.TempDir(), Files: func(folder string) []string {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil
		}
		var out []string
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out
	}}
}

// Collect makes the report. wrong is what came of reading the settings; s is nil then.
func Collect(version string, s *settings.Settings, wrong error, at Place) Report {
	r := Report{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Terminal: terminal(at), Themes: theme.Names()}
	paths := settings.FindPaths(at.Getenv)
	r.Paths = Paths{
		Config: paths.Config, Themes: paths.Themes,
		Log:   filepath.Join(at.Temp, "kubeviz-PID.log"),
		Crash: filepath.Join(at.Temp, "kubeviz-crash-TIME-PID.txt"),
		Data:  "a temporary folder for each run in " + at.Temp + ", unless --data-dir names one",
		Saves: "the working directory",
	}
	var own []string
	for _, f := range at.Files(paths.Themes) {
		if name, ok := strings.CutSuffix(f, ".yaml"); ok && name != "" {
			own = append(own, name)
		}
	}
	sort.Strings(own)
	r.Themes = append(r.Themes, own...)
	depth, why, _ := theme.Detect("auto", at.Getenv)
	r.Terminal.Colors, r.Terminal.ColorsWhy = depth.String(), why
	if wrong != nil {
		r.Problem = wrong.Error()
		return r
	}
	r.Paths.ConfigFound = s.Found
	r.Terminal.Colors, r.Terminal.ColorsWhy = s.Depth.String(), s.WhyDepth
	r.Terminal.UTF8, r.Terminal.Language, r.Terminal.Mouse = s.UTF8, s.Lang, s.Mouse
	for _, f := range settings.Fields() {
		value := s.Text(f.Name)
		if value == "" {
			value = f.Default
		}
		r.Settings = append(r.Settings, Setting{f.Name, value, s.Origin(f.Name)})
	}
	return r
}

func terminal(at Place) Terminal {
	env := at.Getenv
	t := Terminal{Term: env("TERM"), ColorTerm: env("COLORTERM"), Program: strings.TrimSpace(env("TERM_PROGRAM") + " " + env("TERM_PROGRAM_VERSION")),
		Tmux: env("TMUX") != "", Screen: env("STY") != "", SSH: env("SSH_CONNECTION") != "" || env("SSH_TTY") != ""}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			t.Locale = strings.TrimSpace(t.Locale + " " + name + "=" + v)
		}
	}
	if at.In != nil {
		t.Input = xterm.IsTerminal(at.In.Fd())
	}
	if at.Out != nil {
		t.Output = xterm.IsTerminal(at.Out.Fd())
	}
	for _, f := range []*os.File{at.Out, at.In} { // one of them may be a pipe
		if f == nil || t.Width != 0 {
			continue
		}
		if w, h, err := xterm.GetSize(f.Fd()); err == nil {
			t.Width, t.Height = w, h
		}
	}
	return t
}

// Key is an action and the keys it has.
type Key struct {
	Name string   `json:"name"`
	Keys []string `json:"keys"`
	What string   `json:"what"`
	In   []string `json:"in"`
}

// Keys lists the actions of a key table, in words.
func Keys(rows []keymap.Binding, c *words.Catalogue) []Key {
	var out []Key
	for _, a := range keymap.Actions(rows) {
		k := Key{Name: a.Name, What: c.Say(a.Help)}
		for _, key := range a.Keys {
			if key == " " {
				key = "space"
			}
			k.Keys = append(k.Keys, key)
		}
		for _, s := range a.Scopes {
			k.In = append(k.In, string(s))
		}
		out = append(out, k)
	}
	return out
}
