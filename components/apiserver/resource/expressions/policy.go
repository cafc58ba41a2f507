package expressions

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
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
	return n
}

// Policy is one that is compiled. It never changes.
type Policy struct {
	faults                                    map[string]*field.Error // by path
	tooLong                                   bool
	variables                                 *plugincel.CompositedCompiler
	conditions, validations, messages, audits plugincel.ConditionEvaluator
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

// strict is the environment in which the calls of libraries are counted at their full cost, and expressions may cost what is bearable here.
var strict = sync.OnceValues(func() (*environment.EnvSet, error) {
	return environments().Extend(environment.StrictCostOpt,
		environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), ProgramOptions: []celgo.ProgramOption{celgo.CostLimit(ExpressionMost)}})
})

// stateless compiles what knows no variables.
var stateless = sync.OnceValues(func() (plugincel.Compiler, error) {
	env, err := strict()
	if err != nil {
		return nil, err
	}
	return plugincel.NewCompiler(env), nil
})

func compilePolicy(s *Source) (*Policy, error) {
	p := &Policy{faults: map[string]*field.Error{}, source: s}
	if s.size() > SourceMost {
		p.tooLong = true
		return p, nil
	}
	env, err := strict()
	if err != nil {
		return nil, err
	}
	plain, err := stateless()
	if err != nil {
		return nil, err
	}
	if len(s.Variables)+len(s.Validations)+len(s.Audits) > 0 {
		if p.variables, err = plugincel.NewCompositedCompiler(env); err != nil {
			return nil, err
		}
	}
	full, noAuthorizer := plugincel.OptionalVariableDeclarations{HasParams: s.Params, HasAuthorizer: true}, plugincel.OptionalVariableDeclarations{HasParams: s.Params}
	at := field.NewPath("spec")
	heed := func(at *field.Path, e *expression, r plugincel.CompilationResult) plugincel.CompilationResult {
		switch {
		case r.Error == nil:
		case r.Error.Type == apiservercel.ErrorTypeRequired:
			p.faults[at.String()] = field.Required(at, r.Error.Detail)
		case r.Error.Type == apiservercel.ErrorTypeInvalid:
			p.faults[at.String()] = field.Invalid(at, e.text, r.Error.Detail)
		default:
			p.faults[at.String()] = field.InternalError(at, r.Error)
		}
		return r
	}
	compile := func(c plugincel.Compiler, at *field.Path, e *expression, o plugincel.OptionalVariableDeclarations) plugincel.CompilationResult {
		if strings.TrimSpace(e.text) == "" {
			return plugincel.CompilationResult{}
		}
		return heed(at, e, c.CompileCELExpression(e, o, environment.NewExpressions))
	}
	yesNo := []*celgo.Type{celgo.BoolType}
	var conditions, validations, messages, audits []plugincel.CompilationResult
	for i, c := range s.Conditions {
		conditions = append(conditions, compile(plain, at.Child("matchConditions").Index(i).Child("expression"), &expression{name: c.Name, text: c.Expression, index: i, returns: yesNo}, full))
	}
	for i, v := range s.Variables {
		if strings.TrimSpace(v.Expression) == "" {
			continue
		}
		e := &expression{name: v.Name, text: v.Expression, index: i, returns: []*celgo.Type{celgo.AnyType, celgo.DynType}}
		heed(at.Child("variables").Index(i).Child("expression"), e, p.variables.CompileAndStoreVariable(e, full, environment.NewExpressions))
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
	p.conditions, p.validations, p.messages, p.audits = plugincel.NewCondition(conditions), plugincel.NewCondition(validations), plugincel.NewCondition(messages), plugincel.NewCondition(audits)
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
	ctx := context.Background()
	asked := plugincel.CreateAdmissionRequest(r.Attributes.Attributes, metav1.GroupVersionResource(r.Attributes.GetResource()), metav1.GroupVersionKind(r.Attributes.VersionedKind))
	with := plugincel.OptionalVariableBindings{VersionedParams: params, Authorizer: r.Authorizer}
	without := plugincel.OptionalVariableBindings{VersionedParams: params}
	matches, err := p.matches(ctx, r, asked, with)
	if err != nil {
		fail(0, err.Error())
		return nil, failures
	}
	if !matches {
		return nil, nil
	}
	namespace := plugincel.CreateNamespaceObject(r.Namespace)
	results, left, err := p.validations.ForInput(p.variables.CreateContext(ctx), r.Attributes, asked, with, namespace, r.Left)
	r.Left = max(0, left)
	if err != nil {
		fail(0, err.Error())
		return nil, failures
	}
	var texts []plugincel.EvaluationResult
	var textErr error
	for _, res := range results { // words are worked out only for what needs them
		if res.Error == nil && res.EvalResult != celtypes.True {
			texts, left, textErr = p.messages.ForInput(p.variables.CreateContext(ctx), r.Attributes, asked, without, namespace, r.Left)
			r.Left = max(0, left)
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
	notes, left, err := p.audits.ForInput(p.variables.CreateContext(ctx), r.Attributes, asked, without, r.Namespace, r.Left)
	r.Left = max(0, left)
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
func (p *Policy) matches(ctx context.Context, r *Request, asked *admissionv1.AdmissionRequest, with plugincel.OptionalVariableBindings) (bool, error) {
	results, left, err := p.conditions.ForInput(ctx, r.Attributes, asked, with, nil, min(r.Left, celconfig.RuntimeCELCostBudgetMatchConditions))
	if err != nil {
		r.Left = 0
		return false, err
	}
	if len(results) > 0 {
		r.Left -= min(r.Left, celconfig.RuntimeCELCostBudgetMatchConditions) - left
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
