package apps

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corev1 "k8s.io/api/core/v1"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
)

// validateSelected checks the selector of a ReplicaSet or Deployment and the template of the pods that it must select. Both kinds speak of deployments and ReplicaSets in the same places.
func validateSelected(sel *metav1.LabelSelector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := requireSelector(sel, "deployment", at)
	s, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return append(errs, field.Invalid(at.Child("selector"), sel, "invalid label selector"))
	}
	errs = append(errs, mismatch(s, t, at)...)
	errs = append(errs, pods.ValidateTemplate(t, at.Child("template"))...)
	return append(errs, pods.ValidateAlways(t, "ReplicaSet", at.Child("template"))...)
}

func requireSelector(sel *metav1.LabelSelector, kind string, at *field.Path) field.ErrorList {
	if sel == nil {
		return field.ErrorList{field.Required(at.Child("selector"), "")}
	}
	errs := check.LabelSelector(sel, false, at.Child("selector"))
	if len(sel.MatchLabels)+len(sel.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(at.Child("selector"), sel, "empty selector is invalid for "+kind))
	}
	return errs
}

// mismatch refuses a template whose pods the selector does not select. A selector that was left out selects nothing, an empty one everything.
func mismatch(s labels.Selector, t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if s.Empty() || s.Matches(labels.Set(t.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("template", "metadata", "labels"), t.Labels, "`selector` does not match template `labels`")}
}

// nameWarnings is about names that pods take over but hostnames cannot hold.
func nameWarnings(name string) []string {
	if texts := validation.IsDNS1123Label(name); len(texts) > 0 {
		return []string{"metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [" + join(texts) + "]"}
	}
	return nil
}

func join(texts []string) string {
	out := ""
	for i, t := range texts {
		if i > 0 {
			out += " "
		}
		out += t
	}
	return out
}
