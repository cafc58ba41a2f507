package core

//lint:file-ignore SA1019 what is warned of must be looked at

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/engine/kinds"
)

func nodeResource() *resource.Resource {
	type node = *corev1.Node
	return &resource.Resource{
		Kind:    kinds.Nodes,
		Name:    apivalidation.NameIsDNSSubdomain,
		Default: resource.Typed(defaultNode),
		// A node brings its status along when it registers, so creation keeps it.
		PrepareCreate: resource.Typed(func(n node) { dropUnserved(n, nil) }),
		PrepareUpdate: resource.TypedUpdate(func(n, old node, sub string) {
			if sub == "status" {
				n.Spec = old.Spec
				if old.Status.Config == nil {
					n.Status.Config = nil // a feature that is gone
				}
				return
			}
			n.Status = old.Status
			dropUnserved(n, old)
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(validateNode),
		ValidateUpdate: resource.TypedCheckUpdate(func(n, old node, sub string) field.ErrorList {
			if sub == "status" {
				return validateNodeChange(n, old)
			}
			return append(validateNode(n), validateNodeChange(n, old)...)
		}),
		Fields: map[string]func(kinds.Object) string{
			"spec.unschedulable": resource.TypedValue(func(n node) string { return strconv.FormatBool(n.Spec.Unschedulable) }),
		},
		Warn: resource.TypedWarn(func(n, _ node) []string {
			var out []string
			if n.Spec.ConfigSource != nil {
				out = append(out, "spec.configSource: the feature is removed")
			}
			if n.Spec.DoNotUseExternalID != "" {
				out = append(out, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
			}
			for i, c := range n.Spec.PodCIDRs {
				out = append(out, validation.GetWarningsForCIDR(field.NewPath("spec", "podCIDRs").Index(i), c)...)
			}
			return out
		}),
	}
}

// dropUnserved takes away what belongs to features that are gone or not on, but for what is in use; old is nil for creations.
func dropUnserved(n, old *corev1.Node) {
	if old == nil {
		n.Status.Config = nil
	}
	if old == nil || old.Spec.ConfigSource == nil {
		n.Spec.ConfigSource = nil
	}
	if old == nil || old.Spec.PodPreemptionPolicy == nil {
		n.Spec.PodPreemptionPolicy = nil
	}
}

// defaultNode fills what can be allocated, and keeps the one range of pod addresses and the list of them alike: where they differ, the one counts.
func defaultNode(n *corev1.Node) {
	if n.Status.Allocatable == nil && n.Status.Capacity != nil {
		n.Status.Allocatable = n.Status.Capacity.DeepCopy()
	}
	switch one, all := n.Spec.PodCIDR, n.Spec.PodCIDRs; {
	case one != "" && (len(all) == 0 || all[0] != one):
		n.Spec.PodCIDRs = []string{one}
	case one == "" && len(all) > 0:
		n.Spec.PodCIDR = all[0]
	}
}

func validateNode(n *corev1.Node) field.ErrorList {
	errs := validateTaints(n.Spec.Taints)
	errs = append(errs, nodeAmounts(n)...)
	if swap := n.Status.NodeInfo.Swap; swap != nil && swap.Capacity != nil && *swap.Capacity <= 0 {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "nodeSwapStatus", "capacity"), *swap.Capacity, "must be greater than zero"))
	}
	errs = append(errs, declaredFeatures(n.Status.DeclaredFeatures)...)
	at := field.NewPath("spec", "podCIDRs")
	for i, c := range n.Spec.PodCIDRs {
		errs = append(errs, validation.IsValidCIDRForLegacyField(at.Index(i), c, true, nil)...)
	}
	if len(n.Spec.PodCIDRs) > 1 {
		dual, err := netutils.IsDualStackCIDRStrings(n.Spec.PodCIDRs)
		if err != nil {
			errs = append(errs, field.InternalError(at, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:%v", err)))
		}
		if !dual || len(n.Spec.PodCIDRs) > 2 {
			errs = append(errs, field.Invalid(at, n.Spec.PodCIDRs, "may specify no more than one CIDR for each IP family"))
		}
	}
	return errs
}

// validateTaints names the path that Kubernetes reports, though taints live in spec.
func validateTaints(list []corev1.Taint) field.ErrorList {
	var errs field.ErrorList
	for i, t := range list {
		at := field.NewPath("metadata", "taints").Index(i)
		errs = append(errs, check.LabelKey(t.Key, at.Child("key"))...)
		if texts := validation.IsValidLabelValue(t.Value); len(texts) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(texts, ";")))
		}
		errs = append(errs, check.TaintEffect(t.Effect, false, at.Child("effect"))...)
		if slices.ContainsFunc(list[:i], func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect }) {
			dup := field.Duplicate(at, check.GoForm(t))
			dup.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, dup)
		}
	}
	return errs
}

func nodeAmounts(n *corev1.Node) field.ErrorList {
	var errs field.ErrorList
	for _, l := range []struct {
		name string
		list corev1.ResourceList
	}{{"capacity", n.Status.Capacity}, {"allocatable", n.Status.Allocatable}} {
		for _, name := range check.SortedNames(l.list) {
			errs = append(errs, check.Quantity(name, l.list[name], field.NewPath("status", l.name, string(name)))...)
		}
	}
	return errs
}

var featureName = regexp.MustCompile(`^([A-Z][a-zA-Z0-9]*)(/[a-zA-Z0-9]+)*$`)

// declaredFeatures checks what a kubelet says it can do: names in order, each once.
func declaredFeatures(list []string) field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("status", "declaredFeatures")
	for i, f := range list {
		switch {
		case len(f) > validation.DNS1123SubdomainMaxLength:
			errs = append(errs, field.Invalid(at.Index(i), f, fmt.Sprintf("invalid feature name %q: must be no more than %d characters", f, validation.DNS1123SubdomainMaxLength)))
		case !featureName.MatchString(f):
			errs = append(errs, field.Invalid(at.Index(i), f, fmt.Sprintf("invalid feature name %q: must start with an UpperCamelCase segment, with subsequent segments separated by '/' "+
				"(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes", f)))
		}
		if i+1 == len(list) {
			break
		}
		switch next := list[i+1]; cmp.Compare(f, next) {
		case 0:
			errs = append(errs, field.Duplicate(at.Index(i+1), next))
		case 1:
			errs = append(errs, field.Invalid(at.Index(i+1), next, "list must be sorted alphabetically"))
		}
	}
	return errs
}

func validateNodeChange(n, old *corev1.Node) field.ErrorList {
	errs := nodeAmounts(n)
	errs = append(errs, declaredFeatures(n.Status.DeclaredFeatures)...)
	for i, a := range n.Status.Addresses {
		if slices.Contains(n.Status.Addresses[:i], a) {
			errs = append(errs, field.Duplicate(field.NewPath("status", "addresses").Index(i), check.GoForm(a)))
		}
	}
	if was := old.Spec.PodCIDRs; len(was) > 0 {
		changed := field.Forbidden(field.NewPath("spec", "podCIDRs"), "node updates may not change podCIDR except from \"\" to valid")
		if len(was) != len(n.Spec.PodCIDRs) {
			errs = append(errs, changed)
		} else {
			for i := range was {
				if was[i] != n.Spec.PodCIDRs[i] {
					errs = append(errs, changed)
				}
			}
		}
	}
	if now, was := n.Spec.ProviderID, old.Spec.ProviderID; was != "" && now != was {
		text := "field cannot be modified once set"
		if now == "" {
			text = "field cannot be cleared once set"
		}
		errs = append(errs, field.Invalid(field.NewPath("spec", "providerID"), nil, text))
	}
	errs = append(errs, validateTaints(n.Spec.Taints)...)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "externalID"), "may not be updated"))
	}
	return errs
}
