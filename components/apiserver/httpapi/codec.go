package httpapi

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"reflect"
	"slices"
	"sync"

	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/yaml"

	"example.com/kubeviz/engine/kinds"
)

// Media types that bodies and answers have.
const (
	typeJSON  = "application/json"
	typeYAML  = "application/yaml"
	typeProto = "application/vnd.kubernetes.protobuf"
)

// media holds the readers of bodies: those that refuse unknown and duplicate fields, and those that pass over them.
var media = sync.OnceValue(func() map[string]runtime.SerializerInfo {
	m := map[string]runtime.SerializerInfo{}
	for _, info := range serializer.NewCodecFactory(kinds.Scheme()).SupportedMediaTypes() {
		m[info.MediaType] = info
	}
	return m
})

var proto = sync.OnceValue(func() *protobuf.Serializer { return protobuf.NewSerializer(kinds.Scheme(), kinds.Scheme()) })

func warningHeader(text string) (string, error) { return utilnet.NewWarningHeader(299, "-", text) }

// contentType is the media type of a request's body, without parameters; a missing one is JSON.
func contentType(r *http.Request) string {
	h := r.Header.Get("Content-Type")
	if h == "" {
		return typeJSON
	}
	t, _, err := mime.ParseMediaType(h)
	if err != nil {
		return h
	}
	return t
}

// registeredIn is the scheme of the real server, as its errors name it.
const registeredIn = "pkg/api/legacyscheme/scheme.go:30"

// decode reads a body into an object of the kind of into (pkg/endpoints/handlers: create.go, update.go, rest.go transformDecodeError). Unknown and duplicate fields are refused with
// Strict, and returned as warnings with Warn.
func decode(body []byte, mediaType, validation string, want schema.GroupVersionKind, into runtime.Object) (warnings []string, err error) {
	info, ok := media()[mediaType]
	if !ok {
		return nil, unsupportedMedia("application/json, application/yaml, application/vnd.kubernetes.protobuf")
	}
	if c, ok := into.(*kinds.Custom); ok {
		return decodeCustom(body, mediaType, validation, want, c)
	}
	reader := info.StrictSerializer
	if validation == metav1.FieldValidationIgnore || reader == nil {
		reader = info.Serializer
	}
	obj, gvk, err := reader.Decode(body, &want, into)
	if err != nil {
		strict, isStrict := runtime.AsStrictDecodingError(err)
		switch {
		case isStrict && obj != nil && validation == metav1.FieldValidationWarn:
			for _, e := range strict.Errors() {
				warnings = append(warnings, e.Error())
			}
		case runtime.IsNotRegisteredError(err) && gvk != nil && gvk.Group == want.Group && slices.Contains(formerVersions[gvk.Group], gvk.Version):
			return nil, otherVersion(gvk.GroupVersion(), want.GroupVersion())
		case runtime.IsNotRegisteredError(err) && gvk != nil:
			return nil, undecodable(runtime.NewNotRegisteredErrForKind(registeredIn, *gvk), want.Kind, gvk, body)
		default:
			return nil, undecodable(err, want.Kind, gvk, body)
		}
	}
	if reflect.TypeOf(obj) != reflect.TypeOf(into) {
		if gvk.Kind == want.Kind && gvk.GroupVersion() != want.GroupVersion() {
			return nil, otherVersion(gvk.GroupVersion(), want.GroupVersion())
		}
		return nil, undecodable(fmt.Errorf("converting (%s.%s) to (%s.%s): unknown conversion", gvk.Version, gvk.Kind, internalName(want.Group), want.Kind), want.Kind, gvk, body)
	}
	if gvk.GroupVersion() != want.GroupVersion() {
		return nil, otherVersion(gvk.GroupVersion(), want.GroupVersion())
	}
	return warnings, nil
}

// formerVersions are those that the real server can still read, and serves no more.
var formerVersions = map[string][]string{
	"admissionregistration.k8s.io": {"v1alpha1", "v1beta1"},
	"apps":                         {"v1beta1", "v1beta2"},
	"authentication.k8s.io":        {"v1alpha1", "v1beta1"},
	"authorization.k8s.io":         {"v1beta1"},
	"autoscaling":                  {"v2beta1", "v2beta2"},
	"batch":                        {"v1beta1"},
	"certificates.k8s.io":          {"v1alpha1", "v1beta1"},
	"coordination.k8s.io":          {"v1alpha2", "v1beta1"},
	"discovery.k8s.io":             {"v1beta1"},
	"events.k8s.io":                {"v1beta1"},
	"networking.k8s.io":            {"v1beta1"},
	"node.k8s.io":                  {"v1alpha1", "v1beta1"},
	"policy":                       {"v1beta1"},
	"rbac.authorization.k8s.io":    {"v1alpha1", "v1beta1"},
	"scheduling.k8s.io":            {"v1alpha1", "v1beta1"},
	"storage.k8s.io":               {"v1alpha1", "v1beta1"},
}

func otherVersion(got, want schema.GroupVersion) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got, want))
}

// internalName is the Go package of a group's internal types, as conversion errors print it.
func internalName(group string) string {
	if group == "" {
		return "core"
	}
	for i, r := range group {
		if r == '.' {
			return group[:i]
		}
	}
	return group
}

// undecodable is the answer to a body that is no object of the kind.
func undecodable(err error, kind string, gvk *schema.GroupVersionKind, body []byte) error {
	if gvk != nil && gvk.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summary(body)))
}

// summary is the beginning of a body, as errors quote it: text where it looks like text, else bytes.
func summary(body []byte) string {
	const most = 30
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{' && len(body) > most:
		return string(body[:most]) + " ..."
	case body[0] == '{':
		return string(body)
	case len(body) > most:
		return fmt.Sprintf("%x", body[:most]) + " ..."
	}
	return fmt.Sprintf("%x", body)
}

func unsupportedMedia(accepted string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + accepted}}
}

// typed is a copy of obj, one level deep, that says what it is; all else stays shared.
func typed(obj runtime.Object, gvk schema.GroupVersionKind) runtime.Object {
	from := reflect.ValueOf(obj).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	out := to.Interface().(runtime.Object)
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return out
}

// encode writes an object that says what it is.
func encode(obj runtime.Object, mediaType string, pretty bool) ([]byte, error) {
	switch mediaType {
	case typeProto:
		var b bytes.Buffer
		err := proto().Encode(obj, &b)
		return b.Bytes(), err
	case typeYAML:
		return yaml.Marshal(obj)
	}
	if pretty {
		b, err := json.MarshalIndent(obj, "", "  ")
		return b, err
	}
	b, err := json.Marshal(obj)
	return append(b, '\n'), err
}

// list makes the typed list of a kind.
func list(gvk schema.GroupVersionKind, items []runtime.Object, lm metav1.ListMeta) (runtime.Object, error) {
	l, err := kinds.Scheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, err
	}
	into := reflect.ValueOf(l).Elem().FieldByName("Items")
	if !into.IsValid() {
		return nil, errors.New("list without items")
	}
	all := reflect.MakeSlice(into.Type(), len(items), len(items))
	for i, o := range items {
		all.Index(i).Set(reflect.ValueOf(o).Elem())
	}
	into.Set(all)
	l.GetObjectKind().SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	acc, err := meta.ListAccessor(l)
	if err != nil {
		return nil, err
	}
	acc.SetResourceVersion(lm.ResourceVersion)
	acc.SetContinue(lm.Continue)
	acc.SetRemainingItemCount(lm.RemainingItemCount)
	return l, nil
}

// watchFrame writes one event of a watch.
func watchFrame(kind string, obj runtime.Object, mediaType string) ([]byte, error) {
	raw, err := encode(obj, mediaType, false)
	if err != nil {
		return nil, err
	}
	e := &metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: raw}}
	if mediaType != typeProto {
		b, err := json.Marshal(e)
		return append(b, '\n'), err
	}
	data, err := e.Marshal() // the message alone, not in the envelope that objects have
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...), nil
}
