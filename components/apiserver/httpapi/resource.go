package httpapi

import (
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metainternalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/streams"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// resource answers a request for a resource.
func (c *call) resource(t target) {
	s, ok := c.h.cfg.Resolver.Resolve(t.gv, t.resource)
	if !ok || (t.namespace != "" && !s.Kind.Namespaced) {
		c.fail(notFound())
		return
	}
	sub, known := kinds.Subresource{}, true
	if t.subresource != "" {
		if sub, known = s.Kind.Subresource(t.subresource); !known || len(t.more) > 0 && t.subresource != "proxy" {
			c.fail(notFound())
			return
		}
	}
	if s.Kind.Deprecated != "" {
		c.warn(s.Kind.Deprecated)
	}
	r := c.request()
	r.Kind, r.Face, r.Namespace, r.Name, r.Subresource, r.Query = s.Kind, s.Face, t.namespace, t.name, t.subresource, c.query
	if r.Kind == kinds.Namespaces && r.Name != "" {
		r.Namespace = r.Name // authorization of a namespace asks within it
	}
	if r.Verb, ok = c.verb(t); !ok {
		c.fail(notAllowed())
		return
	}
	allowed := s.Verbs()
	if t.subresource != "" {
		allowed = sub.Verbs
	}
	if !slices.Contains(allowed, string(r.Verb)) {
		c.fail(notAllowed())
		return
	}
	if t.subresource == "proxy" && (s.Kind == kinds.Pods || s.Kind == kinds.Services) {
		c.proxied(r, t.more)
		return
	}
	if s.Kind == kinds.Pods && streams.Handles(t.subresource) {
		c.stream(r)
		return
	}
	c.ask(r, s, sub)
}

// verb of a request, by its method and whether it names an object.
func (c *call) verb(t target) (kubeapi.Verb, bool) {
	one := t.name != ""
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		watch := c.query.Get("watch")
		switch {
		case t.watch, !one && (watch == "true" || watch == "1"):
			return kubeapi.Watch, true
		case one:
			return kubeapi.Get, true
		}
		return kubeapi.List, true
	case http.MethodPost:
		return kubeapi.Create, !one || t.subresource != ""
	case http.MethodPut:
		return kubeapi.Update, one
	case http.MethodPatch:
		return kubeapi.Patch, one
	case http.MethodDelete:
		if one {
			return kubeapi.Delete, true
		}
		return kubeapi.DeleteCollection, true
	}
	return "", false
}

// options reads the query of a request into one of the option types (metainternalversion's codec is the only one that can).
func options[T runtime.Object](c *call, into T) (T, error) {
	if err := metascheme.ParameterCodec.DecodeParameters(c.query, metav1.SchemeGroupVersion, into); err != nil {
		return into, apierrors.NewBadRequest(err.Error())
	}
	return into, nil
}

func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// ask fills the request from query and body, carries it and writes the answer.
func (c *call) ask(r *kubeapi.Request, s Served, sub kinds.Subresource) {
	isAction := r.Subresource == "proxy"
	if err := c.negotiate(r, s, isAction); err != nil {
		c.fail(err)
		return
	}
	var err error
	switch {
	case isAction:
	case r.Verb == kubeapi.Get:
		var o *metav1.GetOptions
		if o, err = options(c, &metav1.GetOptions{}); err == nil {
			r.ResourceVersion = o.ResourceVersion
		}
	case r.Verb == kubeapi.List, r.Verb == kubeapi.Watch:
		err = c.listOptions(r)
	case r.Verb == kubeapi.Create, r.Verb == kubeapi.Update:
		err = c.object(r, s, sub)
	case r.Verb == kubeapi.Patch:
		err = c.patch(r, s)
	case r.Verb == kubeapi.Delete:
		err = c.deleteOptions(r)
	case r.Verb == kubeapi.DeleteCollection:
		if err = c.listOptions(r); err == nil {
			err = c.deleteOptions(r)
		}
	}
	if err != nil {
		c.fail(err)
		return
	}
	if r.Verb == kubeapi.Watch {
		c.watch(r, s)
		return
	}
	c.answer(r, s, c.do(r))
}

func (c *call) listOptions(r *kubeapi.Request) error {
	o := &metainternal.ListOptions{}
	if err := metascheme.ParameterCodec.DecodeParameters(c.query, metav1.SchemeGroupVersion, o); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if r.Verb == kubeapi.Watch {
		o.Watch = true
	}
	if r.Verb != kubeapi.DeleteCollection {
		if err := invalidOptions("ListOptions", metainternalvalidation.ValidateListOptions(o, true)); err != nil {
			return err
		}
	}
	if r.Name != "" { // the old form of a watch on one object
		return apierrors.NewBadRequest("watches of one object are asked for by the field selector metadata.name")
	}
	selected, err := fieldsOf(r, o.FieldSelector)
	if err != nil {
		return err
	}
	o.FieldSelector = selected
	r.Labels, r.Fields, r.Limit, r.Continue = o.LabelSelector, o.FieldSelector, o.Limit, o.Continue
	r.ResourceVersion, r.ResourceVersionMatch = o.ResourceVersion, o.ResourceVersionMatch
	r.SendBookmarks, r.SendInitialEvents = o.AllowWatchBookmarks, o.SendInitialEvents
	return nil
}

// fieldsOf is a field selector in the names of the kind itself, where the client used those of a face.
func fieldsOf(r *kubeapi.Request, sel fields.Selector) (fields.Selector, error) {
	if r.Face == nil || r.Face.Fields == nil || sel == nil {
		return sel, nil
	}
	return sel.Transform(func(name, value string) (string, string, error) {
		if name == "metadata.name" || name == "metadata.namespace" {
			return name, value, nil
		}
		own, ok := r.Face.Fields[name]
		if !ok {
			return "", "", apierrors.NewBadRequest("field label not supported: " + name)
		}
		return own, value, nil
	})
}

// object reads the body of a create or an update.
func (c *call) object(r *kubeapi.Request, s Served, sub kinds.Subresource) error {
	var validation string
	var dryRun []string
	if r.Verb == kubeapi.Create {
		o, err := options(c, &metav1.CreateOptions{})
		if err == nil {
			err = invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(o))
		}
		if err != nil {
			return err
		}
		validation, dryRun = o.FieldValidation, o.DryRun
		c.manager(r, o.FieldManager)
	} else {
		o, err := options(c, &metav1.UpdateOptions{})
		if err == nil {
			err = invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(o))
		}
		if err != nil {
			return err
		}
		validation, dryRun = o.FieldValidation, o.DryRun
		c.manager(r, o.FieldManager)
	}
	if validation == "" {
		validation = metav1.FieldValidationWarn
	}
	r.DryRun, r.FieldValidation = len(dryRun) > 0, validation
	want, into, err := bodyKind(s, sub)
	if err != nil {
		return err
	}
	mediaType := contentType(c.r)
	if _, ok := media()[mediaType]; !ok {
		return unsupportedMedia("application/json, application/yaml, application/vnd.kubernetes.protobuf")
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	warnings, err := decode(body, mediaType, validation, want, into)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		c.warn(w)
	}
	c.shift.In(into)
	obj, ok := into.(kinds.Object)
	if !ok {
		return apierrors.NewBadRequest(fmt.Sprintf("%T has no metadata", into))
	}
	if s.Face != nil && sub.Kind == "" {
		obj = s.Face.To(obj)
	}
	r.Object = obj
	return nil
}

// bodyKind is what a body has to hold.
func bodyKind(s Served, sub kinds.Subresource) (schema.GroupVersionKind, runtime.Object, error) {
	switch {
	case sub.Kind == "" && s.Face != nil:
		return s.GVK(), s.Face.New(), nil
	case sub.Kind == "":
		return s.GVK(), s.Kind.New(), nil
	}
	gvk := schema.GroupVersionKind{Group: sub.Group, Version: sub.Version, Kind: sub.Kind}
	if sub.Version == "" {
		gvk.Group, gvk.Version = s.GVK().Group, s.GVK().Version
	}
	obj, err := kinds.Scheme().New(gvk)
	if err != nil {
		return gvk, nil, apierrors.NewBadRequest(err.Error())
	}
	return gvk, obj, nil
}

func (c *call) manager(r *kubeapi.Request, name string) {
	if name != "" {
		r.Manager = name
	}
}

// patchTypes are the media types of patches.
var patchTypes = []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}

func (c *call) patch(r *kubeapi.Request, s Served) error {
	r.PatchType = types.PatchType(contentType(c.r))
	if c.r.Header.Get("Content-Type") == "" || !slices.Contains(patchTypes, r.PatchType) {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
			Details: &metav1.StatusDetails{}, Message: "415: Unsupported Media Type"}}
	}
	body, err := c.body()
	if err != nil {
		return err
	}
	o, err := options(c, &metav1.PatchOptions{})
	if err == nil {
		err = invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(o, r.PatchType))
	}
	if err != nil {
		return err
	}
	if r.FieldValidation = o.FieldValidation; r.FieldValidation == "" {
		r.FieldValidation = metav1.FieldValidationWarn
	}
	c.manager(r, o.FieldManager)
	r.DryRun, r.Force = len(o.DryRun) > 0, o.Force != nil && *o.Force
	like := runtime.Object(s.Kind.New())
	if s.Face != nil {
		like = s.Face.New()
	}
	r.Patch = c.shift.Patch(body, like)
	return nil
}

// deleteOptions come in the body, or else in the query.
func (c *call) deleteOptions(r *kubeapi.Request) error {
	body, err := c.body()
	if err != nil {
		return err
	}
	o := &metav1.DeleteOptions{}
	if len(body) > 0 {
		want := schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
		info, ok := media()[contentType(c.r)]
		if !ok {
			return unsupportedMedia("application/json, application/yaml, application/vnd.kubernetes.protobuf")
		}
		obj, gvk, err := info.Serializer.Decode(body, &want, o)
		if err != nil {
			return undecodable(err, want.Kind, gvk, body)
		}
		if obj != runtime.Object(o) {
			return apierrors.NewBadRequest("decoded object cannot be converted to DeleteOptions")
		}
	} else if err := metascheme.ParameterCodec.DecodeParameters(c.query, metav1.SchemeGroupVersion, o); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if c.query.Has("dryRun") && len(o.DryRun) == 0 {
		o.DryRun = c.query["dryRun"]
	}
	if err := invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(o)); err != nil {
		return err
	}
	o.TypeMeta = metav1.TypeMeta{}
	r.Delete, r.DryRun = o, len(o.DryRun) > 0
	return nil
}
