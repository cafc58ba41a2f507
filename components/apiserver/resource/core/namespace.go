package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

// immortal namespaces can never be deleted (as NamespaceLifecycle).
var immortal = []string{"default", "kube-system", "kube-public"}

func namespaceResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.Namespaces,
		Name: apivalidation.ValidateNamespaceName,
		Default: resource.Typed(func(ns *corev1.Namespace) {
			if ns.Status.Phase == "" {
				ns.Status.Phase = corev1.NamespaceActive
			}
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
		UpdateWhole: true,
		Validate: resource.TypedCheck(func(ns *corev1.Namespace) field.ErrorList {
			return finalizers(ns, field.NewPath("spec", "finalizers"), false)
		}),
		ValidateUpdate: resource.TypedCheckUpdate(func(ns, _ *corev1.Namespace, sub string) field.ErrorList {
			at := field.NewPath("spec", "finalizers")
			switch sub {
			case "finalize":
				return finalizers(ns, at, true)
			case "status":
				return validatePhase(ns)
			}
			return finalizers(ns, at, false)
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

// finalizers checks what a namespace waits for; only the subresource for it numbers them.
func finalizers(ns *corev1.Namespace, at *field.Path, numbered bool) field.ErrorList {
	var errs field.ErrorList
	for i, f := range ns.Spec.Finalizers {
		at := at
		if numbered {
			at = at.Index(i)
		}
		errs = append(errs, apivalidation.ValidateFinalizerName(string(f), at)...)
		errs = append(errs, check.Finalizer(string(f), at)...)
	}
	return errs
}

func validatePhase(ns *corev1.Namespace) field.ErrorList {
	at, phase := field.NewPath("status", "Phase"), ns.Status.Phase
	switch {
	case ns.DeletionTimestamp == nil && phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(at, phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case ns.DeletionTimestamp != nil && phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(at, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}
