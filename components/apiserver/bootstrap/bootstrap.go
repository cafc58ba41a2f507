// Package bootstrap holds the roles and bindings that a cluster has from its first start, and how they are kept (k/k plugin/pkg/auth/authorizer/rbac/bootstrappolicy,
// component-helpers/auth/rbac/reconciliation).
//
// Owns: the table roles.json. Imports of ours: engine/kinds. Pure functions; no goroutine, no time.
package bootstrap

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacvalidation "k8s.io/component-helpers/auth/rbac/validation"

	"example.com/kubeviz/engine/kinds"
)

//go:embed roles.json
var table []byte

// entry is one role or binding of the table.
type entry struct {
	Namespace, Name string
	Labels          map[string]string
	AggregationRule *rbacv1.AggregationRule
	Rules           []rbacv1.PolicyRule
	RoleRef         rbacv1.RoleRef
	Subjects        []rbacv1.Subject
}

// meta is what all of them carry: that they belong to the defaults, and that the API server may mend them at its start.
func (e *entry) meta() metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name, Labels: map[string]string{"kubernetes.io/bootstrapping": "rbac-defaults"},
		Annotations: map[string]string{rbacv1.AutoUpdateAnnotationKey: "true"}}
	maps.Copy(m.Labels, e.Labels)
	return m
}

// Policy lists the roles and bindings in the order in which they are made: what is bound comes before the bindings. The objects are the caller's.
func Policy() []kinds.Object {
	var t struct{ ClusterRoles, ClusterRoleBindings, Roles, RoleBindings []entry }
	if err := json.Unmarshal(table, &t); err != nil {
		panic("bootstrap: roles.json: " + err.Error()) // a mistake in the table, found by any test
	}
	var out []kinds.Object
	for i := range t.ClusterRoles {
		e := &t.ClusterRoles[i]
		out = append(out, &rbacv1.ClusterRole{ObjectMeta: e.meta(), AggregationRule: e.AggregationRule, Rules: e.Rules})
	}
	for i := range t.ClusterRoleBindings {
		e := &t.ClusterRoleBindings[i]
		out = append(out, &rbacv1.ClusterRoleBinding{ObjectMeta: e.meta(), RoleRef: e.RoleRef, Subjects: e.Subjects})
	}
	for i := range t.Roles {
		e := &t.Roles[i]
		out = append(out, &rbacv1.Role{ObjectMeta: e.meta(), Rules: e.Rules})
	}
	for i := range t.RoleBindings {
		e := &t.RoleBindings[i]
		out = append(out, &rbacv1.RoleBinding{ObjectMeta: e.meta(), RoleRef: e.RoleRef, Subjects: e.Subjects})
	}
	return out
}

// NodeRules are the rules of the cluster role system:node, which the node authorizer applies to what it does not decide by name.
func NodeRules() []rbacv1.PolicyRule {
	for _, obj := range Policy() {
		if r, ok := obj.(*rbacv1.ClusterRole); ok && r.Name == "system:node" {
			return r.Rules
		}
	}
	panic("bootstrap: roles.json: no role system:node")
}

// Kubeadm lists what the installer binds beside: its administrators to cluster-admin (cmd/kubeadm/app/constants: ClusterAdminsGroupAndClusterRoleBinding).
func Kubeadm() []kinds.Object {
	return []kinds.Object{&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: Admins}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: Admins}}}}
}

// Metrics lists what metrics-server's manifest makes, as far as it is there: who may look at a namespace may see what its pods use.
func Metrics() []kinds.Object {
	return []kinds.Object{&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "system:aggregated-metrics-reader", Labels: map[string]string{"k8s-app": "metrics-server",
		"rbac.authorization.k8s.io/aggregate-to-admin": "true", "rbac.authorization.k8s.io/aggregate-to-edit": "true", "rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{"metrics.k8s.io"}, Resources: []string{"pods", "nodes"}, Verbs: []string{"get", "list", "watch"}}}}}
}

// Admins is the group of those who hold kubeadm's admin.conf, and the binding that makes them administrators.
const Admins = "kubeadm:cluster-admins"

// What Reconcile finds to be done.
type Action uint8

const (
	// Nothing: the object holds all that is wanted, or says that it must not be touched.
	Nothing Action = iota
	// Update: the object is to be replaced by what Reconcile returned.
	Update
	// Recreate: the binding is of another role, which cannot be changed; it is to be deleted and made anew.
	Recreate
)

// Reconcile adds to a role or binding what is wanted and missing: rules, subjects, labels, annotations. What is there beyond that stays. have is not changed.
func Reconcile(have, want kinds.Object) (kinds.Object, Action) {
	if have.GetAnnotations()[rbacv1.AutoUpdateAnnotationKey] == "false" {
		return have, Nothing
	}
	out := have.DeepCopyObject().(kinds.Object)
	switch w := want.(type) {
	case *rbacv1.ClusterRole:
		h := out.(*rbacv1.ClusterRole)
		h.Rules = withMissing(h.Rules, w.Rules)
		h.AggregationRule = aggregation(h.AggregationRule, w.AggregationRule)
	case *rbacv1.Role:
		h := out.(*rbacv1.Role)
		h.Rules = withMissing(h.Rules, w.Rules)
	case *rbacv1.ClusterRoleBinding:
		h := out.(*rbacv1.ClusterRoleBinding)
		if h.RoleRef != w.RoleRef {
			return want, Recreate
		}
		h.Subjects = withSubjects(h.Subjects, w.Subjects)
	case *rbacv1.RoleBinding:
		h := out.(*rbacv1.RoleBinding)
		if h.RoleRef != w.RoleRef {
			return want, Recreate
		}
		h.Subjects = withSubjects(h.Subjects, w.Subjects)
	default:
		panic(fmt.Sprintf("bootstrap: %T is no role and no binding", want))
	}
	out.SetLabels(under(out.GetLabels(), want.GetLabels()))
	out.SetAnnotations(under(out.GetAnnotations(), want.GetAnnotations()))
	if apiequality.Semantic.DeepEqual(have, out) {
		return have, Nothing
	}
	return out, Update
}

// under adds what is not there yet.
func under(have, want map[string]string) map[string]string {
	if have == nil {
		return want
	}
	for k, v := range want {
		if _, ok := have[k]; !ok {
			have[k] = v
		}
	}
	return have
}

func withMissing(have, want []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, missing := rbacvalidation.Covers(have, want)
	return append(have, missing...)
}

func withSubjects(have, want []rbacv1.Subject) []rbacv1.Subject {
	for _, s := range want {
		if !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return have
}

// aggregation adds the wanted selectors; a role that is not to be aggregated is so no more.
func aggregation(have, want *rbacv1.AggregationRule) *rbacv1.AggregationRule {
	if want == nil || have == nil {
		return want
	}
	for _, sel := range want.ClusterRoleSelectors {
		if !slices.ContainsFunc(have.ClusterRoleSelectors, func(h metav1.LabelSelector) bool { return apiequality.Semantic.DeepEqual(h, sel) }) {
			have.ClusterRoleSelectors = append(have.ClusterRoleSelectors, sel)
		}
	}
	return have
}
