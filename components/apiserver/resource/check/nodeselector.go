package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// NodeSelector checks which nodes a pod or a volume can do with. lax lets values pass that are no label values, for objects that had such before.
func NodeSelector(sel *corev1.NodeSelector, lax bool, at *field.Path) field.ErrorList {
	terms := at.Child("nodeSelectorTerms")
	if len(sel.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(terms, "must have at least one node selector term")}
	}
	var errs field.ErrorList
	for i := range sel.NodeSelectorTerms {
		errs = append(errs, NodeSelectorTerm(&sel.NodeSelectorTerms[i], lax, terms.Index(i))...)
	}
	return errs
}

// NodeSelectorTerm checks one of the alternatives of a NodeSelector.
func NodeSelectorTerm(t *corev1.NodeSelectorTerm, lax bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range t.MatchExpressions {
		errs = append(errs, nodeExpression(&t.MatchExpressions[i], lax, at.Child("matchExpressions").Index(i))...)
	}
	for i := range t.MatchFields {
		errs = append(errs, nodeField(&t.MatchFields[i], at.Child("matchFields").Index(i))...)
	}
	return errs
}

func nodeExpression(r *corev1.NodeSelectorRequirement, lax bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	values := at.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	errs = append(errs, LabelKey(r.Key, at.Child("key"))...)
	if lax {
		return errs
	}
	for i, v := range r.Values {
		errs = append(errs, Texts(values.Index(i), v, validation.IsValidLabelValue(v))...)
	}
	return errs
}

// nodeField checks a requirement on a field of a node, of which only the name can be asked for.
func nodeField(r *corev1.NodeSelectorRequirement, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(at.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	if r.Key != metav1.ObjectNameField {
		return append(errs, field.Invalid(at.Child("key"), r.Key, "not a valid field selector key"))
	}
	for i, v := range r.Values {
		errs = append(errs, Texts(at.Child("values").Index(i), v, apivalidation.NameIsDNSSubdomain(v, false))...)
	}
	return errs
}

// BadLabelValues reports terms with values that are no label values.
func BadLabelValues(terms []corev1.NodeSelectorTerm) bool {
	for _, t := range terms {
		for _, e := range t.MatchExpressions {
			for _, v := range e.Values {
				if len(validation.IsValidLabelValue(v)) > 0 {
					return true
				}
			}
		}
	}
	return false
}

// deprecatedNodeLabels are those that nodes had in old versions, with what to say about them.
var deprecatedNodeLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

// DeprecatedNodeLabel says what is wrong with the name of a node's label; ok is false when nothing is.
func DeprecatedNodeLabel(key string) (text string, ok bool) {
	text, ok = deprecatedNodeLabels[key]
	return text, ok
}

// NodeSelectorTermWarnings tells of old labels, and of bad values where they are let pass.
func NodeSelectorTermWarnings(t *corev1.NodeSelectorTerm, values bool, at *field.Path) []string {
	var out []string
	for i, e := range t.MatchExpressions {
		at := at.Child("matchExpressions").Index(i)
		if text, ok := DeprecatedNodeLabel(e.Key); ok {
			out = append(out, fmt.Sprintf("%s: %s is %s", at.Child("key"), e.Key, text))
		}
		if !values {
			continue
		}
		for j, v := range e.Values {
			for _, text := range validation.IsValidLabelValue(v) {
				out = append(out, fmt.Sprintf("%s: %s is invalid, %s", at.Child("values").Index(j), v, text))
			}
		}
	}
	return out
}
