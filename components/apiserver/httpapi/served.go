package httpapi

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
)

// Table resolves by the table of kinds: each kind in its own group and version and under each of its faces, and the kinds that are never stored.
type Table struct{}

// Resolve implements Resolver.
func (Table) Resolve(gv schema.GroupVersion, resource string) (Served, bool) {
	s, ok := fixedTable().byName[gv.WithResource(resource)]
	return s, ok
}

// Groups implements Resolver.
func (Table) Groups() []Group { return fixedTable().groups }

type servedTable struct {
	byName map[schema.GroupVersionResource]Served
	groups []Group
}

// groupOrder is the order in which the real server lists groups (the priorities of pkg/controlplane); others follow by name.
var groupOrder = []string{"", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io",
	"policy", "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io", "discovery.k8s.io"}

// fixedTable is made once: the table of kinds does not change.
var fixedTable = sync.OnceValue(func() *servedTable {
	t := &servedTable{byName: map[schema.GroupVersionResource]Served{}}
	for _, k := range slices.Concat(kinds.All(), kinds.Virtual()) {
		t.add(Served{Kind: k})
		for _, f := range k.Faces {
			t.add(Served{Kind: k, Face: f})
		}
	}
	place := func(g string) int {
		if g == kinds.PodMetrics.Group { // its APIService asks for the last place of all, behind those of custom resources
			return len(groupOrder) + 1
		}
		if i := slices.Index(groupOrder, g); i >= 0 {
			return i
		}
		return len(groupOrder)
	}
	slices.SortFunc(t.groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	for i := range t.groups {
		g := &t.groups[i]
		slices.SortFunc(g.Versions, func(a, b Version) int { return -cmp.Compare(a.Name, b.Name) }) // v2 before v1; there are no others
		for j := range g.Versions {
			slices.SortFunc(g.Versions[j].Resources, func(a, b Served) int { return cmp.Compare(a.Kind.Resource, b.Kind.Resource) })
		}
	}
	return t
})

func (t *servedTable) add(s Served) {
	gvk := s.GVK()
	t.byName[gvk.GroupVersion().WithResource(s.Kind.Resource)] = s
	i := slices.IndexFunc(t.groups, func(g Group) bool { return g.Name == gvk.Group })
	if i < 0 {
		i = len(t.groups)
		t.groups = append(t.groups, Group{Name: gvk.Group})
	}
	g := &t.groups[i]
	j := slices.IndexFunc(g.Versions, func(v Version) bool { return v.Name == gvk.Version })
	if j < 0 {
		j = len(g.Versions)
		g.Versions = append(g.Versions, Version{Name: gvk.Version})
	}
	g.Versions[j].Resources = append(g.Versions[j].Resources, s)
}
