package authz

import (
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// RBAC allows what roles give to whom they are bound (k/k plugin/pkg/auth/authorizer/rbac). What no rule allows it has no opinion on, and no rule can forbid (API-3).
type RBAC struct {
	roles    map[ref]*role
	bindings map[ref]*binding
	// grants by namespace ("" for the whole cluster) and subject, sorted by the binding's name.
	grants map[string]map[subject][]grant
}

// ref names a role or a binding; namespace is empty for those of the whole cluster.
type ref struct{ namespace, name string }

// subject is a user or a group. A service account is the user that it authenticates as.
type subject struct {
	group bool
	name  string
}

// role is a place for rules. It is there as long as a role of the name exists or a binding refers to one.
type role struct {
	cluster bool
	name    string
	exists  bool
	rules   []rbacv1.PolicyRule
	bound   int
}

type binding struct {
	ref
	role     ref
	to       *role
	subjects []rbacv1.Subject
}

// grant is a binding as one of its subjects has it.
type grant struct {
	*binding
	subject int
}

// NewRBAC makes one that knows of no role.
func NewRBAC() *RBAC {
	r := &RBAC{}
	r.Clear()
	return r
}

// Clear forgets everything.
func (r *RBAC) Clear() {
	r.roles, r.bindings, r.grants = map[ref]*role{}, map[ref]*binding{}, map[string]map[subject][]grant{}
}

// Set takes in a role or binding as it is now.
func (r *RBAC) Set(obj kinds.Object) {
	switch o := obj.(type) {
	case *rbacv1.ClusterRole:
		r.setRole(ref{name: o.Name}, o.Rules)
	case *rbacv1.Role:
		r.setRole(ref{o.Namespace, o.Name}, o.Rules)
	case *rbacv1.ClusterRoleBinding:
		r.bind(ref{name: o.Name}, o.RoleRef, o.Subjects)
	case *rbacv1.RoleBinding:
		r.bind(ref{o.Namespace, o.Name}, o.RoleRef, o.Subjects)
	}
}

// Remove takes in that a role or binding is gone.
func (r *RBAC) Remove(obj kinds.Object) {
	at := ref{obj.GetNamespace(), obj.GetName()}
	switch obj.(type) {
	case *rbacv1.ClusterRole, *rbacv1.Role:
		if ro := r.roles[at]; ro != nil {
			ro.exists, ro.rules = false, nil
			r.drop(at, ro)
		}
	case *rbacv1.ClusterRoleBinding, *rbacv1.RoleBinding:
		r.unbind(at)
	}
}

func (r *RBAC) setRole(at ref, rules []rbacv1.PolicyRule) {
	ro := r.place(at)
	ro.exists, ro.rules = true, rules
}

func (r *RBAC) place(at ref) *role {
	ro := r.roles[at]
	if ro == nil {
		ro = &role{cluster: at.namespace == "", name: at.name}
		r.roles[at] = ro
	}
	return ro
}

func (r *RBAC) drop(at ref, ro *role) {
	if !ro.exists && ro.bound == 0 {
		delete(r.roles, at)
	}
}

func (r *RBAC) bind(at ref, to rbacv1.RoleRef, subjects []rbacv1.Subject) {
	r.unbind(at)
	b := &binding{ref: at, role: ref{name: to.Name}, subjects: subjects}
	if to.Kind == "Role" {
		b.role.namespace = at.namespace
	}
	b.to = r.place(b.role)
	b.to.bound++
	r.bindings[at] = b
	for i := range subjects {
		s, ok := subjectOf(&subjects[i], at.namespace)
		if !ok {
			continue
		}
		m := r.grants[at.namespace]
		if m == nil {
			m = map[subject][]grant{}
			r.grants[at.namespace] = m
		}
		have := m[s]
		n, found := slices.BinarySearchFunc(have, at.name, func(g grant, name string) int { return strings.Compare(g.name, name) })
		if !found { // a subject named twice is granted once
			m[s] = slices.Insert(have, n, grant{b, i})
		}
	}
}

func (r *RBAC) unbind(at ref) {
	b := r.bindings[at]
	if b == nil {
		return
	}
	delete(r.bindings, at)
	b.to.bound--
	r.drop(b.role, b.to)
	m := r.grants[at.namespace]
	for i := range b.subjects {
		s, ok := subjectOf(&b.subjects[i], at.namespace)
		if !ok {
			continue
		}
		left := slices.DeleteFunc(m[s], func(g grant) bool { return g.binding == b })
		if len(left) == 0 {
			delete(m, s)
		} else {
			m[s] = left
		}
	}
	if len(m) == 0 {
		delete(r.grants, at.namespace)
	}
}

// subjectOf is whom a binding names; ok is false for what names nobody.
func subjectOf(s *rbacv1.Subject, namespace string) (subject, bool) {
	switch s.Kind {
	case rbacv1.UserKind:
		return subject{name: s.Name}, true
	case rbacv1.GroupKind:
		return subject{group: true, name: s.Name}, true
	case rbacv1.ServiceAccountKind:
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		if namespace == "" {
			return subject{}, false
		}
		return subject{name: "system:serviceaccount:" + namespace + ":" + s.Name}, true
	}
	return subject{}, false
}

// Authorize implements Authorizer.
func (r *RBAC) Authorize(a *Attributes) (allowed bool, reason string) {
	namespace := a.Namespace
	if a.Path != "" {
		namespace = ""
	}
	var missing []error
	r.visit(a.User, namespace, func(g grant) bool {
		if !g.to.exists {
			missing = append(missing, g.missing())
			return true
		}
		if anyAllows(g.to.rules, a) {
			allowed, reason = true, "RBAC: allowed by "+g.String()
		}
		return !allowed
	})
	if !allowed && len(missing) > 0 {
		reason = "RBAC: " + aggregate(missing)
	}
	return allowed, reason
}

// RulesFor lists the rules that apply to a user in a namespace, and as errors the bindings to roles that do not exist.
func (r *RBAC) RulesFor(u kubeapi.User, namespace string) (rules []rbacv1.PolicyRule, missing []error) {
	seen := map[*binding]bool{}
	r.visit(u, namespace, func(g grant) bool {
		if seen[g.binding] {
			return true
		}
		seen[g.binding] = true
		if !g.to.exists {
			missing = append(missing, g.missing())
		}
		rules = append(rules, g.to.rules...)
		return true
	})
	return rules, missing
}

// RoleRules are the rules of the role that a binding in the namespace refers to; ok is false when there is no such role.
func (r *RBAC) RoleRules(to rbacv1.RoleRef, namespace string) (rules []rbacv1.PolicyRule, ok bool) {
	at := ref{name: to.Name}
	if to.Kind == "Role" {
		at.namespace = namespace
	}
	ro := r.roles[at]
	if ro == nil || !ro.exists {
		return nil, false
	}
	return ro.rules, true
}

// visit shows the grants of a user until fn returns false: those of the whole cluster first, in each place the user's own before those of its groups.
func (r *RBAC) visit(u kubeapi.User, namespace string, fn func(grant) bool) {
	for _, where := range [...]string{"", namespace} {
		m := r.grants[where]
		if len(m) > 0 {
			for _, g := range m[subject{name: u.Name}] {
				if !fn(g) {
					return
				}
			}
			for _, group := range u.Groups {
				for _, g := range m[subject{group: true, name: group}] {
					if !fn(g) {
						return
					}
				}
			}
		}
		if namespace == "" {
			return
		}
	}
}

// missing says that the role is not there.
func (g grant) missing() error {
	what := "role"
	if g.to.cluster {
		what = "clusterrole"
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: what}, g.to.name)
}

// String is the grant in the words of Kubernetes' reasons, which name namespaced things as name/namespace.
func (g grant) String() string {
	kind, name := "ClusterRoleBinding", g.name
	if g.namespace != "" {
		kind, name = "RoleBinding", g.name+"/"+g.namespace
	}
	role := "Role"
	if g.to.cluster {
		role = "ClusterRole"
	}
	s := &g.subjects[g.subject]
	who := s.Name
	if s.Kind == rbacv1.ServiceAccountKind {
		namespace := s.Namespace
		if namespace == "" {
			namespace = g.namespace
		}
		who += "/" + namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", kind, name, role, g.to.name, s.Kind, who)
}

// aggregate is how several errors read as one: each text once, in brackets if there are several (am pkg/util/errors).
func aggregate(errs []error) string {
	var texts []string
	for _, err := range errs {
		if t := err.Error(); !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
