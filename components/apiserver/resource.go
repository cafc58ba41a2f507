package apiserver

import (
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/kinds"
)

// Resource says how objects of one kind behave. A field left nil means that the kind has nothing of that sort.
//
// Functions get objects of the kind's own Go type; typed, typed2 and their like adapt functions on that type. They may change obj, never old.
type Resource struct {
	Kind *kinds.Kind
	// Name tells what is wrong with a name.
	Name apivalidation.ValidateNameFunc
	// Default fills in what users may leave out.
	Default func(obj kinds.Object)
	// PrepareCreate drops what a creator may not set (status). Metadata is prepared for all kinds alike.
	PrepareCreate func(obj kinds.Object)
	// PrepareUpdate keeps from old what this update may not touch: an update of the object keeps the status and the other way round.
	PrepareUpdate func(obj, old kinds.Object, subresource string)
	// Validate refuses bad objects, ValidateUpdate bad changes.
	Validate       func(obj kinds.Object) field.ErrorList
	ValidateUpdate func(obj, old kinds.Object, subresource string) field.ErrorList
	// Versioned: an update must name the version it is based on. Other kinds may be overwritten unseen.
	Versioned bool
	// Generation: metadata.generation starts at 1 and grows when Spec differs.
	Generation bool
	// Spec gives the desired part of the object, for Generation.
	Spec func(obj kinds.Object) any
	// Fields are what field selectors may name, beside metadata.name and metadata.namespace.
	Fields map[string]func(obj kinds.Object) string
	// Index names the fields by which watchers are found directly: a watcher that asks for one value costs only changes of objects with that value.
	Index []string
	// TTL is how long an object lives after its last write; 0: until it is deleted.
	TTL time.Duration
	// Grace settles the grace period of a deletion, in seconds, given the asked one (nil: not asked). nil Grace: the kind is deleted at once.
	Grace func(obj kinds.Object, asked *int64) int64
	// Held reports that the object waits for something beside metadata.finalizers before it may go (a namespace's spec.finalizers).
	Held func(obj kinds.Object) bool
	// MarkDeleted changes the object when its deletion begins (a namespace's phase).
	MarkDeleted func(obj kinds.Object)
	// Deletable refuses deletions for good ("this namespace may not be deleted").
	Deletable func(namespace, name string) string
	// Orphans is the deletion behaviour for dependents when the user asks for none; false: background.
	Orphans bool
}

// registry holds the resources by kind.
type registry map[*kinds.Kind]*Resource

func newRegistry() registry {
	r := registry{}
	for _, res := range []*Resource{namespaceResource(), nodeResource(), podResource(), eventResource(), leaseResource(), deploymentResource(), replicaSetResource()} {
		r[res.Kind] = res
	}
	return r
}

// value is the value of a selectable field; ok is false when the kind has no such field.
func (res *Resource) value(obj kinds.Object, name string) (value string, ok bool) {
	switch name {
	case "metadata.name":
		return obj.GetName(), true
	case "metadata.namespace":
		if !res.Kind.Namespaced {
			return "", false
		}
		return obj.GetNamespace(), true
	}
	fn, ok := res.Fields[name]
	if !ok {
		return "", false
	}
	return fn(obj), true
}

// selectable reports whether field selectors may name the field.
func (res *Resource) selectable(name string) bool {
	if name == "metadata.name" || (name == "metadata.namespace" && res.Kind.Namespaced) {
		return true
	}
	_, ok := res.Fields[name]
	return ok
}

// specDiffers reports a change of what users want.
func (res *Resource) specDiffers(a, b kinds.Object) bool {
	return res.Spec != nil && !apiequality.Semantic.DeepEqual(res.Spec(a), res.Spec(b))
}

// fieldsOf shows an object to field selectors without building a set.
type fieldsOf struct {
	res *Resource
	obj kinds.Object
}

func (f fieldsOf) Has(name string) bool   { return f.res.selectable(name) }
func (f fieldsOf) Get(name string) string { v, _ := f.res.value(f.obj, name); return v }

func typed[T kinds.Object](fn func(T)) func(kinds.Object) {
	return func(o kinds.Object) { fn(o.(T)) }
}

func typedUpdate[T kinds.Object](fn func(obj, old T, sub string)) func(kinds.Object, kinds.Object, string) {
	return func(o, old kinds.Object, sub string) { fn(o.(T), old.(T), sub) }
}

func typedCheck[T kinds.Object](fn func(T) field.ErrorList) func(kinds.Object) field.ErrorList {
	return func(o kinds.Object) field.ErrorList { return fn(o.(T)) }
}

func typedCheckUpdate[T kinds.Object](fn func(obj, old T, sub string) field.ErrorList) func(kinds.Object, kinds.Object, string) field.ErrorList {
	return func(o, old kinds.Object, sub string) field.ErrorList { return fn(o.(T), old.(T), sub) }
}

func typedValue[T kinds.Object, V any](fn func(T) V) func(kinds.Object) V {
	return func(o kinds.Object) V { return fn(o.(T)) }
}

func typedSpec[T kinds.Object](fn func(T) any) func(kinds.Object) any {
	return func(o kinds.Object) any { return fn(o.(T)) }
}

// clearType drops apiVersion and kind: within the model an object's Go type says what it is.
func clearType(obj kinds.Object) { obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) }

// keepMeta puts back the metadata that no update may change.
func keepMeta(obj, old metav1.Object) {
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	obj.SetGeneration(old.GetGeneration())
	obj.SetSelfLink(old.GetSelfLink())
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
	if obj.GetGenerateName() == "" {
		obj.SetGenerateName(old.GetGenerateName())
	}
}
