package apiserver

import (
	"encoding/json"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubeviz/components/apiserver/internal/jsonpatch"
	"example.com/kubeviz/components/apiserver/internal/managed"
	"example.com/kubeviz/components/apiserver/resource"
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
		return written(scaleOf(rq.res, obj)), nil
	case kubeapi.Update:
		if _, ok := rq.Object.(*autoscalingv1.Scale); !ok {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("wrong object passed to Scale update: %T", rq.Object))
		}
	case kubeapi.Patch:
		if err := rq.checkPatch(); err != nil {
			return nil, err
		}
	default:
		return nil, apierrors.NewMethodNotSupported(rq.Kind.GR(), string(rq.Verb))
	}
	resp, err := s.update(p, rq, updateTries, func(old kinds.Object) (kinds.Object, error) {
		want, entries, err := s.scaled(rq, old)
		if err != nil {
			return nil, err
		}
		if errs := apivalidation.ValidateNonnegativeField(int64(want.Spec.Replicas), field.NewPath("spec", "replicas")); len(errs) > 0 {
			return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), rq.Name, errs)
		}
		if want.UID != "" && want.UID != old.GetUID() {
			//lint:ignore ST1005 Kubernetes' own words
			return nil, apierrors.NewConflict(schema.GroupResource{Group: rq.Kind.Group, Resource: rq.Kind.Resource + "/scale"}, rq.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", want.UID, old.GetUID()))
		}
		obj := old.DeepCopyObject().(kinds.Object)
		if part := rq.res.Scaled(obj); part.Set != nil {
			part.Set(want.Spec.Replicas)
		} else {
			*part.Wanted = &want.Spec.Replicas
		}
		obj.SetResourceVersion(want.ResourceVersion)
		obj.SetManagedFields(entries)
		// To the object this is an update of its own, not of a part.
		whole := *rq.Request
		whole.Subresource = ""
		part := *rq
		part.Request, part.applied = &whole, true
		updated, err := s.prepareUpdate(p, &part, obj, old)
		rq.stages, rq.stage, rq.began = part.stages, part.stage, part.began
		return updated, err
	}, nil)
	if err != nil {
		return nil, err
	}
	return written(scaleOf(rq.res, resp.Object)), nil
}

// scaled is the Scale that the request wants, given the object as it is, and the managed fields of the object after that.
func (s *Server) scaled(rq *request, old kinds.Object) (*autoscalingv1.Scale, []metav1.ManagedFieldsEntry, error) {
	fields, err := s.fields.Scale(rq.Kind, rq.res.Scaled(old).Path, old.GetManagedFields())
	if err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	live := scaleOf(rq.res, old)
	if live.ManagedFields, err = fields.Entries(); err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	now := s.proc.Loop.Now()
	want, err := rq.wantedScale(fields, live, now)
	if err != nil {
		return nil, nil, err
	}
	entries, err := fields.Parent(want.ManagedFields, now)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	return want, entries, nil
}

func (rq *request) wantedScale(fields *managed.Scale, live *autoscalingv1.Scale, now time.Time) (*autoscalingv1.Scale, error) {
	switch {
	case rq.Verb == kubeapi.Update:
		want := rq.Object.DeepCopyObject().(*autoscalingv1.Scale)
		fields.Update(live, want, rq.manager(), now)
		return want, nil
	case rq.PatchType == types.ApplyPatchType:
		patch, err := rq.configuration()
		if err != nil {
			return nil, err
		}
		return fields.Apply(live, patch, rq.Manager, rq.Force, now)
	}
	before, err := json.Marshal(live)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	apply := jsonpatch.Merge // a Scale has no lists that a strategic patch would merge by key
	if rq.PatchType == types.JSONPatchType {
		apply = jsonpatch.Apply
	}
	after, err := apply(before, rq.Patch)
	switch {
	case jsonpatch.IsMalformed(err):
		return nil, apierrors.NewBadRequest(err.Error())
	case err != nil:
		return nil, rejected()
	}
	want := &autoscalingv1.Scale{}
	if err := json.Unmarshal(after, want); err != nil {
		return nil, badPatch(string(after), err)
	}
	fields.Update(live, want, rq.manager(), now)
	return want, nil
}

func scaleOf(res *resource.Resource, obj kinds.Object) *autoscalingv1.Scale {
	sc := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: obj.GetName(), Namespace: obj.GetNamespace(), UID: obj.GetUID(),
		ResourceVersion: obj.GetResourceVersion(), CreationTimestamp: obj.GetCreationTimestamp()}}
	part := res.Scaled(obj)
	if n := part.Wanted; n != nil && *n != nil {
		sc.Spec.Replicas = **n
	}
	sc.Status.Replicas, sc.Status.Selector = part.Have, part.Selector
	return sc
}
