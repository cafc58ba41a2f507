package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Unchanged refuses a change of a field that the API server knows from its types never to change; it does not show the value of those.
func Unchanged(now, old any, at *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(now, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, nil, apivalidation.FieldImmutableErrorMsg)}
}

var standardFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

// Finalizer checks that a finalizer is one of Kubernetes' own, or says by a domain whose it is.
func Finalizer(name string, at *field.Path) field.ErrorList {
	if strings.Contains(name, "/") || slices.Contains(standardFinalizers, name) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified")}
}
