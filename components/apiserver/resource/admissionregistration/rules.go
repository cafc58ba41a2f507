package admissionregistration

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/expressions"
)

// selectors say which objects, of which namespaces, are meant.
type selectors struct{ namespace, object *metav1.LabelSelector }

// check checks them; lax lets values pass that are no label values.
func (s selectors) check(lax bool, at *field.Path) field.ErrorList {
	return append(check.LabelSelector(s.namespace, lax, at.Child("namespaceSelector")), check.LabelSelector(s.object, lax, at.Child("objectSelector"))...)
}

// everything stands for all groups, versions, resources or operations.
const everything = "*"

func validateRule(r *admissionregistrationv1.RuleWithOperations, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	alone := func(name, text string, list []string) {
		if len(list) == 0 {
			errs = append(errs, field.Required(at.Child(name), ""))
		}
		if len(list) > 1 && slices.Contains(list, everything) {
			errs = append(errs, field.Invalid(at.Child(name), list, "if '*' is present, must not specify other "+text))
		}
	}
	asked := make([]string, len(r.Operations))
	for i, o := range r.Operations {
		asked[i] = string(o)
	}
	alone("operations", "operations", asked)
	for i, o := range r.Operations {
		errs = append(errs, check.OneOf(at.Child("operations").Index(i), o, operations...)...)
	}
	alone("apiGroups", "API groups", r.APIGroups)
	alone("apiVersions", "API versions", r.APIVersions)
	for i, v := range r.APIVersions {
		errs = append(errs, check.Needed(v, at.Child("apiVersions").Index(i))...)
	}
	errs = append(errs, validateResources(r.Resources, at.Child("resources"))...)
	return append(errs, optional(at.Child("scope"), r.Scope, scopes)...)
}

// validateResources refuses names that others take in: "pods/*" has "pods/log" in it.
func validateResources(list []string, at *field.Path) field.ErrorList {
	if len(list) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	allOf, inAll := map[string]bool{}, map[string]bool{} // "x/*" and "*/x"
	whole := false
	for i, name := range list {
		if name == "" {
			errs = append(errs, field.Required(at.Index(i), ""))
			continue
		}
		res, sub, parts := strings.Cut(name, "/")
		if !parts {
			whole = name != everything // as the last one of them has it
			continue
		}
		if allOf[res] {
			errs = append(errs, field.Invalid(at.Index(i), name, "if '"+res+"/*' is present, must not specify "+name))
		}
		if inAll[sub] {
			errs = append(errs, field.Invalid(at.Index(i), name, "if '*/"+sub+"' is present, must not specify "+name))
		}
		if sub == everything {
			allOf[res] = true
		}
		if res == everything {
			inAll[sub] = true
		}
	}
	if len(list) > 1 && slices.Contains(list, "*/*") {
		errs = append(errs, field.Invalid(at, list, "if '*/*' is present, must not specify other resources"))
	}
	if whole && slices.Contains(list, everything) {
		errs = append(errs, field.Invalid(at, list, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

// validateMatch checks what a policy, or a binding of it, is for; nil: it does not say.
func validateMatch(m *admissionregistrationv1.MatchResources, at *field.Path) field.ErrorList {
	if m == nil {
		return nil
	}
	errs := optional(at.Child("matchPolicy"), m.MatchPolicy, matchPolicies)
	errs = append(errs, selectors{m.NamespaceSelector, m.ObjectSelector}.check(false, at)...)
	for _, l := range []struct {
		name string
		list []admissionregistrationv1.NamedRuleWithOperations
	}{{"resourceRules", m.ResourceRules}, {"excludeResourceRules", m.ExcludeResourceRules}} {
		for i := range l.list {
			r, at := &l.list[i], at.Child(l.name).Index(i)
			for j, name := range r.ResourceNames {
				at := at.Child("resourceNames").Index(j)
				errs = append(errs, check.Each(at, name, content.IsPathSegmentName(name))...)
				if slices.Contains(r.ResourceNames[:j], name) {
					errs = append(errs, field.Duplicate(at, name))
				}
			}
			errs = append(errs, validateRule(&r.RuleWithOperations, at)...)
		}
	}
	return errs
}

// conditionsMax bounds the expressions that narrow down what is matched.
const conditionsMax = 64

// validateConditions checks the names of expressions and that they are there; what they say is not read.
func validateConditions(list []admissionregistrationv1.MatchCondition, params bool, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(list) > conditionsMax {
		errs = append(errs, field.TooMany(at, len(list), conditionsMax))
	}
	for i, c := range list {
		at := at.Index(i)
		if strings.TrimSpace(c.Expression) == "" {
			errs = append(errs, field.Required(at.Child("expression"), ""))
		} else {
			errs = append(errs, expressions.CheckCondition(c.Expression, params, at.Child("expression"))...)
		}
		if c.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
			continue
		}
		errs = append(errs, check.QualifiedName(c.Name, at.Child("name"))...)
		if slices.ContainsFunc(list[:i], func(o admissionregistrationv1.MatchCondition) bool { return o.Name == c.Name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
	}
	return errs
}
