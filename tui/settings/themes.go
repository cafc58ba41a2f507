package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"example.com/kubeviz/tui/theme"
)

// themes finds palettes: files of the user's folder, then those that come with the program.
type themes struct {
	folder string
	read   func(string) ([]byte, error)
}

// deepest chain of themes that build on each other.
const basesMax = 8

func (t themes) find(name string) (theme.Palette, error) { return t.load(name, nil) }

// load reads a theme. below are the themes that build on it.
func (t themes) load(name string, below []string) (theme.Palette, error) {
	path := filepath.Join(t.folder, name+".yaml")
	data, err := t.read(path)
	if errors.Is(err, fs.ErrNotExist) || name == "" {
		return theme.Named(name)
	}
	if err != nil {
		return theme.Palette{}, &Error{Where: path, Wrong: "the theme cannot be read: " + reason(err), Want: "make it readable, or take it away"}
	}
	return t.parse(name, path, data, append(below, name))
}

// themeFields are what a file of a theme may hold.
var themeFields = []string{"base", "background", "foreground", "roles"}

func (t themes) parse(name, path string, data []byte, chain []string) (p theme.Palette, err error) {
	doc, err := document(path, data)
	if err != nil {
		return p, err
	}
	text := map[string]string{}
	for _, key := range sorted(doc) {
		switch key {
		case "roles":
			continue
		case "base", "background", "foreground":
			var s string
			if err := json.Unmarshal(doc[key], &s); err != nil || s == "" {
				return p, &Error{Where: at(path, data, key), Field: key, Wrong: "this is not a text", Want: "write it in quotes, such as \"#14171c\""}
			}
			text[key] = s
		default:
			return p, &Error{Where: at(path, data, key), Field: key, Wrong: "a theme has no such field", Want: "it has " + strings.Join(themeFields, ", ")}
		}
	}
	if p, err = t.base(text["base"], path, data, chain); err != nil {
		return p, err
	}
	for i, key := range []string{"background", "foreground"} {
		pair := [2]string{}
		pair[i] = text[key]
		if p, err = p.Ground(pair[0], pair[1]); err != nil {
			return p, &Error{Where: at(path, data, key), Field: key, Wrong: err.Error(), Want: "write #rrggbb, in quotes"}
		}
	}
	p.Name = name
	return roles(p, path, data, doc["roles"])
}

// base is what the theme builds on: another of the user's, one that comes with the program, by default dark. A user's dark builds on ours.
func (t themes) base(base, path string, data []byte, chain []string) (theme.Palette, error) {
	if base == "" {
		base = theme.Dark.Name
	}
	for _, n := range chain {
		if n != base {
			continue
		}
		if p, err := theme.Named(base); err == nil && base == chain[len(chain)-1] {
			return p, nil
		}
		return theme.Palette{}, &Error{Where: at(path, data, "base"), Field: "base", Wrong: fmt.Sprintf("%q builds on itself", base), Want: "take one of " + strings.Join(theme.Names(), ", ")}
	}
	if len(chain) >= basesMax {
		return theme.Palette{}, &Error{Where: at(path, data, "base"), Field: "base", Wrong: fmt.Sprintf("%d themes build on each other", len(chain)), Want: "put them together"}
	}
	if strings.ContainsAny(base, "/\\") {
		return theme.Palette{}, &Error{Where: at(path, data, "base"), Field: "base", Wrong: fmt.Sprintf("%q is not a name", base), Want: "take one of " + strings.Join(theme.Names(), ", ")}
	}
	p, err := t.load(base, chain)
	var placed *Error
	if err != nil && !errors.As(err, &placed) {
		return p, &Error{Where: at(path, data, "base"), Field: "base", Wrong: err.Error(), Want: "or write a theme of that name beside this one"}
	}
	return p, err
}

// roles gives the roles of the file their looks.
func roles(p theme.Palette, path string, data []byte, raw json.RawMessage) (theme.Palette, error) {
	table := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &table); err != nil {
			return p, &Error{Where: at(path, data, "roles"), Field: "roles", Wrong: "this is not a table", Want: "write the name of a role and its look, such as \"ok: 72\""}
		}
	}
	for _, role := range sorted(table) {
		look := ""
		switch v := table[role].(type) {
		case nil:
			return p, &Error{Where: at(path, data, "roles", role), Field: "roles." + role, Wrong: "it says nothing", Want: "a colour such as \"#7cc7ff\" stands in quotes, or YAML takes it for a comment"}
		case string:
			look = v
		case float64:
			look = fmt.Sprint(v)
		}
		var err error
		if p, err = p.Set(role, look); err != nil {
			wrong, want, _ := strings.Cut(err.Error(), "; ")
			return p, &Error{Where: at(path, data, "roles", role), Field: "roles." + role, Wrong: wrong, Want: want}
		}
	}
	return p, nil
}
