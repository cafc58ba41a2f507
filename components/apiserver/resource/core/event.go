package core

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

func eventResource() *resource.Resource {
	type ev = *corev1.Event
	return &resource.Resource{
		Kind: kinds.Events,
		TTL:  time.Hour, // kube-apiserver --event-ttl (STO-21)
		Name: apivalidation.NameIsDNSSubdomain,
		Validate: resource.TypedCheck(func(e ev) field.ErrorList {
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
