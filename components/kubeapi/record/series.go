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
	cache      btree.Map[string, *corev1.Event]
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
	if old, ok := r.cache.Get(key); ok {
		if old.Series != nil {
			old.Series.Count++
			old.Series.LastObservedTime = e.EventTime
			return
		}
		old.Series = &corev1.EventSeries{Count: 2, LastObservedTime: e.EventTime}
		r.post(p.Cause, key, old.DeepCopy())
		return
	}
	e.Name = r.names.next(regarding.GetName(), now)
	r.cache.Set(key, e)
	r.post(p.Cause, key, e.DeepCopy())
}

// post sends from a process of its own, as client-go does, so that one event does not wait for another.
func (r *SeriesRecorder) post(cause event.Seq, key string, e *corev1.Event) {
	p := r.proc.Go("event "+e.Name, func(p *sim.Proc) {
		stored := r.attempt(p, e)
		if stored == nil {
			return
		}
		if now, ok := r.cache.Get(key); ok && now.Name == e.Name {
			now.Name = stored.Name
		}
	})
	p.Cause = cause
}

// attempt sends with retries; nil when it was given up or refused.
func (r *SeriesRecorder) attempt(p *sim.Proc, e *corev1.Event) *corev1.Event {
	var stored *corev1.Event
	retry(p, func() bool {
		var patch []byte
		if e.Series != nil {
			single := *e
			single.Series = nil
			patch = difference(&single, e)
		}
		var err error
		stored, err = write(p, r.proc.Client, e, patch)
		if err != nil {
			stored = nil
		}
		return answered(err)
	})
	return stored
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
		e, ok := r.cache.Get(key)
		switch {
		case !ok:
		case e.Series == nil:
			if e.EventTime.Time.Before(since) {
				r.cache.Delete(key)
			}
		case e.Series.LastObservedTime.Time.Before(since):
			r.cache.Delete(key)
			r.attempt(p, e)
		}
	}
}

// refresh writes the counts of running series.
func (r *SeriesRecorder) refresh(p *sim.Proc) {
	for _, key := range r.cache.Keys() {
		if e, ok := r.cache.Get(key); ok && e.Series != nil {
			r.attempt(p, e.DeepCopy())
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
