package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/munnerz/goautoneg"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metascheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
)

// output is the form of an answer that was settled with the client.
type output struct {
	media  string
	as     string // "Table", "PartialObjectMetadata", "PartialObjectMetadataList"; empty: the object itself
	group  schema.GroupVersion
	pretty bool
	rows   metav1.IncludeObjectPolicy
}

var plainJSON = output{media: typeJSON}

// negotiate settles the form of the answer: the first clause of Accept that can be served (pkg/endpoints/handlers/negotiation).
func (c *call) negotiate(r *kubeapi.Request, s Served, action bool) error {
	reads := r.Verb == kubeapi.Get || r.Verb == kubeapi.List || r.Verb == kubeapi.Watch
	out, ok := accepted(c.r.Header.Get("Accept"), r.Verb, s.Kind.Custom == nil)
	if !ok && !action {
		return notAcceptable(reads)
	}
	if ok {
		c.out = out
	}
	c.out.pretty = pretty(c.r)
	if c.out.as == "Table" {
		o := &metav1.TableOptions{}
		if err := metascheme.ParameterCodec.DecodeParameters(c.query, metav1.SchemeGroupVersion, o); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		c.out.rows = o.IncludeObject
		switch o.IncludeObject {
		case "":
			c.out.rows = metav1.IncludeMetadata
		case metav1.IncludeMetadata, metav1.IncludeNone, metav1.IncludeObject:
		default:
			return apierrors.NewBadRequest("unrecognized includeObject value: \"" + string(o.IncludeObject) + "\"")
		}
	}
	return nil
}

// accepted finds the first clause that can be served.
func accepted(header string, verb kubeapi.Verb, binary bool) (output, bool) {
	if header == "" {
		return plainJSON, true
	}
	for _, cl := range goautoneg.ParseAccept(header) {
		out := output{media: cl.Type + "/" + cl.SubType}
		switch {
		case cl.Type == "*" && cl.SubType == "*", cl.Type == "application" && cl.SubType == "*":
			out.media = typeJSON
		case out.media != typeJSON && out.media != typeYAML && out.media != typeProto:
			continue
		}
		if out.media == typeProto && !binary && cl.Params["as"] == "" { // objects of defined kinds have no such form
			continue
		}
		if verb == kubeapi.Watch && out.media == typeYAML {
			continue
		}
		if as := cl.Params["as"]; as != "" {
			out.as, out.group = as, schema.GroupVersion{Group: cl.Params["g"], Version: cl.Params["v"]}
			if out.group.Group != metav1.GroupName || out.group.Version != "v1" && out.group.Version != "v1beta1" {
				continue
			}
			switch {
			case as == "Table" && out.media != typeProto:
			case as == "PartialObjectMetadata" && verb != kubeapi.List, as == "PartialObjectMetadataList" && verb == kubeapi.List:
			default:
				continue
			}
		}
		return out, true
	}
	return output{}, false
}

func notAcceptable(bool) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"}}
}

// pretty tells whether people read the answer: they say so, or their program is made for that.
func pretty(r *http.Request) bool {
	if p := r.URL.Query().Get("pretty"); p != "" {
		b, err := strconv.ParseBool(p)
		return err == nil && b
	}
	return slices.ContainsFunc([]string{"curl", "Wget", "Mozilla/5.0"}, func(p string) bool { return strings.HasPrefix(r.UserAgent(), p) })
}

// answer writes what came of a request.
func (c *call) answer(r *kubeapi.Request, s Served, resp *kubeapi.Response) {
	if resp.Err != nil {
		c.fail(resp.Err)
		return
	}
	code := http.StatusOK
	if r.Verb == kubeapi.Create || resp.Created {
		code = http.StatusCreated
	}
	switch {
	case resp.Status != nil:
		c.status(code, resp.Status)
	case r.Verb == kubeapi.List, r.Verb == kubeapi.DeleteCollection:
		c.list(s, resp)
	case resp.Object != nil:
		c.one(code, s, resp.Object)
	case resp.Deleted != nil && (r.Verb != kubeapi.Delete || returnsDeleted(s.Kind)): // a write that takes the last finalizer off is answered with what it wrote
		c.one(code, s, resp.Deleted)
	case resp.Deleted != nil:
		c.status(code, &metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Name: resp.Deleted.GetName(), Group: s.GVK().Group, Kind: s.Kind.Resource, UID: resp.Deleted.GetUID()}})
	default:
		c.status(code, &metav1.Status{Status: metav1.StatusSuccess, Code: int32(code)})
	}
}

// answersDeleted are the kinds whose deletion is answered with the object's last state; others answer with a Status (ReturnDeletedObject in k/k pkg/registry).
var answersDeleted = []*kinds.Kind{kinds.Pods, kinds.Namespaces, kinds.Services, kinds.ServiceAccounts, kinds.PersistentVolumes, kinds.PersistentVolumeClaims, kinds.PodTemplates, kinds.ResourceQuotas,
	kinds.StorageClasses, kinds.VolumeAttachments, kinds.VolumeAttributesClasses, kinds.CSIDrivers, kinds.CSINodes}

func returnsDeleted(k *kinds.Kind) bool { return slices.Contains(answersDeleted, k) }

// seen is an object as the client sees it: in its face, at its times, saying what it is.
func (c *call) seen(s Served, obj kinds.Object) runtime.Object {
	gvk := s.GVK()
	if _, is := obj.(*kinds.Custom); is && s.Kind.Custom != nil {
		return typed(c.shift.Out(obj), gvk)
	}
	if k, err := kinds.Of(obj); err != nil || k != s.Kind {
		if gvks, _, err := kinds.Scheme().ObjectKinds(obj); err == nil {
			gvk = gvks[0]
		}
	} else if s.Face != nil {
		obj = s.Face.From(obj)
	}
	return typed(c.shift.Out(obj), gvk)
}

func (c *call) one(code int, s Served, obj kinds.Object) {
	switch c.out.as {
	case "Table":
		c.write(code, c.table(s, obj, true))
	case "PartialObjectMetadata":
		c.write(code, c.partial(obj))
	default:
		c.write(code, c.seen(s, obj))
	}
}

// partial is an object's metadata alone.
func (c *call) partial(obj kinds.Object) runtime.Object {
	p := meta.AsPartialObjectMetadata(obj)
	p.SetGroupVersionKind(c.out.group.WithKind("PartialObjectMetadata"))
	return c.shift.Out(p)
}

func (c *call) list(s Served, resp *kubeapi.Response) {
	lm := metav1.ListMeta{ResourceVersion: resp.ResourceVersion, Continue: resp.Continue, RemainingItemCount: resp.RemainingItemCount}
	switch c.out.as {
	case "Table":
		c.write(http.StatusOK, c.tableOfList(s, resp.Items, lm))
		return
	case "PartialObjectMetadataList":
		l := &metav1.PartialObjectMetadataList{ListMeta: lm, Items: make([]metav1.PartialObjectMetadata, len(resp.Items))}
		l.SetGroupVersionKind(c.out.group.WithKind("PartialObjectMetadataList"))
		for i, o := range resp.Items {
			l.Items[i] = *c.partial(o).(*metav1.PartialObjectMetadata)
			l.Items[i].TypeMeta = metav1.TypeMeta{}
		}
		c.write(http.StatusOK, l)
		return
	}
	items := make([]runtime.Object, len(resp.Items))
	for i, o := range resp.Items {
		if s.Face != nil {
			o = s.Face.From(o)
		}
		items[i] = c.shift.Out(o)
	}
	if s.Kind.Custom != nil {
		c.write(http.StatusOK, customListOf(s, items, lm))
		return
	}
	l, err := list(s.GVK(), items, lm)
	if err != nil {
		c.fail(apierrors.NewInternalError(err))
		return
	}
	c.write(http.StatusOK, l)
}

func (c *call) status(code int, st *metav1.Status) {
	st = st.DeepCopy()
	st.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	c.write(code, st)
}

// fail writes an error as its Status.
func (c *call) fail(err error) {
	var api apierrors.APIStatus
	st := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if errors.As(err, &api) {
		st = api.Status()
	}
	if st.Code == 0 {
		st.Code = http.StatusInternalServerError
	}
	if st.Details != nil && st.Details.RetryAfterSeconds > 0 {
		c.w.Header().Set("Retry-After", strconv.Itoa(int(st.Details.RetryAfterSeconds)))
	}
	if cause, ok := apierrors.StatusCause(err, metav1.CauseTypeUnexpectedServerResponse); ok && st.Code == http.StatusTooManyRequests {
		http.Error(c.w, cause.Message, http.StatusTooManyRequests) // written before anything knows of Statuses, in the real server as well
		return
	}
	c.status(int(st.Code), &st)
}

// gzipFrom is the size from which an answer is compressed for clients that can read it (pkg/endpoints/handlers/responsewriters).
const gzipFrom = 128 << 10

// write sends an object in the settled form.
func (c *call) write(code int, obj runtime.Object) {
	mediaType := c.out.media
	data, err := encode(obj, mediaType, c.out.pretty)
	if err != nil { // no protobuf form, for one
		mediaType = typeJSON
		if data, err = json.Marshal(obj); err != nil {
			http.Error(c.w, "cannot encode the answer: "+err.Error(), http.StatusInternalServerError)
			return
		}
	}
	c.send(code, mediaType, data)
}

// send writes bytes, compressed where that is asked for and pays.
func (c *call) send(code int, contentType string, data []byte) {
	h := c.w.Header()
	h.Set("Content-Type", contentType)
	if len(data) > gzipFrom && strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
		_, _ = z.Write(data)                            // a buffer takes everything
		_ = z.Close()
		data = b.Bytes()
		h.Set("Content-Encoding", "gzip")
		h.Add("Vary", "Accept-Encoding")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(code)
	if c.r.Method != http.MethodHead {
		_, _ = c.w.Write(data) // a client that has gone is noticed by the server
	}
}
