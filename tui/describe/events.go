package describe

import (
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/world"
)

// eventsMost bounds how many Event objects about one thing are looked at.
const eventsMost = 400

// Event is an Event object with its record.
type Event struct {
	Object *corev1.Event
	Seq    event.Seq
}

// EventsOf lists the Event objects about an object, the one seen last at the end. Events are named after what they are about, so the store's order finds them without
// looking at others.
func EventsOf(w *world.World, k *kinds.Kind, namespace, name string) []Event {
	if k == nil || name == "" {
		return nil
	}
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	prefix := world.ObjectKey(kinds.Events, namespace, name+".")
	var out []Event
	w.Objects.Ascend(prefix, func(key string, o *world.Object) bool {
		if !strings.HasPrefix(key, prefix) || len(out) >= eventsMost {
			return false
		}
		if e, ok := o.Object.(*corev1.Event); ok && e.InvolvedObject.Name == name && e.InvolvedObject.Kind == k.Kind {
			out = append(out, Event{e, o.Seq})
		}
		return true
	})
	sort.SliceStable(out, func(i, j int) bool {
		a, b := kinds.EventLast(out[i].Object), kinds.EventLast(out[j].Object)
		if a.Equal(b) {
			return out[i].Seq < out[j].Seq
		}
		return a.Before(b)
	})
	return out
}
