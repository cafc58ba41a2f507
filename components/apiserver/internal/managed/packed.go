package managed

import "sigs.k8s.io/structured-merge-diff/v6/schema"

// The file form of a schema: the library's types embed structures whose members have the same names, which JSON cannot tell apart. Letters keep it small.

type packedType struct {
	Name string `json:"n"`
	packedAtom
}

type packedAtom struct {
	Scalar string      `json:"s,omitempty"`
	List   *packedList `json:"l,omitempty"`
	Map    *packedMap  `json:"m,omitempty"`
}

type packedRef struct {
	Named string `json:"r,omitempty"`
	packedAtom
	Relation *string `json:"e,omitempty"`
	Nullable bool    `json:"z,omitempty"`
}

type packedList struct {
	Element  packedRef `json:"t"`
	Relation string    `json:"e,omitempty"`
	Keys     []string  `json:"k,omitempty"`
}

type packedMap struct {
	Fields   []packedField `json:"f,omitempty"`
	Element  packedRef     `json:"t"`
	Relation string        `json:"e,omitempty"`
}

type packedField struct {
	Name    string    `json:"n"`
	Type    packedRef `json:"t"`
	Default any       `json:"d,omitempty"`
}

func (a packedAtom) unpack() schema.Atom {
	var out schema.Atom
	if a.Scalar != "" {
		s := schema.Scalar(a.Scalar)
		out.Scalar = &s
	}
	if a.List != nil {
		out.List = &schema.List{ElementType: a.List.Element.unpack(), ElementRelationship: schema.ElementRelationship(a.List.Relation), Keys: a.List.Keys}
	}
	if a.Map != nil {
		out.Map = &schema.Map{ElementType: a.Map.Element.unpack(), ElementRelationship: schema.ElementRelationship(a.Map.Relation)}
		for _, f := range a.Map.Fields {
			out.Map.Fields = append(out.Map.Fields, schema.StructField{Name: f.Name, Type: f.Type.unpack(), Default: whole(f.Default)})
		}
	}
	return out
}

func (r packedRef) unpack() schema.TypeRef {
	out := schema.TypeRef{Inlined: r.packedAtom.unpack(), Nullable: r.Nullable}
	if r.Named != "" {
		out.NamedType = &r.Named
	}
	if r.Relation != nil {
		e := schema.ElementRelationship(*r.Relation)
		out.ElementRelationship = &e
	}
	return out
}

// whole makes numbers whole again, as the keys of lists have them.
func whole(v any) any {
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		return int64(n)
	}
	return v
}
