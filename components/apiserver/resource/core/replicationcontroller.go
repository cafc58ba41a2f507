package core

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource"
	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/pods"
	"example.com/kubeviz/engine/kinds"
)

func replicationControllerResource() *resource.Resource {
	type controller = *corev1.ReplicationController
	spec := field.NewPath("spec")
	return &resource.Resource{
		Kind:          kinds.ReplicationControllers,
		Name:          apivalidation.NameIsDNSSubdomain,
		Default:       resource.Typed(defaultReplicationController),
		PrepareCreate: resource.Typed(func(o controller) { o.Status = corev1.ReplicationControllerStatus{} }),
		PrepareUpdate: resource.TypedUpdate(func(o, old controller, sub string) {
			if sub == "status" {
				o.Spec = old.Spec
			} else {
				o.Status = old.Status
			}
		}),
		UpdateWhole: true,
		Validate:    resource.TypedCheck(func(o controller) field.ErrorList { return validateReplicationController(&o.Spec, spec) }),
		ValidateUpdate: resource.TypedCheckUpdate(func(o, _ controller, sub string) field.ErrorList {
			if sub == "status" {
				return validateReplicationControllerStatus(&o.Status, field.NewPath("status"))
			}
			return validateReplicationController(&o.Spec, spec)
		}),
		Generation: true,
		Spec:       resource.TypedSpec(func(o controller) any { return o.Spec }),
		Fields: map[string]func(kinds.Object) string{
			"status.replicas": resource.TypedValue(func(o controller) string { return strconv.Itoa(int(o.Status.Replicas)) }),
		},
		Warn: resource.TypedWarn(func(o, old controller) []string {
			if old != nil && old.Generation == o.Generation || o.Spec.Template == nil {
				return nil
			}
			var out []string
			if texts := validation.IsDNS1123Label(o.Name); old == nil && len(texts) > 0 {
				out = append(out, fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", texts))
			}
			return append(out, pods.TemplateWarnings(o.Spec.Template, spec.Child("template"))...)
		}),
	}
}

// defaultReplicationController takes the labels of the template for the selector and for its own.
func defaultReplicationController(o *corev1.ReplicationController) {
	check.SetDefault(&o.Spec.Replicas, 1)
	t := o.Spec.Template
	if t == nil {
		return
	}
	pods.DefaultSpec(&t.Spec)
	if len(t.Labels) == 0 {
		return
	}
	if len(o.Spec.Selector) == 0 {
		o.Spec.Selector = maps.Clone(t.Labels)
	}
	if len(o.Labels) == 0 {
		o.Labels = maps.Clone(t.Labels)
	}
}

func validateReplicationController(s *corev1.ReplicationControllerSpec, at *field.Path) field.ErrorList {
	errs := check.Counts(at, check.N("minReadySeconds", s.MinReadySeconds))
	sel := labels.SelectorFromSet(s.Selector)
	if sel.Empty() {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	}
	errs = append(errs, check.Counts(at, check.Opt("replicas", s.Replicas))...)
	template := at.Child("template")
	if s.Template == nil {
		return append(errs, field.Required(template, ""))
	}
	if !sel.Empty() && !sel.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(template.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, pods.ValidateTemplate(s.Template, template)...)
	return append(errs, pods.ValidateAlways(s.Template, "ReplicationController", template)...)
}

func validateReplicationControllerStatus(s *corev1.ReplicationControllerStatus, at *field.Path) field.ErrorList {
	const above = "cannot be greater than status.replicas"
	labeled, ready, available := check.N("fullyLabeledReplicas", s.FullyLabeledReplicas), check.N("readyReplicas", s.ReadyReplicas), check.N("availableReplicas", s.AvailableReplicas)
	errs := check.Counts(at, check.N("replicas", s.Replicas), labeled, ready, available, check.N("observedGeneration", s.ObservedGeneration))
	errs = append(errs, check.AtMost(at, s.Replicas, above, labeled, ready, available)...)
	return append(errs, check.AtMost(at, s.ReadyReplicas, "cannot be greater than readyReplicas", available)...)
}
