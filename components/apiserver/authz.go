package apiserver

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/apiserver/bootstrap"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// access is who may do what, as this server's own cache has it: a change of a role counts on each server from when its watch has brought it.
type access struct {
	rbac  *authz.RBAC
	node  *authz.Node
	chain authz.Chain
}

// newAccess sets up what kubeadm does, Node before RBAC, behind the members of system:masters. It feeds on the cache from then on.
func newAccess(c *cache) *access {
	a := &access{rbac: authz.NewRBAC()}
	a.node = authz.NewNode(bootstrap.NodeRules(), func(namespace, name string) *corev1.Pod {
		pod, _ := c.held(kinds.Pods, namespace, name).(*corev1.Pod)
		return pod
	})
	a.chain = authz.Chain{{Name: authz.Masters, Authorizer: authz.Superusers{}}, {Name: "node", Authorizer: a.node}, {Name: "rbac", Authorizer: a.rbac}}
	for _, k := range []*kinds.Kind{kinds.ClusterRoles, kinds.ClusterRoleBindings, kinds.Roles, kinds.RoleBindings} {
		c.kinds[k].tell = func(now, before kinds.Object) {
			if now != nil {
				a.rbac.Set(now)
			} else {
				a.rbac.Remove(before)
			}
		}
	}
	for _, k := range []*kinds.Kind{kinds.Pods, kinds.PersistentVolumes, kinds.VolumeAttachments} {
		c.kinds[k].tell = a.node.Change
	}
	return a
}

// clear forgets all, when the cache begins anew.
func (a *access) clear() {
	a.rbac.Clear()
	a.node.Clear()
}

// attributes is what a request asks of the authorizers.
func (rq *request) attributes() *authz.Attributes {
	a := &authz.Attributes{User: rq.user, Verb: string(rq.Verb)}
	if rq.Kind == nil {
		a.Path = rq.Path
		return a
	}
	a.Group, a.Resource, a.Subresource, a.Name = rq.Kind.Group, rq.Kind.Resource, rq.Subresource, rq.Name
	switch {
	case rq.Kind.Namespaced:
		a.Namespace = rq.Namespace
	case rq.Kind == kinds.Namespaces: // a namespace counts as being in itself
		a.Namespace = rq.Name
	}
	a.Selects = func(field string) string { v, _ := exactField(rq.Request, field); return v }
	switch {
	case rq.Verb == kubeapi.Create && rq.Subresource == "":
		a.Name = "" // the name of a creation is in the body, which authorization does not see
		if rq.Kind == kinds.Namespaces {
			a.Namespace = ""
		}
	case rq.Verb == kubeapi.List || rq.Verb == kubeapi.Watch || rq.Verb == kubeapi.DeleteCollection:
		a.Name = a.Selects("metadata.name")
	}
	return a
}

// authorize refuses what nobody allowed. The note of the stage tells why a request was allowed.
func (s *Server) authorize(rq *request) error {
	a := rq.attributes()
	ok, why := s.access.chain.Authorize(a)
	if !ok {
		return forbidden(a, why)
	}
	rq.leave(allowance(a, why))
	return nil
}

// allowance is why something was allowed, in words: those of RBAC where it decided; the other authorizers give none.
func allowance(a *authz.Attributes, why string) string {
	if why != "" {
		return why
	}
	if authz.MemberOf(a.User, authz.Masters) {
		return fmt.Sprintf("allowed to Group %q, whatever the roles say", authz.Masters)
	}
	return "Node: allowed to " + a.User.Name
}

// markup is what errors must not carry unescaped, lest a browser takes them for a page (as pkg/endpoints/handlers/responsewriters).
var markup = strings.NewReplacer(`&`, "&amp;", `<`, "&lt;", `>`, "&gt;")

// forbidden is the refusal in Kubernetes' words.
func forbidden(a *authz.Attributes, why string) error {
	var text string
	if a.Path != "" {
		text = fmt.Sprintf("User %q cannot %s path %q", a.User.Name, a.Verb, a.Path)
	} else {
		resource := a.Resource
		if a.Subresource != "" {
			resource += "/" + a.Subresource
		}
		where := "at the cluster scope"
		if a.Namespace != "" {
			where = fmt.Sprintf("in the namespace %q", a.Namespace)
		}
		text = fmt.Sprintf("User %q cannot %s resource %q in API group %q %s", a.User.Name, a.Verb, resource, a.Group, where)
	}
	text = markup.Replace(text)
	if why != "" {
		text += ": " + why
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: a.Group, Resource: a.Resource}, a.Name, fmt.Errorf("%s", text))
}
