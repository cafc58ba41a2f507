package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/authz"
	"example.com/kubeviz/components/kubeapi"
)

// A request can be made in the name of another user. Since 1.36 there are several ways to be allowed that (as pkg/endpoints/filters/impersonation): for one sort of user and one
// deed at a time ("constrained"), and the old way, once for all deeds. They are tried in this order; the first refusal is told when none allows it.
var impersonationModes = []struct {
	mode string // empty: the old way
	fits func(wanted, asks kubeapi.User) bool
}{
	{"associated-node", func(w, asks kubeapi.User) bool {
		node, ok := nodeUser(w.Name)
		_, _, account := accountUser(asks.Name)
		return onlyName(w) && ok && account && slices.Equal(asks.Extra[extraNodeName], []string{node})
	}},
	{"arbitrary-node", func(w, _ kubeapi.User) bool { _, ok := nodeUser(w.Name); return onlyName(w) && ok }},
	{"serviceaccount", func(w, _ kubeapi.User) bool { _, _, ok := accountUser(w.Name); return onlyName(w) && ok }},
	{"user-info", func(w, _ kubeapi.User) bool {
		_, node := nodeUser(w.Name)
		_, _, account := accountUser(w.Name)
		return !node && !account
	}},
	{"", func(_, _ kubeapi.User) bool { return true }},
}

// impersonate tells as whom the request of one user goes on that wants to be taken for another, or why it may not.
func (s *Server) impersonate(rq *request, asks, wanted kubeapi.User) (kubeapi.User, error) {
	var first error
	for _, m := range impersonationModes {
		if !m.fits(wanted, asks) {
			continue
		}
		im := impersonation{s: s, mode: m.mode, asks: asks}
		u, err := im.check(rq, wanted)
		if err == nil {
			return u, nil
		}
		if first == nil {
			first = err
		}
	}
	return kubeapi.User{}, first
}

// impersonation is one way of being allowed to.
type impersonation struct {
	s    *Server
	mode string
	asks kubeapi.User
}

func (im impersonation) constrained() bool { return im.mode != "" }

// ask makes an attribute of another user a question to the authorizers.
func (im impersonation) ask(a authz.Attributes) error {
	a.User = im.asks
	if a.Verb == "" {
		a.Verb = "impersonate"
		if im.constrained() {
			a.Verb += ":" + im.mode
			if im.mode == "associated-node" {
				a.Name = "*"
			}
		}
	}
	ok, why := im.s.access.chain.Authorize(&a)
	if ok {
		return nil
	}
	return forbidden(&a, why)
}

const authenticationGroup = "authentication.k8s.io"

// impersonateMany is how many values are worth asking about all of them at once.
const impersonateMany = 4

func (im impersonation) check(rq *request, wanted kubeapi.User) (kubeapi.User, error) {
	out := wanted
	group := ""
	if im.constrained() {
		group = authenticationGroup
		deed := *rq.attributes()
		deed.Verb = "impersonate-on:" + im.mode + ":" + deed.Verb
		if err := im.ask(deed); err != nil {
			return out, err
		}
	}
	name := authz.Attributes{Group: group, Resource: "users", Name: wanted.Name}
	if node, ok := nodeUser(wanted.Name); ok && im.constrained() {
		name.Resource, name.Name = "nodes", node
		out.Groups = []string{authz.Nodes}
	}
	if namespace, account, ok := accountUser(wanted.Name); ok {
		name.Resource, name.Namespace, name.Name = "serviceaccounts", namespace, account
		if len(wanted.Groups) == 0 {
			out.Groups = kubeapi.ServiceAccount(namespace, account).Groups[:2]
		}
	}
	if err := im.ask(name); err != nil {
		return out, err
	}
	if wanted.UID != "" {
		if err := im.ask(authz.Attributes{Group: authenticationGroup, Resource: "uids", Name: wanted.UID}); err != nil {
			return out, err
		}
	}
	if err := im.groups(group, wanted.Groups); err != nil {
		return out, err
	}
	if err := im.extra(wanted.Extra); err != nil {
		return out, err
	}
	if out.Name == authz.Anonymous {
		out.Groups = withGroup(out.Groups, authz.Unauthenticated)
	} else if !slices.Contains(out.Groups, authz.Unauthenticated) {
		out.Groups = withGroup(out.Groups, authz.Authenticated)
	}
	return out, nil
}

// refuse is a refusal that no role can change.
func (im impersonation) refuse(a authz.Attributes, why string) error {
	a.User, a.Verb = im.asks, "impersonate:"+im.mode
	return forbidden(&a, why)
}

func (im impersonation) groups(apiGroup string, groups []string) error {
	a := authz.Attributes{Group: apiGroup, Resource: "groups"}
	if im.constrained() {
		if slices.Contains(groups, "") {
			return im.refuse(a, "impersonating the empty string group is not allowed")
		}
		if slices.Contains(groups, authz.Masters) {
			a.Name = authz.Masters
			return im.refuse(a, "impersonating the system:masters group is not allowed")
		}
		if len(groups) >= impersonateMany {
			a.Name = "*"
			if im.ask(a) == nil {
				return nil
			}
		}
	}
	for _, g := range groups {
		a.Name = g
		if err := im.ask(a); err != nil {
			return err
		}
	}
	return nil
}

func (im impersonation) extra(extra map[string][]string) error {
	a := authz.Attributes{Group: authenticationGroup, Resource: "userextras"}
	count := 0
	keys := slices.Sorted(maps.Keys(extra))
	for _, key := range keys {
		count += len(extra[key])
		if im.constrained() {
			if why := badExtra(key, extra[key]); why != "" {
				return im.refuse(a, why)
			}
		}
	}
	if im.constrained() && (len(extra) >= impersonateMany || count >= impersonateMany) {
		a.Subresource, a.Name = "*", "*"
		if im.ask(a) == nil {
			return nil
		}
	}
	for _, key := range keys {
		a.Subresource = key
		for _, v := range extra[key] {
			a.Name = v
			if err := im.ask(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// badExtra tells what is wrong with one extra attribute.
func badExtra(key string, values []string) string {
	if key == "" {
		return "impersonating the empty string key in extra is not allowed"
	}
	if err := utilvalidation.IsDomainPrefixedPath(field.NewPath("extra", "key"), key).ToAggregate(); err != nil {
		return fmt.Sprintf("impersonating an invalid key in extra is not allowed: %v", err)
	}
	switch {
	case key != strings.ToLower(key):
		return fmt.Sprintf("impersonating a non-lowercase key in extra is not allowed: %q", key)
	case len(values) == 0:
		return "impersonating empty values in extra is not allowed"
	case slices.Contains(values, ""):
		return "impersonating the empty string value in extra is not allowed"
	}
	return ""
}

func onlyName(u kubeapi.User) bool { return u.UID == "" && len(u.Groups) == 0 && len(u.Extra) == 0 }

// nodeUser is the node that a user's name stands for.
func nodeUser(name string) (string, bool) {
	node, ok := strings.CutPrefix(name, "system:node:")
	return node, ok && len(apivalidation.NameIsDNSSubdomain(node, false)) == 0
}

// accountUser is the service account that a user's name stands for.
func accountUser(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && len(apivalidation.ValidateNamespaceName(namespace, false)) == 0 && len(apivalidation.ValidateServiceAccountName(name, false)) == 0
}
