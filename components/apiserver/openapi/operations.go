package openapi

import (
	"cmp"
	"slices"
	"strings"

	"example.com/kubeviz/engine/kinds"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	gvkExtension = "x-kubernetes-group-version-kind"
	meta         = "io.k8s.apimachinery.pkg.apis.meta.v1."
)

// resource is what one resource of one group version can do.
type resource struct {
	gvk          schema.GroupVersionKind
	name         string
	namespaced   bool
	verbs        []string
	subresources []kinds.Subresource
	// defined: by a CustomResourceDefinition, so that there is no protobuf and no strategic merge.
	defined bool
}

var everyVerb = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// resources are all that the table serves: kinds, their faces, kinds that are never stored, metrics.
func resources() []resource {
	var out []resource
	for _, k := range slices.Concat(kinds.All(), kinds.Virtual()) {
		verbs := k.Verbs
		if verbs == nil {
			verbs = everyVerb
			if k.NoCollectionDelete {
				verbs = slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == "deletecollection" })
			}
		}
		r := resource{k.GVK(), k.Resource, k.Namespaced, verbs, k.Subresources, false}
		out = append(out, r)
		for _, f := range k.Faces {
			r.gvk = f.GVK()
			out = append(out, r)
		}
	}
	metrics := schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
	return append(out, resource{metrics.WithKind("NodeMetrics"), "nodes", false, []string{"get", "list"}, nil, false},
		resource{metrics.WithKind("PodMetrics"), "pods", true, []string{"get", "list"}, nil, false})
}

// root is the path of a group version: "api/v1", "apis/apps/v1". Its form is also that of names in the index of version 3.
func root(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

// action is a verb as an operation: its HTTP method and the first word of its id.
type action struct{ verb, method, word, extension string }

var (
	onItems      = []action{{"list", "get", "list", "list"}, {"create", "post", "create", "post"}, {"deletecollection", "delete", "delete", "deletecollection"}}
	onItem       = []action{{"get", "get", "read", "get"}, {"update", "put", "replace", "put"}, {"patch", "patch", "patch", "patch"}, {"delete", "delete", "delete", "delete"}}
	onSub        = append([]action{{"create", "post", "create", "post"}}, onItem...)
	patchTypes   = []string{"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"}
	bodyTypes    = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	streamTypes  = []string{"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"}
	descriptions = map[string]string{
		"pretty":               "If 'true', then the output is pretty printed.",
		"dryRun":               "When present, indicates that modifications should not be persisted. Valid values are: - All: all dry run stages will be processed",
		"fieldManager":         "fieldManager is a name associated with the actor or entity that is making these changes.",
		"fieldValidation":      "fieldValidation instructs the server on how to handle objects with unknown or duplicate fields. Valid values are: Ignore, Warn, Strict.",
		"force":                "Force is going to \"force\" Apply requests. It means user will re-acquire conflicting fields owned by other people.",
		"gracePeriodSeconds":   "The duration in seconds before the object should be deleted. Zero means delete immediately.",
		"propagationPolicy":    "Whether and how garbage collection will be performed: 'Orphan', 'Background' or 'Foreground'.",
		"orphanDependents":     "Deprecated: please use the PropagationPolicy. Should the dependent objects be orphaned.",
		"labelSelector":        "A selector to restrict the list of returned objects by their labels.",
		"fieldSelector":        "A selector to restrict the list of returned objects by their fields.",
		"limit":                "limit is a maximum number of responses to return for a list call.",
		"continue":             "The continue option should be set when retrieving more results from the server.",
		"resourceVersion":      "resourceVersion sets a constraint on what resource versions a request may be served from.",
		"resourceVersionMatch": "resourceVersionMatch determines how resourceVersion is applied to list calls.",
		"sendInitialEvents":    "`sendInitialEvents=true` may be set together with `watch=true`.",
		"allowWatchBookmarks":  "allowWatchBookmarks requests watch events with type \"BOOKMARK\".",
		"timeoutSeconds":       "Timeout for the list/watch call.",
		"watch":                "Watch for changes to the described resources and return them as a stream of add, update, and remove notifications.",
		"name":                 "name of the object",
		"namespace":            "object name and auth scope, such as for teams and projects",
	}
	booleans = []string{"force", "orphanDependents", "sendInitialEvents", "allowWatchBookmarks", "watch"}
	integers = []string{"gracePeriodSeconds", "limit", "timeoutSeconds"}
	writing  = []string{"dryRun", "fieldManager", "fieldValidation"}
	listing  = []string{"allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit", "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch"}
	deleting = []string{"dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"}
	queries  = map[string][]string{"list": listing, "create": writing, "update": writing, "patch": append([]string{"force"}, writing...), "delete": deleting,
		"deletecollection": append(slices.Clone(deleting), listing[:len(listing)-1]...)}
)

// form writes operations in one version of OpenAPI.
type form interface {
	parameter(in, name, typ, description string) any
	// operation fills in bodies: the model that is sent ("" for none) in the media types, and the one that is answered.
	operation(op map[string]any, sent string, types []string, answered string, answers []string)
}

// paths gives the operations of a resource. Models that they name are added to used.
func (r resource) paths(d *definitions, f form, used map[string]bool, out map[string]any) {
	base := "/" + root(r.gvk.GroupVersion()) + "/"
	if r.namespaced {
		if slices.Contains(r.verbs, "list") {
			r.path(d, f, used, out, base+r.name, onItems[:1], r.gvk, "", "ForAllNamespaces")
		}
		base += "namespaces/{namespace}/"
	}
	r.path(d, f, used, out, base+r.name, onItems, r.gvk, "", "")
	r.path(d, f, used, out, base+r.name+"/{name}", onItem, r.gvk, "", "")
	for _, s := range r.subresources {
		gvk := r.gvk
		if s.Kind != "" {
			gvk = schema.GroupVersionKind{Group: s.Group, Version: cmp.Or(s.Version, "v1"), Kind: s.Kind}
		}
		part := r
		part.verbs = s.Verbs
		part.path(d, f, used, out, base+r.name+"/{name}/"+s.Name, onSub, gvk, s.Name, "")
	}
}

func (r resource) path(d *definitions, f form, used map[string]bool, out map[string]any, path string, actions []action, gvk schema.GroupVersionKind, sub, suffix string) {
	item := map[string]any{}
	for _, a := range actions {
		if !slices.Contains(r.verbs, a.verb) {
			continue
		}
		word, between, extension := a.word, "", a.extension
		switch {
		case strings.HasSuffix(gvk.Kind, "Options"):
			word, between, extension = "connect", camel(a.method), "connect"
		case a.verb == "deletecollection":
			between = "Collection"
		}
		op := map[string]any{"operationId": word + camel(cmp.Or(r.gvk.Group, "core")) + camel(r.gvk.Version) + between + r.scope(suffix) + r.gvk.Kind + camel(sub) + suffix, "tags": []string{tag(r.gvk.GroupVersion())},
			"description": describe(a, r.gvk.Kind, sub), "x-kubernetes-action": extension,
			gvkExtension: map[string]string{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}}
		model := d.names[gvk]
		sent, answered, bodies := "", model, r.only(bodyTypes)
		types := bodies
		switch a.verb {
		case "list":
			answered = model + "List"
		case "create", "update":
			sent = model
		case "patch":
			sent, types = meta+"Patch", r.only(patchTypes)
		case "delete", "deletecollection":
			sent, answered = meta+"DeleteOptions", meta+"Status"
		}
		if strings.HasSuffix(gvk.Kind, "Options") || sub == "log" { // streams have no body of the API
			sent, answered = "", ""
		}
		answers := bodies
		if a.verb == "list" {
			answers = slices.Concat(bodies, r.only(streamTypes))
		}
		for _, m := range []string{sent, answered} {
			if m != "" {
				used[m] = true
			}
		}
		var parameters []any
		if sent != "" || a.verb == "list" {
			for _, q := range queries[a.verb] {
				parameters = append(parameters, f.parameter("query", q, typeOf(q), descriptions[q]))
			}
		}
		if len(parameters) > 0 {
			op["parameters"] = parameters
		}
		f.operation(op, sent, types, answered, answers)
		item[a.method] = op
	}
	if len(item) == 0 {
		return
	}
	var common []any
	for _, p := range []string{"name", "namespace"} {
		if strings.Contains(path, "{"+p+"}") {
			common = append(common, f.parameter("path", p, "string", descriptions[p]))
		}
	}
	item["parameters"] = append(common, f.parameter("query", "pretty", "string", descriptions["pretty"]))
	out[path] = item
}

// only leaves out the media types that a defined kind does not have.
func (r resource) only(types []string) []string {
	if !r.defined {
		return types
	}
	return slices.DeleteFunc(slices.Clone(types), func(t string) bool { return strings.Contains(t, "protobuf") || strings.Contains(t, "strategic") })
}

func (r resource) scope(suffix string) string {
	if r.namespaced && suffix == "" {
		return "Namespaced"
	}
	return ""
}

func typeOf(parameter string) string {
	switch {
	case slices.Contains(booleans, parameter):
		return "boolean"
	case slices.Contains(integers, parameter):
		return "integer"
	}
	return "string"
}

func describe(a action, kind, sub string) string {
	of := kind
	if sub != "" {
		of = sub + " of the specified " + kind
	}
	switch a.verb {
	case "list":
		return "list or watch objects of kind " + kind
	case "create":
		if sub == "" {
			return "create a " + kind
		}
		return "create " + of
	case "get":
		return "read " + specified(of, sub)
	case "update":
		return "replace " + specified(of, sub)
	case "patch":
		return "partially update " + specified(of, sub)
	case "deletecollection":
		return "delete collection of " + kind
	}
	return "delete a " + kind
}

func specified(of, sub string) string {
	if sub == "" {
		return "the specified " + of
	}
	return of
}

// camel writes a group, version or subresource as operation ids have it: "rbac.authorization.k8s.io" is RbacAuthorization, the empty group Core.
func camel(s string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimSuffix(s, ".k8s.io"), ".") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

func tag(gv schema.GroupVersion) string {
	group := gv.Group
	if group == "" {
		group = "core"
	}
	name := camel(group)
	return strings.ToLower(name[:1]) + name[1:] + "_" + gv.Version
}

// third is OpenAPI v3.
type third struct{}

func (third) parameter(in, name, typ, description string) any {
	p := map[string]any{"in": in, "name": name, "description": description, "schema": map[string]any{"type": typ, "uniqueItems": true}}
	if in == "path" {
		p["required"] = true
	}
	return p
}

func (third) operation(op map[string]any, sent string, types []string, answered string, answers []string) {
	content := func(model string, types []string) map[string]any {
		c := map[string]any{}
		for _, t := range types {
			c[t] = map[string]any{"schema": map[string]string{"$ref": "#/components/schemas/" + model}}
		}
		return c
	}
	if sent != "" {
		body := map[string]any{"content": content(sent, types)}
		if sent != meta+"DeleteOptions" {
			body["required"] = true
		} else {
			body["content"] = content(sent, bodyTypes)
		}
		op["requestBody"] = body
	}
	ok := map[string]any{"description": "OK"}
	if answered != "" {
		ok["content"] = content(answered, answers)
	}
	op["responses"] = map[string]any{"200": ok, "401": map[string]any{"description": "Unauthorized"}}
}

// second is OpenAPI v2.
type second struct{}

func (second) parameter(in, name, typ, description string) any {
	p := map[string]any{"in": in, "name": name, "description": description, "type": typ, "uniqueItems": true}
	if in == "path" {
		p["required"] = true
	}
	return p
}

func (second) operation(op map[string]any, sent string, types []string, answered string, answers []string) {
	if sent != "" {
		p, _ := op["parameters"].([]any)
		body := map[string]any{"in": "body", "name": "body", "schema": map[string]string{"$ref": "#/definitions/" + sent}}
		if sent != meta+"DeleteOptions" {
			body["required"] = true
		}
		op["parameters"] = append([]any{body}, p...)
		op["consumes"] = types
	}
	op["schemes"] = []string{"https"}
	ok := map[string]any{"description": "OK"}
	if answered != "" {
		ok["schema"] = map[string]string{"$ref": "#/definitions/" + answered}
		op["produces"] = answers
	}
	// The protobuf form of a document whose operations have no responses cannot be made.
	op["responses"] = map[string]any{"200": ok, "401": map[string]any{"description": "Unauthorized"}}
}
