package settings

import (
	"os"
	"path/filepath"
)

// Paths of what belongs to the user.
type Paths struct {
	// Config is the file of settings, Themes the folder of the user's own.
	Config, Themes string
	// Named: the user named the file (KUBEVIZ_CONFIG), so it must be there.
	Named bool
}

// FindPaths follows the XDG base directory specification: $XDG_CONFIG_HOME/kubeviz, by default ~/.config/kubeviz. A relative XDG_CONFIG_HOME counts for
// nothing, as the specification says. KUBEVIZ_CONFIG names another file.
func FindPaths(getenv func(string) string) Paths {
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := getenv("HOME")
		if home == "" {
			home, _ = os.UserHomeDir() // none: the paths are relative then, and nothing is found
		}
		base = filepath.Join(home, ".config")
	}
	folder := filepath.Join(base, "kubeviz")
	p := Paths{Config: filepath.Join(folder, "config.yaml"), Themes: filepath.Join(folder, "themes")}
	if named := getenv("KUBEVIZ_CONFIG"); named != "" {
		p.Config, p.Named = named, true
	}
	return p
}
