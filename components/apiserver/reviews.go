package apiserver

import (
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/authn"
	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// reviewed is the answer to a review.
func reviewed(obj kinds.Object) (*kubeapi.Response, error) {
	return &kubeapi.Response{Object: obj}, nil
}

// reviewSelf tells who asks (kubectl auth whoami).
func (s *Server) reviewSelf(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	out := &authenticationv1.SelfSubjectReview{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(p.Now().Truncate(secondsOf))}}
	out.Status.UserInfo = userInfo(rq.user)
	return reviewed(out)
}

func userInfo(u kubeapi.User) authenticationv1.UserInfo {
	out := authenticationv1.UserInfo{Username: u.Name, UID: u.UID, Groups: u.Groups}
	for k, v := range u.Extra {
		if out.Extra == nil {
			out.Extra = map[string]authenticationv1.ExtraValue{}
		}
		out.Extra[k] = v
	}
	return out
}

// reviewToken tells whose a token is.
func (s *Server) reviewToken(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	out := rq.Object.(*authenticationv1.TokenReview).DeepCopy()
	if out.Spec.Token == "" {
		return nil, apierrors.NewBadRequest("token is required for TokenReview in authentication")
	}
	out.Status = authenticationv1.TokenReviewStatus{}
	u, audiences, err := s.tokenUser(p, out.Spec.Token, out.Spec.Audiences, rq.deadline)
	switch {
	case err == authn.ErrForeign:
		out.Status.Error = "invalid bearer token"
	case err != nil:
		out.Status.Error = "[invalid bearer token, " + err.Error() + "]"
	default:
		out.Status.Authenticated, out.Status.User, out.Status.Audiences = true, userInfo(u), audiences
	}
	return reviewed(out)
}

func (s *Server) reviewSelfAccess(_ *sim.Proc, rq *request) (*kubeapi.Response, error) {
	out := rq.Object.(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
	errs := append(asked(out.Spec.ResourceAttributes, out.Spec.NonResourceAttributes), bare(&out.ObjectMeta, "must be empty")...)
	if err := invalid(rq.Kind, "", errs); err != nil {
		return nil, err
	}
	out.Status = s.review(rq.user, out.Spec.ResourceAttributes, out.Spec.NonResourceAttributes)
	return reviewed(out)
}

func (s *Server) reviewAccess(_ *sim.Proc, rq *request) (*kubeapi.Response, error) {
	out := rq.Object.(*authorizationv1.SubjectAccessReview).DeepCopy()
	errs := append(askedOf(&out.Spec), bare(&out.ObjectMeta, "must be empty")...)
	if err := invalid(rq.Kind, "", errs); err != nil {
		return nil, err
	}
	out.Status = s.review(subjectOf(&out.Spec), out.Spec.ResourceAttributes, out.Spec.NonResourceAttributes)
	return reviewed(out)
}

func (s *Server) reviewLocalAccess(_ *sim.Proc, rq *request) (*kubeapi.Response, error) {
	out := rq.Object.(*authorizationv1.LocalSubjectAccessReview).DeepCopy()
	meta := out.ObjectMeta
	meta.Namespace = ""
	errs := append(askedOf(&out.Spec), bare(&meta, "must be empty except for namespace")...)
	if a := out.Spec.ResourceAttributes; a != nil && a.Namespace != out.Namespace {
		errs = append(errs, field.Invalid(field.NewPath("spec.resourceAttributes.namespace"), a.Namespace, "must match metadata.namespace"))
	}
	if a := out.Spec.NonResourceAttributes; a != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec.nonResourceAttributes"), a, "disallowed on this kind of request"))
	}
	if err := invalid(rq.Kind, "", errs); err != nil {
		return nil, err
	}
	out.Status = s.review(subjectOf(&out.Spec), out.Spec.ResourceAttributes, out.Spec.NonResourceAttributes)
	return reviewed(out)
}

// subjectOf is the user that a review is about. It has the groups that the review names, and no others.
func subjectOf(spec *authorizationv1.SubjectAccessReviewSpec) kubeapi.User {
	u := kubeapi.User{Name: spec.User, UID: spec.UID, Groups: spec.Groups}
	for k, v := range spec.Extra {
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[k] = v
	}
	return u
}

func bare(meta *metav1.ObjectMeta, want string) field.ErrorList {
	m := *meta
	m.ManagedFields = nil
	if apiequality.Semantic.DeepEqual(metav1.ObjectMeta{}, m) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), *meta, want)}
}

func askedOf(spec *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := asked(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "user"), spec.User, "at least one of user or group must be specified"))
	}
	return errs
}

// asked checks what a review asks about.
func asked(res *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	var errs field.ErrorList
	if (res == nil) == (path == nil) {
		errs = append(errs, field.Invalid(field.NewPath("spec"), path, "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if res == nil {
		return errs
	}
	selector := func(name string, raw string, requirements int) {
		at := field.NewPath("spec.resourceAttributes").Child(name)
		switch {
		case raw != "" && requirements > 0:
			errs = append(errs, field.Invalid(at.Child("rawSelector"), raw, "may not specified at the same time as requirements"))
		case raw == "" && requirements == 0:
			errs = append(errs, field.Required(at.Child("requirements"), fmt.Sprintf("when %s is specified, requirements or rawSelector is required", at)))
		}
	}
	if f := res.FieldSelector; f != nil {
		selector("fieldSelector", f.RawSelector, len(f.Requirements))
	}
	if l := res.LabelSelector; l != nil {
		selector("labelSelector", l.RawSelector, len(l.Requirements))
	}
	return errs
}

// review asks the authorizers in the name of a user.
func (s *Server) review(u kubeapi.User, res *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	a := &authz.Attributes{User: u}
	var out authorizationv1.SubjectAccessReviewStatus
	if res != nil {
		a.Verb, a.Group, a.Resource, a.Subresource, a.Namespace, a.Name = res.Verb, res.Group, res.Resource, res.Subresource, res.Namespace, res.Name
		if f := res.FieldSelector; f != nil {
			exact := map[string]string{}
			if f.RawSelector != "" {
				sel, err := fields.ParseSelector(f.RawSelector)
				if err != nil {
					out.EvaluationError = fmt.Sprintf("spec.resourceAttributes.fieldSelector partially ignored due to parse error: %v", err)
				} else {
					for _, r := range sel.Requirements() {
						if v, ok := sel.RequiresExactMatch(r.Field); ok {
							exact[r.Field] = v
						}
					}
				}
			}
			for _, r := range f.Requirements {
				if r.Operator == metav1.FieldSelectorOpIn && len(r.Values) == 1 {
					exact[r.Key] = r.Values[0]
				}
			}
			a.Selects = func(name string) string { return exact[name] }
		}
	} else {
		a.Verb, a.Path = path.Verb, path.Path
		if a.Path == "" {
			a.Path = "/"
		}
	}
	out.Allowed, out.Reason = s.access.chain.Authorize(a)
	return out
}

// reviewSelfRules lists what the asking user may do in a namespace (kubectl auth can-i --list).
func (s *Server) reviewSelfRules(_ *sim.Proc, rq *request) (*kubeapi.Response, error) {
	namespace := rq.Object.(*authorizationv1.SelfSubjectRulesReview).Spec.Namespace
	if namespace == "" {
		return nil, apierrors.NewBadRequest("no namespace on request")
	}
	out := &authorizationv1.SelfSubjectRulesReview{}
	out.Status.ResourceRules, out.Status.NonResourceRules = []authorizationv1.ResourceRule{}, []authorizationv1.NonResourceRule{}
	var errs []string
	if _, node := authz.NodeName(rq.user); node {
		out.Status.Incomplete = true
		errs = append(errs, "node authorizer does not support user rule resolution")
	}
	rules, missing := s.access.rbac.RulesFor(rq.user, namespace)
	for i := range rules {
		r := &rules[i]
		if len(r.Resources) > 0 {
			out.Status.ResourceRules = append(out.Status.ResourceRules, authorizationv1.ResourceRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
		}
		if len(r.NonResourceURLs) > 0 {
			out.Status.NonResourceRules = append(out.Status.NonResourceRules, authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	for _, err := range missing {
		errs = append(errs, err.Error())
	}
	switch len(errs) {
	case 0:
	case 1:
		out.Status.EvaluationError = errs[0]
	default:
		out.Status.EvaluationError = "[" + strings.Join(errs, ", ") + "]"
	}
	return reviewed(out)
}
