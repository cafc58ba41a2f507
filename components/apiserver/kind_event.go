package apiserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/engine/kinds"
)

func eventResource() *Resource {
	type ev = *corev1.Event
	return &Resource{
		Kind: kinds.Events,
		TTL:  time.Hour, // kube-apiserver --event-ttl (STO-21)
		Name: apivalidation.NameIsDNSSubdomain,
		Validate: typedCheck(func(e ev) field.ErrorList {
			var errs field.ErrorList
			ns := e.InvolvedObject.Namespace
			if ns == "" && (e.Namespace == metav1.NamespaceDefault || e.Namespace == metav1.NamespaceSystem) {
				return errs // about an object without a namespace
			}
			if ns != e.Namespace {
				errs = append(errs, field.Invalid(field.NewPath("involvedObject", "namespace"), ns, "does not match event.namespace"))
			}
			return errs
		}),
		Fields: map[string]func(kinds.Object) string{
			"involvedObject.kind":            typedValue(func(e ev) string { return e.InvolvedObject.Kind }),
			"involvedObject.namespace":       typedValue(func(e ev) string { return e.InvolvedObject.Namespace }),
			"involvedObject.name":            typedValue(func(e ev) string { return e.InvolvedObject.Name }),
			"involvedObject.uid":             typedValue(func(e ev) string { return string(e.InvolvedObject.UID) }),
			"involvedObject.apiVersion":      typedValue(func(e ev) string { return e.InvolvedObject.APIVersion }),
			"involvedObject.resourceVersion": typedValue(func(e ev) string { return e.InvolvedObject.ResourceVersion }),
			"involvedObject.fieldPath":       typedValue(func(e ev) string { return e.InvolvedObject.FieldPath }),
			"reason":                         typedValue(func(e ev) string { return e.Reason }),
			"type":                           typedValue(func(e ev) string { return e.Type }),
			"reportingComponent":             typedValue(func(e ev) string { return e.ReportingController }),
			"source": typedValue(func(e ev) string {
				if e.Source.Component != "" {
					return e.Source.Component
				}
				return e.ReportingController
			}),
		},
	}
}
