// Package authz decides who may do what: the members of system:masters, what nodes may by what their pods refer to (Node), and what roles and bindings give (RBAC), in this
// order, as kubeadm sets up kube-apiserver (--authorization-mode=Node,RBAC).
//
// Owns: Attributes, Chain, RBAC, Node. It holds no object but those it is told of, change by change, out of the API server's watch cache; a decision costs the rules of the caller's
// own bindings, however many roles, pods and nodes there are. Imports of ours: components/kubeapi, engine/kinds. Goroutines: the loop. Time: none.
package authz

import (
	"strings"

	"example.com/kubeviz/components/kubeapi"
)

// Attributes are what is asked: may User do Verb.
type Attributes struct {
	User kubeapi.User
	Verb string

	// Group to Name tell the resource; Name is empty for lists and creations, Namespace for what stands outside of namespaces.
	Group, Resource, Subresource, Namespace, Name string
	// Selects is the one value that a list or watch asks of a field; "" when it asks for none. It may be nil.
	Selects func(field string) string

	// Path of a question about no resource; the fields above are not looked at then.
	Path string
}

// selects is the value that is asked of a field.
func (a *Attributes) selects(field string) string {
	if a.Selects == nil {
		return ""
	}
	return a.Selects(field)
}

// Authorizer allows, or has no opinion. reason tells why, in the words of the real one; it may be empty.
type Authorizer interface {
	Authorize(a *Attributes) (allowed bool, reason string)
}

// Named is an Authorizer and what reasons call it.
type Named struct {
	Name string
	Authorizer
}

// Chain asks one after the other; the first that allows decides. A refusal carries the reasons of all (as pkg/authorization/union).
type Chain []Named

// Authorize implements Authorizer.
func (c Chain) Authorize(a *Attributes) (bool, string) {
	var reasons []string
	for _, one := range c {
		ok, why := one.Authorize(a)
		if ok {
			return true, why
		}
		if why != "" {
			reasons = append(reasons, one.Name+": "+why)
		}
	}
	return false, strings.Join(reasons, "\n")
}

// Groups and users that the system itself knows (as pkg/authentication/user).
const (
	Masters         = "system:masters"
	Authenticated   = "system:authenticated"
	Unauthenticated = "system:unauthenticated"
	Anonymous       = "system:anonymous"
	Nodes           = "system:nodes"
	nodePrefix      = "system:node:"
)

// Superusers allows members of system:masters everything, whatever roles exist: this is how the first role can be made.
type Superusers struct{}

// Authorize implements Authorizer.
func (Superusers) Authorize(a *Attributes) (bool, string) { return MemberOf(a.User, Masters), "" }

// MemberOf tells whether a user is in a group.
func MemberOf(u kubeapi.User, group string) bool {
	for _, g := range u.Groups {
		if g == group {
			return true
		}
	}
	return false
}

// NodeName is the node behind a user; ok is false for others (k/k pkg/auth/nodeidentifier). A node without a name has none.
func NodeName(u kubeapi.User) (name string, ok bool) {
	name, ok = strings.CutPrefix(u.Name, nodePrefix)
	return name, ok && MemberOf(u, Nodes)
}
