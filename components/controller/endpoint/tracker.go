package endpoint

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/controller/informers"
	"example.com/kubeviz/components/controller/podcondition"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
)

const (
	// settle is how long a change of a slice by somebody else may draw others after it before it is looked at (k/k endpointSliceChangeMinSyncDelay).
	settle = time.Second
	// staleRetry is when a pass that came before the picture had what was written is tried again (k/k defaultSyncBackOff).
	staleRetry = time.Second
	// echo is how long a slice that was written is waited for in the picture. client-go's tracker has no such limit, and would wait for ever for one that came and went between two lists.
	echo = time.Minute
)

// owned finds the slices that one of the controllers made, and tells what it wrote itself from what others did (k8s.io/endpointslice/util: EndpointSliceTracker).
type owned struct {
	in *informers.Informers
	// by is the label that says whose a slice is.
	by string
	// wrote are the generations that were written or deleted last, by Service.
	wrote map[kubeapi.Key]map[types.UID]mark
}

type mark struct {
	generation int64
	going      bool
	at         time.Time
}

// newOwned makes a tracker; wake hears of Services whose slices somebody else changed.
func newOwned(in *informers.Informers, by string, wake func(kubeapi.Key, event.Seq)) *owned {
	o := &owned{in: in, by: by, wrote: map[kubeapi.Key]map[types.UID]mark{}}
	in.EndpointSlices.Handle(func(ch kubeapi.Change[*discoveryv1.EndpointSlice]) { o.changed(ch, wake) })
	return o
}

func (o *owned) is(s *discoveryv1.EndpointSlice) bool {
	return s.Labels[discoveryv1.LabelManagedBy] == o.by
}

func serviceOf(s *discoveryv1.EndpointSlice) kubeapi.Key {
	return kubeapi.MakeKey(s.Namespace, s.Labels[discoveryv1.LabelServiceName])
}

// of lists the slices of a Service that are not being deleted.
func (o *owned) of(key kubeapi.Key) (out []*discoveryv1.EndpointSlice) {
	for _, s := range o.in.EndpointSlices.ByIndex(informers.ByService, string(key)) {
		if o.is(s) && s.DeletionTimestamp == nil {
			out = append(out, s)
		}
	}
	return out
}

func (o *owned) changed(ch kubeapi.Change[*discoveryv1.EndpointSlice], wake func(kubeapi.Key, event.Seq)) {
	if ch.Type == event.Deleted {
		key := serviceOf(ch.Old)
		expected := o.wrote[key][ch.Old.UID].going
		delete(o.wrote[key], ch.Old.UID)
		if o.is(ch.Old) && !expected {
			wake(key, ch.Cause)
		}
		return
	}
	key := serviceOf(ch.New)
	if ch.Type == event.Modified && serviceOf(ch.Old) != key {
		wake(serviceOf(ch.Old), ch.Cause)
		wake(key, ch.Cause)
		return
	}
	m, known := o.wrote[key][ch.New.UID]
	if ch.Type == event.Modified && o.is(ch.Old) != o.is(ch.New) || o.is(ch.New) && (!known || ch.New.Generation > m.generation) {
		wake(key, ch.Cause)
	}
}

// note remembers a slice that was just written.
func (o *owned) note(key kubeapi.Key, s *discoveryv1.EndpointSlice, going bool, now time.Time) {
	if now, ok := o.in.EndpointSlices.Get(kubeapi.KeyOf(s)); going && (!ok || now.UID != s.UID) {
		delete(o.wrote[key], s.UID)
		return // it was seen to go already
	}
	if o.wrote[key] == nil {
		o.wrote[key] = map[types.UID]mark{}
	}
	o.wrote[key][s.UID] = mark{s.Generation, going, now}
}

// stale reports that the picture of a Service's slices is older than what was written.
func (o *owned) stale(key kubeapi.Key, have []*discoveryv1.EndpointSlice, now time.Time) bool {
	seen := 0
	for _, s := range have {
		m, ok := o.wrote[key][s.UID]
		if ok && (m.going || m.generation > s.Generation) && now.Sub(m.at) < echo {
			return true
		}
		if ok {
			seen++
		}
	}
	if seen == len(o.wrote[key]) {
		return false
	}
	all := o.in.EndpointSlices.ByIndex(informers.ByService, string(key)) // also those that are being deleted
	for uid, m := range o.wrote[key] {
		if m.going || slices.ContainsFunc(all, func(s *discoveryv1.EndpointSlice) bool { return s.UID == uid }) {
			continue
		}
		if now.Sub(m.at) < echo {
			return true
		}
		delete(o.wrote[key], uid)
	}
	return false
}

func (o *owned) forget(key kubeapi.Key) { delete(o.wrote, key) }

// triggers tell when that happened which a write follows from, for the annotation by which the delay of endpoints is measured (k8s.io/endpointslice/util: TriggerTimeTracker).
type triggers map[kubeapi.Key]seen

// seen are the times that the last pass over a Service saw.
type seen struct {
	service time.Time
	pods    map[string]time.Time
}

// since is the earliest change since the last pass: of a pod's readiness, or the creation of the Service; zero: none. The first pass takes the Service's creation.
func (t triggers) since(key kubeapi.Key, svc *corev1.Service, pods []*corev1.Pod) (first time.Time) {
	last, known := t[key]
	now := seen{service: svc.CreationTimestamp.Time, pods: make(map[string]time.Time, len(pods))}
	earlier := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	for _, pod := range pods {
		c := podcondition.Get(pod, corev1.PodReady)
		if c == nil || c.LastTransitionTime.IsZero() {
			continue
		}
		now.pods[pod.Name] = c.LastTransitionTime.Time
		if c.LastTransitionTime.After(last.pods[pod.Name]) {
			earlier(c.LastTransitionTime.Time)
		}
	}
	if now.service.After(last.service) {
		earlier(now.service)
	}
	t[key] = now
	if !known {
		return now.service
	}
	return first
}

// stamp writes the annotation, or takes it away when nothing is known to have led to the write.
func stamp(o kinds.Object, at time.Time) {
	a := o.GetAnnotations()
	if delete(a, corev1.EndpointsLastChangeTriggerTime); !at.IsZero() {
		if a == nil {
			a = map[string]string{}
		}
		a[corev1.EndpointsLastChangeTriggerTime] = at.UTC().Format(time.RFC3339Nano)
	}
	o.SetAnnotations(a)
}
