package managed

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"example.com/kubeviz/engine/kinds"
)

// packed is the structured-merge schema of the kinds that are served and of all they refer to, taken out of client-go's applyconfigurations v0.37.0 (there 17,000 lines of YAML for every API
// there is: 170 ms to read, which would fall on the first write of a cluster). As JSON of the parts in use it is 7 ms.
//
//go:embed schema.json.gz
var packed []byte

// parser reads the schema once. It is immutable but for what structured-merge-diff remembers in it under a lock of its own.
var parser = sync.OnceValue(func() *typed.Parser {
	p := &typed.Parser{}
	var types []packedType
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(z).Decode(&types)
	}
	if err != nil {
		panic(fmt.Sprintf("managed: the schema that is built in cannot be read: %v", err)) // a mistake in the file, which a test would show
	}
	for _, t := range types {
		p.Schema.Types = append(p.Schema.Types, schema.TypeDef{Name: t.Name, Atom: t.unpack()})
	}
	return p
})

// typesFor gives the types of a kind. Kinds that client-go knows no configurations of (CustomResourceDefinition) are seen as their values are: maps by member, lists as a whole.
func typesFor(k *kinds.Kind) managedfields.TypeConverter {
	if k.Custom != nil {
		return customTypes(k)
	}
	if !described(k) {
		return managedfields.NewDeducedTypeConverter()
	}
	return managedfields.NewSchemeTypeConverter(kinds.Scheme(), parser())
}

func described(k *kinds.Kind) bool {
	name, err := kinds.Scheme().ToOpenAPIDefinitionName(k.GVK())
	t := parser().Type(name)
	return err == nil && t.IsValid()
}
