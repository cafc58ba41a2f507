// Package quota measures objects against ResourceQuotas: what an object uses, which quotas it counts in, what of it exceeds them (k/k pkg/quota/v1/evaluator, as pkg/quota/v1).
// The API server asks before it stores an object, the resourcequota controller when it counts anew; both have to measure alike.
//
// Owns: Meter and the arithmetic of resource lists. Imports of ours: engine/kinds. Pure functions; no goroutine; the time of an instant that is handed in.
package quota

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"example.com/kubeviz/engine/kinds"
)

// Meter measures the objects of one kind.
type Meter struct {
	Kind *kinds.Kind
	// measures tells whether a name in a quota is of this kind.
	measures func(corev1.ResourceName) bool
	usage    func(obj kinds.Object, now time.Time) corev1.ResourceList
	inScope  func(corev1.ScopedResourceSelectorRequirement, kinds.Object) bool
	// handles tells which updates can use more.
	handles func(subresource string, obj, old kinds.Object) bool
	// frees tells which changes can use less, so that the quotas are counted anew.
	frees func(obj, old kinds.Object, now time.Time) bool
}

// For is the meter of a kind; nil: its objects count nowhere.
func For(k *kinds.Kind) *Meter {
	switch k {
	case kinds.Events:
		return nil
	case kinds.Pods:
		return &Meter{Kind: k, measures: ofPods, usage: podUsage, inScope: podInScope, handles: podHandles, frees: podFrees}
	case kinds.Services:
		return &Meter{Kind: k, measures: ofServices, usage: serviceUsage, inScope: noScope, handles: noSubresource, frees: serviceFrees}
	case kinds.PersistentVolumeClaims:
		return &Meter{Kind: k, measures: ofClaims, usage: claimUsage, inScope: claimInScope, handles: claimHandles, frees: claimFrees}
	}
	if !k.Namespaced {
		return nil
	}
	names := []corev1.ResourceName{countName(k)}
	if alias := aliases[k.Resource]; alias != "" && k.Group == "" {
		names = append(names, alias)
	}
	return &Meter{Kind: k,
		measures: func(n corev1.ResourceName) bool { return slices.Contains(names, n) },
		usage: func(kinds.Object, time.Time) corev1.ResourceList {
			out := corev1.ResourceList{}
			for _, n := range names {
				out[n] = one()
			}
			return out
		},
		inScope: noScope,
		handles: func(string, kinds.Object, kinds.Object) bool { return false },
		frees:   func(kinds.Object, kinds.Object, time.Time) bool { return false },
	}
}

// aliases are the names by which some kinds were counted before count/… was there.
var aliases = map[string]corev1.ResourceName{"configmaps": corev1.ResourceConfigMaps, "resourcequotas": corev1.ResourceQuotas,
	"replicationcontrollers": corev1.ResourceReplicationControllers, "secrets": corev1.ResourceSecrets}

// countName is the name under which a quota counts the objects of a kind.
func countName(k *kinds.Kind) corev1.ResourceName {
	return corev1.ResourceName("count/" + k.GR().String())
}

func one() resource.Quantity { return number(1) }

func number(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

func noScope(corev1.ScopedResourceSelectorRequirement, kinds.Object) bool { return false }

func noSubresource(subresource string, _, _ kinds.Object) bool { return subresource == "" }

// Measured are those of the names that the meter measures, sorted.
func (m *Meter) Measured(of corev1.ResourceList) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, n := range Names(of) {
		if m.measures(n) {
			out = append(out, n)
		}
	}
	return out
}

// Usage is what one object uses. now decides whether a pod that is being deleted still counts.
func (m *Meter) Usage(obj kinds.Object, now time.Time) corev1.ResourceList { return m.usage(obj, now) }

// Counts reports that an object is in the scopes of a quota.
func (m *Meter) Counts(q *corev1.ResourceQuota, obj kinds.Object) bool {
	for _, s := range q.Spec.Scopes {
		if !m.inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists}, obj) {
			return false
		}
	}
	if q.Spec.ScopeSelector != nil {
		for _, s := range q.Spec.ScopeSelector.MatchExpressions {
			if !m.inScope(s, obj) {
				return false
			}
		}
	}
	return true
}

// Handles reports that a request can use more of a quota. old is nil for a creation.
func (m *Meter) Handles(subresource string, obj, old kinds.Object) bool {
	if old == nil {
		return subresource == ""
	}
	return m.handles(subresource, obj, old)
}

// Frees reports that after a change of an object less may be used. Deletions always do, and are not asked for.
func (m *Meter) Frees(obj, old kinds.Object, now time.Time) bool { return m.frees(obj, old, now) }

// Meters are those that measure something of a list of limits, in the order of the kinds.
func Meters(hard corev1.ResourceList) []*Meter {
	var out []*Meter
	for _, k := range kinds.All() {
		if m := For(k); m != nil && len(m.Measured(hard)) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// selects applies a requirement of a scope to the names that an object has there.
func selects(s corev1.ScopedResourceSelectorRequirement, names ...string) bool {
	op, ok := map[corev1.ScopeSelectorOperator]selection.Operator{corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
		corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist}[s.Operator]
	if !ok {
		return false
	}
	r, err := labels.NewRequirement(string(s.ScopeName), op, s.Values)
	if err != nil {
		return false
	}
	if len(names) == 0 {
		return r.Matches(labels.Set{})
	}
	return slices.ContainsFunc(names, func(n string) bool { return r.Matches(labels.Set{string(s.ScopeName): n}) })
}

// Names of a list, sorted.
func Names(l corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(l)) }

// Mask is the part of a list that has one of the names.
func Mask(l corev1.ResourceList, names []corev1.ResourceName) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, n := range names {
		if q, ok := l[n]; ok {
			out[n] = q
		}
	}
	return out
}

// Add is the sum of two lists.
func Add(a, b corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for n, q := range a {
		out[n] = q.DeepCopy()
	}
	for n, q := range b {
		sum := q.DeepCopy()
		if have, ok := out[n]; ok {
			sum = have
			sum.Add(q)
		}
		out[n] = sum
	}
	return out
}

// More is how much more a uses than b, without what it does not use more of.
func More(a, b corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for n, q := range a {
		d := q.DeepCopy()
		if have, ok := b[n]; ok {
			d.Sub(have)
		}
		if d.Sign() > 0 {
			out[n] = d
		}
	}
	return out
}

// Negative are the names of what is below zero, sorted.
func Negative(l corev1.ResourceList) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, n := range Names(l) {
		if q := l[n]; q.Sign() < 0 {
			out = append(out, n)
		}
	}
	return out
}

// Exceeded are the names of what is above its limit, sorted.
func Exceeded(l, limits corev1.ResourceList) []corev1.ResourceName {
	var out []corev1.ResourceName
	for _, n := range Names(l) {
		q := l[n]
		if limit, ok := limits[n]; ok && q.Cmp(limit) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// Equal compares by value: 1 is 1000m.
func Equal(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// Text is a list for people: "cpu=1,pods=3".
func Text(l corev1.ResourceList) string {
	var parts []string
	for _, n := range Names(l) {
		q := l[n]
		parts = append(parts, string(n)+"="+q.String())
	}
	return strings.Join(parts, ",")
}

// NamesText is "cpu,pods".
func NamesText(names []corev1.ResourceName) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
	}
	return strings.Join(parts, ",")
}

// ended reports that a deletion is overdue, as on a node that is lost: what is stuck there is not charged.
func ended(deleted *metav1.Time, grace *int64, now time.Time) bool {
	return deleted != nil && grace != nil && now.After(deleted.Add(time.Duration(*grace)*time.Second))
}

// Nothing is what no object uses: a zero for each name.
func (m *Meter) Nothing(names []corev1.ResourceName) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, n := range names {
		out[n] = number(0)
	}
	return out
}
