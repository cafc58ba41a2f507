package managed

import (
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/kubeviz/engine/kinds"
)

// scale is the one type behind every subresource of that name. It is no row of the table: nothing of it is stored.
var scale = &kinds.Kind{Group: "autoscaling", Version: "v1", Kind: "Scale", Resource: "scales", Namespaced: true, New: func() kinds.Object { return &autoscalingv1.Scale{} }}

// Scale is the managed fields of an object as its subresource scale shows them, and the way back.
type Scale struct {
	handler *managedfields.ScaleHandler
	manager *Manager
}

// Scale prepares a change of the subresource scale of an object of kind k with these entries. The number stands at a path; nil: in spec.replicas.
func (f *Fields) Scale(k *kinds.Kind, at []string, entries []metav1.ManagedFieldsEntry) (*Scale, error) {
	m, err := f.For(scale, nil, "scale")
	if err != nil {
		return nil, err
	}
	where := path("spec", "replicas")
	if at != nil {
		where = nil
		for _, p := range at {
			where = append(where, fieldpath.PathElement{FieldName: &p})
		}
	}
	paths := managedfields.ResourcePathMappings{k.APIVersion(): where}
	return &Scale{managedfields.NewScaleHandler(entries, k.GVK().GroupVersion(), paths), m}, nil
}

// Entries are those of the Scale.
func (s *Scale) Entries() ([]metav1.ManagedFieldsEntry, error) { return s.handler.ToSubresource() }

// Update gives want the entries that follow from live becoming want.
func (s *Scale) Update(live, want *autoscalingv1.Scale, manager string, now time.Time) {
	s.manager.update(live, want, manager, now)
}

// Apply merges an applied Scale.
func (s *Scale) Apply(live *autoscalingv1.Scale, patch *unstructured.Unstructured, manager string, force bool, now time.Time) (*autoscalingv1.Scale, error) {
	obj, err := s.manager.Apply(live, patch, manager, force, now)
	if err != nil {
		return nil, err
	}
	return obj.(*autoscalingv1.Scale), nil
}

// Parent are the entries of the whole object after a change of its Scale.
func (s *Scale) Parent(entries []metav1.ManagedFieldsEntry, now time.Time) ([]metav1.ManagedFieldsEntry, error) {
	out, err := s.handler.ToParent(entries)
	if err != nil {
		return nil, err
	}
	// The library takes times from the parent alone, so who is new there has none.
	at := metav1.NewTime(now.UTC().Truncate(time.Second))
	for i := range out {
		if out[i].Time == nil {
			out[i].Time = &at
		}
	}
	order(out)
	return out, nil
}
