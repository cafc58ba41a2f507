package kinds

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// The kinds of apiextensions.k8s.io/v1.
var (
	CustomResourceDefinitions = &Kind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", Singular: "customresourcedefinition", Short: []string{"crd", "crds"}, Categories: []string{"api-extensions"},
		Prefix: "/registry/apiextensions.k8s.io/customresourcedefinitions/", Subresources: []Subresource{status}, New: func() Object { return &apiextensionsv1.CustomResourceDefinition{} }}
)

// Established reports that the kind that a definition defines is served.
func Established(d *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(d.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}
