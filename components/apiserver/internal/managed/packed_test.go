package managed

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/kubeviz/engine/kinds"
)

var update = flag.Bool("update", false, "make schema.json.gz anew out of the client-go of go.mod")

// The library keeps its schema in an internal package, so it is read out of the source.
func TestThePackedSchemaIsThatOfTheLibraryForTheKindsThatAreServed(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "applyconfigurations", "internal", "internal.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(source), "typed.YAMLObject(`")
	text, _, _ = strings.Cut(text, "`)")
	whole, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		t.Fatal(err)
	}
	want := pack(reachable(t, &whole.Schema))
	if *update {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err := json.NewEncoder(z).Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("schema.json.gz", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got := pack(&parser().Schema)
	if len(got) != len(want) {
		t.Errorf("%d types, want %d", len(got), len(want))
	}
	file := func(p packedType) string {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	named := map[string]string{}
	for _, g := range got {
		named[g.Name] = file(g)
	}
	for _, w := range want {
		if g, want := named[w.Name], file(w); g != want {
			t.Errorf("%s is\n%s, want\n%s: go test ./components/apiserver/internal/managed -run Packed -update", w.Name, g, want)
		}
	}
}

// reachable are the types of the kinds that are served and all that they refer to, in the order of the library.
func reachable(t *testing.T, s *schema.Schema) *schema.Schema {
	t.Helper()
	seen := map[string]bool{}
	var follow func(name string)
	var atom func(a *schema.Atom)
	ref := func(r *schema.TypeRef) {
		if r.NamedType != nil {
			follow(*r.NamedType)
		}
		atom(&r.Inlined)
	}
	atom = func(a *schema.Atom) {
		if a.List != nil {
			ref(&a.List.ElementType)
		}
		if a.Map != nil {
			for i := range a.Map.Fields {
				ref(&a.Map.Fields[i].Type)
			}
			ref(&a.Map.ElementType)
		}
	}
	follow = func(name string) {
		if def, ok := s.FindNamedType(name); ok && !seen[name] {
			seen[name] = true
			atom(&def.Atom)
		}
	}
	for _, k := range kinds.All() {
		if name, err := kinds.Scheme().ToOpenAPIDefinitionName(k.GVK()); err == nil {
			follow(name)
		}
		for _, f := range k.Faces {
			if name, err := kinds.Scheme().ToOpenAPIDefinitionName(f.GVK()); err == nil {
				follow(name)
			}
		}
	}
	out := &schema.Schema{}
	for _, def := range s.Types {
		if seen[def.Name] {
			out.Types = append(out.Types, def)
		}
	}
	return out
}

// pack is what made the file.
func pack(s *schema.Schema) []packedType {
	var out []packedType
	for i := range s.Types {
		out = append(out, packedType{s.Types[i].Name, packAtom(s.Types[i].Atom)})
	}
	return out
}

func packAtom(a schema.Atom) packedAtom {
	var out packedAtom
	if a.Scalar != nil {
		out.Scalar = string(*a.Scalar)
	}
	if a.List != nil {
		out.List = &packedList{Element: packRef(a.List.ElementType), Relation: string(a.List.ElementRelationship), Keys: a.List.Keys}
	}
	if a.Map != nil {
		out.Map = &packedMap{Element: packRef(a.Map.ElementType), Relation: string(a.Map.ElementRelationship)}
		for _, f := range a.Map.Fields {
			out.Map.Fields = append(out.Map.Fields, packedField{Name: f.Name, Type: packRef(f.Type), Default: plain(f.Default)})
		}
	}
	return out
}

func packRef(r schema.TypeRef) packedRef {
	out := packedRef{packedAtom: packAtom(r.Inlined), Nullable: r.Nullable}
	if r.NamedType != nil {
		out.Named = *r.NamedType
	}
	if r.ElementRelationship != nil {
		e := string(*r.ElementRelationship)
		out.Relation = &e
	}
	return out
}

// plain has names for keys, as JSON wants them: YAML was read into maps of anything.
func plain(v any) any {
	m, ok := v.(map[any]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		out[fmt.Sprint(k)] = plain(e)
	}
	return out
}
