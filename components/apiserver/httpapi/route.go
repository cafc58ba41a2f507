package httpapi

import (
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// Resolver knows what a server serves. It is asked at each request, so what it says may change while the cluster runs.
type Resolver interface {
	// Resolve finds a resource; ok is false where there is none.
	Resolve(gv schema.GroupVersion, resource string) (Served, bool)
	// Groups lists the groups in the order of discovery, each with its versions, the preferred one first. The group "" comes first.
	Groups() []Group
}

// Group of the API.
type Group struct {
	Name     string
	Versions []Version
}

// Version of a group with its resources, in the order of their names.
type Version struct {
	Name      string
	Resources []Served
}

// Served is a kind as it is served in one group and version.
type Served struct {
	Kind *kinds.Kind
	// Face is the group and version it is served in where that is not the kind's own.
	Face *kinds.Face
}

// GVK is the group, version and kind that clients see.
func (s Served) GVK() schema.GroupVersionKind {
	if s.Face != nil {
		return s.Face.GVK()
	}
	return s.Kind.GVK()
}

// verbs of a kind that is stored, in discovery's order; deletecollection is left out where the kind does not have it.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// Verbs of the resource itself, sorted.
func (s Served) Verbs() []string {
	switch {
	case s.Kind.Verbs != nil:
		return s.Kind.Verbs
	case s.Kind.NoCollectionDelete:
		return slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == "deletecollection" })
	}
	return verbs
}

// target is what a path of a resource names (pkg/endpoints/request/requestinfo.go).
type target struct {
	gv                                     schema.GroupVersion
	resource, namespace, name, subresource string
	more                                   []string // of a proxied path
	watch                                  bool     // the old form /watch/...
}

// resourcePath takes the path of a resource apart; ok is false for all other paths.
func resourcePath(path string) (t target, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.gv.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.gv.Group, t.gv.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if parts[0] == "watch" && len(parts) > 1 {
		t.watch, parts = true, parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 2 && (parts[2] != "status" && parts[2] != "finalize" || len(parts) > 3) {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource, t.more = parts[2], parts[3:]
	}
	return t, true
}

// route finds who answers.
func (c *call) route() {
	path := c.r.URL.Path
	if t, ok := resourcePath(path); ok {
		if slices.ContainsFunc(c.h.cfg.Resolver.Groups(), func(g Group) bool {
			return g.Name == t.gv.Group && slices.ContainsFunc(g.Versions, func(v Version) bool { return v.Name == t.gv.Version })
		}) {
			c.resource(t)
			return
		}
	}
	c.nonResource(strings.TrimSuffix(path, "/"))
}

// nonResource answers paths that name no resource.
func (c *call) nonResource(path string) {
	r := c.request()
	r.Verb, r.Path = kubeapi.Verb(strings.ToLower(c.r.Method)), c.r.URL.Path
	resp := c.do(r)
	if resp.Err != nil {
		c.fail(resp.Err)
		return
	}
	serve, ok := c.fixed(path, resp)
	switch {
	case !ok:
		http.NotFound(c.w, c.r)
	case c.r.Method != http.MethodGet && c.r.Method != http.MethodHead:
		c.w.Header().Set("Allow", "GET")
		http.Error(c.w, "405: Method Not Allowed", http.StatusMethodNotAllowed)
	default:
		serve()
	}
}

// fixed finds what a path holds.
func (c *call) fixed(path string, resp *kubeapi.Response) (serve func(), ok bool) {
	switch {
	case path == "":
		return c.rootPaths, true
	case path == "/api", path == "/apis":
		return func() { c.groups(path) }, true
	case path == "/version":
		return c.version, true
	case path == "/openapi", strings.HasPrefix(path, "/openapi/"):
		if c.h.cfg.OpenAPI == nil {
			return nil, false
		}
		return func() { c.h.cfg.OpenAPI.ServeHTTP(c.w, c.r) }, true
	}
	for _, h := range []string{"healthz", "livez", "readyz"} {
		if path == "/"+h || strings.HasPrefix(path, "/"+h+"/") {
			return c.health(h, strings.TrimPrefix(strings.TrimPrefix(path, "/"+h), "/"), resp.Checks)
		}
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, g := range c.h.cfg.Resolver.Groups() {
		switch {
		case len(parts) == 2 && parts[0] == "apis" && g.Name == parts[1] && g.Name != "":
			return func() { c.group(g) }, true
		case len(parts) == 3 && parts[0] == "apis" && g.Name == parts[1] && g.Name != "", len(parts) == 2 && parts[0] == "api" && g.Name == "":
			for _, v := range g.Versions {
				if v.Name == parts[len(parts)-1] {
					return func() { c.resources(g, v) }, true
				}
			}
		}
	}
	return nil, false
}

// notFound is the answer where a group has no such resource.
func notFound() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Details: &metav1.StatusDetails{},
		Message: "the server could not find the requested resource"}}
}

// notAllowed is the answer to a method that a path does not have.
func notAllowed() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed, Details: &metav1.StatusDetails{},
		Message: "the server does not allow this method on the requested resource"}}
}
