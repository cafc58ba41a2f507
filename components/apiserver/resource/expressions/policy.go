package expressions

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Source is what policies of both sorts hold in expressions.
type Source struct {
	Params      bool
	Conditions  []admissionregistrationv1.MatchCondition
	Variables   []admissionregistrationv1.Variable
	Validations []admissionregistrationv1.Validation
	Audits      []admissionregistrationv1.AuditAnnotation
	Mutations   []admissionregistrationv1.Mutation
}

func (s *Source) size() (n int) {
	for _, x := range s.Conditions {
		n += len(x.Expression)
	}
	for _, x := range s.Variables {
		n += len(x.Expression)
	}
	for _, x := range s.Validations {
		n += len(x.Expression) + len(x.MessageExpression)
	}
	for _, x := range s.Audits {
		n += len(x.ValueExpression)
	}
	for _, x := range s.Mutations {
		n += len(mutationText(x))
	}
	return n
}

// mutationText is the expression of a mutation.
func mutationText(m admissionregistrationv1.Mutation) string {
	switch {
	case m.ApplyConfiguration != nil:
		return m.ApplyConfiguration.Expression
	case m.JSONPatch != nil:
		return m.JSONPatch.Expression
	}
	return ""
}

// Policy is one that is compiled. It never changes.
type Policy struct {
	faults                                    map[string]*field.Error // by path
	tooLong, asks                             bool
	variables                                 *plugincel.CompositedCompiler
	conditions, validations, messages, audits group
	mutations                                 []patch.Patcher
	source                                    *Source
}

// Fault is what the compiler has to say of the expression at a path.
func (p *Policy) Fault(at *field.Path) field.ErrorList {
	if e := p.faults[at.String()]; e != nil {
		return field.ErrorList{e}
	}
	return nil
}

// TooLong reports that the policy was not compiled because there is too much of it.
func (p *Policy) TooLong() bool { return p.tooLong }

// policies keeps those met last, as compiled does rules.
var policies = struct {
	sync.Mutex
	by    map[[sha256.Size]byte]*Policy
	order [][sha256.Size]byte
}{by: map[[sha256.Size]byte]*Policy{}}

// PolicyOf compiles a policy, or finds it compiled.
func PolicyOf(s *Source) (*Policy, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(raw)
	policies.Lock()
	defer policies.Unlock()
	if have := policies.by[key]; have != nil {
		return have, nil
	}
	made, err := compilePolicy(s)
	if err != nil {
		return nil, err
	}
	if len(policies.order) == compiledMost {
		delete(policies.by, policies.order[0])
		policies.order = policies.order[1:]
	}
	policies.by[key], policies.order = made, append(policies.order, key)
	return made, nil
}

// expression is one of a policy to the library.
type expression struct {
	name, text string
	index      int
	returns    []*celgo.Type
}

func (e *expression) GetName() string            { return e.name }
func (e *expression) GetExpression() string      { return e.text }
func (e *expression) ReturnTypes() []*celgo.Type { return e.returns }

// Questions to the authorizer count 350,000 units each, since in reality another machine may be asked. Here that is a look into a table, so policies that ask have room for as many in an expression as
// Kubernetes' limit leaves, two, on top of what all may cost, and what the questions count does not come out of the budget.
const (
	questionCost  = 350_000
	questionsMost = 2
)

// compilers compile with variables or without, for one limit of cost.
type compilers struct {
	env   *environment.EnvSet
	plain plugincel.Compiler
}

func compilersFor(most uint64) func() (compilers, error) {
	return sync.OnceValues(func() (compilers, error) {
		env, err := environments().Extend(environment.StrictCostOpt,
			environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), ProgramOptions: []celgo.ProgramOption{celgo.CostLimit(most)}})
		if err != nil {
			return compilers{}, err
		}
		return compilers{env, plugincel.NewCompiler(env)}, nil
	})
}

var (
	usual  = compilersFor(ExpressionMost)
	asking = compilersFor(ExpressionMost + questionsMost*questionCost)
)

// asks reports that a policy may ask the authorizer.
func (s *Source) asks() bool {
	is := func(text string) bool { return strings.Contains(text, "authorizer") }
	return slices.ContainsFunc(s.Conditions, func(x admissionregistrationv1.MatchCondition) bool { return is(x.Expression) }) ||
		slices.ContainsFunc(s.Variables, func(x admissionregistrationv1.Variable) bool { return is(x.Expression) }) ||
		slices.ContainsFunc(s.Validations, func(x admissionregistrationv1.Validation) bool { return is(x.Expression) }) ||
		slices.ContainsFunc(s.Mutations, func(x admissionregistrationv1.Mutation) bool { return is(mutationText(x)) })
}

// group are expressions that are evaluated together. Of a policy that asks each is alone, so that the budget is counted after each.
type group []plugincel.ConditionEvaluator

func (p *Policy) group(all []plugincel.CompilationResult) (g group) {
	if !p.asks {
		return group{plugincel.NewCondition(all)}
	}
	for i := range all {
		g = append(g, plugincel.NewCondition(all[i:i+1]))
	}
	return g
}

// run evaluates a group.
func (p *Policy) run(g group, r *Request, asked *admissionv1.AdmissionRequest, with plugincel.OptionalVariableBindings, namespace *corev1.Namespace) (all []plugincel.EvaluationResult, err error) {
	ctx := context.Context(context.Background())
	counted := &counter{of: with.Authorizer}
	if with.Authorizer != nil {
		with.Authorizer = counted
	}
	for _, c := range g {
		if p.variables != nil {
			ctx = p.variables.CreateContext(context.Background())
		}
		budget := r.Left
		if p.asks {
			budget += questionsMost * questionCost
		}
		counted.n = 0
		results, left, err := c.ForInput(ctx, r.Attributes, asked, with, namespace, budget)
		if err != nil {
			r.Left = 0
			return nil, err
		}
		r.Left = max(0, r.Left-max(0, budget-left-questionCost*counted.n))
		all = append(all, results...)
	}
	return all, nil
}

// counter counts questions.
type counter struct {
	of authorizer.UnconditionalAuthorizer
	n  int64
}

// Authorize implements authorizer.UnconditionalAuthorizer.
func (c *counter) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	c.n++
	return c.of.Authorize(ctx, a)
}

func compilePolicy(s *Source) (*Policy, error) {
	p := &Policy{faults: map[string]*field.Error{}, source: s}
	if s.size() > SourceMost {
		p.tooLong = true
		return p, nil
	}
	c, err := usual()
	if p.asks = s.asks(); p.asks {
		c, err = asking()
	}
	if err != nil {
		return nil, err
	}
	if len(s.Variables)+len(s.Validations)+len(s.Audits)+len(s.Mutations) > 0 {
		if p.variables, err = plugincel.NewCompositedCompiler(c.env); err != nil {
			return nil, err
		}
	}
	full, noAuthorizer := plugincel.OptionalVariableDeclarations{HasParams: s.Params, HasAuthorizer: true}, plugincel.OptionalVariableDeclarations{HasParams: s.Params}
	at := field.NewPath("spec")
	heed := func(at *field.Path, text string, r plugincel.CompilationResult) {
		switch {
		case r.Error == nil:
		case r.Error.Type == apiservercel.ErrorTypeRequired:
			p.faults[at.String()] = field.Required(at, r.Error.Detail)
		case r.Error.Type == apiservercel.ErrorTypeInvalid:
			p.faults[at.String()] = field.Invalid(at, text, r.Error.Detail)
		default:
			p.faults[at.String()] = field.InternalError(at, r.Error)
		}
	}
	compile := func(c plugincel.Compiler, at *field.Path, e *expression, o plugincel.OptionalVariableDeclarations) plugincel.CompilationResult {
		if strings.TrimSpace(e.text) == "" {
			return plugincel.CompilationResult{}
		}
		r := c.CompileCELExpression(e, o, environment.NewExpressions)
		heed(at, e.text, r)
		return r
	}
	yesNo := []*celgo.Type{celgo.BoolType}
	var conditions, validations, messages, audits []plugincel.CompilationResult
	for i, x := range s.Conditions {
		conditions = append(conditions, compile(c.plain, at.Child("matchConditions").Index(i).Child("expression"), &expression{name: x.Name, text: x.Expression, index: i, returns: yesNo}, full))
	}
	for i, v := range s.Variables {
		if strings.TrimSpace(v.Expression) == "" {
			continue
		}
		e := &expression{name: v.Name, text: v.Expression, index: i, returns: []*celgo.Type{celgo.AnyType, celgo.DynType}}
		heed(at.Child("variables").Index(i).Child("expression"), e.text, p.variables.CompileAndStoreVariable(e, full, environment.NewExpressions))
	}
	for i, v := range s.Validations {
		at := at.Child("validations").Index(i)
		validations = append(validations, compile(p.variables, at.Child("expression"), &expression{text: v.Expression, index: i, returns: yesNo}, full))
		messages = append(messages, compile(p.variables, at.Child("messageExpression"), &expression{text: v.MessageExpression, index: i, returns: []*celgo.Type{celgo.StringType}}, noAuthorizer))
	}
	for i, a := range s.Audits {
		audits = append(audits, compile(p.variables, at.Child("auditAnnotations").Index(i).Child("valueExpression"),
			&expression{name: a.Key, text: a.ValueExpression, index: i, returns: []*celgo.Type{celgo.StringType, celgo.NullType}}, full))
	}
	p.compileMutations(s.Mutations, full, heed)
	p.conditions, p.validations, p.messages, p.audits = p.group(conditions), p.group(validations), p.group(messages), p.group(audits)
	return p, nil
}

// Request is what policies look at.
type Request struct {
	Attributes *admission.VersionedAttributes
	Authorizer authorizer.UnconditionalAuthorizer
	Namespace  *corev1.Namespace
	// Left is what all policies that look at the request may still cost; at first, Budget.
	Left int64
}

// Refusal is one validation that did not hold, or could not be made out.
type Refusal struct {
	Index   int
	Message string
	Reason  metav1.StatusReason // empty: Kubernetes' own for policies, Invalid
}

// Validate tells what a policy has against a request, with one object of parameters (nil: there are none). failures are expressions that could not be worked out; what they count for is the failurePolicy's to say.
func (p *Policy) Validate(r *Request, params runtime.Object) (refusals, failures []Refusal) {
	fail := func(i int, text string) { failures = append(failures, Refusal{Index: i, Message: text}) }
	asked := r.admission()
	with := plugincel.OptionalVariableBindings{VersionedParams: params, Authorizer: r.Authorizer}
	without := plugincel.OptionalVariableBindings{VersionedParams: params}
	matches, err := p.matches(r, asked, with)
	if err != nil {
		fail(0, err.Error())
		return nil, failures
	}
	if !matches {
		return nil, nil
	}
	namespace := plugincel.CreateNamespaceObject(r.Namespace)
	results, err := p.run(p.validations, r, asked, with, namespace)
	if err != nil {
		fail(0, err.Error())
		return nil, failures
	}
	var texts []plugincel.EvaluationResult
	var textErr error
	for _, res := range results { // words are worked out only for what needs them
		if res.Error == nil && res.EvalResult != celtypes.True {
			texts, textErr = p.run(p.messages, r, asked, without, namespace)
			break
		}
	}
	for i, res := range results {
		switch {
		case res.ExpressionAccessor == nil:
		case res.Error != nil:
			fail(i, res.Error.Error())
		case errors.Is(textErr, apiservercel.ErrInternal) || errors.Is(textErr, apiservercel.ErrOutOfBudget):
			fail(i, fmt.Sprintf("failed messageExpression: %s", textErr))
		case res.EvalResult != celtypes.True:
			v := &p.source.Validations[i]
			refusal := Refusal{Index: i, Message: saidBy(texts, i), Reason: metav1.StatusReasonInvalid}
			if v.Reason != nil {
				refusal.Reason = *v.Reason
			}
			if refusal.Message == "" {
				refusal.Message = strings.TrimSpace(v.Message)
			}
			if refusal.Message == "" {
				refusal.Message = "failed expression: " + strings.TrimSpace(v.Expression)
			}
			refusals = append(refusals, refusal)
		}
	}
	notes, err := p.run(p.audits, r, asked, without, r.Namespace)
	if err != nil {
		fail(0, err.Error())
		return nil, failures
	}
	for _, n := range notes { // there is no audit log to write them to, but one that cannot be worked out refuses the request
		if n.Error != nil {
			fail(0, n.Error.Error())
		}
	}
	return refusals, failures
}

// saidBy is what a messageExpression came to, where that is fit to be shown.
func saidBy(texts []plugincel.EvaluationResult, i int) string {
	if i >= len(texts) || texts[i].Error != nil || texts[i].EvalResult == nil {
		return ""
	}
	text, _ := texts[i].EvalResult.Value().(string)
	if text = strings.TrimSpace(text); len(text) > celconfig.MaxEvaluatedMessageExpressionSizeBytes || strings.Contains(text, "\n") {
		return ""
	}
	return text
}

// matches asks the match conditions: one that is false ends it, whatever others come to.
func (p *Policy) matches(r *Request, asked *admissionv1.AdmissionRequest, with plugincel.OptionalVariableBindings) (bool, error) {
	results, err := p.run(p.conditions, r, asked, with, nil)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, res := range results {
		if res.Error != nil {
			errs = append(errs, res.Error)
		}
		if res.EvalResult == celtypes.False {
			return false, nil
		}
	}
	return true, utilerrors.NewAggregate(errs)
}

// CheckCondition compiles a match condition of a webhook or a policy.
func CheckCondition(text string, params bool, at *field.Path) field.ErrorList {
	if len(text) > SourceMost {
		return field.ErrorList{field.TooLong(at, "", SourceMost)}
	}
	p, err := PolicyOf(&Source{Params: params, Conditions: []admissionregistrationv1.MatchCondition{{Expression: text}}})
	if err != nil {
		return field.ErrorList{field.InternalError(at, err)}
	}
	for _, e := range p.faults {
		here := *e
		here.Field = at.String()
		return field.ErrorList{&here}
	}
	return nil
}
