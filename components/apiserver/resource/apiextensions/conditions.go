package apiextensions

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition finds one; nil: there is none.
func Condition(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) *apiextensionsv1.CustomResourceDefinitionCondition {
	for i := range crd.Status.Conditions {
		if crd.Status.Conditions[i].Type == t {
			return &crd.Status.Conditions[i]
		}
	}
	return nil
}

// Holds reports that a condition is true.
func Holds(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType) bool {
	c := Condition(crd, t)
	return c != nil && c.Status == apiextensionsv1.ConditionTrue
}

// Set writes a condition and reports that it was another.
func Set(crd *apiextensionsv1.CustomResourceDefinition, t apiextensionsv1.CustomResourceDefinitionConditionType, status apiextensionsv1.ConditionStatus, reason, message string, now metav1.Time) bool {
	c := Condition(crd, t)
	if c == nil {
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: t})
		c = &crd.Status.Conditions[len(crd.Status.Conditions)-1]
	}
	if c.Status == status && c.Reason == reason && c.Message == message {
		return false
	}
	if c.Status != status {
		c.LastTransitionTime = now
	}
	c.Status, c.Reason, c.Message = status, reason, message
	return true
}

// Settle accepts the names that no other definition of the group has, and establishes the definition when all are (apiextensions-apiserver pkg/controller: status and establish).
func Settle(crd *apiextensionsv1.CustomResourceDefinition, all []*apiextensionsv1.CustomResourceDefinition, now metav1.Time) {
	resources, kinds := map[string]bool{}, map[string]bool{}
	for _, other := range all {
		if other.Name == crd.Name || other.Spec.Group != crd.Spec.Group {
			continue
		}
		n := other.Status.AcceptedNames
		for _, r := range append([]string{n.Plural, n.Singular}, n.ShortNames...) {
			resources[r] = r != ""
		}
		for _, k := range []string{n.Kind, n.ListKind} {
			kinds[k] = k != ""
		}
	}
	want, have := crd.Spec.Names, &crd.Status.AcceptedNames
	reason, message := "NoConflicts", "no conflicts found"
	ok := true
	refuse := func(why, text string) {
		if ok {
			reason, message = why, text
		}
		ok = false
	}
	accept := func(taken map[string]bool, name string, into *string, why string) {
		if name != "" && taken[name] {
			refuse(why, fmt.Sprintf("%q is already in use", name))
			return
		}
		*into = name
	}
	accept(resources, want.Plural, &have.Plural, "PluralConflict")
	accept(resources, want.Singular, &have.Singular, "SingularConflict")
	var clash []string
	for _, s := range want.ShortNames {
		if resources[s] {
			clash = append(clash, fmt.Sprintf("%q is already in use", s))
		}
	}
	if len(clash) > 0 {
		refuse("ShortNamesConflict", strings.Join(clash, ", "))
	} else {
		have.ShortNames = slices.Clone(want.ShortNames)
	}
	accept(kinds, want.Kind, &have.Kind, "KindConflict")
	accept(kinds, want.ListKind, &have.ListKind, "ListKindConflict")
	have.Categories = slices.Clone(want.Categories)
	if !ok {
		Set(crd, apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionFalse, reason, message, now)
		if !Holds(crd, apiextensionsv1.Established) {
			Set(crd, apiextensionsv1.Established, apiextensionsv1.ConditionFalse, "NotAccepted", "not all names are accepted", now)
		}
		return
	}
	Set(crd, apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionTrue, reason, message, now)
	if !Holds(crd, apiextensionsv1.Established) {
		Set(crd, apiextensionsv1.Established, apiextensionsv1.ConditionTrue, "InitialNamesAccepted", "the initial names have been accepted", now)
	}
}
