package apiserver

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/engine/kinds"
)

// noEscalation lets nobody give away rights that he has not himself, by a role or by a binding (k/k pkg/registry/rbac). It stands between mutating admission and validation, as the
// storage of these kinds does.
func noEscalation(a *attributes) error {
	switch a.obj.(type) {
	case *rbacv1.ClusterRole, *rbacv1.Role, *rbacv1.ClusterRoleBinding, *rbacv1.RoleBinding:
	default:
		return nil
	}
	if authz.MemberOf(a.rq.user, authz.Masters) || onlyForDeletion(a.obj, a.old) {
		return nil
	}
	switch o := a.obj.(type) {
	case *rbacv1.ClusterRole:
		if a.mayEscalate() {
			return nil
		}
		if err := a.holds(o.Rules); err != nil {
			return a.forbid("%v", err)
		}
		old, _ := a.old.(*rbacv1.ClusterRole)
		if (aggregates(o) || old != nil && aggregates(old)) && a.holds(everything) != nil { // it can gather anything
			return a.forbid("must have cluster-admin privileges to use the aggregationRule")
		}
	case *rbacv1.Role:
		if a.mayEscalate() {
			return nil
		}
		if err := a.holds(o.Rules); err != nil {
			return a.forbid("%v", err)
		}
	case *rbacv1.ClusterRoleBinding:
		return a.mayBind(o.RoleRef)
	case *rbacv1.RoleBinding:
		return a.mayBind(o.RoleRef)
	}
	return nil
}

// everything is what an administrator may do.
var everything = []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}, {Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}}

func aggregates(r *rbacv1.ClusterRole) bool {
	return r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

// onlyForDeletion tells that an update changes nothing but what garbage collection needs to.
func onlyForDeletion(obj, old kinds.Object) bool {
	if old == nil {
		return false
	}
	was := old.DeepCopyObject().(kinds.Object)
	was.SetOwnerReferences(obj.GetOwnerReferences())
	was.SetFinalizers(obj.GetFinalizers())
	was.SetManagedFields(obj.GetManagedFields())
	was.SetResourceVersion(obj.GetResourceVersion())
	return apiequality.Semantic.DeepEqual(was, obj)
}

// mayEscalate asks for the verb that stands above the check, on the role in question; at a creation on all of them, since its name is in the body.
func (a *attributes) mayEscalate() bool {
	q := *a.rq.attributes()
	q.Verb, q.Subresource = "escalate", ""
	ok, _ := a.server.access.chain.Authorize(&q)
	return ok
}

func (a *attributes) mayBind(to rbacv1.RoleRef) error {
	namespace := a.rq.Namespace
	q := authz.Attributes{User: a.rq.user, Verb: "bind", Group: to.APIGroup, Resource: "clusterroles", Name: to.Name, Namespace: namespace}
	kind := kinds.ClusterRoles
	if to.Kind == "Role" {
		q.Resource, kind = "roles", kinds.Roles
	}
	if to.Kind == "Role" || to.Kind == "ClusterRole" {
		if ok, _ := a.server.access.chain.Authorize(&q); ok {
			return nil
		}
	} else {
		return nil // validation refuses it
	}
	rules, ok := a.server.access.rbac.RoleRules(to, namespace)
	if !ok {
		return notFound(kind, to.Name)
	}
	if err := a.holds(rules); err != nil {
		return a.forbid("%v", err)
	}
	return nil
}

// holds tells what of the rules the user does not hold himself.
func (a *attributes) holds(rules []rbacv1.PolicyRule) error {
	namespace := ""
	if a.rq.Kind.Namespaced {
		namespace = a.rq.Namespace
	}
	own, unresolved := a.server.access.rbac.RulesFor(a.rq.user, namespace)
	missing := authz.Missing(own, rules)
	if len(missing) == 0 {
		return nil
	}
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", a.rq.user.Name, a.rq.user.Groups, strings.Join(missing, "\n"))
	if len(unresolved) > 0 {
		text += fmt.Sprintf("; resolution errors: %v", unresolved)
	}
	return fmt.Errorf("%s", text)
}
