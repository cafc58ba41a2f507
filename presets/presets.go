// Package presets holds the scenarios that come with the program, as embedded YAML: data only.
//
// Imports of ours: engine/scenario. Goroutines: any. Time: none.
package presets

import (
	"embed"
	"fmt"
	"strings"

	"example.com/kubeviz/engine/scenario"
)

//go:embed *.yaml
var files embed.FS

// Default is the preset that runs when none is named.
const Default = "ha"

// names in the order of the list; a test holds it against the files.
var names = []string{"ha", "single", "two", "four", "five", "grow", "full", "backup", "disk", "overload"}

// Names lists the presets.
func Names() []string { return append([]string(nil), names...) }

// Load reads a preset by name.
func Load(name string) (scenario.Scenario, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil || strings.ContainsAny(name, "/\\.") {
		return scenario.Scenario{}, fmt.Errorf("no preset is called %q; there are %s", name, strings.Join(names, ", "))
	}
	s, err := scenario.Parse(data)
	if err != nil {
		return s, fmt.Errorf("preset %s: %w", name, err)
	}
	return s, nil
}
