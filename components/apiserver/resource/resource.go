// Package resource is the description of a kind to the API server: what users may leave out, what is refused, what an update may change, what can be selected. The packages below
// it, one per API group, hold the descriptions; nothing else in the API server knows a kind, except admission.
//
// Owns: Resource. Imports of ours: engine/kinds. Pure functions; no goroutine, no time.
package resource

import (
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/engine/kinds"
)

// Resource says how objects of one kind behave. A field left nil means that the kind has nothing of that sort.
//
// Functions get objects of the kind's own Go type; Typed and its like adapt functions on that type. They may change obj, never old.
type Resource struct {
	Kind *kinds.Kind
	// Name tells what is wrong with a name.
	Name apivalidation.ValidateNameFunc
	// FreeFinalizers: finalizers need not be qualified by a domain.
	FreeFinalizers bool
	// Default fills in what users may leave out.
	Default func(obj kinds.Object)
	// PrepareCreate drops what a creator may not set (status). Metadata is prepared for all kinds alike.
	PrepareCreate func(obj kinds.Object)
	// PrepareUpdate keeps from old what this update may not touch: an update of the object keeps the status and the other way round.
	PrepareUpdate func(obj, old kinds.Object, subresource string)
	// Settle works out what depends on the cluster and is needed before anything is looked at, at a creation (old is nil) and at an update of the object; its errors are the whole answer.
	Settle func(obj, old kinds.Object) field.ErrorList
	// Stamp writes the time of an update into the object, where the kind keeps it.
	Stamp func(obj, old kinds.Object, now metav1.Time)
	// Validate refuses bad objects, ValidateUpdate bad changes.
	Validate       func(obj kinds.Object) field.ErrorList
	ValidateUpdate func(obj, old kinds.Object, subresource string) field.ErrorList
	// InFace are the rules for requests that come in another group than the kind's own, instead of Validate and ValidateUpdate; old is nil for creations.
	InFace map[string]func(obj, old kinds.Object) field.ErrorList
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
	// Warn tells people what they had better not do, of objects that are accepted all the same; old is nil for creations.
	Warn func(obj, old kinds.Object) []string
	// Notice tells people what they had better not send, of objects to be created as they were sent, before PrepareCreate.
	Notice func(obj kinds.Object) []string
	// Finalizer is put on the object when its deletion begins, by the server itself.
	Finalizer string
	// Scale shows the object to the subresource of that name; nil: ScaleOf does.
	Scale func(obj kinds.Object) Scale
	// UpdateWhole: ValidateUpdate looks at the whole new object, not only at the change, and Validate is for creations alone. For kinds whose rules for an update depend on what was
	// there before.
	UpdateWhole bool
}

// Value is the value of a selectable field; ok is false when the kind has no such field.
func (res *Resource) Value(obj kinds.Object, name string) (value string, ok bool) {
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

// Selectable reports whether field selectors may name the field.
func (res *Resource) Selectable(name string) bool {
	if name == "metadata.name" || (name == "metadata.namespace" && res.Kind.Namespaced) {
		return true
	}
	_, ok := res.Fields[name]
	return ok
}

// SpecDiffers reports a change of what users want.
func (res *Resource) SpecDiffers(a, b kinds.Object) bool {
	return res.Spec != nil && !apiequality.Semantic.DeepEqual(res.Spec(a), res.Spec(b))
}

// FieldsOf shows an object to field selectors without building a set.
type FieldsOf struct {
	Res *Resource
	Obj kinds.Object
}

func (f FieldsOf) Has(name string) bool   { return f.Res.Selectable(name) }
func (f FieldsOf) Get(name string) string { v, _ := f.Res.Value(f.Obj, name); return v }

func Typed[T kinds.Object](fn func(T)) func(kinds.Object) {
	return func(o kinds.Object) { fn(o.(T)) }
}

func TypedUpdate[T kinds.Object](fn func(obj, old T, sub string)) func(kinds.Object, kinds.Object, string) {
	return func(o, old kinds.Object, sub string) { fn(o.(T), old.(T), sub) }
}

func TypedStamp[T kinds.Object](fn func(obj, old T, now metav1.Time)) func(kinds.Object, kinds.Object, metav1.Time) {
	return func(o, old kinds.Object, now metav1.Time) { fn(o.(T), old.(T), now) }
}

// TypedSettle: old is nil for creations.
func TypedSettle[T kinds.Object](fn func(obj, old T) field.ErrorList) func(obj, old kinds.Object) field.ErrorList {
	return func(o, old kinds.Object) field.ErrorList {
		before, _ := old.(T)
		return fn(o.(T), before)
	}
}

func TypedCheck[T kinds.Object](fn func(T) field.ErrorList) func(kinds.Object) field.ErrorList {
	return func(o kinds.Object) field.ErrorList { return fn(o.(T)) }
}

func TypedCheckUpdate[T kinds.Object](fn func(obj, old T, sub string) field.ErrorList) func(kinds.Object, kinds.Object, string) field.ErrorList {
	return func(o, old kinds.Object, sub string) field.ErrorList { return fn(o.(T), old.(T), sub) }
}

func TypedWarn[T kinds.Object](fn func(obj, old T) []string) func(kinds.Object, kinds.Object) []string {
	return func(o, old kinds.Object) []string {
		before, _ := old.(T)
		return fn(o.(T), before)
	}
}

func TypedValue[T kinds.Object, V any](fn func(T) V) func(kinds.Object) V {
	return func(o kinds.Object) V { return fn(o.(T)) }
}

func TypedSpec[T kinds.Object](fn func(T) any) func(kinds.Object) any {
	return func(o kinds.Object) any { return fn(o.(T)) }
}

// Gone reports that an update takes the object away: its deletion had begun and nothing holds it any more (API-18).
func (res *Resource) Gone(obj, old kinds.Object) bool {
	if old.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) > 0 {
		return false
	}
	if g := old.GetDeletionGracePeriodSeconds(); g != nil && *g > 0 {
		return false
	}
	return res.Held == nil || !res.Held(obj)
}
