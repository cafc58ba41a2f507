package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

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
	switch rq.PatchType {
	case types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType:
	default:
		return nil, unsupportedPatch()
	}
	return s.update(p, rq, patchTries, func(old kinds.Object) (kinds.Object, error) {
		obj, err := patched(rq, old)
		if err != nil {
			return nil, err
		}
		if obj.GetName() != rq.Name {
			return nil, apierrors.NewBadRequest("the name of the object (" + obj.GetName() + ") does not match the name on the URL (" + rq.Name + ")")
		}
		return s.prepareUpdate(p, rq, obj, old)
	}, rq.res.Gone)
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

// patched applies the request's patch to old.
func patched(rq *request, old kinds.Object) (obj kinds.Object, err error) {
	before, err := json.Marshal(old)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var after []byte
	switch rq.PatchType {
	case types.JSONPatchType:
		after, err = jsonpatch.Apply(before, rq.Patch)
		if err != nil {
			if jsonpatch.IsMalformed(err) {
				return nil, apierrors.NewBadRequest(err.Error())
			}
			return nil, rejected()
		}
	case types.MergePatchType:
		if after, err = jsonpatch.Merge(before, rq.Patch); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	default:
		if after, err = strategic(before, rq.Patch, rq.Kind); err != nil {
			return nil, err
		}
	}
	obj = rq.Kind.New()
	if err := json.Unmarshal(after, obj); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", rq.Kind.Kind, rq.Kind.Version, rq.Kind.Kind, err))
	}
	clearType(obj)
	return obj, nil
}

// strategic guards the library, which was written for patches from well-behaved clients: a panic in it is the patch's fault.
func strategic(before, patch []byte, k *kinds.Kind) (after []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			after, err = nil, apierrors.NewBadRequest(fmt.Sprintf("invalid strategic merge patch: %v", v))
		}
	}()
	after, err = strategicpatch.StrategicMergePatch(before, patch, k.New())
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return after, nil
}
