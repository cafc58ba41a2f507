package custom

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
)

// Set is what one API server serves of defined kinds at an instant. Immutable.
type Set struct {
	Kinds  []*kinds.Kind
	byName map[schema.GroupVersionResource]*kinds.Kind
}

// NewSet makes one, in the order of groups, versions and resources.
func NewSet(all []*kinds.Kind) *Set {
	s := &Set{Kinds: slices.Clone(all), byName: map[schema.GroupVersionResource]*kinds.Kind{}}
	slices.SortFunc(s.Kinds, func(a, b *kinds.Kind) int {
		return strings.Compare(a.Group+"/"+a.Version+"/"+a.Resource, b.Group+"/"+b.Version+"/"+b.Resource)
	})
	for _, k := range s.Kinds {
		s.byName[k.GVK().GroupVersion().WithResource(k.Resource)] = k
	}
	return s
}

// Named finds a kind by group, version and resource; nil: it is not served.
func (s *Set) Named(r schema.GroupVersionResource) *kinds.Kind {
	if s == nil {
		return nil
	}
	return s.byName[r]
}

// Board is where the API servers of a cluster publish their Sets.
type Board struct {
	mu    sync.Mutex
	sets  map[string]*Set
	last  string
	empty *Set
}

// NewBoard makes an empty one.
func NewBoard() *Board { return &Board{sets: map[string]*Set{}, empty: NewSet(nil)} }

// Publish says what the server on a host serves from now on.
func (b *Board) Publish(host string, s *Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sets[host], b.last = s, host
}

// Of is what the server on a host serves; host "": the one that published last, as good a guess as any of whom a load balancer picks.
func (b *Board) Of(host string) *Set {
	b.mu.Lock()
	defer b.mu.Unlock()
	if host == "" {
		host = b.last
	}
	if s := b.sets[host]; s != nil {
		return s
	}
	return b.empty
}
