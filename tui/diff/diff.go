// Package diff says what changed between two revisions of an object, field by field.
//
// Objects are compared in their JSON form. Elements of lists that have a key (containers by name, conditions by type) are matched by it wherever they stand, so
// that an element put in front is one addition and not a change of all that follow. Fields that every write changes are left out (Noise).
//
// Imports of ours: engine/kinds. Goroutines: pure. Time: none.
package diff

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"example.com/kubeviz/engine/kinds"
)

// Op is what happened to a field.
type Op uint8

// The ops.
const (
	Added Op = iota
	Removed
	Changed
	// Moved: the elements of a list are the same in another order. Old and New are the keys in order.
	Moved
)

// Change of one field.
type Change struct {
	// Path from the root of the object; an element of a list is "conditions[Ready]".
	Path []string
	Op   Op
	// Old and New are the values as text, at most valueMax bytes, unsanitised; "" where there is none.
	Old, New string
}

// Field is the path as one text.
func (c Change) Field() string { return Join(c.Path) }

// Join writes a path: "spec.containers[web].image", with odd names in brackets.
func Join(path []string) string {
	var b strings.Builder
	for i, p := range path {
		if name, _, _ := strings.Cut(p, "["); strings.ContainsAny(name, "./ ") {
			b.WriteString("[" + p + "]")
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// Result of a comparison.
type Result struct {
	// Changes in the order spec, status, metadata, others; inside by path.
	Changes []Change
	// More counts changes left out of Changes.
	More int
}

// Limits of one comparison.
const (
	valueMax = 512
	depthMax = 64
)

// Noise reports a path that says nothing of what was meant: the revision itself and the book-keeping of fields.
func Noise(path []string) bool {
	return len(path) == 2 && path[0] == "metadata" && (path[1] == "managedFields" || path[1] == "resourceVersion")
}

// Of compares two revisions and gives at most max changes. A nil side is an object that is not there: all of the other is added or removed.
func Of(before, after kinds.Object, max int) Result {
	return Trees(Tree(before), Tree(after), max)
}

// Tree is the JSON form of an object; nil for none, or for one that has no such form.
func Tree(o kinds.Object) map[string]any {
	if o == nil {
		return nil
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil
	}
	return m
}

// Trees compares two objects in JSON form: maps, lists, strings, numbers, booleans and nil.
func Trees(before, after map[string]any, max int) Result {
	d := differ{max: max}
	d.maps(nil, before, after)
	return Result{Changes: d.out, More: d.more}
}

type differ struct {
	out  []Change
	max  int
	more int
}

func (d *differ) add(path []string, op Op, before, after string) {
	if len(d.out) >= d.max {
		d.more++
		return
	}
	d.out = append(d.out, Change{Path: slices.Clone(path), Op: op, Old: before, New: after})
}

// weight orders the fields of the root: what was asked for, what came of it, what is written on it.
func weight(name string) int {
	switch name {
	case "spec":
		return 0
	case "status":
		return 1
	case "metadata":
		return 3
	}
	return 2
}

func (d *differ) maps(path []string, before, after map[string]any) {
	names := make([]string, 0, len(before)+len(after))
	for k := range before {
		names = append(names, k)
	}
	for k := range after {
		if _, both := before[k]; !both {
			names = append(names, k)
		}
	}
	root := len(path) == 0
	sort.Slice(names, func(i, j int) bool {
		if a, b := weight(names[i]), weight(names[j]); root && a != b {
			return a < b
		}
		return names[i] < names[j]
	})
	for _, name := range names {
		at := append(path, name)
		if Noise(at) {
			continue
		}
		old, had := before[name]
		now, has := after[name]
		d.values(at, old, had && old != nil, now, has && now != nil) // null is how times that are not set are written
	}
}

func (d *differ) values(path []string, old any, had bool, now any, has bool) {
	if len(path) > depthMax {
		if a, b := fmt.Sprint(old), fmt.Sprint(now); a != b || had != has {
			d.leaf(path, old, had, now, has)
		}
		return
	}
	om, oldMap := old.(map[string]any)
	nm, nowMap := now.(map[string]any)
	ol, oldList := old.([]any)
	nl, nowList := now.([]any)
	switch {
	case had && has && oldMap && nowMap:
		d.maps(path, om, nm)
	case had && has && oldList && nowList:
		d.lists(path, ol, nl)
	case !had && nowMap && len(nm) > 0:
		d.maps(path, nil, nm)
	case !has && oldMap && len(om) > 0:
		d.maps(path, om, nil)
	case !had && nowList && len(nl) > 0:
		d.lists(path, nil, nl)
	case !has && oldList && len(ol) > 0:
		d.lists(path, ol, nil)
	case had != has || !same(old, now):
		d.leaf(path, old, had, now, has)
	}
}

// same compares leaves, or values of different shapes.
func same(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return false // both of a shape never come here, unless one of them is empty and the other not there
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func (d *differ) leaf(path []string, old any, had bool, now any, has bool) {
	switch {
	case !had:
		d.add(path, Added, "", text(now))
	case !has:
		d.add(path, Removed, text(old), "")
	default:
		d.add(path, Changed, text(old), text(now))
	}
}

// lists matches elements by their keys where both lists have them, else by place.
func (d *differ) lists(path []string, old, now []any) {
	last := len(path) - 1
	at := func(key string) []string {
		p := slices.Clone(path)
		p[last] += "[" + key + "]"
		return p
	}
	oldKeys, now1 := keys(path[last], old), keys(path[last], now)
	if oldKeys == nil || now1 == nil {
		for i := range max(len(old), len(now)) {
			d.values(at(strconv.Itoa(i)), element(old, i), i < len(old), element(now, i), i < len(now))
		}
		return
	}
	oldAt, nowAt := places(oldKeys), places(now1)
	var stayed, stay []string // keys on both sides, in the order of each
	for i, k := range oldKeys {
		if j, ok := nowAt[k]; ok {
			stayed = append(stayed, k)
			d.values(at(k), old[i], true, now[j], true)
		} else {
			d.values(at(k), old[i], true, nil, false)
		}
	}
	for j, k := range now1 {
		if _, ok := oldAt[k]; ok {
			stay = append(stay, k)
		} else {
			d.values(at(k), nil, false, now[j], true)
		}
	}
	if !slices.Equal(stayed, stay) {
		d.add(path, Moved, short(strings.Join(stayed, ", ")), short(strings.Join(stay, ", ")))
	}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func places(keys []string) map[string]int {
	m := make(map[string]int, len(keys))
	for i, k := range keys {
		m[k] = i
	}
	return m
}

// keyFields are what Kubernetes merges lists of objects by, first match first. Source: the patchMergeKey and listMapKey marks of k8s.io/api.
var keyFields = map[string][]string{
	"conditions": {"type"}, "addresses": {"type"}, "containers": {"name"}, "initContainers": {"name"}, "ephemeralContainers": {"name"}, "containerStatuses": {"name"},
	"initContainerStatuses": {"name"}, "volumes": {"name"}, "env": {"name"}, "volumeMounts": {"mountPath"}, "ports": {"containerPort", "protocol"}, "tolerations": {"key", "operator", "effect"},
	"taints": {"key", "effect"}, "ownerReferences": {"kind", "name"}, "podIPs": {"ip"}, "hostIPs": {"ip"}, "imagePullSecrets": {"name"}, "topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
}

// keys names the elements of a list, each by itself: objects by their key fields, texts by what they say. nil when that does not tell them apart.
func keys(field string, list []any) []string {
	fields, ok := keyFields[field]
	if !ok {
		fields = []string{"name"}
	}
	out := make([]string, len(list))
	seen := make(map[string]bool, len(list))
	for i, e := range list {
		switch e := e.(type) {
		case string:
			out[i] = e
		case map[string]any:
			var parts []string
			for _, f := range fields {
				switch v := e[f].(type) {
				case nil:
				case map[string]any, []any:
					return nil
				default:
					parts = append(parts, text(v))
				}
			}
			out[i] = strings.Join(parts, "/")
		default:
			return nil
		}
		if out[i] == "" || len(out[i]) > 128 || seen[out[i]] {
			return nil
		}
		seen[out[i]] = true
	}
	return out
}

// text is a value on one line.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if v == "" {
			return `""`
		}
		return short(v)
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
	case []any:
		if len(v) == 0 {
			return "[]"
		}
	}
	return short(fmt.Sprint(v)) // fmt sorts the keys of maps
}

func short(s string) string {
	if len(s) > valueMax {
		return s[:valueMax] + "…"
	}
	return s
}
