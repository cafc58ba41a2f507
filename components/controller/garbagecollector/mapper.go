package garbagecollector

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"

	"example.com/kubeviz/engine/kinds"
)

// mapper tells which kind a reference means: one of the table, under whichever of its names, or one that is defined.
type mapper struct {
	built, defined map[schema.GroupVersionKind]*kinds.Kind
}

func newMapper() mapper {
	m := mapper{built: map[schema.GroupVersionKind]*kinds.Kind{}, defined: map[schema.GroupVersionKind]*kinds.Kind{}}
	for _, k := range kinds.All() {
		m.built[k.GVK()] = k
		for _, f := range k.Faces {
			m.built[f.GVK()] = k
		}
	}
	return m
}

// kindOf is the kind that a reference means; nil: none that is served.
func (m *mapper) kindOf(r metav1.OwnerReference) *kinds.Kind {
	gvk := schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	if k := m.built[gvk]; k != nil {
		return k
	}
	return m.defined[gvk]
}

// define makes the served versions of definitions known, and nothing else that is not in the table. It returns the version of each in which its objects are to be followed, in the order of the
// definitions. Rows stay the same while what they are made of does.
func (m *mapper) define(definitions []*apiextensionsv1.CustomResourceDefinition) (followed []*kinds.Kind) {
	before := m.defined
	m.defined = map[schema.GroupVersionKind]*kinds.Kind{}
	for _, d := range definitions {
		var versions []string
		for _, v := range d.Spec.Versions {
			if v.Served {
				versions = append(versions, v.Name)
			}
		}
		if len(versions) == 0 || !kinds.Established(d) {
			continue
		}
		slices.SortFunc(versions, func(a, b string) int { return -apiversion.CompareKubeAwareVersionStrings(a, b) })
		for _, v := range versions {
			row := kinds.Defined(d.Spec.Group, v, d.Spec.Names.Kind, d.Spec.Names.Plural, d.Spec.Scope == apiextensionsv1.NamespaceScoped)
			if had := before[row.GVK()]; kinds.Same(had, row) {
				row = had
			}
			m.defined[row.GVK()] = row
			if v == versions[0] {
				followed = append(followed, row)
			}
		}
	}
	return followed
}
