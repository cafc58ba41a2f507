package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.com/kubeviz/tui/theme"
	"example.com/kubeviz/tui/words"
)

// kind of a setting's values.
type kind int

const (
	choice kind = iota
	name        // any word without blanks or slashes
	boolean
	number
	keyTable
)

// field is one setting.
type field struct {
	name     string
	kind     kind
	allowed  []string // of a choice
	min, max float64  // of a number
	// about says in a sentence what it does, fallback what is in force when nothing is said.
	about, fallback string
}

// fields are all settings, in the order in which they are listed.
var fields = []field{
	{name: "theme", kind: name, about: "colours: auto, dark, light, contrast, safe, mono, or a theme of your own", fallback: "dark"},
	{name: "color", kind: choice, allowed: theme.Modes(), about: "how many colours", fallback: "auto"},
	{name: "lang", kind: choice, allowed: words.Languages(), about: "language of the screen", fallback: "by the locale"},
	{name: "ascii", kind: boolean, about: "draw symbols and lines with ASCII alone", fallback: "when the locale is not UTF-8"},
	{name: "motion", kind: choice, allowed: []string{"full", "reduced"}, about: "reduced: nothing moves by itself", fallback: "full"},
	{name: "mouse", kind: boolean, about: "take the mouse; false leaves it to the terminal, to select text", fallback: "true"},
	{name: "rate", kind: number, min: 0.1, max: 60, about: "simulated seconds per second of a cluster at its start", fallback: "10"},
	{name: "hint", kind: boolean, about: "help along in the first minute", fallback: "true"},
	{name: "keys", kind: keyTable, about: "other keys for actions: the name of an action and its key or keys", fallback: "none"},
}

// Field is a setting, for people: its name, what it does, what is in force when nothing is said, what it takes, and its variable of the environment.
type Field struct{ Name, About, Default, Takes, Env string }

// Fields lists the settings there are.
func Fields() []Field {
	var out []Field
	for _, f := range fields {
		env := f.env()
		if f.kind == keyTable {
			env = ""
		}
		out = append(out, Field{f.name, f.about, f.fallback, f.takes(), env})
	}
	return out
}

// value of a setting.
type value struct {
	text  string
	keys  map[string][]string // of a table of keys
	lines map[string]string   // where each of its actions stands
	where string
}

// env is the variable of the environment that sets it.
func (f field) env() string { return "KUBEVIZ_" + strings.ToUpper(f.name) }

// takes says what may be written.
func (f field) takes() string {
	switch f.kind {
	case choice:
		return oneOf(f.allowed)
	case boolean:
		return "true or false"
	case number:
		return fmt.Sprintf("a number from %g to %g", f.min, f.max)
	case keyTable:
		return "a table, such as {power: [K, f5]}"
	}
	return "a name"
}

// parse checks the text of a value and brings it into its usual form.
func (f field) parse(text string) (value, error) {
	text = strings.TrimSpace(text)
	switch f.kind {
	case choice:
		for _, a := range f.allowed {
			if strings.EqualFold(a, text) {
				return value{text: a}, nil
			}
		}
	case boolean:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on":
			return value{text: "true"}, nil
		case "false", "0", "no", "off":
			return value{text: "false"}, nil
		}
	case number:
		if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) && n >= f.min && n <= f.max {
			return value{text: text}, nil
		}
	case name:
		if text != "" && len(text) <= 64 && !strings.ContainsAny(text, "/\\ \t\r\n\x00") && !strings.HasPrefix(text, ".") {
			return value{text: text}, nil
		}
	}
	return value{}, fmt.Errorf("%q is not a value of it", text)
}

func oneOf(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}
