package core

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
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
		Name:           apivalidation.NameIsDNSSubdomain,
		UpdateWhole:    true,
		Validate:       resource.TypedCheck(validateEvent),
		ValidateUpdate: resource.TypedCheckUpdate(func(e, _ ev, _ string) field.ErrorList { return validateEvent(e) }),
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

// validateEvent checks an event. Those with eventTime are of the newer sort, which must say who reports and what was done.
func validateEvent(e *corev1.Event) field.ErrorList {
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
	reporter := field.NewPath("reportingComponent")
	errs = append(errs, check.Needed(e.ReportingController, reporter)...)
	errs = append(errs, check.QualifiedName(e.ReportingController, reporter)...)
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
