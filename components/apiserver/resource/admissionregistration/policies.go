package admissionregistration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
	"example.com/kubeviz/components/apiserver/resource/expressions"
)

// policy is what policies of both sorts have in common.
type policy struct {
	failure    *admissionregistrationv1.FailurePolicyType
	params     *admissionregistrationv1.ParamKind
	match      *admissionregistrationv1.MatchResources
	conditions []admissionregistrationv1.MatchCondition
	variables  []admissionregistrationv1.Variable
	compiled   *expressions.Policy // nil: none of it can be compiled
}

// faults are what the compiler says of one expression.
func (p policy) faults(at *field.Path) field.ErrorList {
	if p.compiled == nil {
		return nil
	}
	return p.compiled.Fault(at)
}

// compile reads the expressions of a policy. An error is none of theirs.
func compile(s *expressions.Source, at *field.Path) (*expressions.Policy, field.ErrorList) {
	p, err := expressions.PolicyOf(s)
	switch {
	case err != nil:
		return nil, field.ErrorList{field.InternalError(at, err)}
	case p.TooLong():
		return nil, field.ErrorList{field.TooLong(at, "", expressions.SourceMost)}
	}
	return p, nil
}

// validate checks what policies of both sorts have in common.
func (p policy) validate(at *field.Path) field.ErrorList {
	errs := optional(at.Child("failurePolicy"), p.failure, failurePolicies)
	if p.params != nil {
		errs = append(errs, validateParamKind(p.params, at.Child("paramKind"))...)
	}
	match := at.Child("matchConstraints")
	if p.match == nil {
		errs = append(errs, field.Required(match, ""))
	} else {
		errs = append(errs, validateMatch(p.match, match)...)
		if len(p.match.ResourceRules) == 0 { // without one, nothing says of which type the objects are
			errs = append(errs, field.Required(match.Child("resourceRules"), ""))
		}
	}
	errs = append(errs, validateConditions(p.conditions, p.params != nil, at.Child("matchConditions"))...)
	for i, v := range p.variables {
		at := at.Child("variables").Index(i)
		switch {
		case strings.TrimSpace(v.Name) == "":
			errs = append(errs, field.Required(at.Child("name"), "name is not specified"))
		case !identifier.MatchString(v.Name) || slices.Contains(reserved, v.Name):
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, "name is not a valid CEL identifier"))
		}
		if strings.TrimSpace(v.Expression) == "" {
			errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
		} else {
			errs = append(errs, p.faults(at.Child("expression"))...)
		}
	}
	return errs
}

// Names of variables of CEL.
var (
	identifier = regexp.MustCompile("^[_a-zA-Z][_a-zA-Z0-9]*$")
	reserved   = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return", "var",
		"void", "while"}
)

func validateParamKind(k *admissionregistrationv1.ParamKind, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	version := at.Child("apiVersion")
	gv, err := schema.ParseGroupVersion(k.APIVersion)
	switch {
	case k.APIVersion == "":
		errs = append(errs, field.Required(version, ""))
	case err != nil:
		errs = append(errs, field.Invalid(version, k.APIVersion, err.Error()))
	default:
		if gv.Group != "" {
			if texts := validation.IsDNS1123Subdomain(gv.Group); len(texts) > 0 {
				errs = append(errs, field.Invalid(version, gv.Group, strings.Join(texts, ",")))
			}
		}
		if gv.Version == "" {
			errs = append(errs, field.Invalid(version, k.APIVersion, "version must be specified"))
		} else if texts := validation.IsDNS1035Label(gv.Version); len(texts) > 0 {
			errs = append(errs, field.Invalid(version, gv.Version, strings.Join(texts, ",")))
		}
	}
	if k.Kind == "" {
		return append(errs, field.Required(at.Child("kind"), ""))
	}
	if texts := validation.IsDNS1035Label(strings.ToLower(k.Kind)); len(texts) > 0 {
		errs = append(errs, field.Invalid(at.Child("kind"), k.Kind, "may have mixed case, but should otherwise match: "+strings.Join(texts, ",")))
	}
	return errs
}

// Bounds of what a policy writes into an audit log.
const (
	auditMost     = 20
	auditTextMost = 5 * 1024
)

// ValidatingSource is what of a policy is compiled.
func ValidatingSource(p *admissionregistrationv1.ValidatingAdmissionPolicy) *expressions.Source {
	s := &p.Spec
	return &expressions.Source{Params: s.ParamKind != nil, Conditions: s.MatchConditions, Variables: s.Variables, Validations: s.Validations, Audits: s.AuditAnnotations}
}

func validateValidatingPolicy(p *admissionregistrationv1.ValidatingAdmissionPolicy) field.ErrorList {
	s, at := &p.Spec, field.NewPath("spec")
	compiled, errs := compile(ValidatingSource(p), at)
	common := policy{s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions, s.Variables, compiled}
	errs = append(errs, common.validate(at)...)
	validations, audits := at.Child("validations"), at.Child("auditAnnotations")
	if len(s.Validations)+len(s.AuditAnnotations) == 0 {
		const one = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(validations, one), field.Required(audits, one))
	}
	for i := range s.Validations {
		errs = append(errs, validateValidation(&s.Validations[i], common, validations.Index(i))...)
	}
	if len(s.AuditAnnotations) > auditMost {
		errs = append(errs, field.Invalid(audits, s.AuditAnnotations, fmt.Sprintf("must not have more than %d auditAnnotations", auditMost)))
	}
	for i, a := range s.AuditAnnotations {
		at := audits.Index(i)
		if p.Name == "" {
			errs = append(errs, field.Invalid(at.Child("key"), a.Key, "requires metadata.name be non-empty"))
		} else {
			errs = append(errs, check.QualifiedName(p.Name+"/"+a.Key, at.Child("key"))...)
		}
		switch text := strings.TrimSpace(a.ValueExpression); {
		case text == "":
			errs = append(errs, field.Required(at.Child("valueExpression"), "valueExpression is not specified"))
		case len(text) > auditTextMost:
			errs = append(errs, field.Required(at.Child("valueExpression"), fmt.Sprintf("must not exceed %d bytes in length", auditTextMost)))
		default:
			errs = append(errs, common.faults(at.Child("valueExpression"))...)
		}
		if slices.ContainsFunc(s.AuditAnnotations[:i], func(o admissionregistrationv1.AuditAnnotation) bool { return o.Key == a.Key }) {
			errs = append(errs, field.Duplicate(at.Child("key"), a.Key))
		}
	}
	return errs
}

func validateValidation(v *admissionregistrationv1.Validation, p policy, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(at.Child("expression"), "expression is not specified"))
	} else {
		errs = append(errs, p.faults(at.Child("expression"))...)
	}
	if v.MessageExpression != "" && strings.TrimSpace(v.MessageExpression) == "" {
		errs = append(errs, field.Invalid(at.Child("messageExpression"), v.MessageExpression, "must be non-empty if specified"))
	} else {
		errs = append(errs, p.faults(at.Child("messageExpression"))...)
	}
	switch text := strings.TrimSpace(v.Message); {
	case v.Message != "" && text == "":
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must be non-empty if specified"))
	case strings.ContainsAny(text, "\n\r"):
		errs = append(errs, field.Invalid(at.Child("message"), v.Message, "message must not contain line breaks"))
	}
	return append(errs, optional(at.Child("reason"), v.Reason, []metav1.StatusReason{metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge})...)
}

// validatePolicyStatus checks what a controller found out about a policy.
func validatePolicyStatus(p *admissionregistrationv1.ValidatingAdmissionPolicy) field.ErrorList {
	at := field.NewPath("status")
	var errs field.ErrorList
	if c := p.Status.TypeChecking; c != nil {
		for i, w := range c.ExpressionWarnings {
			at := at.Child("typeChecking", "expressionWarnings").Index(i)
			errs = append(errs, check.Needed(w.Warning, at.Child("warning"))...)
			errs = append(errs, check.Needed(strings.TrimSpace(w.FieldRef), at.Child("fieldRef"))...)
		}
	}
	return append(errs, metavalidation.ValidateConditions(p.Status.Conditions, at.Child("conditions"))...)
}

// MutatingSource is what of a policy is compiled.
func MutatingSource(p *admissionregistrationv1.MutatingAdmissionPolicy) *expressions.Source {
	s := &p.Spec
	return &expressions.Source{Params: s.ParamKind != nil, Conditions: s.MatchConditions, Variables: s.Variables, Mutations: s.Mutations}
}

func validateMutatingPolicy(p *admissionregistrationv1.MutatingAdmissionPolicy) field.ErrorList {
	s, at := &p.Spec, field.NewPath("spec")
	compiled, errs := compile(MutatingSource(p), at)
	common := policy{s.FailurePolicy, s.ParamKind, s.MatchConstraints, s.MatchConditions, s.Variables, compiled}
	errs = append(errs, common.validate(at)...)
	if len(s.Mutations) == 0 {
		errs = append(errs, field.Required(at.Child("mutations"), "mutations must contain at least one item"))
	}
	for i := range s.Mutations {
		m, at := &s.Mutations[i], at.Child("mutations").Index(i)
		errs = append(errs, check.SetOneOf(at.Child("patchType"), m.PatchType, admissionregistrationv1.PatchTypeApplyConfiguration, admissionregistrationv1.PatchTypeJSONPatch)...)
		for _, form := range []struct {
			name       string
			patch      admissionregistrationv1.PatchType
			set        bool
			expression func() string
		}{
			{"applyConfiguration", admissionregistrationv1.PatchTypeApplyConfiguration, m.ApplyConfiguration != nil, func() string { return m.ApplyConfiguration.Expression }},
			{"jsonPatch", admissionregistrationv1.PatchTypeJSONPatch, m.JSONPatch != nil, func() string { return m.JSONPatch.Expression }},
		} {
			switch wanted := m.PatchType == form.patch; {
			case wanted && !form.set:
				errs = append(errs, field.Required(at.Child(form.name), fmt.Sprintf("must be specified when patchType is %s", form.patch)))
			case !wanted && form.set:
				errs = append(errs, field.Invalid(at.Child(form.name), "", fmt.Sprintf("must not be specified when patchType is %s", m.PatchType)))
			case wanted && strings.TrimSpace(form.expression()) == "":
				errs = append(errs, field.Required(at.Child(form.name, "expression"), "expression is not specified"))
			case wanted:
				errs = append(errs, common.faults(at.Child(form.name, "expression"))...)
			}
		}
	}
	return append(errs, check.SetOneOf(at.Child("reinvocationPolicy"), s.ReinvocationPolicy, reinvocations...)...)
}

// validateBinding checks what bindings of both sorts have in common.
func validateBinding(name string, params *admissionregistrationv1.ParamRef, match *admissionregistrationv1.MatchResources, at *field.Path) field.ErrorList {
	errs := check.Needed(name, at.Child("policyName"))
	if name != "" {
		errs = append(errs, check.Each(at.Child("policyName"), name, apivalidation.NameIsDNSSubdomain(name, false))...)
	}
	errs = append(errs, validateParamRef(params, at.Child("paramRef"))...)
	return append(errs, validateMatch(match, at.Child("matchResouces"))...) // sic
}

func validateParamRef(r *admissionregistrationv1.ParamRef, at *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	const either = "name and selector are mutually exclusive"
	var errs field.ErrorList
	if r.Name != "" {
		errs = append(errs, check.Each(at.Child("name"), r.Name, content.IsPathSegmentName(r.Name))...)
		if r.Selector != nil {
			errs = append(errs, field.Forbidden(at.Child("name"), either))
		}
	}
	if r.Selector != nil {
		errs = append(errs, check.LabelSelector(r.Selector, false, at.Child("selector"))...)
		if r.Name != "" {
			errs = append(errs, field.Forbidden(at.Child("selector"), either))
		}
	}
	if r.Name == "" && r.Selector == nil {
		errs = append(errs, field.Required(at, "one of name or selector must be specified"))
	}
	if r.ParameterNotFoundAction == nil {
		return append(errs, field.Required(at.Child("parameterNotFoundAction"), ""))
	}
	return append(errs, check.SetOneOf(at.Child("parameterNotFoundAction"), *r.ParameterNotFoundAction, admissionregistrationv1.DenyAction, admissionregistrationv1.AllowAction)...)
}

func validateActions(list []admissionregistrationv1.ValidationAction, at *field.Path) field.ErrorList {
	if len(list) == 0 {
		return field.ErrorList{field.Required(at, "at least one validation action is required")}
	}
	var errs field.ErrorList
	for i, a := range list {
		errs = append(errs, check.OneOf(at.Index(i), a, admissionregistrationv1.Audit, admissionregistrationv1.Deny, admissionregistrationv1.Warn)...)
		if slices.Contains(list[:i], a) {
			errs = append(errs, field.Duplicate(at.Index(i), a))
		}
	}
	if slices.Contains(list, admissionregistrationv1.Deny) && slices.Contains(list, admissionregistrationv1.Warn) {
		errs = append(errs, field.Invalid(at, list, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	return errs
}
