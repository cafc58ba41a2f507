package record

import (
	"fmt"
	"time"

	"github.com/tidwall/btree"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/event"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Times of a series (cg tools/events/event_broadcaster.go).
const (
	seriesEnds    = 6 * time.Minute  // without a repeat
	seriesRefresh = 30 * time.Minute // how often a running count is written
)

// SeriesRecorder writes events in the style of events.k8s.io: an event has an eventTime, a reporting controller and an action, but no count; a repeat makes it a series of
// two, further repeats are counted here and written when the series ends or every 30 minutes. An event repeats when all but its message agrees, the
// resourceVersion of the object it is about included.
type SeriesRecorder struct {
	proc       *kubeapi.Process
	controller string
	names      names
	cache      btree.Map[string, *entry]
}

// entry is an event that may repeat.
type entry struct {
	event *corev1.Event
	cause event.Seq // of its last occurrence
}

// NewSeries makes a recorder for controller ("default-scheduler").
func NewSeries(pr *kubeapi.Process, controller string) *SeriesRecorder {
	r := &SeriesRecorder{proc: pr, controller: controller, names: newNames(pr, controller)}
	pr.Go("event series of "+controller, func(p *sim.Proc) { r.every(p, seriesEnds, r.finish) })
	pr.Go("event refresh of "+controller, func(p *sim.Proc) { r.every(p, seriesRefresh, r.refresh) })
	return r
}

// Eventf records that the controller took action on regarding; related may be nil. The cause is p's.
func (r *SeriesRecorder) Eventf(p *sim.Proc, regarding, related kinds.Object, eventtype, reason, action, note string, args ...any) {
	now := p.Now()
	e := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespaceOf(ReferenceTo(regarding))},
		InvolvedObject: ReferenceTo(regarding), Type: eventtype, Reason: reason, Action: action, Message: fmt.Sprintf(note, args...),
		EventTime:           metav1.NewMicroTime(now.Truncate(time.Microsecond)),
		ReportingController: r.controller, ReportingInstance: r.controller + "-" + r.proc.Addr.Host,
	}
	if related != nil {
		ref := ReferenceTo(related)
		e.Related = &ref
	}
	key := seriesKey(e)
	if known, ok := r.cache.Get(key); ok {
		known.cause = p.Cause
		if s := known.event.Series; s != nil {
			s.Count++
			s.LastObservedTime = e.EventTime
			return
		}
		known.event.Series = &corev1.EventSeries{Count: 2, LastObservedTime: e.EventTime}
		r.post(p.Cause, known.event.DeepCopy())
		return
	}
	e.Name = r.names.next(regarding.GetName(), now)
	r.cache.Set(key, &entry{e, p.Cause})
	r.post(p.Cause, e.DeepCopy())
}

// post sends from a process of its own, as client-go does, so that one event does not wait for another.
func (r *SeriesRecorder) post(cause event.Seq, e *corev1.Event) {
	r.proc.Go("event "+e.Name, func(p *sim.Proc) { r.attempt(p, e) }).Cause = cause
}

// attempt sends with retries.
func (r *SeriesRecorder) attempt(p *sim.Proc, e *corev1.Event) {
	retry(p, func() bool {
		var patch []byte
		if e.Series != nil {
			patch = encode(map[string]any{"series": e.Series})
		}
		_, err := write(p, r.proc.Client, e, patch)
		return answered(err)
	})
}

func (r *SeriesRecorder) every(p *sim.Proc, gap time.Duration, do func(*sim.Proc)) {
	for {
		p.Sleep(gap)
		do(p)
	}
}

// finish ends series that had no repeat lately: the last count is written and the event forgotten.
func (r *SeriesRecorder) finish(p *sim.Proc) {
	since := p.Now().Add(-seriesEnds)
	for _, key := range r.cache.Keys() {
		known, ok := r.cache.Get(key)
		switch {
		case !ok:
		case known.event.Series == nil:
			if known.event.EventTime.Time.Before(since) {
				r.cache.Delete(key)
			}
		case known.event.Series.LastObservedTime.Time.Before(since):
			r.cache.Delete(key)
			p.Cause = known.cause
			r.attempt(p, known.event)
		}
	}
}

// refresh writes the counts of running series.
func (r *SeriesRecorder) refresh(p *sim.Proc) {
	for _, key := range r.cache.Keys() {
		if known, ok := r.cache.Get(key); ok && known.event.Series != nil {
			p.Cause = known.cause
			r.attempt(p, known.event.DeepCopy())
		}
	}
}

func seriesKey(e *corev1.Event) string {
	o := e.InvolvedObject
	key := fmt.Sprintf("%s\x00%s\x00%s\x00%s\x00%s\x00%v", e.Type, e.Action, e.Reason, e.ReportingController, e.ReportingInstance, o)
	if e.Related != nil {
		key += fmt.Sprintf("\x00%v", *e.Related)
	}
	return key
}
