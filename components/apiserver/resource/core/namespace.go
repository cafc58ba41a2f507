package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/engine/kinds"
)

// immortal namespaces can never be deleted (as NamespaceLifecycle).
var immortal = []string{"default", "kube-system", "kube-public"}

func namespaceResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.Namespaces,
		Name: apivalidation.ValidateNamespaceName,
		Default: resource.Typed(func(ns *corev1.Namespace) {
			if ns.Name == "" {
				return
			}
			if ns.Labels == nil {
				ns.Labels = map[string]string{}
			}
			ns.Labels[corev1.LabelMetadataName] = ns.Name
		}),
		PrepareCreate: resource.Typed(func(ns *corev1.Namespace) {
			ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
			if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
				ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
			}
		}),
		PrepareUpdate: resource.TypedUpdate(func(ns, old *corev1.Namespace, sub string) {
			if sub != "finalize" {
				ns.Spec.Finalizers = old.Spec.Finalizers
			}
			if sub != "status" {
				ns.Status = old.Status
			}
		}),
		Fields: map[string]func(kinds.Object) string{
			"name":         resource.TypedValue(func(ns *corev1.Namespace) string { return ns.Name }),
			"status.phase": resource.TypedValue(func(ns *corev1.Namespace) string { return string(ns.Status.Phase) }),
		},
		Held: func(o kinds.Object) bool { return len(o.(*corev1.Namespace).Spec.Finalizers) > 0 },
		MarkDeleted: resource.Typed(func(ns *corev1.Namespace) {
			ns.Status.Phase = corev1.NamespaceTerminating
			ns.DeletionGracePeriodSeconds = nil
		}),
		Deletable: func(_, name string) string {
			if slices.Contains(immortal, name) {
				return "this namespace may not be deleted"
			}
			return ""
		},
	}
}
