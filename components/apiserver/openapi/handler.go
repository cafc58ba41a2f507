package openapi

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	openapiv3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	prefix3 = "/openapi/v3"
	path2   = "/openapi/v2"
)

// Handler answers /openapi/v2, /openapi/v3 and what is below it.
type Handler struct {
	version     string
	definitions func() (*definitions, error)
	third       func() (*index, error)
	second      func() (*index, error)
}

// index is a document with those below it: the root of version 3 with one for each group version ("apis/apps/v1"), or version 2, which is all in one.
type index struct {
	document
	groups map[string]*document
}

// document is a text with its entity tag; the other encodings of it are made when they are first asked for.
type document struct {
	text, tag string
	binary    func() ([]byte, error)
	zipped    func() []byte
}

// New makes a handler; version is the server's ("v1.37.2"), which the documents name. Nothing is built before the first request.
func New(version string) *Handler {
	h := &Handler{version: version, definitions: sync.OnceValues(readDefinitions)}
	h.third = sync.OnceValues(h.buildThird)
	h.second = sync.OnceValues(h.buildSecond)
	return h
}

func newDocument(v any, binary func([]byte) ([]byte, error)) (document, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return document{}, err
	}
	d := document{text: string(text), tag: fmt.Sprintf("%X", sha512.Sum512(text))}
	if binary != nil {
		d.binary = sync.OnceValues(func() ([]byte, error) { return binary([]byte(d.text)) })
	}
	d.zipped = sync.OnceValue(func() []byte { return compress([]byte(d.text)) })
	return d, nil
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text) // a buffer takes all
	_ = z.Close()
	return b.Bytes()
}

func (h *Handler) info() map[string]string {
	return map[string]string{"title": "Kubernetes", "version": h.version}
}

func (h *Handler) buildThird() (*index, error) {
	d, err := h.definitions()
	if err != nil {
		return nil, err
	}
	by := map[schema.GroupVersion][]resource{}
	for _, r := range resources() {
		by[r.gvk.GroupVersion()] = append(by[r.gvk.GroupVersion()], r)
	}
	x := &index{groups: map[string]*document{}}
	for gv, served := range by {
		if x.groups[root(gv)], err = h.groupVersion(d, gv, served); err != nil {
			return nil, err
		}
	}
	return x, x.list()
}

// groupVersion is the document of version 3 of a group version.
func (h *Handler) groupVersion(d *definitions, gv schema.GroupVersion, served []resource) (*document, error) {
	paths, used := map[string]any{}, map[string]bool{}
	for _, r := range served {
		r.paths(d, third{}, used, paths)
	}
	// The kinds themselves are there even where no operation names them: clients look for them by kind.
	for _, r := range served {
		used[d.names[r.gvk]] = true
	}
	list := meta + "APIResourceList"
	used[list] = true
	op := map[string]any{"operationId": "get" + camel(cmp.Or(gv.Group, "core")) + camel(gv.Version) + "APIResources", "tags": []string{tag(gv)}, "description": "get available resources"}
	third{}.operation(op, "", nil, list, bodyTypes)
	paths["/"+root(gv)+"/"] = map[string]any{"get": op}
	schemas, err := closure(d.V3, slices.Collect(maps.Keys(used)))
	if err != nil {
		return nil, fmt.Errorf("OpenAPI of %s: %w", gv, err)
	}
	doc, err := newDocument(map[string]any{"openapi": "3.0.0", "info": h.info(), "paths": paths, "components": map[string]any{"schemas": schemas}}, binary3)
	if err != nil {
		return nil, fmt.Errorf("OpenAPI of %s: %w", gv, err)
	}
	return &doc, nil
}

// list makes the root out of the group versions.
func (x *index) list() (err error) {
	urls := map[string]any{}
	for name, doc := range x.groups {
		urls[name] = map[string]string{"serverRelativeURL": location(name, doc.tag)}
	}
	x.document, err = newDocument(map[string]any{"paths": urls}, nil)
	return err
}

func location(name, tag string) string {
	return prefix3 + "/" + name + "?" + url.Values{"hash": {tag}}.Encode()
}

func (h *Handler) buildSecond() (*index, error) {
	d, err := h.definitions()
	if err != nil {
		return nil, err
	}
	return h.swagger(d, resources())
}

// swagger is the document of version 2, which has nothing below it.
func (h *Handler) swagger(d *definitions, all []resource) (*index, error) {
	paths, used := map[string]any{}, map[string]bool{}
	for _, r := range all {
		r.paths(d, second{}, used, paths)
		used[d.names[r.gvk]] = true
	}
	schemas, err := closure(d.V2, slices.Collect(maps.Keys(used)))
	if err != nil {
		return nil, fmt.Errorf("OpenAPI v2: %w", err)
	}
	doc, err := newDocument(map[string]any{"swagger": "2.0", "info": h.info(), "paths": paths, "definitions": schemas}, binary2)
	return &index{document: doc}, err
}

func binary2(text []byte) ([]byte, error) {
	d, err := openapiv2.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

func binary3(text []byte) ([]byte, error) {
	d, err := openapiv3.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return proto.Marshal(d)
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { serve(h.third, h.second, w, r) }

func serve(third, second func() (*index, error), w http.ResponseWriter, r *http.Request) {
	switch name, below := strings.CutPrefix(r.URL.Path, prefix3+"/"); {
	case r.URL.Path == path2:
		d, err := second()
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		d.serve(w, r, "v2")
	case r.URL.Path == prefix3, below && name == "":
		x, err := third()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		x.serve(w, r, "")
	case below:
		x, err := third()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		d, ok := x.groups[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if hash := r.URL.Query().Get("hash"); hash != "" {
			if hash != d.tag {
				http.Redirect(w, r, location(name, d.tag), http.StatusMovedPermanently)
				return
			}
			// What has its hash in its name never changes.
			w.Header().Set("Cache-Control", "public, immutable")
		}
		d.serve(w, r, "v3")
	default:
		http.NotFound(w, r)
	}
}

// serve answers in the form that is asked for; protobuf is the name of the version in the media type of its binary form, empty where there is none.
func (d *document) serve(w http.ResponseWriter, r *http.Request, protobuf string) {
	header := w.Header()
	header.Add("Vary", "Accept")
	header.Add("Vary", "Accept-Encoding")
	kind, ok := negotiate(strings.Join(r.Header.Values("Accept"), ","), protobuf)
	if !ok {
		http.Error(w, "not acceptable", http.StatusNotAcceptable)
		return
	}
	header.Set("Content-Type", kind)
	header.Set("Etag", strconv.Quote(d.tag))
	body := []byte(nil)
	zip := takesGzip(strings.Join(r.Header.Values("Accept-Encoding"), ","))
	switch {
	case kind != "application/json":
		b, err := d.binary()
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		if body = b; zip {
			body = compress(b)
		}
	case zip:
		body = d.zipped()
	default:
		body = []byte(d.text)
	}
	if zip {
		header.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reads Accept-Encoding.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			return quality(parameters) > 0
		}
	}
	return false
}

// quality is the weight among a media type's or coding's parameters; 1 where there is none.
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(p), "q="); ok {
			q, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}

// negotiate picks the content type of the answer: the clause of the greatest weight that can be had, the first among equals.
func negotiate(accept, protobuf string) (string, bool) {
	if strings.TrimSpace(accept) == "" {
		return "application/json", true
	}
	best, weight := "", 0.0
	for clause := range strings.SplitSeq(accept, ",") {
		media, parameters, _ := strings.Cut(clause, ";")
		q := quality(parameters)
		if q <= weight {
			continue
		}
		switch media = strings.TrimSpace(media); {
		case media == "*/*", media == "application/*", media == "application/json":
			best, weight = "application/json", q
		case protobuf != "" && (media == "application/com.github.proto-openapi.spec."+protobuf+"@v1.0+protobuf" || media == "application/com.github.proto-openapi.spec."+protobuf+".v1.0+protobuf"):
			best, weight = "application/com.github.proto-openapi.spec."+protobuf+".v1.0+protobuf", q
		}
	}
	return best, best != ""
}
