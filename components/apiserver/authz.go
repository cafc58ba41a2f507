package apiserver

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// Access is what an Authorizer is asked: may User do Verb.
type Access struct {
	User        kubeapi.User
	Verb        kubeapi.Verb
	Kind        *kinds.Kind
	Subresource string
	Namespace   string
	Name        string
	// Selects is the one value a list or watch asks of a field; "" when it asks for none.
	Selects func(field string) string
}

// Authorizer decides about requests. why adds to the refusal's text; empty adds nothing.
type Authorizer interface {
	Allowed(a Access) (ok bool, why string)
}

// Authorizers ask one after the other; the first that allows decides.
type Authorizers []Authorizer

// Allowed implements Authorizer. The reasons of all that refused are joined.
func (as Authorizers) Allowed(a Access) (bool, string) {
	var reasons []string
	for _, one := range as {
		ok, why := one.Allowed(a)
		if ok {
			return true, ""
		}
		if why != "" {
			reasons = append(reasons, why)
		}
	}
	return false, strings.Join(reasons, ", ")
}

// BootstrapAuthorizer knows the roles that a new cluster has and what nodes may do: Node authorization first, then RBAC, as kubeadm sets it up.
func BootstrapAuthorizer() Authorizer {
	rbac, err := loadRoles(bootstrapRoles)
	if err != nil {
		panic("apiserver: embedded roles: " + err.Error()) // a mistake in the table, found by any test
	}
	return Authorizers{nodeAuthorizer{}, rbac}
}

// bootstrapRoles are the cluster roles of a new cluster that concern identities and kinds known here, with whom they are bound to.
//
//go:embed bootstrap_roles.json
var bootstrapRoles []byte

// Rule allows verbs on resources ("pods", "pods/status", "*"), optionally only for some names or in one namespace.
type Rule struct {
	Verbs     []string `json:"verbs"`
	Groups    []string `json:"groups"`
	Resources []string `json:"resources"`
	Names     []string `json:"names,omitempty"`
	Namespace string   `json:"namespace,omitempty"`
}

type role struct {
	Role   string   `json:"role"`
	Users  []string `json:"users,omitempty"`
	Groups []string `json:"groups,omitempty"`
	Rules  []Rule   `json:"rules"`
}

// rbac evaluates rules: what no rule allows is refused (API-3).
type rbac struct{ users, groups map[string][]Rule }

func loadRoles(data []byte) (*rbac, error) {
	var roles []role
	if err := json.Unmarshal(data, &roles); err != nil {
		return nil, err
	}
	r := &rbac{users: map[string][]Rule{}, groups: map[string][]Rule{}}
	for _, ro := range roles {
		for _, u := range ro.Users {
			r.users[u] = append(r.users[u], ro.Rules...)
		}
		for _, g := range ro.Groups {
			r.groups[g] = append(r.groups[g], ro.Rules...)
		}
	}
	return r, nil
}

// Allowed implements Authorizer.
func (r *rbac) Allowed(a Access) (bool, string) {
	if anyAllows(r.users[a.User.Name], a) {
		return true, ""
	}
	for _, g := range a.User.Groups {
		if anyAllows(r.groups[g], a) {
			return true, ""
		}
	}
	return false, ""
}

func anyAllows(rules []Rule, a Access) bool {
	for i := range rules {
		if rules[i].allows(a) {
			return true
		}
	}
	return false
}

func (r *Rule) allows(a Access) bool {
	resource := a.Kind.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	return has(r.Verbs, string(a.Verb)) && has(r.Groups, a.Kind.Group) && (has(r.Resources, resource) || (a.Subresource != "" && slices.Contains(r.Resources, "*/"+a.Subresource))) &&
		(len(r.Names) == 0 || slices.Contains(r.Names, a.Name)) && (r.Namespace == "" || r.Namespace == a.Namespace)
}

func has(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }

// authorize refuses what nobody allowed, in Kubernetes' words.
func (s *Server) authorize(rq *request) error {
	a := Access{User: rq.user, Verb: rq.Verb, Kind: rq.Kind, Subresource: rq.Subresource, Namespace: rq.Namespace, Name: rq.Name}
	if rq.Verb == kubeapi.Create && rq.Subresource == "" {
		a.Name = "" // the name of a creation is in the body, which authorization does not see
	}
	if !rq.Kind.Namespaced {
		a.Namespace = ""
	}
	a.Selects = func(field string) string { v, _ := exactField(rq.Request, field); return v }
	ok, why := s.auth.Allowed(a)
	if ok {
		return nil
	}
	resource := rq.Kind.Resource
	if rq.Subresource != "" {
		resource += "/" + rq.Subresource
	}
	where := "at the cluster scope"
	if a.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.Namespace)
	}
	text := fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", rq.user.Name, rq.Verb, resource, rq.Kind.Group, where)
	if why != "" {
		text += ": " + why
	}
	return apierrors.NewForbidden(rq.Kind.GR(), a.Name, fmt.Errorf("%s", text))
}

// Nodes' identity (k/k pkg/auth/nodeidentifier).
const (
	nodesGroup     = "system:nodes"
	nodeUserPrefix = "system:node:"
)

// nodeName is the node behind a user; ok is false for others.
func nodeName(u kubeapi.User) (name string, ok bool) {
	if !strings.HasPrefix(u.Name, nodeUserPrefix) || !slices.Contains(u.Groups, nodesGroup) {
		return "", false
	}
	return strings.TrimPrefix(u.Name, nodeUserPrefix), true
}

// nodeAuthorizer lets a kubelet at its own objects only (k/k plugin/pkg/auth/authorizer/node). What it may do with them is refined by NodeRestriction.
type nodeAuthorizer struct{}

// leaseNamespace holds the heartbeats of nodes.
const leaseNamespace = "kube-node-lease"

// nodeRules are what every node may do beside what is decided by name.
var nodeRules = []Rule{
	{Verbs: []string{"create", "update", "patch"}, Groups: []string{""}, Resources: []string{"nodes", "nodes/status"}},
	{Verbs: []string{"create", "delete"}, Groups: []string{""}, Resources: []string{"pods"}},
	{Verbs: []string{"update", "patch"}, Groups: []string{""}, Resources: []string{"pods/status"}},
	{Verbs: []string{"create", "update", "patch"}, Groups: []string{""}, Resources: []string{"events"}},
}

// Allowed implements Authorizer.
func (nodeAuthorizer) Allowed(a Access) (bool, string) {
	node, ok := nodeName(a.User)
	if !ok {
		return false, ""
	}
	reads := a.Verb == kubeapi.Get || a.Verb == kubeapi.List || a.Verb == kubeapi.Watch
	switch {
	case a.Kind == kinds.Leases:
		if a.Namespace != leaseNamespace {
			return false, fmt.Sprintf("can only access leases in the %q system namespace", leaseNamespace)
		}
		if a.Verb != kubeapi.Create && a.Name != node {
			return false, "node: can only access node lease with the same name as the requesting node"
		}
		return true, ""
	case a.Kind == kinds.Pods && a.Subresource == "" && reads:
		if a.Verb == kubeapi.Get || a.Selects("spec.nodeName") == node {
			return true, ""
		}
		return false, "can only list/watch pods with spec.nodeName field selector"
	case a.Kind == kinds.Nodes && a.Subresource == "" && reads:
		if a.Name == node || (a.Verb != kubeapi.Get && a.Selects("metadata.name") == node) {
			return true, ""
		}
		return false, fmt.Sprintf("node '%s' cannot read '%s', only its own Node object", node, a.Name)
	}
	return anyAllows(nodeRules, a), ""
}
