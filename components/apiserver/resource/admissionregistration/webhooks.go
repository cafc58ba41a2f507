package admissionregistration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/resource/check"
)

// hook is what webhooks of both sorts have in common.
type hook struct {
	name         string
	client       *admissionregistrationv1.WebhookClientConfig
	rules        []admissionregistrationv1.RuleWithOperations
	failure      *admissionregistrationv1.FailurePolicyType
	match        *admissionregistrationv1.MatchPolicyType
	selectors    selectors
	effects      *admissionregistrationv1.SideEffectClass
	seconds      *int32
	versions     []string
	conditions   []admissionregistrationv1.MatchCondition
	reinvocation *admissionregistrationv1.ReinvocationPolicyType // of mutating ones
}

func validatingHooks(c *admissionregistrationv1.ValidatingWebhookConfiguration) []hook {
	out := make([]hook, len(c.Webhooks))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		out[i] = hook{w.Name, &w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, selectors{w.NamespaceSelector, w.ObjectSelector}, w.SideEffects, w.TimeoutSeconds,
			w.AdmissionReviewVersions, w.MatchConditions, nil}
	}
	return out
}

func mutatingHooks(c *admissionregistrationv1.MutatingWebhookConfiguration) []hook {
	out := make([]hook, len(c.Webhooks))
	for i := range c.Webhooks {
		w := &c.Webhooks[i]
		out[i] = hook{w.Name, &w.ClientConfig, w.Rules, w.FailurePolicy, w.MatchPolicy, selectors{w.NamespaceSelector, w.ObjectSelector}, w.SideEffects, w.TimeoutSeconds,
			w.AdmissionReviewVersions, w.MatchConditions, w.ReinvocationPolicy}
	}
	return out
}

// Values of fields, in the order of the alphabet.
var (
	failurePolicies = []admissionregistrationv1.FailurePolicyType{admissionregistrationv1.Fail, admissionregistrationv1.Ignore}
	matchPolicies   = []admissionregistrationv1.MatchPolicyType{admissionregistrationv1.Equivalent, admissionregistrationv1.Exact}
	sideEffects     = []admissionregistrationv1.SideEffectClass{admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun}
	allSideEffects  = []admissionregistrationv1.SideEffectClass{admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun,
		admissionregistrationv1.SideEffectClassSome, admissionregistrationv1.SideEffectClassUnknown}
	reinvocations = []admissionregistrationv1.ReinvocationPolicyType{admissionregistrationv1.IfNeededReinvocationPolicy, admissionregistrationv1.NeverReinvocationPolicy}
	operations    = []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll, admissionregistrationv1.Connect, admissionregistrationv1.Create, admissionregistrationv1.Delete,
		admissionregistrationv1.Update}
	scopes = []admissionregistrationv1.ScopeType{admissionregistrationv1.AllScopes, admissionregistrationv1.ClusterScope, admissionregistrationv1.NamespacedScope}
	// reviews are the versions in which an API server asks webhooks.
	reviews = []string{"v1", "v1beta1"}
)

// secondsMost is how long a webhook may take at most.
const secondsMost = 30

// allowed is what an update may leave as it was: rules that came later than the objects they are for.
type allowed struct{ effects, versions, twice, values bool }

func allowedFor(old []hook) allowed {
	var a allowed
	for i, h := range old {
		a.effects = a.effects || h.effects == nil || !slices.Contains(sideEffects, *h.effects)
		a.versions = a.versions || len(h.versions) > 0 && !slices.ContainsFunc(h.versions, known)
		a.twice = a.twice || slices.ContainsFunc(old[:i], func(o hook) bool { return o.name == h.name })
		a.values = a.values || len(h.selectors.check(false, nil)) > 0
	}
	return a
}

func known(version string) bool { return slices.Contains(reviews, version) }

// validateHooks checks the webhooks of a configuration, in the order and words of k/k pkg/apis/admissionregistration/validation.
func validateHooks(hooks []hook, a allowed) field.ErrorList {
	var errs field.ErrorList
	for i := range hooks {
		h, at := &hooks[i], field.NewPath("webhooks").Index(i)
		errs = append(errs, h.validate(a, at)...)
		errs = append(errs, validateVersions(h.versions, !a.versions, at.Child("admissionReviewVersions"))...)
		if !a.twice && h.name != "" && slices.ContainsFunc(hooks[:i], func(o hook) bool { return o.name == h.name }) {
			errs = append(errs, field.Duplicate(at.Child("name"), h.name))
		}
	}
	return errs
}

func (h *hook) validate(a allowed, at *field.Path) field.ErrorList {
	errs := validation.IsFullyQualifiedName(at.Child("name"), h.name)
	for i := range h.rules {
		errs = append(errs, validateRule(&h.rules[i], at.Child("rules").Index(i))...)
	}
	errs = append(errs, optional(at.Child("failurePolicy"), h.failure, failurePolicies)...)
	errs = append(errs, optional(at.Child("matchPolicy"), h.match, matchPolicies)...)
	effects := sideEffects
	if a.effects {
		effects = allSideEffects
	}
	if h.effects == nil {
		names := make([]string, len(effects))
		for i, e := range effects {
			names[i] = string(e)
		}
		errs = append(errs, field.Required(at.Child("sideEffects"), "must specify one of "+strings.Join(names, ", ")))
	}
	errs = append(errs, optional(at.Child("sideEffects"), h.effects, effects)...)
	if s := h.seconds; s != nil && (*s < 1 || *s > secondsMost) {
		errs = append(errs, field.Invalid(at.Child("timeoutSeconds"), *s, "the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, h.selectors.check(a.values, at)...)
	errs = append(errs, optional(at.Child("reinvocationPolicy"), h.reinvocation, reinvocations)...)
	client := at.Child("clientConfig")
	switch u, s := h.client.URL, h.client.Service; {
	case (u == nil) == (s == nil):
		errs = append(errs, field.Required(client, "exactly one of url or service is required"))
	case u != nil:
		errs = append(errs, validateURL(*u, client.Child("url"))...)
	default:
		errs = append(errs, validateService(s, client.Child("service"))...)
	}
	return append(errs, validateConditions(h.conditions, false, at.Child("matchConditions"))...)
}

// optional checks a field that may be left out.
func optional[T ~string](at *field.Path, v *T, values []T) field.ErrorList {
	if v == nil {
		return nil
	}
	return check.OneOf(at, *v, values...)
}

func validateVersions(versions []string, wanted bool, at *field.Path) field.ErrorList {
	if len(versions) == 0 {
		return field.ErrorList{field.Required(at, "must specify one of "+strings.Join(reviews, ", "))}
	}
	var errs field.ErrorList
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(at.Index(i), v, "duplicate version"))
			continue
		}
		errs = append(errs, check.Each(at.Index(i), v, validation.IsDNS1035Label(v))...)
	}
	if wanted && !slices.ContainsFunc(versions, known) {
		errs = append(errs, field.Invalid(at, versions, "must include at least one of "+strings.Join(reviews, ", ")))
	}
	return errs
}

func validateURL(text string, at *field.Path) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(at, "url must be a valid URL: "+err.Error()+form)}
	}
	var errs field.ErrorList
	if u.Scheme != "https" {
		errs = append(errs, field.Invalid(at, u.Scheme, "'https' is the only allowed URL scheme"+form))
	}
	if u.Host == "" {
		errs = append(errs, field.Invalid(at, u.Host, "host must be specified"+form))
	}
	if u.User != nil {
		errs = append(errs, field.Invalid(at, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Fragment != "" {
		errs = append(errs, field.Invalid(at, u.Fragment, "fragments are not permitted in the URL"))
	}
	if u.RawQuery != "" {
		errs = append(errs, field.Invalid(at, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	return errs
}

// validateService checks the reference to a service. Kubernetes hands name and namespace over the wrong way round: it misses the one under the other's name.
func validateService(s *admissionregistrationv1.ServiceReference, at *field.Path) field.ErrorList {
	errs := check.Needed(s.Namespace, at.Child("name"))
	errs = append(errs, check.Needed(s.Name, at.Child("namespace"))...)
	if s.Port != nil {
		if texts := validation.IsValidPortNum(int(*s.Port)); len(texts) > 0 {
			errs = append(errs, field.Invalid(at.Child("port"), *s.Port, "port is not valid: "+strings.Join(texts, ", ")))
		}
	}
	if s.Path == nil || *s.Path == "" || *s.Path == "/" {
		return errs
	}
	path := at.Child("path")
	if *s.Path == "//" {
		return append(errs, field.Invalid(path, *s.Path, "segment[0] may not be empty"))
	}
	if !strings.HasPrefix(*s.Path, "/") {
		errs = append(errs, field.Invalid(path, *s.Path, "must start with a '/'"))
	}
	for i, step := range strings.Split(strings.TrimSuffix((*s.Path)[1:], "/"), "/") { // without its first character, whatever that is
		if step == "" {
			errs = append(errs, field.Invalid(path, *s.Path, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, text := range validation.IsDNS1123Subdomain(step) {
			errs = append(errs, field.Invalid(path, *s.Path, fmt.Sprintf("segment[%d]: %v", i, text)))
		}
	}
	return errs
}
