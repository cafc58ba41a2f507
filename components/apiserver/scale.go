package apiserver

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/internal/jsonpatch"
	"example.com/kubeviz/components/kubeapi"
	"example.com/kubeviz/engine/kinds"
	"example.com/kubeviz/engine/sim"
)

// scale serves the scale subresource: the number of replicas of whatever kind, seen as one type.
func (s *Server) scale(p *sim.Proc, rq *request) (*kubeapi.Response, error) {
	switch rq.Verb {
	case kubeapi.Get:
		rq.enter(stageStore)
		obj, err := s.current(p, rq)
		if err != nil {
			return nil, err
		}
		return written(scaleOf(obj)), nil
	case kubeapi.Update:
		if _, ok := rq.Object.(*autoscalingv1.Scale); !ok {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("wrong object passed to Scale update: %T", rq.Object))
		}
	case kubeapi.Patch:
		if rq.PatchType != types.MergePatchType && rq.PatchType != types.JSONPatchType && rq.PatchType != types.StrategicMergePatchType {
			return nil, unsupportedPatch()
		}
	default:
		return nil, apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	resp, err := s.update(p, rq, updateTries, func(old kinds.Object) (kinds.Object, error) {
		want, err := rq.scaled(old)
		if err != nil {
			return nil, err
		}
		if errs := apivalidation.ValidateNonnegativeField(int64(want.Spec.Replicas), field.NewPath("spec", "replicas")); len(errs) > 0 {
			return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), rq.Name, errs)
		}
		obj := old.DeepCopyObject().(kinds.Object)
		*replicasOf(obj) = &want.Spec.Replicas
		obj.SetResourceVersion(want.ResourceVersion)
		// To the object this is an update of its own, not of a part.
		whole := *rq.Request
		whole.Subresource = ""
		part := *rq
		part.Request = &whole
		updated, err := s.prepareUpdate(p, &part, obj, old)
		rq.stages, rq.stage, rq.began = part.stages, part.stage, part.began
		return updated, err
	}, nil)
	if err != nil {
		return nil, err
	}
	return written(scaleOf(resp.Object)), nil
}

// scaled is the Scale that the request wants, given the object as it is.
func (rq *request) scaled(old kinds.Object) (*autoscalingv1.Scale, error) {
	if rq.Verb == kubeapi.Update {
		return rq.Object.(*autoscalingv1.Scale), nil
	}
	before, err := json.Marshal(scaleOf(old))
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	apply := jsonpatch.Merge // a Scale has no lists that a strategic patch would merge by key
	if rq.PatchType == types.JSONPatchType {
		apply = jsonpatch.Apply
	}
	after, err := apply(before, rq.Patch)
	if err != nil {
		return nil, rejected()
	}
	want := &autoscalingv1.Scale{}
	if err := json.Unmarshal(after, want); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return want, nil
}

// replicasOf is where a scalable kind keeps its wanted number.
func replicasOf(obj kinds.Object) **int32 {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &o.Spec.Replicas
	}
	panic(fmt.Sprintf("apiserver: %T has the subresource scale but no replicas", obj)) // a mistake in the table of kinds
}

func scaleOf(obj kinds.Object) *autoscalingv1.Scale {
	sc := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp()}}
	var sel *metav1.LabelSelector
	switch o := obj.(type) {
	case *appsv1.Deployment:
		sc.Status.Replicas, sel = o.Status.Replicas, o.Spec.Selector
	case *appsv1.ReplicaSet:
		sc.Status.Replicas, sel = o.Status.Replicas, o.Spec.Selector
	}
	if n := *replicasOf(obj); n != nil {
		sc.Spec.Replicas = *n
	}
	if s, err := metav1.LabelSelectorAsSelector(sel); err == nil {
		sc.Status.Selector = s.String()
	}
	return sc
}
