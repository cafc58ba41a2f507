// Package record writes Event objects for a component, with client-go's rules: repeats of the same event raise its count, the tenth different one of a kind
// within ten minutes and all after it are combined into one, and a burst of 25 per source and object is followed by one per five minutes (cg
// tools/record/events_cache.go). SeriesRecorder is the newer style of events.k8s.io that kube-scheduler uses (cg tools/events).
//
// Owns: Recorder, SeriesRecorder. Imports of ours: components/kubeapi, engine/sim, engine/kinds, engine/event. Goroutines: the loop; Event calls never park, a
// process of the program sends. Time: simulated.
package record

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Limits of sending (cg tools/record/event.go).
const (
	triesMax = 12
	retryGap = 10 * time.Second
	// queuedMax events wait; further ones are dropped, as client-go's DropIfChannelFull does.
	queuedMax = 1000
)

// Recorder writes events of one component. One process of the program sends them one after another, so an API server that does not answer holds up later events
// for up to two minutes each, as in Kubernetes.
type Recorder struct {
	proc       *kubeapi.Process
	source     corev1.EventSource
	correlator *correlator
	queue      sim.Queue[queued]
	names      names
	// Dropped counts events lost: queue full, spam filter, or given up.
	Dropped int
}

type queued struct {
	event *corev1.Event
	cause event.Seq
}

// New makes a recorder whose events name component as their source and starts its sender. The kubelet's source also names its host.
func New(pr *kubeapi.Process, component string) *Recorder {
	r := &Recorder{proc: pr, source: corev1.EventSource{Component: component}, names: newNames(pr, component)}
	if component == "kubelet" {
		r.source.Host = pr.Addr.Host
	}
	r.correlator = newCorrelator(pr.Loop.Rand(fmt.Sprintf("event correlator %s of %s", component, pr.Addr)))
	pr.Go("events of "+component, r.send)
	return r
}

// Event records that something happened to obj; eventtype is Normal or Warning. The cause is p's.
func (r *Recorder) Event(p *sim.Proc, obj kinds.Object, eventtype, reason, message string) {
	r.EventFor(p.Cause, ReferenceTo(obj), eventtype, reason, message)
}

// Eventf is Event with a formatted message.
func (r *Recorder) Eventf(p *sim.Proc, obj kinds.Object, eventtype, reason, format string, args ...any) {
	r.Event(p, obj, eventtype, reason, fmt.Sprintf(format, args...))
}

// EventFor is Event for callers that are no process or hold no object. A reference without namespace puts the event into "default".
func (r *Recorder) EventFor(cause event.Seq, ref corev1.ObjectReference, eventtype, reason, message string) {
	if r.queue.Len() >= queuedMax {
		r.Dropped++
		return
	}
	now := r.proc.Loop.Now()
	stamp := metav1.NewTime(now.Truncate(time.Second))
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: r.names.next(ref.Name, now), Namespace: namespaceOf(ref)},
		InvolvedObject: ref, Type: eventtype, Reason: reason, Message: message,
		FirstTimestamp: stamp, LastTimestamp: stamp, Count: 1,
		Source: r.source, ReportingController: r.source.Component, ReportingInstance: r.source.Host,
	}
	r.queue.Put(queued{event: e, cause: cause})
}

// send is the sender's process.
func (r *Recorder) send(p *sim.Proc) {
	for {
		q, ok := r.queue.Get(p)
		if !ok {
			return
		}
		p.Cause = q.cause
		out, ok := r.correlator.correlate(q.event, r.names, p.Now())
		if !ok {
			r.Dropped++
			continue
		}
		if !retry(p, func() bool { return r.attempt(p, out) }) {
			r.Dropped++
		}
	}
}

// attempt writes one event and reports that no other try is needed.
func (r *Recorder) attempt(p *sim.Proc, out correlated) bool {
	stored, err := write(p, r.proc.Client, out.event, out.patch)
	if err == nil {
		r.correlator.stored(stored)
	}
	return answered(err)
}

// write patches the event that exists, or creates it when it is new or gone.
func write(p *sim.Proc, c *kubeapi.Client, e *corev1.Event, patch []byte) (*corev1.Event, error) {
	if patch != nil {
		resp, err := c.Do(p, &kubeapi.Request{Verb: kubeapi.Patch, Kind: kinds.Events, Namespace: e.Namespace, Name: e.Name,
			PatchType: types.StrategicMergePatchType, Patch: patch})
		if err == nil {
			return resp.Object.(*corev1.Event), nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	fresh := e.DeepCopy() // the API server owns what it is given
	fresh.ResourceVersion = ""
	return kubeapi.Make(p, c, fresh)
}

// answered reports that an API server has spoken: success, or a refusal that another try would not change.
func answered(err error) bool {
	if err == nil {
		return true
	}
	_, status := err.(*apierrors.StatusError)
	return status
}

// retry calls try up to twelve times. The first gap is random, so that clients of a failed server do not come back together.
func retry(p *sim.Proc, try func() bool) bool {
	for n := 1; ; n++ {
		if try() {
			return true
		}
		if n >= triesMax {
			return false
		}
		gap := retryGap
		if n == 1 {
			gap = time.Duration(p.Rand().Float64() * float64(gap))
		}
		p.Sleep(gap)
	}
}

// ReferenceTo names obj as events do, its resourceVersion included.
func ReferenceTo(obj kinds.Object) corev1.ObjectReference {
	k := kinds.MustOf(obj)
	return corev1.ObjectReference{Kind: k.Kind, APIVersion: k.APIVersion(), Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion()}
}

func namespaceOf(ref corev1.ObjectReference) string {
	if ref.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return ref.Namespace
}

// names makes event names, "<object>.<hexadecimal nanoseconds>". Simulated time moves in jumps, so the nanoseconds below a microsecond are drawn: two events of one
// object at one instant must differ, also between components.
type names struct{ *nameState }

type nameState struct {
	rng  *rand.Rand
	last int64
}

func newNames(pr *kubeapi.Process, component string) names {
	return names{&nameState{rng: pr.Loop.Rand(fmt.Sprintf("event names %s of %s from %d", component, pr.Addr, pr.Loop.Now().UnixNano()))}}
}

func (n names) next(object string, now time.Time) string {
	t := now.Truncate(time.Microsecond).UnixNano() + n.rng.Int64N(1000)
	if t <= n.last {
		t = n.last + 1
	}
	n.last = t
	return fmt.Sprintf("%s.%x", object, t)
}
