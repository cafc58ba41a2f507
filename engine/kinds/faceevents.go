package kinds

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
)

// eventFace shows Events as events.k8s.io/v1 does. Nothing is lost either way: the fields are the same under other names.
var eventFace = &Face{Group: "events.k8s.io", Version: "v1", Kind: "Event", New: func() Object { return &eventsv1.Event{} },
	From: func(o Object) Object { return eventShown(o.(*corev1.Event)) },
	To:   func(o Object) Object { return eventStored(o.(*eventsv1.Event)) },
	Fields: map[string]string{
		"reason": "reason", "type": "type", "reportingController": "reportingComponent",
		"regarding.kind": "involvedObject.kind", "regarding.namespace": "involvedObject.namespace", "regarding.name": "involvedObject.name", "regarding.uid": "involvedObject.uid",
		"regarding.apiVersion": "involvedObject.apiVersion", "regarding.resourceVersion": "involvedObject.resourceVersion", "regarding.fieldPath": "involvedObject.fieldPath",
	}}

func eventShown(stored *corev1.Event) *eventsv1.Event {
	e := stored.DeepCopy()
	out := &eventsv1.Event{ObjectMeta: e.ObjectMeta, EventTime: e.EventTime, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		Action: e.Action, Reason: e.Reason, Regarding: e.InvolvedObject, Related: e.Related, Note: e.Message, Type: e.Type,
		DeprecatedSource: e.Source, DeprecatedFirstTimestamp: e.FirstTimestamp, DeprecatedLastTimestamp: e.LastTimestamp, DeprecatedCount: e.Count}
	if e.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}

func eventStored(shown *eventsv1.Event) *corev1.Event {
	e := shown.DeepCopy()
	out := &corev1.Event{ObjectMeta: e.ObjectMeta, EventTime: e.EventTime, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		Action: e.Action, Reason: e.Reason, InvolvedObject: e.Regarding, Related: e.Related, Message: e.Note, Type: e.Type,
		Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount}
	if e.Series != nil {
		out.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return out
}
