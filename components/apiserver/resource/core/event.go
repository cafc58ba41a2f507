package core

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func eventResource() *resource.Resource {
	type ev = *corev1.Event
	return &resource.Resource{
		Kind:           kinds.Events,
		TTL:            time.Hour, // kube-apiserver --event-ttl (STO-21)
		Name:           check.PathSegment,
		FreeFinalizers: true,
		UpdateWhole:    true,
		Validate:       resource.TypedCheck(func(e ev) field.ErrorList { return validateEvent(e, "reportingComponent") }),
		ValidateUpdate: resource.TypedCheckUpdate(func(e, _ ev, _ string) field.ErrorList { return validateEvent(e, "reportingComponent") }),
		InFace: map[string]func(o, old kinds.Object) field.ErrorList{eventsv1.GroupName: func(o, old kinds.Object) field.ErrorList {
			if old == nil {
				return validateNewEvent(o.(ev))
			}
			return validateNewEventChange(o.(ev), old.(ev))
		}},
		Fields: map[string]func(kinds.Object) string{
			"involvedObject.kind":            resource.TypedValue(func(e ev) string { return e.InvolvedObject.Kind }),
			"involvedObject.namespace":       resource.TypedValue(func(e ev) string { return e.InvolvedObject.Namespace }),
			"involvedObject.name":            resource.TypedValue(func(e ev) string { return e.InvolvedObject.Name }),
			"involvedObject.uid":             resource.TypedValue(func(e ev) string { return string(e.InvolvedObject.UID) }),
			"involvedObject.apiVersion":      resource.TypedValue(func(e ev) string { return e.InvolvedObject.APIVersion }),
			"involvedObject.resourceVersion": resource.TypedValue(func(e ev) string { return e.InvolvedObject.ResourceVersion }),
			"involvedObject.fieldPath":       resource.TypedValue(func(e ev) string { return e.InvolvedObject.FieldPath }),
			"reason":                         resource.TypedValue(func(e ev) string { return e.Reason }),
			"type":                           resource.TypedValue(func(e ev) string { return e.Type }),
			"reportingComponent":             resource.TypedValue(func(e ev) string { return e.ReportingController }),
			"source": resource.TypedValue(func(e ev) string {
				if e.Source.Component != "" {
					return e.Source.Component
				}
				return e.ReportingController
			}),
		},
	}
}

// Limits of the texts of events with a time of their own, in characters.
const (
	eventTextMax = 128
	eventNoteMax = 1024
)

// validateEvent checks an event. Those with eventTime are of the newer sort, which must say who reports and what was done; reporter is what that field is called in the version of the request.
func validateEvent(e *corev1.Event, reporter string) field.ErrorList {
	var errs field.ErrorList
	about := e.InvolvedObject.Namespace
	elsewhere := field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")
	if e.EventTime.IsZero() {
		anywhere := about == "" && (e.Namespace == metav1.NamespaceNone || e.Namespace == metav1.NamespaceDefault) // about an object without a namespace
		if about != e.Namespace && !anywhere {
			errs = append(errs, elsewhere)
		}
		return errs
	}
	if about == "" && e.Namespace != metav1.NamespaceDefault && e.Namespace != metav1.NamespaceSystem {
		errs = append(errs, elsewhere)
	}
	errs = append(errs, check.Needed(e.ReportingController, field.NewPath(reporter))...)
	errs = append(errs, check.QualifiedName(e.ReportingController, field.NewPath(reporter))...)
	for _, f := range []struct {
		name, value string
		max         int
		needed      bool
	}{{"reportingInstance", e.ReportingInstance, eventTextMax, true}, {"action", e.Action, eventTextMax, true}, {"reason", e.Reason, eventTextMax, true}, {"message", e.Message, eventNoteMax, false}} {
		if f.needed {
			errs = append(errs, check.Needed(f.value, field.NewPath(f.name))...)
		}
		if len(f.value) > f.max {
			errs = append(errs, field.Invalid(field.NewPath(f.name), "", fmt.Sprintf("can have at most %v characters", f.max)))
		}
	}
	return errs
}

// validateNewEvent checks an event that is made in events.k8s.io, where the fields of the older sort must be empty.
func validateNewEvent(e *corev1.Event) field.ErrorList {
	errs := validateEvent(e, "reportingController")
	errs = append(errs, apivalidation.ValidateObjectMeta(&e.ObjectMeta, true, apivalidation.NameIsDNSSubdomain, field.NewPath("metadata"))...)
	for i, f := range e.Finalizers {
		errs = append(errs, check.Finalizer(f, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	errs = append(errs, validateSeries(e.Series)...)
	if e.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", "has invalid value: "+e.Type))
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"firstTimestamp", !e.FirstTimestamp.IsZero()}, {"lastTimestamp", !e.LastTimestamp.IsZero()}, {"count", e.Count != 0}, {"source", e.Source != corev1.EventSource{}}} {
		if f.set {
			errs = append(errs, field.Invalid(field.NewPath(f.name), "", "needs to be unset"))
		}
	}
	return errs
}

// validateSeries checks how often an event came again.
func validateSeries(s *corev1.EventSeries) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if s.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if s.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// validateNewEventChange lets an event of events.k8s.io grow into a series, and nothing else.
func validateNewEventChange(e, old *corev1.Event) field.ErrorList {
	errs := validateEvent(e, "reportingController")
	for i, f := range e.Finalizers {
		errs = append(errs, check.Finalizer(f, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	if !reflect.DeepEqual(e.Series, old.Series) {
		errs = append(errs, validateSeries(e.Series)...)
	}
	fixed := func(name string, now, was, shown any) {
		if !apiequality.Semantic.DeepEqual(now, was) {
			errs = append(errs, field.Invalid(field.NewPath(name), shown, apivalidation.FieldImmutableErrorMsg))
		}
	}
	fixed("involvedObject", e.InvolvedObject, old.InvolvedObject, check.GoForm(e.InvolvedObject))
	fixed("reason", e.Reason, old.Reason, e.Reason)
	fixed("message", e.Message, old.Message, e.Message)
	fixed("source", e.Source, old.Source, check.GoForm(e.Source))
	fixed("firstTimestamp", e.FirstTimestamp, old.FirstTimestamp, e.FirstTimestamp)
	fixed("lastTimestamp", e.LastTimestamp, old.LastTimestamp, e.LastTimestamp)
	fixed("count", e.Count, old.Count, e.Count)
	fixed("type", e.Type, old.Type, e.Type)
	// Clients may have kept more digits of the time than are sent.
	if now, was := e.EventTime.Truncate(time.Microsecond), old.EventTime.Truncate(time.Microsecond); !now.Equal(was) {
		errs = append(errs, field.Invalid(field.NewPath("eventTime"), e.EventTime, apivalidation.FieldImmutableErrorMsg))
	}
	fixed("action", e.Action, old.Action, e.Action)
	fixed("related", e.Related, old.Related, check.GoForm(e.Related))
	fixed("reportingController", e.ReportingController, old.ReportingController, e.ReportingController)
	fixed("reportingInstance", e.ReportingInstance, old.ReportingInstance, e.ReportingInstance)
	return errs
}
