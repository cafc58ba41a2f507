package presets

import (
	"strings"
	"testing"
)

func TestEveryPresetLoadsAndIsListed(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(names) {
		t.Errorf("%d files, %d names", len(entries), len(names))
	}
	for _, n := range Names() {
		s, err := Load(n)
		if err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		if s.Name != n || s.Description == "" || !strings.Contains(s.Manifests, "nginx:1.27") {
			t.Errorf("%s: name %q, description %q", n, s.Name, s.Description)
		}
	}
}

func TestUnknownPresetNamesThoseThereAre(t *testing.T) {
	for _, n := range []string{"nope", "../ha", "ha.yaml", ""} {
		if _, err := Load(n); err == nil || !strings.Contains(err.Error(), "ha, single") {
			t.Errorf("%q: %v", n, err)
		}
	}
}
