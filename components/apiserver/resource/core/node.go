package core

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func nodeResource() *resource.Resource {
	return &resource.Resource{
		Kind: kinds.Nodes,
		Name: apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(func(n *corev1.Node) {
			if n.Status.Allocatable == nil && n.Status.Capacity != nil {
				n.Status.Allocatable = n.Status.Capacity.DeepCopy()
			}
		}),
		// A node brings its status along when it registers, so creation keeps it.
		PrepareUpdate: resource.TypedUpdate(func(n, old *corev1.Node, sub string) {
			if sub == "status" {
				n.Spec = old.Spec
			} else {
				n.Status = old.Status
			}
		}),
		Validate: resource.TypedCheck(validateNode),
		ValidateUpdate: resource.TypedCheckUpdate(func(n, old *corev1.Node, _ string) field.ErrorList {
			var errs field.ErrorList
			if old.Spec.PodCIDR != "" && n.Spec.PodCIDR != old.Spec.PodCIDR {
				errs = append(errs, field.Forbidden(field.NewPath("spec", "podCIDRs"), "node updates may not change podCIDR except from \"\" to valid"))
			}
			if old.Spec.ProviderID != "" && n.Spec.ProviderID != old.Spec.ProviderID {
				errs = append(errs, field.Forbidden(field.NewPath("spec", "providerID"), "node updates may not change providerID except from \"\" to valid"))
			}
			return errs
		}),
		Fields: map[string]func(kinds.Object) string{
			"spec.unschedulable": resource.TypedValue(func(n *corev1.Node) string { return strconv.FormatBool(n.Spec.Unschedulable) }),
		},
	}
}

func validateNode(n *corev1.Node) field.ErrorList {
	var errs field.ErrorList
	taints := field.NewPath("metadata", "taints") // the path Kubernetes reports, though taints live in spec
	type pair struct {
		key    string
		effect corev1.TaintEffect
	}
	seen := map[pair]bool{}
	for i, t := range n.Spec.Taints {
		at := taints.Index(i)
		errs = append(errs, check.LabelKey(t.Key, at.Child("key"))...)
		errs = append(errs, check.LabelValue(t.Value, at.Child("value"))...)
		errs = append(errs, check.TaintEffect(t.Effect, false, at.Child("effect"))...)
		if seen[pair{t.Key, t.Effect}] {
			dup := field.Duplicate(at, t)
			dup.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, dup)
		}
		seen[pair{t.Key, t.Effect}] = true
	}
	status := field.NewPath("status")
	errs = append(errs, check.Amounts(n.Status.Capacity, status.Child("capacity"))...)
	errs = append(errs, check.Amounts(n.Status.Allocatable, status.Child("allocatable"))...)
	return errs
}
