package apiextensions

import (
	"fmt"
	"slices"
	"strings"

	internal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/expressions"
)

// validate refuses definitions that a real server refuses (apiextensions-apiserver pkg/apis/apiextensions/validation). old is what was there before; nil: nothing.
func validate(o, old *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	var errs field.ErrorList
	if want := o.Spec.Names.Plural + "." + o.Spec.Group; o.Name != want {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), o.Name, `must be spec.names.plural+"."+spec.group`))
	}
	errs = append(errs, validateSpec(&o.Spec, schemasOf(old))...)
	errs = append(errs, validateStored(o)...)
	if strings.HasSuffix(o.Spec.Group, ".k8s.io") || strings.HasSuffix(o.Spec.Group, ".kubernetes.io") || o.Spec.Group == "k8s.io" || o.Spec.Group == "kubernetes.io" {
		at := field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
		if v := o.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation]; v == "" {
			errs = append(errs, field.Required(at, "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111"))
		}
	}
	if o.Spec.PreserveUnknownFields {
		errs = append(errs, field.Invalid(field.NewPath("spec", "preserveUnknownFields"), true, "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

func validateUpdate(o, old *apiextensionsv1.CustomResourceDefinition, sub string) field.ErrorList {
	if sub == "status" {
		return nil
	}
	errs := validate(o, old)
	at := field.NewPath("spec")
	if Holds(old, apiextensionsv1.Established) {
		errs = append(errs, apivalidation.ValidateImmutableField(o.Spec.Scope, old.Spec.Scope, at.Child("scope"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(o.Spec.Names.Kind, old.Spec.Names.Kind, at.Child("names", "kind"))...)
	}
	errs = append(errs, apivalidation.ValidateImmutableField(o.Spec.Group, old.Spec.Group, at.Child("group"))...)
	return append(errs, apivalidation.ValidateImmutableField(o.Spec.Names.Plural, old.Spec.Names.Plural, at.Child("names", "plural"))...)
}

func validateStored(o *apiextensionsv1.CustomResourceDefinition) (errs field.ErrorList) {
	at, stored := field.NewPath("status", "storedVersions"), o.Status.StoredVersions
	if len(stored) == 0 {
		return field.ErrorList{field.Invalid(at, stored, "must have at least one stored version")}
	}
	for i, v := range stored {
		if !slices.ContainsFunc(o.Spec.Versions, func(x apiextensionsv1.CustomResourceDefinitionVersion) bool { return x.Name == v }) {
			errs = append(errs, field.Invalid(at.Index(i), v, fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes %[1]s from status.storedVersions", v)))
		}
	}
	return errs
}

func validateSpec(s *apiextensionsv1.CustomResourceDefinitionSpec, old map[string]*apiextensionsv1.JSONSchemaProps) (errs field.ErrorList) {
	at := field.NewPath("spec")
	switch bad := utilvalidation.IsDNS1123Subdomain(s.Group); {
	case s.Group == "":
		errs = append(errs, field.Required(at.Child("group"), ""))
	case len(bad) > 0:
		errs = append(errs, field.Invalid(at.Child("group"), s.Group, strings.Join(bad, ",")))
	case !strings.Contains(s.Group, "."):
		errs = append(errs, field.Invalid(at.Child("group"), s.Group, "should be a domain with at least one dot"))
	}
	switch s.Scope {
	case "":
		errs = append(errs, field.Required(at.Child("scope"), ""))
	case apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped:
	default:
		errs = append(errs, field.NotSupported(at.Child("scope"), string(s.Scope), []string{string(apiextensionsv1.ClusterScoped), string(apiextensionsv1.NamespaceScoped)}))
	}
	for i, v := range s.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			errs = append(errs, field.Required(at.Child("versions").Index(i).Child("schema", "openAPIV3Schema"), "schemas are required"))
		}
	}
	storage, names, twice := 0, map[string]bool{}, false
	for i := range s.Versions {
		v := &s.Versions[i]
		if v.Storage {
			storage++
		}
		twice = twice || names[v.Name]
		names[v.Name] = true
		here := at.Child("versions").Index(i)
		if bad := utilvalidation.IsDNS1035Label(v.Name); len(bad) > 0 {
			errs = append(errs, field.Invalid(here.Child("name"), v.Name, strings.Join(bad, ",")))
		}
		errs = append(errs, validateVersion(v, here, old[v.Name])...)
	}
	if twice {
		errs = append(errs, field.Invalid(at.Child("versions"), versionNames(s), "must contain unique version names"))
	}
	if storage != 1 {
		errs = append(errs, field.Invalid(at.Child("versions"), versionNames(s), "must have exactly one version marked as storage version"))
	}
	for _, n := range []struct{ name, value string }{{"plural", s.Names.Plural}, {"singular", s.Names.Singular}, {"kind", s.Names.Kind}, {"listKind", s.Names.ListKind}} {
		if n.value == "" {
			errs = append(errs, field.Required(at.Child("names", n.name), ""))
		}
	}
	errs = append(errs, validateNames(&s.Names, at.Child("names"))...)
	return append(errs, validateConversion(s.Conversion, at.Child("conversion"))...)
}

// versionNames stand for the versions in an error.
func versionNames(s *apiextensionsv1.CustomResourceDefinitionSpec) []string {
	var out []string
	for _, v := range s.Versions {
		out = append(out, v.Name)
	}
	return out
}

func validateConversion(c *apiextensionsv1.CustomResourceConversion, at *field.Path) (errs field.ErrorList) {
	if c == nil {
		return nil
	}
	switch c.Strategy {
	case "":
		return field.ErrorList{field.Required(at.Child("strategy"), "")}
	case apiextensionsv1.NoneConverter:
		if c.Webhook != nil && c.Webhook.ClientConfig != nil {
			errs = append(errs, field.Forbidden(at.Child("webhookClientConfig"), "should not be set when strategy is not set to Webhook"))
		}
	case apiextensionsv1.WebhookConverter:
		if c.Webhook == nil || c.Webhook.ClientConfig == nil {
			errs = append(errs, field.Required(at.Child("webhookClientConfig"), "required when strategy is set to Webhook"))
		}
	default:
		errs = append(errs, field.NotSupported(at.Child("strategy"), string(c.Strategy), []string{string(apiextensionsv1.NoneConverter), string(apiextensionsv1.WebhookConverter)}))
	}
	return errs
}

func validateNames(n *apiextensionsv1.CustomResourceDefinitionNames, at *field.Path) (errs field.ErrorList) {
	label := func(at *field.Path, shown, name, lead string) {
		if bad := utilvalidation.IsDNS1035Label(name); name != "" && len(bad) > 0 {
			errs = append(errs, field.Invalid(at, shown, lead+strings.Join(bad, ",")))
		}
	}
	const mixed = "may have mixed case, but should otherwise match: "
	label(at.Child("plural"), n.Plural, n.Plural, "")
	label(at.Child("singular"), n.Singular, n.Singular, "")
	label(at.Child("kind"), n.Kind, strings.ToLower(n.Kind), mixed)
	label(at.Child("listKind"), n.ListKind, strings.ToLower(n.ListKind), mixed)
	for i, s := range n.ShortNames {
		label(at.Child("shortNames").Index(i), s, s, "")
	}
	if n.Kind != "" && n.Kind == n.ListKind {
		errs = append(errs, field.Invalid(at.Child("listKind"), n.ListKind, "kind and listKind may not be the same"))
	}
	for i, s := range n.Categories {
		label(at.Child("categories").Index(i), s, s, "")
	}
	return errs
}

var columnTypes = []string{"boolean", "date", "integer", "number", "string"}

func validateVersion(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path, old *apiextensionsv1.JSONSchemaProps) (errs field.ErrorList) {
	if v.DeprecationWarning != nil && !v.Deprecated {
		errs = append(errs, field.Invalid(at.Child("deprecationWarning"), v.DeprecationWarning, "can only be set for deprecated versions"))
	}
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		errs = append(errs, validateSchema(v.Schema.OpenAPIV3Schema, old, v.Subresources != nil && v.Subresources.Status != nil, at.Child("schema", "openAPIV3Schema"))...)
	}
	if v.Subresources != nil && v.Subresources.Scale != nil {
		s := v.Subresources.Scale
		for _, p := range []struct{ name, path, under string }{{"specReplicasPath", s.SpecReplicasPath, ".spec."}, {"statusReplicasPath", s.StatusReplicasPath, ".status."}} {
			here := at.Child("subresources", "scale."+p.name)
			switch {
			case p.path == "":
				errs = append(errs, field.Required(here, ""))
			case p.path[0] != '.':
				errs = append(errs, field.Invalid(here, p.path, "must be a simple json path starting with ."))
			case !strings.HasPrefix(p.path, p.under):
				errs = append(errs, field.Invalid(here, p.path, "should be a json path under "+strings.TrimSuffix(p.under, ".")))
			}
		}
	}
	for i, c := range v.AdditionalPrinterColumns {
		here := at.Child("additionalPrinterColumns").Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(here.Child("name"), ""))
		}
		switch oneOf := "must be one of " + strings.Join(columnTypes, ","); {
		case c.Type == "":
			errs = append(errs, field.Required(here.Child("type"), oneOf))
		case !slices.Contains(columnTypes, c.Type):
			errs = append(errs, field.Invalid(here.Child("type"), c.Type, oneOf))
		}
		switch {
		case c.JSONPath == "":
			errs = append(errs, field.Required(here.Child("JSONPath"), ""))
		case c.JSONPath[0] != '.':
			errs = append(errs, field.Invalid(here.Child("JSONPath"), c.JSONPath, "must be a simple json path starting with ."))
		}
	}
	return errs
}

// depthMax bounds schemas: what is nested deeper is no schema that anybody wrote.
const depthMax = 500

func validateSchema(s, old *apiextensionsv1.JSONSchemaProps, status bool, at *field.Path) field.ErrorList {
	if deeper(s, depthMax) {
		return field.ErrorList{field.Invalid(at, "", fmt.Sprintf("must not be nested deeper than %d", depthMax))}
	}
	var errs field.ErrorList
	if s.Nullable {
		errs = append(errs, field.Forbidden(at.Child("nullable"), "nullable cannot be true at the root"))
	}
	if status && s.Type != "object" {
		errs = append(errs, field.Invalid(at.Child("type"), s.Type, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`))
	}
	in := &internal.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, in, nil)
	var st *structuralschema.Structural
	if err == nil {
		st, err = structuralschema.NewStructural(in)
	}
	if err != nil {
		return append(errs, field.Invalid(at, "", err.Error()))
	}
	faults := structuralschema.ValidateStructural(at, st)
	errs = append(errs, faults...)
	if old != nil && apiequality.Semantic.DeepEqual(s, old) { // rules that were accepted stay so
		return errs
	}
	return append(errs, expressions.CheckSchema(in, at, len(faults) == 0)...)
}

// schemasOf are the schemas of a definition by version.
func schemasOf(o *apiextensionsv1.CustomResourceDefinition) map[string]*apiextensionsv1.JSONSchemaProps {
	if o == nil {
		return nil
	}
	out := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, v := range o.Spec.Versions {
		if v.Schema != nil {
			out[v.Name] = v.Schema.OpenAPIV3Schema
		}
	}
	return out
}

// deeper reports that a schema is nested further than so many levels.
func deeper(s *apiextensionsv1.JSONSchemaProps, left int) bool {
	if s == nil {
		return false
	}
	if left == 0 {
		return true
	}
	for _, m := range []map[string]apiextensionsv1.JSONSchemaProps{s.Properties, s.PatternProperties, s.Definitions} {
		for _, p := range m {
			if deeper(&p, left-1) {
				return true
			}
		}
	}
	for _, list := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			if deeper(&list[i], left-1) {
				return true
			}
		}
	}
	return s.Items != nil && deeper(s.Items.Schema, left-1) || s.AdditionalProperties != nil && deeper(s.AdditionalProperties.Schema, left-1) || deeper(s.Not, left-1)
}
