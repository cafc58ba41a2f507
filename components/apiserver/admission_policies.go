package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/apiserver/resource/admissionregistration"
	"example.com/kubeviz/components/apiserver/resource/expressions"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// validatingPolicies asks the ValidatingAdmissionPolicies that are bound (k8s.io/apiserver pkg/admission/plugin/policy/validating). What they may cost is bounded for all of them together, so that
// none holds up the loop.
func validatingPolicies(a *attributes) error {
	bindings := a.server.cache.kinds[kinds.ValidatingAdmissionPolicyBindings].items
	if bindings.Len() == 0 || !a.judged() {
		return nil
	}
	by := map[string][]*admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
	bindings.Scan(func(_ string, o kinds.Object) bool {
		b := o.(*admissionregistrationv1.ValidatingAdmissionPolicyBinding)
		by[b.Spec.PolicyName] = append(by[b.Spec.PolicyName], b)
		return true
	})
	j := &judgement{attributes: a}
	var err error
	a.server.cache.kinds[kinds.ValidatingAdmissionPolicies].items.Scan(func(_ string, o kinds.Object) bool {
		p := o.(*admissionregistrationv1.ValidatingAdmissionPolicy)
		if len(by[p.Name]) > 0 {
			err = j.validating(p, by[p.Name])
		}
		return err == nil
	})
	if err != nil {
		return err
	}
	if j.denied == "" {
		return nil
	}
	refused := a.forbid("%s", j.denied).(*apierrors.StatusError)
	reason := j.reason
	if reason == "" {
		reason = metav1.StatusReasonInvalid
	}
	refused.ErrStatus.Reason, refused.ErrStatus.Code = reason, http.StatusUnprocessableEntity
	switch reason {
	case metav1.StatusReasonForbidden:
		refused.ErrStatus.Code = http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		refused.ErrStatus.Code = http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		refused.ErrStatus.Code = http.StatusRequestEntityTooLarge
	}
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{Message: j.denied})
	return refused
}

// judged reports that policies look at a request: not at policies themselves nor at reviews, lest people lock themselves out, and not at subresources whose objects are of another kind, which are not
// at hand here.
func (a *attributes) judged() bool {
	switch a.rq.Kind.Group {
	case admissionregistrationv1.GroupName, "authentication.k8s.io", "authorization.k8s.io":
		return false
	}
	switch a.rq.Subresource {
	case "", "status", "ephemeralcontainers", "resize", "approval", "finalize":
		return true
	}
	return false
}

// judgement is one request before the policies.
type judgement struct {
	*attributes
	request *expressions.Request
	denied  string // what the first that denied said
	reason  metav1.StatusReason
}

func (j *judgement) deny(text string, reason metav1.StatusReason) {
	if j.denied == "" {
		j.denied, j.reason = text, reason
	}
}

func (j *judgement) validating(p *admissionregistrationv1.ValidatingAdmissionPolicy, bindings []*admissionregistrationv1.ValidatingAdmissionPolicyBinding) error {
	ignores := p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == admissionregistrationv1.Ignore
	matches, err := j.matches(p.Spec.MatchConstraints, false)
	if err != nil || !matches {
		return err
	}
	paramKind, err := j.paramKind(p.Spec.ParamKind)
	if err != nil {
		if !ignores {
			j.deny(fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", p.Name, err), "")
		}
		return nil
	}
	var policy *expressions.Policy
	for _, b := range bindings {
		if matches, err := j.matches(b.Spec.MatchResources, true); err != nil {
			return err
		} else if !matches {
			continue
		}
		params, err := j.params(paramKind, b.Spec.ParamRef)
		if err != nil {
			if !ignores {
				j.deny(fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: failed to configure binding: %s", p.Name, b.Name, err), "")
			}
			continue
		}
		if len(params) == 0 {
			continue
		}
		if policy == nil {
			if policy, err = expressions.PolicyOf(admissionregistration.ValidatingSource(p)); err != nil {
				return apierrors.NewInternalError(err)
			}
		}
		if err := j.prepare(); err != nil {
			return err
		}
		for _, param := range params {
			refusals, failures := policy.Validate(j.request, param)
			if !ignores {
				refusals = append(refusals, failures...)
				slices.SortStableFunc(refusals, func(a, b expressions.Refusal) int { return a.Index - b.Index })
			}
			for _, r := range refusals {
				for _, action := range b.Spec.ValidationActions {
					switch action {
					case admissionregistrationv1.Deny:
						j.deny(fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.Name, b.Name, r.Message), r.Reason)
					case admissionregistrationv1.Warn:
						j.rq.warnings = append(j.rq.warnings, fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", p.Name, b.Name, r.Message))
					}
				}
			}
		}
	}
	return nil
}

// prepare makes of the request what expressions see of it, once.
func (j *judgement) prepare() error {
	if j.request != nil {
		return nil
	}
	k := j.rq.Kind
	obj, old := shownTo(k, j.obj), shownTo(k, j.old)
	namespace := j.rq.Namespace
	if j.obj != nil {
		namespace = j.obj.GetNamespace()
	}
	info := userInfo(j.rq.user)
	who := &user.DefaultInfo{Name: info.Username, UID: info.UID, Groups: info.Groups, Extra: map[string][]string{}}
	for name, values := range info.Extra {
		who.Extra[name] = values
	}
	does := admission.Operation(j.operation())
	var options runtime.Object
	switch does {
	case admission.Create:
		options = &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}}
	case admission.Update:
		options = &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}}
	default:
		o := &metav1.DeleteOptions{}
		if j.rq.Delete != nil {
			o = j.rq.Delete.DeepCopy()
		}
		o.APIVersion, o.Kind = "meta.k8s.io/v1", "DeleteOptions"
		options = o
	}
	if k == kinds.Namespaces {
		namespace = j.name()
	}
	attrs := admission.NewAttributesRecord(obj, old, k.GVK(), namespace, j.name(), k.GVK().GroupVersion().WithResource(k.Resource), j.rq.Subresource, does, options, j.rq.DryRun, who)
	v := &admission.VersionedAttributes{Attributes: attrs, VersionedKind: k.GVK()}
	if obj != nil {
		v.VersionedObject.Set(obj)
	}
	if old != nil {
		v.VersionedOldObject.Set(old)
	}
	j.request = &expressions.Request{Attributes: v, Authorizer: asks{j.server}, Left: expressions.Budget}
	if k.Namespaced {
		ns, err := j.server.namespace(j.proc, j.rq, namespace)
		if err != nil {
			return err
		}
		j.request.Namespace = ns
	}
	return nil
}

// shownTo is an object with its type, as expressions see it: those of the server know only what they are in Go.
func shownTo(k *kinds.Kind, obj kinds.Object) runtime.Object {
	if obj == nil {
		return nil
	}
	if c, ok := obj.(*kinds.Custom); ok {
		m, err := c.Whole()
		if err != nil { // metadata is always JSON
			m = map[string]any{}
		}
		m["apiVersion"], m["kind"] = k.APIVersion(), k.Kind
		return &unstructured.Unstructured{Object: m}
	}
	v := reflect.New(reflect.TypeOf(obj).Elem()) // one level deep, since nobody writes further down
	v.Elem().Set(reflect.ValueOf(obj).Elem())
	out := v.Interface().(runtime.Object)
	out.GetObjectKind().SetGroupVersionKind(k.GVK())
	return out
}

// kindOf finds a kind that is served, be it built in or defined.
func (s *Server) kindOf(gvk schema.GroupVersionKind) *kinds.Kind {
	if k, err := kinds.ForGVK(gvk); err == nil && s.cache.kinds[k] != nil {
		return k
	}
	for _, k := range s.customs.set.Kinds {
		if k.GVK() == gvk {
			return k
		}
	}
	return nil
}

// paramKind is the kind of a policy's parameters; nil without an error: it wants none.
func (a *attributes) paramKind(k *admissionregistrationv1.ParamKind) (*kinds.Kind, error) {
	if k == nil {
		return nil, nil
	}
	gvk := schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
	if found := a.server.kindOf(gvk); found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("failed to configure policy: failed to find resource referenced by paramKind: '%v'", gvk)
}

// params finds the objects with parameters; one nil stands for none wanted.
func (a *attributes) params(k *kinds.Kind, ref *admissionregistrationv1.ParamRef) ([]runtime.Object, error) {
	if k == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	namespace := ""
	switch {
	case !k.Namespaced && ref.Namespace != "":
		return nil, fmt.Errorf("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case k.Namespaced:
		if namespace = ref.Namespace; namespace == "" {
			namespace = a.rq.Namespace
		}
		if namespace == "" {
			return nil, fmt.Errorf("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
		}
	}
	var found []runtime.Object
	if ref.Name != "" {
		obj, ok, err := fetched[kinds.Object](a, k, namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, shownTo(k, obj))
		}
	} else {
		selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
		if err != nil {
			return nil, err
		}
		eachSeen(a, k, namespace, func(obj kinds.Object) bool {
			if selector.Matches(labels.Set(obj.GetLabels())) {
				found = append(found, shownTo(k, obj))
			}
			return true
		})
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admissionregistrationv1.DenyAction {
		return nil, fmt.Errorf("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, nil
}

// matches reports that a request is among those that a policy, or a binding, is about (pkg/admission/plugin/policy/matching). Without rules a binding is about all that its policy is about.
func (a *attributes) matches(m *admissionregistrationv1.MatchResources, binding bool) (bool, error) {
	if m == nil {
		return binding, nil
	}
	if ok, err := a.inNamespaces(m.NamespaceSelector); err != nil || !ok {
		return false, err
	}
	if ok, err := selects(m.ObjectSelector, a.obj, a.old); err != nil || !ok {
		return false, err
	}
	if slices.ContainsFunc(m.ExcludeResourceRules, a.ruled) {
		return false, nil
	}
	return len(m.ResourceRules) == 0 || slices.ContainsFunc(m.ResourceRules, a.ruled), nil
}

func (a *attributes) inNamespaces(s *metav1.LabelSelector) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if s == nil || selector.Empty() {
		return true, nil
	}
	if a.rq.Kind == kinds.Namespaces {
		if obj := a.obj; obj != nil {
			return selector.Matches(labels.Set(obj.GetLabels())), nil
		}
		return selector.Matches(labels.Set(a.old.GetLabels())), nil
	}
	if !a.rq.Kind.Namespaced {
		return true, nil
	}
	var ns *corev1.Namespace
	if ns, err = a.server.namespace(a.proc, a.rq, a.rq.Namespace); err != nil {
		return false, err
	}
	return selector.Matches(labels.Set(ns.Labels)), nil
}

// selects reports that a selector takes one of the objects.
func selects(s *metav1.LabelSelector, objects ...kinds.Object) (bool, error) {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	return s == nil || selector.Empty() || slices.ContainsFunc(objects, func(o kinds.Object) bool { return o != nil && selector.Matches(labels.Set(o.GetLabels())) }), nil
}

// ruled reports that a rule names the request.
func (a *attributes) ruled(r admissionregistrationv1.NamedRuleWithOperations) bool {
	k := a.rq.Kind
	names := func(list []string, name string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, name)
	}
	if !names(r.APIGroups, k.Group) || !names(r.APIVersions, k.Version) {
		return false
	}
	if !slices.ContainsFunc(r.Operations, func(o admissionregistrationv1.OperationType) bool {
		return o == admissionregistrationv1.OperationAll || string(o) == a.operation()
	}) {
		return false
	}
	if r.Scope != nil && (*r.Scope == admissionregistrationv1.NamespacedScope && !k.Namespaced || *r.Scope == admissionregistrationv1.ClusterScope && k.Namespaced) {
		return false
	}
	if !slices.ContainsFunc(r.Resources, func(name string) bool {
		res, sub, _ := strings.Cut(name, "/")
		return (res == "*" || res == k.Resource) && (sub == "*" || sub == a.rq.Subresource)
	}) {
		return false
	}
	return len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.name())
}

// asks lets expressions ask the server's authorizers.
type asks struct{ server *Server }

// Authorize implements authorizer.UnconditionalAuthorizer.
func (s asks) Authorize(_ context.Context, of authorizer.Attributes) (authorizer.Decision, string, error) {
	q := &authz.Attributes{Verb: of.GetVerb()}
	if u := of.GetUser(); u != nil {
		q.User = kubeapi.User{Name: u.GetName(), Groups: u.GetGroups()}
	}
	if of.IsResourceRequest() {
		q.Group, q.Resource, q.Subresource, q.Namespace, q.Name = of.GetAPIGroup(), of.GetResource(), of.GetSubresource(), of.GetNamespace(), of.GetName()
	} else if q.Path = of.GetPath(); q.Path == "" {
		q.Path = "/"
	}
	if requirements, err := of.GetFieldSelector(); err == nil && len(requirements) > 0 {
		exact := map[string]string{}
		for _, r := range requirements {
			if r.Operator == "=" || r.Operator == "==" {
				exact[r.Field] = r.Value
			}
		}
		q.Selects = func(name string) string { return exact[name] }
	}
	ok, why := s.server.access.chain.Authorize(q)
	if ok {
		return authorizer.DecisionAllow, why, nil
	}
	return authorizer.DecisionNoOpinion, why, nil
}
