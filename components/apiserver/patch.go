package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"example.com/kubeviz/components/apiserver/internal/jsonpatch"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// Limits of patches (fidelity API-7, pitfalls K4).
const patchBytesMax = 3 * 1024 * 1024

// patch is PATCH: the stored version as JSON, changed, and then an update like any other. It is made again on a newer version when somebody was faster.
func (s *Server) patch(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	if len(rq.Patch) > patchBytesMax {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", patchBytesMax))
	}
	if err := rq.checkPatch(); err != nil {
		return nil, err
	}
	if rq.PatchType == types.ApplyPatchType {
		return s.apply(p, rq)
	}
	return s.update(p, rq, patchTries, func(old kinds.Object) (kinds.Object, error) {
		obj, err := rq.patched(old)
		if err == nil {
			err = rq.checkNames(obj)
		}
		if err != nil {
			return nil, err
		}
		return s.prepareUpdate(p, rq, obj, old)
	}, rq.res.Gone)
}

// checkPatch refuses what is no patch, or comes with options that do not go together.
func (rq *request) checkPatch() error {
	switch rq.PatchType {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType:
		if rq.PatchType == types.StrategicMergePatchType && rq.Kind.Custom != nil {
			err := unsupportedPatch().(*apierrors.StatusError)
			err.ErrStatus.Message = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
			return err
		}
	default:
		return unsupportedPatch()
	}
	o := metav1.PatchOptions{FieldManager: rq.Manager, FieldValidation: rq.FieldValidation}
	if rq.Force {
		o.Force = &rq.Force
	}
	if errs := metavalidation.ValidatePatchOptions(&o, rq.PatchType); len(errs) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "PatchOptions"}, "", errs)
	}
	if rq.PatchType != types.ApplyPatchType && !json.Valid(rq.Patch) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}

// checkNames brings a patched object's name and namespace together with those on the request.
func (rq *request) checkNames(obj kinds.Object) error {
	switch ns := obj.GetNamespace(); {
	case !rq.Kind.Namespaced:
		obj.SetNamespace("")
	case ns == "":
		obj.SetNamespace(rq.Namespace)
	case ns != rq.Namespace:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	switch name := obj.GetName(); name {
	case rq.Name:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", rq.Name))
	default:
		return apierrors.NewBadRequest("the name of the object (" + name + ") does not match the name on the URL (" + rq.Name + ")")
	}
}

func unsupportedPatch() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Details: &metav1.StatusDetails{}, Message: "415: Unsupported Media Type"}}
}

// rejected is the answer to a patch that does not apply to the object.
func rejected() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Details: &metav1.StatusDetails{}, Message: "the server rejected our request due to an error in our request"}}
}

// form is what a patch is written against: the object in the version that the client sees, and the way back.
type form struct {
	obj  kinds.Object
	make func() kinds.Object
	back func(kinds.Object) kinds.Object
}

func (rq *request) form(old kinds.Object) form {
	if f := rq.Face; f != nil {
		obj := f.From(old)
		obj.GetObjectKind().SetGroupVersionKind(f.GVK())
		return form{obj, f.New, f.To}
	}
	obj := shallow(old)
	obj.GetObjectKind().SetGroupVersionKind(rq.Kind.GVK())
	return form{obj, rq.Kind.New, func(o kinds.Object) kinds.Object { return o }}
}

// patched applies the request's patch to old.
func (rq *request) patched(old kinds.Object) (kinds.Object, error) {
	rq.warnings = nil
	f := rq.form(old)
	// Managed fields are large as JSON and seldom patched: they stay out of it unless the patch names them.
	lean := rq.PatchType == types.StrategicMergePatchType && !bytes.Contains(rq.Patch, []byte("managedFields"))
	if lean {
		f.obj.SetManagedFields(nil)
	}
	obj := f.make()
	var err error
	if rq.PatchType == types.StrategicMergePatchType {
		err = rq.strategic(f.obj, obj)
	} else {
		err = rq.jsonPatched(f.obj, obj)
	}
	if err != nil {
		return nil, err
	}
	out := f.back(obj)
	clearType(out)
	if lean && out.GetManagedFields() == nil {
		out.SetManagedFields(slices.Clone(old.GetManagedFields()))
	}
	return out, nil
}

// strict reports whether fields that the kind does not have, or that come twice, are to be found.
func (rq *request) strict() bool {
	return rq.FieldValidation == kubeapi.FieldsStrict || rq.FieldValidation == kubeapi.FieldsWarn
}

// unknown is what becomes of a patch with such fields: refused, or accepted with warnings. shown is the patch, or what it made, as the refusal prints it.
func (rq *request) unknown(shown string, errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	if rq.FieldValidation == kubeapi.FieldsWarn {
		for _, e := range errs {
			rq.warnings = append(rq.warnings, e.Error())
		}
		return nil
	}
	return badPatch(shown, runtime.NewStrictDecodingError(errs))
}

// badPatch is the refusal of a patch whose result is no object.
func badPatch(shown string, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), shown, err.Error())})
}

// jsonPatched applies a JSON or a merge patch (as pkg/endpoints/handlers/patch.go: jsonPatcher).
func (rq *request) jsonPatched(from, into kinds.Object) error {
	before, err := json.Marshal(from)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	var twice []error
	if rq.strict() {
		var members any = &map[string]any{}
		prefix := ""
		if rq.PatchType == types.JSONPatchType {
			members, prefix = &[]jsonOperation{}, "json patch "
		}
		found, err := kjson.UnmarshalStrict(rq.Patch, members)
		if err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
		}
		for _, e := range found {
			twice = append(twice, fmt.Errorf("%s%w", prefix, e))
		}
	}
	var after []byte
	if rq.PatchType == types.JSONPatchType {
		after, err = jsonpatch.Apply(before, rq.Patch)
	} else {
		after, err = jsonpatch.Merge(before, rq.Patch)
	}
	switch {
	case jsonpatch.IsTooMany(err):
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", jsonpatch.OperationsMax, countOperations(rq.Patch)))
	case jsonpatch.IsMalformed(err), err != nil && rq.PatchType == types.MergePatchType:
		return apierrors.NewBadRequest(err.Error())
	case err != nil:
		return rejected()
	}
	if c, ok := into.(*kinds.Custom); ok {
		m := map[string]any{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(after, &m); err != nil {
			return badPatch(string(after), err)
		}
		found, err := c.Take(m, rq.strict())
		if err != nil {
			return badPatch(string(after), err)
		}
		more, err := rq.Kind.Custom.Fit(c.Content)
		if err != nil {
			return badPatch(string(after), err)
		}
		if !rq.strict() {
			return nil
		}
		for _, name := range append(found, more...) {
			twice = append(twice, fmt.Errorf("unknown field %q", name))
		}
		return rq.unknown(string(after), twice)
	}
	if !rq.strict() {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(after, into); err != nil {
			return badPatch(string(after), err)
		}
		return nil
	}
	found, err := kjson.UnmarshalStrict(after, into)
	if err != nil {
		return badPatch(string(after), err)
	}
	return rq.unknown(string(after), append(twice, found...))
}

// jsonOperation is an operation of a JSON patch as far as its members go.
type jsonOperation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func countOperations(patch []byte) int {
	var ops []json.RawMessage
	_ = json.Unmarshal(patch, &ops) // it was read before
	return len(ops)
}

// strategic applies a strategic merge patch (as pkg/endpoints/handlers/patch.go: smpPatcher). It guards the library, which was written for patches from well-behaved clients: a panic in it is
// the patch's fault.
func (rq *request) strategic(from, into kinds.Object) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = apierrors.NewBadRequest(fmt.Sprintf("invalid strategic merge patch: %v", v))
		}
	}()
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(from)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	patch := map[string]any{}
	var twice []error
	if rq.strict() {
		twice, err = kjson.UnmarshalStrict(rq.Patch, &patch)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(rq.Patch, &patch)
	}
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	after, err := strategicpatch.StrategicMergeMapPatch(before, patch, into)
	switch {
	case errors.Is(err, mergepatch.ErrNoListOfLists), errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys):
		return rejected()
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(after, into, rq.strict())
	shown := func() string { return fmt.Sprintf("%+v", patch) }
	if found, ok := runtime.AsStrictDecodingError(err); ok {
		return rq.unknown(shown(), append(twice, found.Errors()...))
	}
	if err != nil {
		return badPatch(shown(), err)
	}
	if len(twice) > 0 {
		return rq.unknown(shown(), twice)
	}
	return nil
}
