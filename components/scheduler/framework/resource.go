package framework

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Resource is an amount of everything a node can run out of: milli-CPUs, bytes, and counts of named (scalar) resources sorted by name.
type Resource struct {
	MilliCPU         int64
	Memory           int64
	EphemeralStorage int64
	Scalars          []Scalar
}

// Scalar is an amount of one extended or huge-page resource.
type Scalar struct {
	Name  corev1.ResourceName
	Value int64
}

// Quantity arithmetic overflows in silence ("1e19" has Value 0), so amounts are bounded before they become integers. A request at its bound is larger than any
// capacity at its own, so what is too large for an integer still fits nowhere; and some thousand such pods can be summed on one node before an int64 ends.
const (
	requestMax  = 1 << 51
	capacityMax = 1 << 50
)

// Requests turns the requests of a pod into a Resource.
func Requests(list corev1.ResourceList) Resource { return fromList(list, requestMax) }

// Capacity turns what a node has into a Resource; pods are left out (see NodeInfo.AllowedPods).
func Capacity(list corev1.ResourceList) Resource { return fromList(list, capacityMax) }

func fromList(list corev1.ResourceList, limit int64) Resource {
	var r Resource
	for name, q := range list {
		switch name {
		case corev1.ResourceCPU:
			r.MilliCPU = boundedMilli(q, limit)
		case corev1.ResourceMemory:
			r.Memory = bounded(q, limit)
		case corev1.ResourceEphemeralStorage:
			r.EphemeralStorage = bounded(q, limit)
		case corev1.ResourcePods:
		default:
			if isScalar(name) {
				r.Scalars = append(r.Scalars, Scalar{name, bounded(q, limit)})
			}
		}
	}
	slices.SortFunc(r.Scalars, func(a, b Scalar) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return r
}

// isScalar tells resources that are counted by name: extended ones (with a domain), huge pages, attachable volumes.
func isScalar(name corev1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") || strings.HasPrefix(s, corev1.ResourceHugePagesPrefix) || strings.HasPrefix(s, corev1.ResourceAttachableVolumesPrefix)
}

func bounded(q resource.Quantity, limit int64) int64 {
	if q.Sign() <= 0 {
		return 0
	}
	if q.Cmp(*resource.NewQuantity(limit, resource.DecimalSI)) >= 0 {
		return limit
	}
	return q.Value()
}

func boundedMilli(q resource.Quantity, limit int64) int64 {
	if q.Sign() <= 0 {
		return 0
	}
	if q.Cmp(*resource.NewMilliQuantity(limit, resource.DecimalSI)) >= 0 {
		return limit
	}
	return q.MilliValue()
}

// Of gives the amount of one scalar resource.
func (r *Resource) Of(name corev1.ResourceName) int64 {
	for i := range r.Scalars {
		if r.Scalars[i].Name == name {
			return r.Scalars[i].Value
		}
	}
	return 0
}

// Zero reports that nothing is asked for.
func (r *Resource) Zero() bool {
	return r.MilliCPU == 0 && r.Memory == 0 && r.EphemeralStorage == 0 && len(r.Scalars) == 0
}

// change adds (sign 1) or takes away (sign -1) another amount.
func (r *Resource) change(o *Resource, sign int64) {
	r.MilliCPU += sign * o.MilliCPU
	r.Memory += sign * o.Memory
	r.EphemeralStorage += sign * o.EphemeralStorage
	for _, s := range o.Scalars {
		i, ok := slices.BinarySearchFunc(r.Scalars, s.Name, func(a Scalar, n corev1.ResourceName) int { return strings.Compare(string(a.Name), string(n)) })
		if !ok {
			r.Scalars = slices.Insert(r.Scalars, i, Scalar{Name: s.Name})
		}
		r.Scalars[i].Value += sign * s.Value
	}
}

func (r *Resource) clone() Resource {
	c := *r
	c.Scalars = slices.Clone(r.Scalars)
	return c
}
