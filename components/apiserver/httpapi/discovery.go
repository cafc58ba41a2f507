package httpapi

import (
	"encoding/json"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/munnerz/goautoneg"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"example.com/kubeviz/engine/kinds"
)

// Release is the release of Kubernetes whose API is served.
const Release = "v1.37.2"

func (c *call) json(code int, contentType string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(c.w, err.Error(), http.StatusInternalServerError)
		return
	}
	c.send(code, contentType, append(data, '\n'))
}

// released is when that release was made.
const released = "2026-10-27T12:01:04Z"

// build is what this program was made from: there is no other commit to tell of, since the server's rules are its own.
var build = sync.OnceValue(func() (b struct{ commit, date string }) {
	b.commit, b.date = strings.Repeat("0", 40), released
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.commit = s.Value
			}
		}
	}
	return b
})

func (c *call) version() {
	c.json(http.StatusOK, typeJSON, version.Info{Major: "1", Minor: "37", EmulationMajor: "1", EmulationMinor: "37", MinCompatibilityMajor: "1", MinCompatibilityMinor: "36", GitVersion: Release,
		GitCommit: build().commit, GitTreeState: "clean", BuildDate: build().date, GoVersion: runtime.Version(), Compiler: "gc", Platform: "linux/amd64"})
}

// rootPaths lists what there is.
func (c *call) rootPaths() {
	paths := []string{"/api", "/api/v1", "/apis"}
	for _, g := range c.h.cfg.Resolver.Groups() {
		if g.Name == "" {
			continue
		}
		paths = append(paths, "/apis/"+g.Name)
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+g.Name+"/"+v.Name)
		}
	}
	paths = append(paths, "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version")
	slices.Sort(paths)
	c.json(http.StatusOK, typeJSON, metav1.RootPaths{Paths: paths})
}

// groups answers /api and /apis: all resources at once for clients that can read that, else the names of the versions or groups.
func (c *call) groups(path string) {
	for _, cl := range goautoneg.ParseAccept(c.r.Header.Get("Accept")) {
		if cl.Params["as"] == "APIGroupDiscoveryList" && cl.Params["g"] == "apidiscovery.k8s.io" && cl.Type == "application" && cl.SubType == "json" &&
			(cl.Params["v"] == "v2" || cl.Params["v"] == "v2beta1") {
			c.w.Header().Set("Vary", "Accept")
			c.json(http.StatusOK, "application/json;g=apidiscovery.k8s.io;v="+cl.Params["v"]+";as=APIGroupDiscoveryList", c.aggregated(path, cl.Params["v"]))
			return
		}
	}
	if path == "/api" {
		c.json(http.StatusOK, typeJSON, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: c.r.Host}}})
		return
	}
	l := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, g := range c.h.cfg.Resolver.Groups() {
		if g.Name != "" {
			l.Groups = append(l.Groups, apiGroup(g))
		}
	}
	c.json(http.StatusOK, typeJSON, l)
}

func apiGroup(g Group) metav1.APIGroup {
	out := metav1.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		out.Versions = append(out.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v.Name, Version: v.Name})
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

func (c *call) group(g Group) {
	out := apiGroup(g)
	out.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	c.json(http.StatusOK, typeJSON, out)
}

// subKind is the group, version and kind of a subresource; empty group and version where they are the resource's.
func subKind(s Served, sub kinds.Subresource) (group, version, kind string) {
	if sub.Kind == "" {
		return "", "", s.GVK().Kind
	}
	return sub.Group, sub.Version, sub.Kind
}

// resources answers /api/v1 and /apis/GROUP/VERSION.
func (c *call) resources(g Group, v Version) {
	gv := v.Name
	if g.Name != "" {
		gv = g.Name + "/" + v.Name
	}
	l := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: gv, APIResources: []metav1.APIResource{}}
	if g.Name != "" {
		l.APIVersion = "v1"
	}
	for _, s := range v.Resources {
		k := s.Kind
		l.APIResources = append(l.APIResources, metav1.APIResource{Name: k.Resource, SingularName: k.Singular, Namespaced: k.Namespaced, Kind: s.GVK().Kind, Verbs: s.Verbs(), ShortNames: k.Short,
			Categories: k.Categories})
		for _, sub := range k.Subresources {
			group, version, kind := subKind(s, sub)
			l.APIResources = append(l.APIResources, metav1.APIResource{Name: k.Resource + "/" + sub.Name, Namespaced: k.Namespaced, Group: group, Version: version, Kind: kind, Verbs: sub.Verbs})
		}
	}
	slices.SortFunc(l.APIResources, func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	c.json(http.StatusOK, typeJSON, l)
}

// aggregated is everything below /api or /apis in one document; v2beta1 has the same form.
func (c *call) aggregated(path, v string) apidiscovery.APIGroupDiscoveryList {
	l := apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/" + v}, Items: []apidiscovery.APIGroupDiscovery{}}
	for _, g := range c.h.cfg.Resolver.Groups() {
		if (g.Name == "") != (path == "/api") {
			continue
		}
		item := apidiscovery.APIGroupDiscovery{}
		item.Name = g.Name
		for _, ver := range g.Versions {
			vd := apidiscovery.APIVersionDiscovery{Version: ver.Name, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
			for _, s := range ver.Resources {
				vd.Resources = append(vd.Resources, resourceDiscovery(s))
			}
			item.Versions = append(item.Versions, vd)
		}
		l.Items = append(l.Items, item)
	}
	return l
}

func resourceDiscovery(s Served) apidiscovery.APIResourceDiscovery {
	k, gvk := s.Kind, s.GVK()
	d := apidiscovery.APIResourceDiscovery{Resource: k.Resource, ResponseKind: &metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}, Scope: apidiscovery.ScopeCluster,
		SingularResource: k.Singular, Verbs: s.Verbs(), ShortNames: k.Short, Categories: k.Categories}
	if k.Namespaced {
		d.Scope = apidiscovery.ScopeNamespace
	}
	for _, sub := range k.Subresources {
		group, version, kind := subKind(s, sub)
		if sub.Kind == "" {
			group, version = gvk.Group, gvk.Version
		}
		d.Subresources = append(d.Subresources, apidiscovery.APISubresourceDiscovery{Subresource: sub.Name, ResponseKind: &metav1.GroupVersionKind{Group: group, Version: version, Kind: kind}, Verbs: sub.Verbs})
	}
	return d
}
