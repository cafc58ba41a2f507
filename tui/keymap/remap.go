package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/kubeviz/tui/grid"
	"example.com/kubeviz/tui/intent"
	"example.com/kubeviz/tui/search"
)

// Action is what keys can be given to: a row of the table, or rows of several scopes that mean the same.
type Action struct {
	// Name as users write it; what only one view has is called after it ("raft.slow").
	Name string
	// Keys it has now, and Help: the key in the catalogue of what it does.
	Keys []string
	Help string
	// Scopes it works in.
	Scopes []Scope
	// Fixed: no other keys can be given to it.
	Fixed bool
}

// RemapError is a wish that cannot be met.
type RemapError struct {
	// Action it was for, what is wrong with it, and what to write instead.
	Action, Wrong, Want string
}

func (e *RemapError) Error() string { return e.Action + ": " + e.Wrong + "; " + e.Want }

// twoWays names the two directions of intents that share a line of help.
var twoWays = map[intent.Intent]string{
	intent.Next{By: 1}: "next", intent.Next{By: -1}: "previous",
	intent.Match{By: 1}: "match", intent.Match{By: -1}: "match-back",
	intent.Faster{By: -1}: "slower", intent.Faster{By: 1}: "faster",
	intent.Scrub{By: -1}: "scrub-back", intent.Scrub{By: 1}: "scrub-on",
	intent.Mark{By: -1}: "mark-back", intent.Mark{By: 1}: "mark-on",
}

// needed are the actions nobody can do without; fixed is the one that is always there.
var (
	needed = map[string]bool{"quit": true, "help": true, "back": true, "close": true}
	fixed  = "quit-now"
)

// NameOf is the name of a row's action; rows that mean the same in several scopes share it.
func NameOf(b Binding) string {
	name := strings.TrimPrefix(b.Help, "key.")
	if o, ok := b.Do.(intent.Option); ok {
		name = o.Name
	} else if n, ok := twoWayName(b.Do); ok { // it means the same in every view
		return n
	}
	if b.Scope != Everywhere && b.Scope != Overlay {
		name = string(b.Scope) + "." + strings.TrimPrefix(name, string(b.Scope)+"-")
	}
	return name
}

func twoWayName(i intent.Intent) (string, bool) {
	switch i.(type) {
	case intent.Next, intent.Match, intent.Faster, intent.Scrub, intent.Mark:
		n, ok := twoWays[i]
		return n, ok
	}
	return "", false
}

// Actions lists the actions of a table: those that work everywhere, those of what lies on top, and those of the views, each in the order of the table.
func Actions(rows []Binding) []Action {
	var out []Action
	at := map[string]int{}
	help := ""
	for _, b := range byScope(rows) {
		if b.Help != "" {
			help = b.Help // a row without one belongs to the row before
		}
		name := NameOf(b)
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Action{Name: name, Help: help, Fixed: name == fixed})
		}
		out[i].Scopes = append(out[i].Scopes, b.Scope)
		for _, k := range b.Keys {
			if !slices.Contains(out[i].Keys, k) {
				out[i].Keys = append(out[i].Keys, k)
			}
		}
	}
	return out
}

func byScope(rows []Binding) []Binding {
	var general, top, views []Binding
	for _, b := range rows {
		switch b.Scope {
		case Everywhere:
			general = append(general, b)
		case Overlay:
			top = append(top, b)
		default:
			views = append(views, b)
		}
	}
	return append(append(general, top...), views...)
}

// Remap gives actions other keys: name of the action to its keys, which replace all it had. No keys take the action off the keyboard. Labels follow. An error is a
// *RemapError; the rows given are not changed.
func Remap(rows []Binding, keys map[string][]string) ([]Binding, error) {
	if len(keys) == 0 {
		return rows, nil
	}
	actions := map[string]Action{}
	for _, a := range Actions(rows) {
		actions[a.Name] = a
	}
	given := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(keys)) { // the same mistake is told each time
		a, ok := actions[name]
		switch {
		case !ok:
			return nil, &RemapError{name, "no action is called that" + closest(name, actions), "kubeviz info --keys lists them"}
		case a.Fixed:
			return nil, &RemapError{name, "this is always on " + Label(a.Keys...), "leave it out"}
		case len(keys[name]) == 0 && needed[name]:
			return nil, &RemapError{name, "nobody can do without it", "give it a key, or leave it out"}
		}
		for _, k := range keys[name] {
			canonical, err := canonicalKey(k)
			if err != nil {
				return nil, &RemapError{name, err.Error(), "write a letter or sign, or a name such as enter, space, f5, ctrl+t, alt+x, shift+up"}
			}
			if !slices.Contains(given[name], canonical) {
				given[name] = append(given[name], canonical)
			}
		}
		if given[name] == nil {
			given[name] = []string{}
		}
	}
	out := make([]Binding, 0, len(rows))
	for _, b := range rows {
		if wanted, ok := given[NameOf(b)]; ok {
			b.Keys = wanted
		}
		out = append(out, b)
	}
	if err := clashes(out, given); err != nil {
		return nil, err
	}
	return relabel(out, given), nil
}

// clashes finds two actions that want the same key in the same place: a scope, or a view and everywhere. What lies on top may hide what is below, and a view may
// take a key for the same action.
func clashes(rows []Binding, given map[string][]string) error {
	owner := map[Scope]map[string]string{}
	for _, b := range rows {
		if owner[b.Scope] == nil {
			owner[b.Scope] = map[string]string{}
		}
		name := NameOf(b)
		for _, k := range b.Keys {
			if other, ok := owner[b.Scope][k]; ok && other != name && (given[name] != nil || given[other] != nil) {
				return clash(k, name, other, given)
			}
			owner[b.Scope][k] = name
		}
	}
	for _, b := range rows {
		if b.Scope == Everywhere || b.Scope == Overlay {
			continue
		}
		name := NameOf(b)
		for _, k := range b.Keys {
			if other, ok := owner[Everywhere][k]; ok && other != name && (given[name] != nil || given[other] != nil) {
				return clash(k, name, other, given)
			}
		}
	}
	return nil
}

// clash tells about the one of two actions that the user gave the key to.
func clash(key, a, b string, given map[string][]string) error {
	if given[a] == nil || given[b] != nil && b < a {
		a, b = b, a
	}
	return &RemapError{a, fmt.Sprintf("%s is already the key of %s", Label(key), b), fmt.Sprintf("take another, or give %s other keys as well", b)}
}

// relabel writes the labels of what was changed. A row without a label shares that of the row before it.
func relabel(rows []Binding, given map[string][]string) []Binding {
	changed := func(i int) bool { return i < len(rows) && given[NameOf(rows[i])] != nil }
	var out []Binding
	for i, b := range rows {
		pair := i+1 < len(rows) && b.Label != "" && rows[i+1].Label == "" && rows[i+1].Scope == b.Scope
		switch {
		case pair && (changed(i) || changed(i+1)):
			var both []string
			for _, r := range rows[i : i+2] {
				if len(r.Keys) > 0 {
					both = append(both, r.Keys[0])
				}
			}
			b.Label = Label(both...)
		case b.Label != "" && changed(i):
			b.Label = Label(b.Keys...)
		}
		if len(b.Keys) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// labelMax is the width of the column of keys in help.
const labelMax = 9

// Label writes keys for people, as many as there is room for.
func Label(keys ...string) string {
	signs := map[string]string{" ": "space", "up": string(grid.UpTo), "down": string(grid.DownTo), "left": string(grid.LeftTo), "right": string(grid.RightTo), "pgdown": "pgdn"}
	out := ""
	for _, k := range keys {
		if s, ok := signs[k]; ok {
			k = s
		}
		if out != "" && grid.Width(out)+1+grid.Width(k) > labelMax {
			break
		}
		out = strings.TrimSpace(out + " " + k)
	}
	return out
}

// Labels gives the label of each action, for sentences that name a key.
func Labels(rows []Binding) map[string]string {
	out := map[string]string{}
	for _, a := range Actions(rows) {
		if len(a.Keys) > 0 {
			out[a.Name] = Label(a.Keys[0])
		}
	}
	return out
}

// named are the keys with a name that may also go with shift, ctrl and alt.
var named = []string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "enter", "esc", "tab", "backspace", "delete", "insert"}

// canonicalKey is a key as the terminal library names it.
func canonicalKey(k string) (string, error) {
	if k == "space" {
		return " ", nil
	}
	if r, n := utf8.DecodeRuneInString(k); n == len(k) && n > 0 {
		if r == utf8.RuneError || grid.RuneWidth(r) == 0 {
			return "", fmt.Errorf("%q is not a key that can be typed", k)
		}
		return k, nil
	}
	base, alt := strings.CutPrefix(strings.ToLower(k), "alt+")
	if alt && utf8.RuneCountInString(base) == 1 {
		return k, nil
	}
	if letter, ok := strings.CutPrefix(base, "ctrl+"); ok && len(letter) == 1 {
		switch {
		case strings.Contains("cimz", letter): // quits, and what terminals send for tab and enter; ctrl+z goes to the shell
			return "", fmt.Errorf("%s cannot be given away", base)
		case letter[0] >= 'a' && letter[0] <= 'z':
			return strings.ToLower(k), nil
		}
	}
	for i := 1; i <= 20; i++ {
		if base == fmt.Sprintf("f%d", i) {
			return strings.ToLower(k), nil
		}
	}
	for _, n := range named {
		if base == n || base == "shift+"+n || base == "ctrl+"+n || base == "ctrl+shift+"+n {
			return strings.ToLower(k), nil
		}
	}
	return "", fmt.Errorf("%q is not a key", k)
}

// closest adds the name that was probably meant.
func closest(name string, actions map[string]Action) string {
	best, at := 3, ""
	for n := range actions {
		if d := search.Distance(name, n); d < best || d == best && at != "" && n < at {
			best, at = d, n
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf(", perhaps %q is meant", at)
}
