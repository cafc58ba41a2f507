package settings

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/kubeviz/tui/theme"
)

// property is what the tests read of a schema.
type property struct {
	Description string
	Type        any
	Enum        []any
	Pattern     string
	Minimum     *float64
	Maximum     *float64
	Additional  any `json:"additionalProperties"`
	Properties  map[string]property
	OneOf       []property
	Defs        map[string]property `json:"$defs"`
	Examples    []any
}

func schema(t *testing.T, of string) property {
	t.Helper()
	text, err := Schema(of)
	if err != nil {
		t.Fatal(err)
	}
	var p property
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheSchemaOfTheSettingsAgreesWithTheTable(t *testing.T) {
	s := schema(t, "config")
	if s.Additional != false {
		t.Error("the schema takes fields that are not there")
	}
	for name := range s.Properties {
		if _, ok := fieldNamed(name); !ok {
			t.Errorf("the schema has %s, the table has not", name)
		}
	}
	for _, f := range fields {
		p, ok := s.Properties[f.name]
		if !ok {
			t.Errorf("the schema lacks %s", f.name)
			continue
		}
		if p.Description != f.about {
			t.Errorf("%s is %q in the schema and %q in the table", f.name, p.Description, f.about)
		}
		switch f.kind {
		case choice:
			var words []string
			for _, e := range p.Enum {
				if w, ok := e.(string); ok {
					words = append(words, w)
				}
			}
			if !slices.Equal(words, f.allowed) {
				t.Errorf("%s may be %q by the schema, %q by the table", f.name, words, f.allowed)
			}
		case number:
			if p.Minimum == nil || p.Maximum == nil || *p.Minimum != f.min || *p.Maximum != f.max {
				t.Errorf("%s has other bounds in the schema", f.name)
			}
		case name:
			form := regexp.MustCompile(p.Pattern)
			for _, text := range []string{"dark", "my-theme", "../x", "a b", ".x", "a/b", ""} {
				if _, err := f.parse(text); (err == nil) != form.MatchString(text) {
					t.Errorf("%s: schema and table differ about %q", f.name, text)
				}
			}
		}
		want := map[kind]string{name: "string", boolean: "boolean", number: "number", keyTable: "object"}[f.kind]
		if types, ok := p.Type.([]any); want != "" && (!ok || types[0] != want) {
			t.Errorf("%s is of type %v in the schema", f.name, p.Type)
		}
	}
}

func TestTheSchemaOfThemesAgreesWithTheRoles(t *testing.T) {
	s := schema(t, "theme")
	if got := sorted(s.Properties); !slices.Equal(got, slices.Sorted(slices.Values(themeFields))) {
		t.Errorf("the schema has %q, a theme %q", got, themeFields)
	}
	if got := sorted(s.Properties["roles"].Properties); !slices.Equal(got, slices.Sorted(slices.Values(theme.Roles()))) {
		t.Errorf("the schema has the roles %q, the program %q", got, theme.Roles())
	}
	look := s.Defs["look"].OneOf[1].Pattern
	form := regexp.MustCompile(look)
	for _, text := range []string{"#ff0000", "#FF0000 bold", "bold underline #00ff00 dim", "0", "9", "42", "199", "255", "256", "300", "default", "default bold", "bold", "dim italic",
		"red", "#12345", "", "12 13", "#ff0000 7", "bold 255 italic"} {
		if _, err := theme.Dark.Set("ok", text); (err == nil) != form.MatchString(text) {
			t.Errorf("schema and program differ about %q: %v", text, err)
		}
	}
	var bases []string
	for _, e := range s.Properties["base"].Examples {
		bases = append(bases, e.(string))
	}
	if !slices.Equal(bases, theme.Names()) {
		t.Errorf("the schema names the themes %q, there are %q", bases, theme.Names())
	}
}

func TestThereAreTwoSchemas(t *testing.T) {
	if _, err := Schema("keys"); err == nil || !strings.Contains(err.Error(), "config and theme") {
		t.Errorf("answered %v", err)
	}
}

func TestThePageOfSettingsHasEveryFieldVariableAndRole(t *testing.T) {
	data, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, f := range Fields() {
		for _, want := range []string{"| `" + f.Name + "` ", f.Env} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %s", want)
			}
		}
	}
	for _, want := range append(append(theme.Roles(), theme.Names()...), theme.Modes()...) {
		if !strings.Contains(page, "`"+want+"`") {
			t.Errorf("the page lacks `%s`", want)
		}
	}
	for _, example := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1) {
		files := map[string]string{"config.yaml": example[1]}
		flags := map[string]string{}
		if strings.Contains(example[1], "roles:") {
			files = map[string]string{"themes/mine.yaml": example[1]}
			flags["theme"] = "mine"
		}
		if _, err := Resolve(machine(files, flags)); err != nil {
			t.Errorf("an example of the page is wrong: %v", err)
		}
	}
}
