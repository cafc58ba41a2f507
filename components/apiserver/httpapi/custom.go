package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/components/apiserver/custom"
	"example.com/kubeviz/engine/kinds"
)

// WithCustom resolves by the table of kinds and by what a server serves beside it, which is asked for at each request.
type WithCustom struct {
	Table
	Set func() *custom.Set
}

// Resolve implements Resolver.
func (w WithCustom) Resolve(gv schema.GroupVersion, resource string) (Served, bool) {
	if s, ok := w.Table.Resolve(gv, resource); ok {
		return s, true
	}
	if k := w.Set().Named(gv.WithResource(resource)); k != nil {
		return Served{Kind: k}, true
	}
	return Served{}, false
}

// Groups implements Resolver: the groups of defined kinds follow the others, by name, their versions in the order of Kubernetes (v2 before v1 before v1beta1).
func (w WithCustom) Groups() []Group {
	all := w.Table.Groups()
	set := w.Set()
	if len(set.Kinds) == 0 {
		return all
	}
	t := &servedTable{byName: map[schema.GroupVersionResource]Served{}}
	for _, k := range set.Kinds {
		t.add(Served{Kind: k})
	}
	for i := range t.groups {
		slices.SortFunc(t.groups[i].Versions, func(a, b Version) int { return -apiversion.CompareKubeAwareVersionStrings(a.Name, b.Name) })
	}
	slices.SortFunc(t.groups, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	return append(slices.Clone(all), t.groups...)
}

// decodeCustom reads a body into an object of a defined kind. What its schema does not know is dropped, and told of as for other kinds.
func decodeCustom(body []byte, mediaType, validation string, want schema.GroupVersionKind, into *kinds.Custom) (warnings []string, err error) {
	var twice []error
	m := map[string]any{}
	switch mediaType {
	case typeJSON:
		twice, err = kjson.UnmarshalStrict(body, &m)
	case typeYAML:
		var raw []byte
		if raw, err = yaml.YAMLToJSONStrict(body); err != nil {
			if loose, e := yaml.YAMLToJSON(body); e == nil {
				twice, raw, err = []error{err}, loose, nil
			}
		}
		if err == nil {
			err = kjson.UnmarshalCaseSensitivePreserveInts(raw, &m)
		}
	default:
		return nil, unsupportedMedia("application/json, application/yaml")
	}
	if err != nil {
		return nil, undecodable(err, want.Kind, nil, body)
	}
	k := into.Row()
	unknown, err := into.Take(m, true)
	gvk := into.GroupVersionKind()
	switch {
	case err != nil:
		return nil, undecodable(err, want.Kind, &gvk, body)
	case gvk.Kind == "":
		gvk.Kind = want.Kind
	}
	if gvk.Version == "" && gvk.Group == "" {
		gvk.Group, gvk.Version = want.Group, want.Version
	}
	if gvk.GroupVersion() != want.GroupVersion() {
		return nil, otherVersion(gvk.GroupVersion(), want.GroupVersion())
	}
	if gvk.Kind != want.Kind {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: unstructured object kind mismatch", gvk.Kind, gvk.Version, want.Kind))
	}
	into.SetGroupVersionKind(want)
	more, err := k.Custom.Fit(into.Content)
	if err != nil {
		return nil, undecodable(err, want.Kind, &gvk, body)
	}
	if validation == metav1.FieldValidationIgnore {
		return nil, nil
	}
	unknown = append(unknown, more...)
	sort.Strings(unknown)
	for _, u := range unknown {
		twice = append(twice, fmt.Errorf("unknown field %q", u))
	}
	if len(twice) == 0 {
		return nil, nil
	}
	if validation == metav1.FieldValidationStrict {
		return nil, undecodable(runtime.NewStrictDecodingError(twice), want.Kind, &gvk, body)
	}
	for _, e := range twice {
		warnings = append(warnings, e.Error())
	}
	return warnings, nil
}

// customList is the list of a defined kind.
type customList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []*kinds.Custom
}

// DeepCopyObject implements runtime.Object. A list is made to be written once; nobody changes it.
func (l *customList) DeepCopyObject() runtime.Object {
	out := *l
	return &out
}

// MarshalJSON implements json.Marshaler.
func (l *customList) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"apiVersion": l.APIVersion, "kind": l.Kind, "metadata": l.ListMeta, "items": l.Items})
}

func customListOf(s Served, items []runtime.Object, lm metav1.ListMeta) runtime.Object {
	l := &customList{ListMeta: lm, Items: make([]*kinds.Custom, 0, len(items))}
	gvk := s.GVK()
	l.SetGroupVersionKind(gvk.GroupVersion().WithKind(s.Kind.Custom.ListKind))
	for _, o := range items {
		if c, ok := typed(o, gvk).(*kinds.Custom); ok {
			l.Items = append(l.Items, c)
		}
	}
	return l
}
