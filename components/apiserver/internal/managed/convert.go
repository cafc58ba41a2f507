package managed

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/engine/kinds"
)

var noGVK schema.GroupVersionKind

// converter moves objects of one kind between the versions it is served in. Objects that are in the asked version already come back as they are.
type converter struct{ k *kinds.Kind }

func (c converter) face(gv schema.GroupVersion) *kinds.Face {
	for _, f := range c.k.Faces {
		if f.GVK().GroupVersion() == gv {
			return f
		}
	}
	return nil
}

// ConvertToVersion is what the library calls.
func (c converter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	to, ok := target.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("convert %s: no single version is asked for", c.k)
	}
	at := in.GetObjectKind().GroupVersionKind().GroupVersion()
	own := c.k.GVK().GroupVersion()
	if u, ok := in.(*unstructured.Unstructured); ok {
		var out kinds.Object
		switch f := c.face(at); {
		case at == own:
			out = c.k.New()
		case f != nil:
			out = f.New()
		default:
			return nil, c.unknown(at)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
			return nil, err
		}
		out.GetObjectKind().SetGroupVersionKind(u.GroupVersionKind())
		in = out
	}
	// The hub of a face's group has this kind's version, whatever the group (HPA: v2; events: v1): only the pair matters here.
	if at == to {
		return in, nil
	}
	obj, ok := in.(kinds.Object)
	if !ok {
		return nil, fmt.Errorf("convert %s: %T has no metadata", c.k, in)
	}
	if f := c.face(at); f != nil {
		obj = f.To(obj)
		obj.GetObjectKind().SetGroupVersionKind(c.k.GVK())
	} else if at != own {
		return nil, c.unknown(at)
	}
	if to == own {
		return obj, nil
	}
	f := c.face(to)
	if f == nil {
		return nil, c.unknown(to)
	}
	obj = f.From(obj)
	obj.GetObjectKind().SetGroupVersionKind(f.GVK())
	return obj, nil
}

func (c converter) unknown(gv schema.GroupVersion) error {
	return runtime.NewNotRegisteredErrForKind(c.k.Kind, gv.WithKind(c.k.Kind))
}

// Convert and ConvertFieldLabel belong to the interface; the library of managed fields calls neither.
func (c converter) Convert(in, out, context any) error {
	return fmt.Errorf("convert %T into %T: not offered", in, out)
}

func (c converter) ConvertFieldLabel(gvk schema.GroupVersionKind, label, value string) (string, string, error) {
	return "", "", fmt.Errorf("field label %s: not offered", label)
}

// defaulter fills in what an applied configuration leaves out.
type defaulter struct {
	fill func(*kinds.Kind, kinds.Object)
	k    *kinds.Kind
}

// Default takes objects of the kind itself; of a face nothing is filled in before it is one.
func (d defaulter) Default(in runtime.Object) {
	obj, ok := in.(kinds.Object)
	if !ok || d.fill == nil || in.GetObjectKind().GroupVersionKind().GroupVersion() != d.k.GVK().GroupVersion() {
		return
	}
	d.fill(d.k, obj)
}

// creater makes empty objects for the library.
type creater struct {
	k    *kinds.Kind
	face *kinds.Face
}

// New makes one that says what it is.
func (c creater) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	var obj kinds.Object
	switch {
	case gvk == c.k.GVK():
		obj = c.k.New()
	case c.face != nil && gvk == c.face.GVK():
		obj = c.face.New()
	default:
		return nil, runtime.NewNotRegisteredErrForKind(c.k.Kind, gvk)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}
