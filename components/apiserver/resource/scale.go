package resource

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"example.com/kubeviz/engine/kinds"
)

// Scale is what the subresource of that name sees of an object.
type Scale struct {
	// Wanted is where the object keeps the wanted number.
	Wanted **int32
	Have   int32
	// Selector of the objects that are counted, in the form of queries.
	Selector string
	// Path is where the wanted number stands, and Set writes it, for kinds that a definition describes; nil: Wanted does, in spec.replicas.
	Path []string
	Set  func(n int32)
}

// Scaled shows an object to the subresource.
func (res *Resource) Scaled(obj kinds.Object) Scale {
	if res.Scale != nil {
		return res.Scale(obj)
	}
	return ScaleOf(obj)
}

// ScaleOf shows an object of a kind with the subresource scale.
func ScaleOf(obj kinds.Object) Scale {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return Scale{Wanted: &o.Spec.Replicas, Have: o.Status.Replicas, Selector: selector(o.Spec.Selector)}
	case *appsv1.ReplicaSet:
		return Scale{Wanted: &o.Spec.Replicas, Have: o.Status.Replicas, Selector: selector(o.Spec.Selector)}
	case *appsv1.StatefulSet:
		return Scale{Wanted: &o.Spec.Replicas, Have: o.Status.Replicas, Selector: selector(o.Spec.Selector)}
	case *corev1.ReplicationController:
		return Scale{Wanted: &o.Spec.Replicas, Have: o.Status.Replicas, Selector: labels.SelectorFromSet(o.Spec.Selector).String()}
	}
	panic(fmt.Sprintf("resource: %T has the subresource scale but no replicas", obj)) // a mistake in the table of kinds
}

func selector(sel *metav1.LabelSelector) string {
	s, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return ""
	}
	return s.String()
}
