package expressions

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Bounds of what the rules of a definition may cost at worst, in units of CEL (apiextensions-apiserver pkg/apis/apiextensions/validation).
const (
	ruleCostMost       = 10_000_000
	definitionCostMost = 100_000_000
)

// SourceMost is how many bytes of expressions one version of a definition, or one policy, may hold. Kubernetes knows no such bound but that of the object; it is here because expressions are compiled
// while the simulation waits, at some 5 ms for 1,000 bytes. The largest definitions in use have a tenth of it.
const SourceMost = 64 << 10

const factor = " exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"

// costError tells by how much something is too expensive.
func costError(what string, cost, most uint64) string {
	text := "more than 100x"
	switch by := float64(cost) / float64(most); {
	case by < 1.5: // rather than "a factor of 1.0x"
		text = fmt.Sprintf("%fx", by)
	case by <= 100:
		text = fmt.Sprintf("%.1fx", by)
	}
	return what + fmt.Sprintf(factor, text)
}

func times(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

// CheckSchema tells what is wrong with the rules of a schema; at is where it stands. Without compile only their form is looked at: the schema has other faults, of which compilers would complain in
// ways that help nobody.
func CheckSchema(s *apiextensions.JSONSchemaProps, at *field.Path, compile bool) field.ErrorList {
	c := &schemaCheck{}
	n := &node{schema: s, at: at, occurs: 1, bounded: true, compile: compile, root: true}
	c.measure(s)
	if c.source > SourceMost {
		return field.ErrorList{field.TooLong(at, "", SourceMost)}
	}
	if c.source == 0 && !c.ruled {
		return nil
	}
	c.walk(n)
	errs := append(c.form, c.compiled...)
	if c.total > definitionCostMost {
		for _, e := range c.dearest {
			errs = append(errs, field.Forbidden(e.at, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
		}
		errs = append(errs, field.Forbidden(at, costError("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total, definitionCostMost)))
	}
	return errs
}

// schemaCheck is the state of one CheckSchema.
type schemaCheck struct {
	form, compiled field.ErrorList
	source         int
	ruled          bool
	total          uint64
	dearest        []dear // the four that cost most, the most expensive first
}

type dear struct {
	at   *field.Path
	cost uint64
}

// node is one schema on the way down.
type node struct {
	schema *apiextensions.JSONSchemaProps
	at     *field.Path
	root   bool
	// occurs is how often an object may have a value here, where bounded.
	occurs  uint64
	bounded bool
	compile bool
	// torn is the nearest schema above whose values before and after an update cannot be told to belong together.
	torn *field.Path
	// types are those of the schema, where this or one above has rules.
	types *types
}

// types are what the compiler knows of a schema.
type types struct {
	schema *structuralschema.Structural
	decl   *apiservercel.DeclType
}

// each goes through what further demands on the same value a schema has.
func each(s *apiextensions.JSONSchemaProps, at *field.Path, fn func(sub *apiextensions.JSONSchemaProps, at *field.Path)) {
	if s.Not != nil {
		fn(s.Not, at.Child("not"))
	}
	for _, l := range []struct {
		name string
		all  []apiextensions.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"anyOf", s.AnyOf}} {
		for i := range l.all {
			fn(&l.all[i], at.Child(l.name).Index(i))
		}
	}
}

// measure adds up the expressions in a schema.
func (c *schemaCheck) measure(s *apiextensions.JSONSchemaProps) {
	if s == nil {
		return
	}
	for _, r := range s.XValidations {
		c.ruled = true
		c.source += len(r.Rule) + len(r.MessageExpression)
	}
	for _, p := range s.Properties {
		c.measure(&p)
	}
	if s.AdditionalProperties != nil {
		c.measure(s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		c.measure(s.Items.Schema)
	}
	each(s, nil, func(sub *apiextensions.JSONSchemaProps, _ *field.Path) { c.measure(sub) })
}

// walk looks at what is below a node, then at the node.
func (c *schemaCheck) walk(n *node) {
	s := n.schema
	if s == nil {
		return
	}
	before := len(c.form)
	n.typed()
	if s.AdditionalProperties != nil {
		c.walk(n.below(s.AdditionalProperties.Schema, n.at.Child("additionalProperties"), func(t *types) *types {
			if t.schema.AdditionalProperties == nil {
				return nil
			}
			return &types{t.schema.AdditionalProperties.Structural, t.decl.ElemType}
		}, false))
	}
	names := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		sub := s.Properties[name]
		c.walk(n.below(&sub, n.at.Child("properties").Key(name), func(t *types) *types {
			p, known := t.schema.Properties[name]
			escaped, sayable := apiservercel.Escape(name)
			if !known || !sayable || t.decl.Fields[escaped] == nil {
				return nil
			}
			return &types{&p, t.decl.Fields[escaped].Type}
		}, !schemacel.MapIsCorrelatable(s.XMapType)))
	}
	each(s, n.at, func(sub *apiextensions.JSONSchemaProps, at *field.Path) { // rules in there are not compiled on their own
		c.walk(&node{schema: sub, at: at, torn: n.torn})
	})
	if s.Items != nil {
		c.walk(n.below(s.Items.Schema, n.at.Child("items"), func(t *types) *types {
			if t.schema.Items == nil {
				return nil
			}
			return &types{t.schema.Items, t.decl.ElemType}
		}, s.XListType == nil || *s.XListType != "map"))
	}
	for i := range s.XValidations {
		c.form = append(c.form, checkForm(s, &s.XValidations[i], n.at.Child("x-kubernetes-validations").Index(i))...)
	}
	if len(s.XValidations) > 0 && len(c.form) == before && n.compile {
		c.compileRules(n)
	}
}

// typed works out the types of a node that has rules and has none from above.
func (n *node) typed() {
	if n.types != nil || len(n.schema.XValidations) == 0 || !n.compile {
		return
	}
	st, err := structuralschema.NewStructural(n.schema)
	if err != nil {
		return
	}
	if decl := model.SchemaDeclType(st, n.root || n.schema.XEmbeddedResource); decl != nil {
		n.types = &types{st, decl}
	}
}

// below is the node of a schema within another. find looks for its types among those above; torn says that old and new values do not belong together down there.
func (n *node) below(s *apiextensions.JSONSchemaProps, at *field.Path, find func(*types) *types, torn bool) *node {
	out := &node{schema: s, at: at, compile: n.compile, torn: n.torn}
	if torn && out.torn == nil {
		out.torn = n.at
	}
	if most, ok := multiplies(n.schema); ok && n.bounded {
		out.occurs, out.bounded = times(n.occurs, most), true
	}
	if n.types != nil && s != nil {
		if out.types = find(n.types); out.types == nil || out.types.schema == nil || out.types.decl == nil {
			out.types = nil
			if st, err := structuralschema.NewStructural(s); err == nil {
				if decl := model.SchemaDeclType(st, s.XEmbeddedResource); decl != nil {
					out.types = &types{st, decl}
				}
			}
		}
	}
	return out
}

// multiplies is how many values of a schema's parts there may be for one of its own; false: any number.
func multiplies(s *apiextensions.JSONSchemaProps) (uint64, bool) {
	most := func(n *int64) (uint64, bool) {
		if n == nil {
			return 0, false
		}
		return uint64(max(0, *n)), true
	}
	switch {
	case s.Type == "object" && s.AdditionalProperties != nil:
		return most(s.MaxProperties)
	case s.Type == "array":
		return most(s.MaxItems)
	}
	return 1, true
}

var (
	lineBreaks = regexp.MustCompile(`[\n\r]+`)
	reasons    = []string{string(apiextensions.FieldValueDuplicate), string(apiextensions.FieldValueForbidden), string(apiextensions.FieldValueInvalid), string(apiextensions.FieldValueRequired)}
)

// checkForm looks at a rule as far as that needs no compiler.
func checkForm(s *apiextensions.JSONSchemaProps, r *apiextensions.ValidationRule, at *field.Path) (errs field.ErrorList) {
	rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
	switch {
	case rule == "":
		errs = append(errs, field.Required(at.Child("rule"), "rule is not specified"))
	case r.Message != "" && message == "":
		errs = append(errs, field.Invalid(at.Child("message"), r.Message, "must be non-empty if specified"))
	case lineBreaks.MatchString(message):
		errs = append(errs, field.Invalid(at.Child("message"), r.Message, "must not contain line breaks"))
	case lineBreaks.MatchString(rule) && message == "":
		errs = append(errs, field.Required(at.Child("message"), "message must be specified if rule contains line breaks"))
	}
	if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
		errs = append(errs, field.Required(at.Child("messageExpression"), "messageExpression must be non-empty if specified"))
	}
	if r.Reason != nil && !slices.Contains(reasons, string(*r.Reason)) {
		errs = append(errs, field.NotSupported(at.Child("reason"), *r.Reason, reasons))
	}
	if r.FieldPath == "" {
		return errs
	}
	if strings.TrimSpace(r.FieldPath) == "" {
		errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must be non-empty if specified"))
	}
	if lineBreaks.MatchString(r.FieldPath) {
		errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must not contain line breaks"))
	}
	if st, err := structuralschema.NewStructural(s); err == nil {
		if _, _, err := schemacel.ValidFieldPath(r.FieldPath, st); err != nil {
			errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must be a valid path"))
		}
	}
	return errs
}

func (c *schemaCheck) compileRules(n *node) {
	at := n.at.Child("x-kubernetes-validations")
	bad := func(e *field.Error) { c.compiled = append(c.compiled, e) }
	if n.types == nil {
		bad(field.InternalError(at, fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations")))
		return
	}
	results, err := schemacel.Compile(n.types.schema, n.types.decl, ExpressionMost, environments(), schemacel.NewExpressionsEnvLoader())
	if err != nil {
		bad(field.InternalError(at, err))
		return
	}
	for i, r := range results {
		rule, at := n.schema.XValidations[i], at.Index(i)
		occurs := r.MaxCardinality
		if n.bounded {
			occurs = n.occurs
		}
		cost := times(r.MaxCost, occurs)
		if cost > ruleCostMost {
			bad(field.Forbidden(at.Child("rule"), costError("estimated rule cost", cost, ruleCostMost)))
		}
		c.spend(at.Child("rule"), cost)
		switch e := r.Error; {
		case e == nil:
		case e.Type == apiservercel.ErrorTypeRequired:
			bad(field.Required(at.Child("rule"), plain(e.Detail)))
		default:
			bad(field.Invalid(at.Child("rule"), rule, plain(e.Detail)))
		}
		if e := r.MessageExpressionError; e != nil {
			bad(field.Invalid(at.Child("messageExpression"), rule, plain(e.Detail)))
		} else if r.MessageExpression != nil {
			if r.MessageExpressionMaxCost > ruleCostMost {
				bad(field.Forbidden(at.Child("messageExpression"), costError("estimated messageExpression cost", r.MessageExpressionMaxCost, ruleCostMost)))
			}
			c.spend(at.Child("messageExpression"), r.MessageExpressionMaxCost)
		}
		switch {
		case r.UsesOldSelf && n.torn != nil:
			bad(field.Invalid(at.Child("rule"), rule.Rule, fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", n.torn)))
		case !r.UsesOldSelf && rule.OptionalOldSelf != nil:
			bad(field.Invalid(at.Child("optionalOldSelf"), *rule.OptionalOldSelf, "may not be set if oldSelf is not used in rule"))
		}
	}
}

// spend adds to what the whole schema may cost.
func (c *schemaCheck) spend(at *field.Path, cost uint64) {
	if c.total += cost; c.total < cost {
		c.total = math.MaxUint64
	}
	if cost < definitionCostMost/100 {
		return
	}
	c.dearest = append(c.dearest, dear{at, cost})
	slices.SortStableFunc(c.dearest, func(a, b dear) int {
		switch {
		case a.cost > b.cost:
			return -1
		case a.cost < b.cost:
			return 1
		}
		return 0
	})
	c.dearest = c.dearest[:min(4, len(c.dearest))]
}

var selfType = regexp.MustCompile(`selfType\d+`)

// plain takes out of a message the number that the library draws from the wall clock for the type of self: equal runs have equal answers.
func plain(text string) string {
	return selfType.ReplaceAllString(text, "selfType1")
}

// environments are the libraries of CEL that an API server offers, as of each version; made once.
func environments() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
}
