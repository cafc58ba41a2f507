// Package settings finds out how the user wants the screen: from flags, the environment and a file, in this order, and says where each value came from.
//
// The file is config.yaml in the configuration folder (Paths); what it may hold is one table here (fields), which the JSON schema, `kubeviz info` and the flags
// are checked against. A value that is wrong is an error before anything starts; nothing is guessed and nothing is left out silently.
//
// Imports of ours: tui/keymap, tui/theme, tui/words. It reads files and the environment through Source only. Goroutines: values, made once at start. Time: none.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"example.com/kubeviz/tui/keymap"
	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// Source is where settings come from.
type Source struct {
	// Getenv and ReadFile reach the machine; nil: that of the process.
	Getenv   func(string) string
	ReadFile func(string) ([]byte, error)
	// Flags are the settings given on the command line, by the name of the setting.
	Flags map[string]string
}

// Machine is the Source of this process with flags of the command line.
func Machine(flags map[string]string) Source {
	return Source{Getenv: os.Getenv, ReadFile: readFile, Flags: flags}
}

// readFile reads a file as far as one can be of use; of what is no file (a pipe would be waited for without end) it says so.
func readFile(path string) ([]byte, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, fileMax+1))
}

// Settings that are in force.
type Settings struct {
	// Theme is the name of the palette, after "auto" has been decided; Palette what it looks like.
	Theme   string
	Palette theme.Palette
	// Color is the mode asked for, Depth what it comes to here, WhyDepth in a few words why.
	Color    string
	Depth    theme.Depth
	WhyDepth string
	// Lang is the language by its two letters, Words its catalogue with the keys in force in its sentences.
	Lang  string
	Words *words.Catalogue
	// ASCII: symbols are drawn with ASCII alone. UTF8: the locale says that more can be drawn.
	ASCII, UTF8 bool
	// Still: nothing moves by itself.
	Still bool
	// Mouse: the program takes it. Hint: the first minute is helped along.
	Mouse, Hint bool
	// Rate of a cluster at its start, simulated seconds per second; 0: the default of what is started.
	Rate float64
	// Keys are the rows of the key table, remapped.
	Keys []keymap.Binding
	// Remapped are the actions with other keys than the default ones.
	Remapped map[string][]string
	// Paths of files. Found: the configuration file is there.
	Paths Paths
	Found bool

	origin map[string]string
	given  map[string]value
	themes themes
}

// Origin says where the value of a setting came from: "flag --theme", "KUBEVIZ_THEME", the file with its line, the locale, or "default".
func (s *Settings) Origin(name string) string { return cmp.Or(s.origin[name], "default") }

// Resolve reads everything and decides. An error is for the user and complete in itself; *Error where a place can be named.
func Resolve(from Source) (*Settings, error) {
	if from.Getenv == nil {
		from.Getenv = os.Getenv
	}
	if from.ReadFile == nil {
		from.ReadFile = readFile
	}
	s := &Settings{Paths: FindPaths(from.Getenv), origin: map[string]string{}, given: map[string]value{}}
	s.themes = themes{folder: s.Paths.Themes, read: from.ReadFile}
	if err := s.readFile(from); err != nil {
		return nil, err
	}
	if err := s.readEnvironment(from.Getenv); err != nil {
		return nil, err
	}
	for _, f := range fields {
		text, ok := from.Flags[f.name]
		if !ok {
			continue
		}
		where := "flag --" + f.name
		v, err := f.parse(text)
		if err != nil {
			return nil, &Error{Where: where, Wrong: err.Error(), Want: "it takes " + f.takes()}
		}
		s.set(f.name, v, where)
	}
	return s, s.decide(from.Getenv)
}

// set a value that wins over what was set before.
func (s *Settings) set(name string, v value, where string) {
	s.given[name], s.origin[name] = v, where
}

// readFile takes the values of the configuration file. That there is none is well, unless the user named it.
func (s *Settings) readFile(from Source) error {
	data, err := from.ReadFile(s.Paths.Config)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.Paths.Named:
		return nil
	case err != nil:
		return &Error{Where: s.Paths.Config, Wrong: "the settings cannot be read: " + reason(err), Want: "make it readable, or take it away"}
	}
	s.Found = true
	values, err := parseFile(s.Paths.Config, data)
	if err != nil {
		return err
	}
	for name, v := range values {
		s.set(name, v, v.where)
	}
	return nil
}

func (s *Settings) readEnvironment(getenv func(string) string) error {
	if getenv("NO_COLOR") != "" {
		s.set("color", value{text: "never"}, "NO_COLOR")
	}
	for _, f := range fields {
		text := getenv(f.env())
		if f.kind == keyTable || text == "" {
			continue
		}
		v, err := f.parse(text)
		if err != nil {
			return &Error{Where: f.env(), Wrong: err.Error(), Want: "it takes " + f.takes()}
		}
		s.set(f.name, v, f.env())
	}
	return nil
}

// decide turns what was given into what is in force.
func (s *Settings) decide(getenv func(string) string) error {
	s.UTF8 = utf8Locale(getenv)
	if err := s.decideLook(getenv); err != nil {
		return err
	}
	s.ASCII = !s.UTF8
	if v, ok := s.given["ascii"]; ok {
		s.ASCII = v.text == "true"
	} else if s.ASCII {
		s.origin["ascii"] = localeVariable(getenv)
	}
	if v, ok := s.given["lang"]; ok {
		s.Lang = v.text
	} else if s.Lang = localeLanguage(getenv); s.Lang != words.Languages()[0] {
		s.origin["lang"] = messagesVariable(getenv)
	}
	s.Still = s.given["motion"].text == "reduced"
	s.Mouse = s.given["mouse"].text != "false"
	s.Hint = s.given["hint"].text != "false"
	if v, ok := s.given["rate"]; ok {
		s.Rate, _ = strconv.ParseFloat(v.text, 64) // the table has checked it
	}
	return s.decideKeys()
}

func (s *Settings) decideLook(getenv func(string) string) (err error) {
	s.Theme = cmp.Or(s.given["theme"].text, "dark")
	if s.Theme == "auto" {
		s.Theme = theme.Ground(getenv)
	}
	if s.Palette, err = s.themes.find(s.Theme); err != nil {
		var placed *Error
		if where := s.origin["theme"]; where != "" && !errors.As(err, &placed) {
			return &Error{Where: where, Wrong: err.Error(), Want: "a theme of your own is a file in " + s.Paths.Themes}
		}
		return err
	}
	s.Color = cmp.Or(s.given["color"].text, "auto")
	s.Depth, s.WhyDepth, err = theme.Detect(s.Color, getenv)
	if s.Color == "never" && s.origin["color"] == "NO_COLOR" {
		s.WhyDepth = "NO_COLOR is set"
	}
	return err
}

func (s *Settings) decideKeys() (err error) {
	keys := s.given["keys"]
	s.Remapped = keys.keys
	table := keymap.Table()
	s.Keys, err = keymap.Remap(table, keys.keys)
	var wrong *keymap.RemapError
	if errors.As(err, &wrong) {
		return &Error{Where: cmp.Or(keys.lines[wrong.Action], keys.where), Field: "keys." + wrong.Action, Wrong: wrong.Wrong, Want: wrong.Want}
	}
	if err != nil {
		return err
	}
	s.Words, err = words.Language(s.Lang)
	if err != nil {
		return err
	}
	if len(keys.keys) > 0 {
		s.Words = s.Words.WithKeys(keymap.Labels(s.Keys))
	}
	return nil
}

// Named finds a palette by name: the user's, then those that come with the program.
func (s *Settings) Named(name string) (theme.Palette, error) { return s.themes.find(name) }

// Text of a setting as it is in force, for people.
func (s *Settings) Text(name string) string {
	switch name {
	case "theme":
		return s.Theme
	case "lang":
		return s.Lang
	case "color":
		return s.Color
	case "ascii":
		return strconv.FormatBool(s.ASCII)
	case "motion":
		if s.Still {
			return "reduced"
		}
		return "full"
	case "mouse":
		return strconv.FormatBool(s.Mouse)
	case "hint":
		return strconv.FormatBool(s.Hint)
	case "rate":
		if s.Rate != 0 {
			return strconv.FormatFloat(s.Rate, 'g', -1, 64)
		}
		return ""
	case "keys":
		if n := len(s.Remapped); n > 0 {
			return fmt.Sprintf("%d changed", n)
		}
	}
	return ""
}
